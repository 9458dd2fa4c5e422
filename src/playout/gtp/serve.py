"""The loop: lines come in, answers go out. A thread of its own reads, so that an analysis hears of the next command."""

import os
import queue
import select
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import BinaryIO, TextIO

from playout.errors import InputError
from playout.gtp import commands
from playout.gtp.engine import Engine
from playout.gtp.protocol import GtpError, Request, answer, begin_answer, parse
from playout.stop import StopSignals

FAILED = 3  # exit status: ranks have been lost
MAX_LINE = 1 << 20  # bytes; what is longer is no command
Line = tuple[float, bytes]  # when it came, and what


class Inbox:
    """Lines as they come, read by a thread."""

    def __init__(self, descriptor: int) -> None:
        self._lines: queue.SimpleQueue[Line | None] = queue.SimpleQueue()  # None: there are no more
        self._next: list[Line | None] = []
        self._descriptor = descriptor
        self._ending = os.pipe()
        self._reader = threading.Thread(target=self._read, name="playout-gtp-reader", daemon=True)

    def __enter__(self) -> "Inbox":
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._ending[1])
        self._reader.join()
        os.close(self._ending[0])

    def end(self) -> None:
        """Have no more lines; a handler of signals may call it."""
        self._lines.put(None)

    def next(self) -> Line | None:
        """Wait for the next line; None at the end."""
        return self._next.pop() if self._next else self._lines.get()

    def wait(self, seconds: float = 0.0) -> bool:
        """Wait so long for the next line; whether it, or the end, is there."""
        if not self._next:
            try:
                self._next.append(self._lines.get(timeout=max(0.0, seconds)))
            except queue.Empty:
                return False
        return True

    def _read(self) -> None:
        rest = b""
        while True:
            ready, _, _ = select.select([self._descriptor, self._ending[0]], [], [])
            if self._ending[0] in ready:
                return
            try:
                data = os.read(self._descriptor, 1 << 16)
            except OSError:  # the terminal has gone
                data = b""
            came = time.monotonic()
            *lines, rest = (rest + data).split(b"\n")
            if not data and rest:  # the last line may lack its end
                lines.append(rest)
            for line in lines:
                self._lines.put((came, line))
            rest = rest[:MAX_LINE]
            if not data:
                self._lines.put(None)
                return


class Stop(StopSignals):
    """While inside, Ctrl-C and SIGTERM end the thinking under way, and the lines."""

    def __init__(self, inbox: Inbox) -> None:
        super().__init__()
        self._inbox = inbox

    def note(self, number: int, frame: FrameType | None) -> None:
        super().note(number, frame)
        self._inbox.end()


class Outbox:
    """Where answers go, and what was said to a log."""

    def __init__(self, stream: BinaryIO, log: TextIO | None, note: Callable[[str], object]) -> None:
        self._stream = stream
        self._log = log
        self._note = note
        self.is_broken = False  # nobody reads the answers any more

    def write(self, text: str) -> None:
        self.log(">", text.rstrip("\n"))
        try:
            self._stream.write(text.encode())
            self._stream.flush()
        except OSError:
            self.is_broken = True
            raise

    def log(self, mark: str, text: str) -> None:
        if self._log is None:
            return
        stamp = time.strftime("%Y-%m-%d %H:%M:%S")
        try:
            for line in text.split("\n"):
                print(f"{stamp} {mark} {line}", file=self._log, flush=True)
        except OSError as error:
            self._log = None
            self._note(f"the log ends here: {error.strerror}")


class _Answer:
    """The answer to one request, in one piece or in several."""

    def __init__(self, request: Request, outbox: Outbox) -> None:
        self._request = request
        self._outbox = outbox
        self._begun = False

    def send(self, line: str) -> None:
        """Send a line before the rest; the first begins the answer."""
        head = "" if self._begun else f"{begin_answer(self._request, True)}\n"
        self._begun = True
        self._outbox.write(head + (f"{line}\n" if line else ""))

    def end(self, ok: bool, text: str) -> None:
        whole = answer(self._request, ok, text)
        self._outbox.write((f"{text}\n\n" if text else "\n") if self._begun else whole)


def serve(engine: Engine, descriptor: int, stream: BinaryIO, log: TextIO | None = None) -> int:
    """Answer commands until they end; returns the exit status."""
    outbox = Outbox(stream, log, engine.note)
    with Inbox(descriptor) as inbox, _stopping(inbox) as received:
        ready = 0.0  # when the last answer was sent
        try:
            while not received() and (line := _next(engine, inbox)) is not None:
                if not _respond(engine, outbox, inbox, line, ready):
                    break
                if engine.has_failed:
                    return FAILED
                ready = time.monotonic()
                if not inbox.wait():
                    _ponder(engine)
        finally:
            engine.close()
        return 128 + received() if received() else 0


def _next(engine: Engine, inbox: Inbox) -> Line | None:
    """Wait for the next line; where there are ranks that may be lost, it is said meanwhile."""
    while engine.settings.share is not None and not inbox.wait(1.0):
        _ = engine.has_failed
    return inbox.next()


def _ponder(engine: Engine) -> None:
    try:
        engine.ponder()
    except InputError as error:  # not enough memory, or threads: the next move may have it
        engine.note(str(error))


@contextmanager
def _stopping(inbox: Inbox) -> Iterator[Callable[[], int]]:
    """Hear signals, where that can be: in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield lambda: 0
        return
    with Stop(inbox) as stop:
        yield lambda: stop.received


def _respond(engine: Engine, outbox: Outbox, inbox: Inbox, line: Line, ready: float) -> bool:
    """Answer a line; false if it was the last."""
    came, text = line
    request = parse(text)
    outbox.log("<", text.decode(errors="replace"))
    if request is None:
        return True
    reply = _Answer(request, outbox)
    call = commands.Call(engine, request.words, max(came, ready), reply.send, inbox.wait)
    reply.end(*_outcome(request.command, call, outbox))
    return request.command != "quit"


def _outcome(name: str, call: commands.Call, outbox: Outbox) -> tuple[bool, str]:
    try:
        return True, commands.run(name, call)
    except (GtpError, InputError) as error:
        return False, str(error)
    except Exception as error:  # a game should not be lost for it
        if outbox.is_broken:
            raise
        with suppress(OSError):
            traceback.print_exc(file=sys.stderr)
        return False, f"internal error: {error}"
