"""Link: the messages of a rank over MPI, moved by a thread.

What the engine has put into the outboxes of its ports goes out in batches, one under way to each rank at a time; what
comes is put into the inboxes. Beside them go commands, small JSON objects from rank to rank. Nothing here ever waits in
MPI, which hangs where a rank has fallen silent: all is polled, and a heartbeat each second tells who is there.
"""

import json
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playout import _core

BEAT = 1.0  # seconds between two signs of life
SILENCE = 5.0  # without one, a rank is lost
PAUSE = 1.0  # this rank was stopped itself if it did not look for so long
# Looks without news before it gives way, and before it sleeps, and how long then, twice as long each time. To sleep and
# wake takes 14 microseconds: at a thousand looks a second that is as much as all that a rank has to tell
# (benchmarks/share.csv).
SPINS, YIELDS = 2, 5
LEAST_SLEEP, MOST_SLEEP, HASTE = 1.6e-3, 1.28e-2, 1e-4
# The same while workers wait for what comes.
BUSY_YIELDS, BUSY_SLEEP = 20, 3e-5
PATIENCE = 3.0  # seconds for mpiexec to end, once all is lost
CLOSE = 10.0  # seconds for the last messages
COMMAND, HEARTBEAT, END, TREE = 0, 1, 2, 16  # tags; from the last on, the numbers of trees
START = 60.0  # seconds for all ranks to be there

Command = dict[str, Any]


