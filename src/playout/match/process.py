"""A program that speaks the Go Text Protocol, as a child process that may do anything wrong."""

import errno
import os
import selectors
import shlex
import signal
import subprocess
import threading
import time
from contextlib import suppress
from types import TracebackType
from typing import IO, cast

from playout.errors import InputError, short

LOOK_UP_SECONDS = 0.1  # how often someone who waits for an answer looks whether the match has been stopped
QUIT_SECONDS = 1.0  # what a program has to end by itself
MAX_ANSWER = 1 << 20
KEPT_ERRORS = 2000  # bytes of the end of what it says on standard error


class EngineError(Exception):
    """What a program did wrong, in words that follow its name: it "did not answer in 60 s"."""


class Stopped(Exception):  # noqa: N818, nothing went wrong
    """The match was stopped while a program was thinking."""


def split(command: str) -> list[str]:
    """Return the words of a command line; no shell is asked."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InputError(f"{short(command)} is not a command line: {error}") from None
    if not words or "\0" in command:
        raise InputError(f"{short(command)} is not a command line; write it as 'gnugo --mode gtp'")
    return words


class Process:
    """A program of a process group of its own; whatever it has started ends with it.

    Parameters
    ----------
    command
        Its words.
    patience
        How many seconds it has for an answer.
    stopped
        Once set, waiting for an answer ends with :class:`Stopped`.
    """

    def __init__(self, command: list[str], patience: float, stopped: threading.Event) -> None:
        self.patience, self.stopped = patience, stopped
        self._heard, self._errors = b"", b""
        pipe = subprocess.PIPE
        try:
            self._child = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, start_new_session=True
            )
        except OSError as error:
            why = "no such program" if error.errno == errno.ENOENT else error.strerror
            raise EngineError(f"did not start: {why}") from None
        except ValueError as error:  # words that no system could pass on
            raise EngineError(f"did not start: {error}") from None
        streams = (self._child.stdin, self._child.stdout, self._child.stderr)
        self._stdin, self._stdout, self._stderr = (cast("IO[bytes]", stream) for stream in streams)
        self._selector = selectors.DefaultSelector()
        for stream in (self._stdout, self._stderr):
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream, selectors.EVENT_READ)

    def ask(self, command: str) -> str:
        """Send a command and return the answer; raise EngineError if it is refused, or there is none."""
        self._hear(0.0)
        if self._heard.strip():
            raise EngineError(f"said {short(self._heard.decode(errors='replace'))} before it was asked {command!r}")
        try:
            self._stdin.write(f"{command}\n".encode())
        except OSError:
            raise self._died(command) from None
        answer = self._answer(command)
        if answer[:1] == "?":
            raise EngineError(f"refused {command!r}: {short(_said(answer))}")
        if answer[:1] != "=":
            raise EngineError(f"answered {command!r} with {short(answer)}, which is not GTP")
        return _said(answer)

    def _answer(self, command: str) -> str:
        deadline = time.monotonic() + self.patience
        while True:
            text = self._heard.replace(b"\r", b"").lstrip()
            if b"\n\n" in text or (b"\n" in text and text[:1] not in b"=?"):  # what is not GTP has no end to wait for
                answer, _, self._heard = text.partition(b"\n\n")
                return answer.decode(errors="replace").rstrip()
            if len(text) > MAX_ANSWER:
                raise EngineError(f"answered {command!r} with more than a megabyte")
            if not self._hear(deadline - time.monotonic()):
                raise self._died(command)
            if time.monotonic() >= deadline:
                raise EngineError(f"did not answer {command!r} in {self.patience:g} s{self._explained()}")

    def _hear(self, seconds: float) -> bool:
        """Wait a moment for something to read, and read it; false once the program has closed its output."""
        if self.stopped.is_set():
            raise Stopped
        for key, _ in self._selector.select(max(0.0, min(LOOK_UP_SECONDS, seconds))):
            with suppress(BlockingIOError):
                data = os.read(key.fd, 1 << 16)
                if not data:
                    self._selector.unregister(key.fileobj)
                if key.fileobj is self._stdout:
                    self._heard += data
                else:
                    self._errors = (self._errors + data)[-KEPT_ERRORS:]
        return self._stdout in self._selector.get_map()

    def _died(self, command: str) -> EngineError:
        """Say how a program has ended that cannot be talked to any more."""
        if not self._has_ended(QUIT_SECONDS):
            return EngineError(f"closed its pipes at {command!r} and goes on{self._explained()}")
        self._kill()
        with suppress(OSError):  # nothing more to read, where something it has started lives on
            while data := os.read(self._stderr.fileno(), 1 << 16):
                self._errors = (self._errors + data)[-KEPT_ERRORS:]
        status = self._child.returncode
        how = f"with status {status}" if status >= 0 else f"by {_signal_name(-status)}"
        return EngineError(f"died at {command!r} {how}{self._explained()}")

    def _explained(self) -> str:
        """Return the last line it said on standard error, as a part of a message."""
        lines = self._errors.decode(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f" ({last[:200]})" if last else ""

    def _has_ended(self, seconds: float) -> bool:
        """Wait for its end, but leave it in the table of processes: its group keeps its number so long."""
        end = time.monotonic() + seconds
        if self._child.returncode is not None:
            return True
        while os.waitid(os.P_PID, self._child.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
            if time.monotonic() >= end:
                return False
            time.sleep(0.005)
        return True

    def _kill(self) -> None:
        """End it and all it has started, and wait for it."""
        if self._child.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._child.pid, signal.SIGKILL)
            self._child.wait()

    def close(self) -> None:
        """Tell it to quit; end it if it does not."""
        if self._child.returncode is None:
            with suppress(OSError):
                self._stdin.write(b"quit\n")
        with suppress(OSError):
            self._stdin.close()
        if not self.stopped.is_set():
            self._has_ended(QUIT_SECONDS)
        self._kill()
        self._selector.close()
        self._stdout.close()
        self._stderr.close()

    def __enter__(self) -> "Process":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _said(answer: str) -> str:
    """Return an answer without its sign and number."""
    return answer[1:].lstrip("0123456789").strip()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
