"""Chunks on the ranks of an MPI job, through mpi4py.futures."""

import os
import signal
import sys
import threading
import time
import traceback
from array import array
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NoReturn

from playout.cluster import chunk
from playout.errors import ClusterError
from playout.stop import SIGNALS

POLL_SECONDS = 0.002  # between two looks for messages, at most: less costs processor time, more the time of each chunk
CLOSE_SECONDS = 3.0  # for the ranks to end what they do; they were told some seconds before


class MpiNodes:
    """The ranks of an MPI job: those other than 0 serve, rank 0 drives and works too, in a thread beside."""

    def __init__(self) -> None:
        from mpi4py import MPI
        from mpi4py.futures import MPICommExecutor

        self.world = MPI.COMM_WORLD
        self.words = self.world.Dup()  # for what the executor has none
        self.can_interrupt = MPI.Query_thread() >= MPI.THREAD_MULTIPLE
        self.outcome = b""  # what rank 0 tells the others at the end
        self.told: list[Any] = []
        self.elsewhere: list[Future[bytes]] = []
        self.here: list[Future[bytes]] = []
        self.context = MPICommExecutor(self.world, root=0, main=False, backoff=POLL_SECONDS)
        if self.world.rank == 0:
            self.own = ThreadPoolExecutor(1, thread_name_prefix="playout-rank-0")
            self.executor: Any = self.context.__enter__()

    def slots(self) -> int:
        return int(self.world.size)

    def submit(self, request: bytes) -> "Future[bytes]":
        self.elsewhere = [future for future in self.elsewhere if not future.done()]
        self.here = [future for future in self.here if not future.done()]
        if len(self.elsewhere) < self.world.size - 1:
            self.elsewhere.append(self.executor.submit(chunk.work, request))
            return self.elsewhere[-1]
        self.here.append(self.own.submit(chunk.work, request))
        return self.here[-1]

    def stop(self, name: str) -> None:
        chunk.stop(name)
        if self.can_interrupt:  # else the others end with their chunks
            self.told += [self.words.Isend(name.encode(), dest=rank) for rank in range(1, self.world.size)]

    def refuse(self, reply: "Future[bytes]", node: str) -> None:
        raise ClusterError(f"{node} is of no use, and ranks cannot leave")

    def close(self) -> None:
        give_up = time.monotonic() + CLOSE_SECONDS
        while not all(future.done() for future in (*self.elsewhere, *self.here)):
            time.sleep(0.02)
            if time.monotonic() > give_up:  # MPI would wait for ever
                print("playout: a rank has fallen silent; the job ends without it", file=sys.stderr, flush=True)
                self._abort()
        self.own.shutdown()
        self.context.__exit__(None, None, None)
        self._tell_outcome()
        for request in self.told:
            request.Wait()
        self.words.Free()

    def serve(self) -> bytes:
        """On a rank other than 0: do chunks until rank 0 is done, and return what it says then.

        A signal ends the chunk under way, and so tells rank 0; a mistake of this program's own ends all ranks.
        """
        heard: list[bool] = []
        before: dict[int, Any] = {}
        chunk.stop_when.extend([self._is_told_to_stop, lambda: bool(heard)])
        try:
            if threading.current_thread() is threading.main_thread():  # no other may listen to signals
                before = {number: signal.signal(number, lambda *_: heard.append(True)) for number in SIGNALS}
            self.context.__enter__()
            self._tell_outcome()
            self._is_told_to_stop()
            self.words.Free()
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            self._abort()
        for number, handler in before.items():
            signal.signal(number, handler)
        chunk.stop_when.clear()
        return self.outcome

    def _abort(self) -> NoReturn:
        """End all ranks; Abort comes back where Slurm is ending them already."""
        time.sleep(0.5)  # what was said is on its way, and the launcher would not wait for it
        self.world.Abort(3)
        os._exit(3)

    def _is_told_to_stop(self) -> bool:
        """Hear the names of searches that end."""
        while self.words.Iprobe(source=0):
            word = bytearray(64)
            self.words.Recv(word, source=0)
            chunk.stop(word.rstrip(b"\0").decode())
        return False

    def _tell_outcome(self) -> None:
        length = array("q", [len(self.outcome)])
        self.world.Bcast(length, root=0)
        content = bytearray(self.outcome.ljust(length[0], b"\0"))
        self.world.Bcast(content, root=0)
        self.outcome = bytes(content)