class Link:
    """The connection of this rank to the others.

    Parameters
    ----------
    on_command
        Called with a rank and its command, on the thread that moves messages.
    """

    def __init__(self, on_command: Callable[[int, Command], object]) -> None:
        from mpi4py import MPI

        self._mpi = MPI
        self._comm, ready = MPI.COMM_WORLD.Idup()
        if not _within(START, ready.Test):
            print("playout: not all ranks have begun; do they run the same program?", file=sys.stderr, flush=True)
            MPI.COMM_WORLD.Abort(3)
        self.most_trees = int(MPI.COMM_WORLD.Get_attr(MPI.TAG_UB) or 32767) - TREE  # what MPI allows at least
        self.rank, self.size = int(self._comm.rank), int(self._comm.size)
        self._on_command = on_command
        self._ports: dict[int, _core.Port] = {}
        self._early: dict[int, list[tuple[int, bytes]]] = {}  # for trees that are not there yet
        self._newest = -1  # the last tree that was
        self._coming: list[deque[tuple[Any, int, bytearray]]] = [deque() for _ in range(self.size)]
        self._queues: list[deque[tuple[int, bytes]]] = [deque() for _ in range(self.size)]
        self._flying: list[Any] = [None] * self.size  # what is under way to each rank, and its bytes
        self._others = [rank for rank in range(self.size) if rank != self.rank]
        self._lock = threading.Lock()  # of ports and early batches
        self._ended: set[int] = set()  # ranks that have said that nothing more comes
        self._told_end: set[int] = set()  # ranks that were told so
        self.error: BaseException | None = None  # that ended the thread
        self._closing = False
        self._news = threading.Event()  # that there is something to send
        self.in_haste = False  # whether somebody waits for an answer
        self.is_busy = False  # whether simulations go from rank to rank
        self._heard = dict.fromkeys(self._others, time.monotonic())
        self._looked = self._beat = time.monotonic()
        self.seconds = 0.0  # processor time of the thread
        self._interval = sys.getswitchinterval()
        self._thread = threading.Thread(target=self._run, name="playout-link", daemon=True)

    def start(self) -> None:
        """Begin to move messages: from here on MPI belongs to the thread."""
        sys.setswitchinterval(1e-4)
        self._thread.start()

    # Any thread

    def tell(self, to: int, command: Command) -> None:
        """Send a command."""
        self._queues[to].append((COMMAND, json.dumps(command).encode()))
        self._news.set()

    def add_port(self, tree: int, port: _core.Port) -> None:
        """Connect the port of a tree with those of the same number on other ranks."""
        with self._lock:
            self._ports = {**self._ports, tree: port}
            self._newest = max(self._newest, tree)
            for rank, batch in self._early.pop(tree, []):  # before what comes now
                port.deliver(rank, batch)

    def remove_port(self, tree: int) -> None:
        with self._lock:
            self._ports = {number: port for number, port in self._ports.items() if number != tree}
            self._early.pop(tree, None)

    def silent(self, seconds: float = SILENCE) -> list[int]:
        """Return the ranks that nothing has been heard of for so long, but for those that have ended."""
        now = time.monotonic()
        if self.error is not None:
            return [rank for rank in self._others if rank not in self._ended]
        if now - self._looked > PAUSE:  # nobody has listened
            return []
        return [rank for rank, when in self._heard.items() if now - when > seconds and rank not in self._ended]

    def close(self) -> list[int]:
        """Send what is left, and wait for the others to do so; returns the ranks that did not."""
        with self._lock:
            self._ports = {}
        self._closing = True  # nothing may follow the end, not even a sign of life
        for rank in self._others:
            self._queues[rank].append((END, b""))
        self._news.set()
        _within(CLOSE, lambda: not self._thread.is_alive() or self.silent())
        sys.setswitchinterval(self._interval)
        if self._thread.is_alive() or self.error is not None:
            return [rank for rank in self._others if rank not in self._ended] or self._others
        return [] if _within(CLOSE, self._comm.Ibarrier().Test) else self._others

    def abort(self, status: int) -> None:
        """End all ranks, and this one."""
        sys.stdout.flush()
        sys.stderr.flush()
        time.sleep(0.2)  # what was said is on its way, and the launcher would not wait for it
        _end_launcher_after(PATIENCE)
        threading.Timer(PATIENCE, os._exit, (status,)).start()  # where the launcher cannot be reached
        self._comm.Abort(status)
        os._exit(status)

    # The thread

    def _run(self) -> None:
        idle = 0
        try:
            while not self._is_done():
                now = time.monotonic()
                if now - self._looked > PAUSE:
                    self._heard = dict.fromkeys(self._others, now)
                self._looked = now
                self._show_life(now)
                moved = self._receive()
                moved = self._send() or moved
                idle = 0 if moved else idle + 1
                if idle > SPINS:
                    self._rest(idle)
                self.seconds = time.thread_time()
        except BaseException as error:  # said by whoever asks next
            self.error = error

    def _is_done(self) -> bool:
        return self._closing and len(self._ended) == len(self._told_end) == len(self._others) and not any(self._flying)

    def _rest(self, idle: int) -> None:
        if idle < (BUSY_YIELDS if self.is_busy else YIELDS):
            os.sched_yield()
            return
        begin = time.monotonic()
        if self.is_busy:
            time.sleep(BUSY_SLEEP)
        else:
            self._news.wait(HASTE if self.in_haste else min(MOST_SLEEP, LEAST_SLEEP * 2 ** min(idle - YIELDS, 10)))
            self._news.clear()
        for port in self._ports.values():
            port.add_idle(time.monotonic() - begin)

    def _show_life(self, now: float) -> None:
        if now - self._beat < BEAT or self._closing:
            return
        self._beat = now
        for rank in self._others:
            if rank not in self._ended and not self._queues[rank]:  # else it will hear of us anyway
                self._queues[rank].append((HEARTBEAT, b""))

    def _send(self) -> bool:
        moved = False
        for rank in self._others:
            if self._flying[rank] is not None:
                if not self._flying[rank][0].Test():
                    continue
                self._flying[rank] = None
            tag, content = self._next_for(rank)
            if tag >= 0:
                self._flying[rank] = self._comm.Isend([content, self._mpi.BYTE], dest=rank, tag=tag), content
                moved = True
        return moved

    def _next_for(self, rank: int) -> tuple[int, bytes]:
        """Return the tag and the bytes of what goes to a rank next; commands first. The tag is -1 if nothing does."""
        if rank in self._told_end:
            return -1, b""
        if self._queues[rank] and self._queues[rank][0][0] != END:
            return self._queues[rank].popleft()
        for tree, port in self._ports.items():
            if batch := port.take(rank):
                return TREE + tree, batch
        if not self._queues[rank]:
            return -1, b""
        self._told_end.add(rank)
        self._queues[rank].clear()
        return END, b""

    def _receive(self) -> bool:
        moved = False
        status = self._mpi.Status()
        while (message := self._comm.Improbe(status=status)) is not None:
            content = bytearray(status.Get_count(self._mpi.BYTE))
            request = message.Irecv([content, self._mpi.BYTE])
            self._coming[status.Get_source()].append((request, status.Get_tag(), content))
        for source in self._others:
            coming = self._coming[source]
            while coming and coming[0][0].Test():  # what is large comes in pieces, and its sender may be stopped midway
                _, tag, content = coming.popleft()
                self._heard[source] = time.monotonic()
                self._handle(source, tag, bytes(content))
                moved = True
        return moved

    def _handle(self, source: int, tag: int, content: bytes) -> None:
        if tag == COMMAND:
            self._on_command(source, json.loads(content))
        elif tag == END:
            self._ended.add(source)
        elif tag >= TREE:
            with self._lock:
                port = self._ports.get(tag - TREE)
                if port is None and tag - TREE > self._newest:
                    self._early.setdefault(tag - TREE, []).append((source, content))
            if port is not None:
                port.deliver(source, content)


def _within(seconds: float, condition: Callable[[], Any]) -> bool:
    """Wait so long for something to be true; whether it is."""
    end = time.monotonic() + seconds
    while not (done := bool(condition())) and time.monotonic() < end:
        time.sleep(1e-3)
    return done


def _end_launcher_after(seconds: float) -> None:
    """See to it that mpiexec ends: while it waits for a host that is gone, whoever reads our answers would wait too.

    A process of its own does that, since this one ends before; where mpiexec is on another host, nobody does.
    """
    launcher = os.getppid()
    while launcher > 1 and not _name(launcher).startswith("mpiexec"):
        try:
            launcher = int(Path(f"/proc/{launcher}/stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return
    if launcher <= 1 or os.fork() > 0:
        return
    try:
        os.setsid()
        os.closerange(0, 1 << 10)
        time.sleep(seconds)
        if _name(launcher).startswith("mpiexec"):
            os.kill(launcher, signal.SIGKILL)
    finally:
        os._exit(0)


def _name(process: int) -> str:
    try:
        return Path(f"/proc/{process}/comm").read_text()
    except OSError:
        return ""
