"""Stopping: how Ctrl-C and SIGTERM reach the searches under way, so that each returns its best so far."""

import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

PATIENCE = 5.0  # seconds after which another signal gives up waiting for the playouts under way
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)  # the last is a batch system's warning
_listening: list[threading.Event] = []


def interrupt() -> None:
    """End all searches under way in this process: each returns its best so far. For handlers of signals."""
    for event in list(_listening):
        event.set()


@contextmanager
def interrupts(signals: Sequence[signal.Signals] = (signal.SIGINT,)) -> Iterator[threading.Event]:
    """While inside, interrupt() sets the event, and so does the first of these signals instead of what it does else.

    Only Python's main thread may listen to signals, and a handler that the program has set itself is left alone.
    """
    interrupted = threading.Event()
    in_main = threading.current_thread() is threading.main_thread()
    usual = {number: signal.getsignal(number) for number in signals if in_main}
    ours = {number: was for number, was in usual.items() if was in (signal.default_int_handler, signal.SIG_DFL)}
    try:
        _listening.append(interrupted)
        for number in ours:
            signal.signal(number, _on_interrupt)
        yield interrupted
    finally:
        for number, was in ours.items():
            signal.signal(number, was)
        _listening.remove(interrupted)


def _on_interrupt(number: int, frame: FrameType | None) -> None:
    if number == signal.SIGINT and all(event.is_set() for event in _listening):
        signal.default_int_handler(number, frame)
    interrupt()


class StopSignals:
    """While inside, the first of the signals ends the search, and no further one disturbs what follows: saving.

    But one that comes much later ends it all: a method of a user's problem may run for ever.
    """

    def __init__(self) -> None:
        self.received = 0
        self.first = 0.0
        self.before: dict[int, Any] = {}

    def __enter__(self) -> "StopSignals":
        for number in SIGNALS:
            self.before[number] = signal.signal(number, self.note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def note(self, number: int, frame: FrameType | None) -> None:
        self.received = self.received or number
        self.first = self.first or time.monotonic()
        if time.monotonic() > self.first + PATIENCE:  # somebody's code does not come to an end
            raise KeyboardInterrupt
        interrupt()

    def repeat(self) -> bool:
        """Tell a search that was not yet listening when the signal came; true if there was one."""
        if self.received:
            interrupt()
        return self.received != 0
