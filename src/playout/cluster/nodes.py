"""Where chunks are done: processes of this machine, ranks of an MPI job, workers of a Dask cluster.

Each is an Executor of concurrent.futures, or two, behind :class:`Nodes`.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from array import array
from collections import Counter
from concurrent.futures import Future, InvalidStateError, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, Protocol, cast

from playout.cluster import chunk
from playout.cluster.worker import receive, send
from playout.errors import ClusterError, InputError, short
from playout.stop import SIGNALS

CONNECT_SECONDS = 10.0
POLL_SECONDS = 0.005  # between two looks for messages, at most; mpi4py would look five times as often
CLOSE_SECONDS = 3.0  # for the ranks to end what they do; they were told some seconds before
LOOK_SECONDS = 0.5  # between two looks for who is there
SILENT_SECONDS = 8.0  # a link that is cut for 5 s costs nothing: what was sent is sent again 6.4 s later
DASK_TIMEOUTS = {"distributed.comm.timeouts.tcp": "12s", "distributed.comm.timeouts.connect": "10s"}


class LostError(RuntimeError):
    """A chunk is lost with the worker that did it."""


class Nodes(Protocol):
    """What the driver asks of a cluster."""

    def slots(self) -> int:
        """How many chunks can be under way at a time: now, since workers come and go."""

    def submit(self, request: bytes) -> "Future[bytes]":
        """Have a chunk done; the future raises whatever befell it."""

    def stop(self, name: str) -> None:
        """Have the chunks of a search that are under way end at once."""

    def refuse(self, reply: "Future[bytes]", node: str) -> None:
        """Give no more chunks to the node that cannot do what it was given."""

    def close(self) -> None:
        """Let go of it all. Chunks that are still under way are nobody's."""


class Processes(ThreadPoolExecutor):
    """An executor whose threads have a process each: one that dies takes its own chunk along and no other."""

    def __init__(self, workers: int) -> None:
        super().__init__(workers, thread_name_prefix="playout-process")
        self.mine = threading.local()
        self.all: list[subprocess.Popen[bytes]] = []

    def run(self, request: bytes) -> bytes:
        """Have a chunk done by this thread's process."""
        process: subprocess.Popen[bytes] | None = getattr(self.mine, "process", None)
        if process is None or process.poll() is not None:
            process = self.mine.process = self.start()
        reply = None
        with suppress(OSError):
            send(cast(BinaryIO, process.stdin), request)
            reply = receive(cast(BinaryIO, process.stdout))
        if reply is None:
            self.end(process)
            raise LostError(f"process {process.pid} ended with status {process.returncode}")
        return reply

    def start(self) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "playout.cluster.worker"]
        pipe = subprocess.PIPE
        try:  # a session of its own: Ctrl-C is for the driver
            process = subprocess.Popen(command, stdin=pipe, stdout=pipe, start_new_session=True)
        except OSError as error:
            raise LostError(f"cannot start a process: {error.strerror}") from None
        self.all.append(process)
        return process

    def hurry(self) -> None:
        """End the chunks under way."""
        for process in list(self.all):
            process.terminate()

    def end(self, process: "subprocess.Popen[bytes]") -> None:
        """End a process, whatever it does."""
        process.kill()
        with suppress(OSError, ValueError), process:
            self.all.remove(process)

    def end_all(self) -> None:
        """End all processes; their threads then have nothing to wait for."""
        for process in list(self.all):
            process.kill()
        self.shutdown(wait=True, cancel_futures=True)
        for process in list(self.all):
            self.end(process)


class LocalNodes:
    """Processes of this machine."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.executor = Processes(workers)

    def slots(self) -> int:
        return self.workers

    def submit(self, request: bytes) -> "Future[bytes]":
        return self.executor.submit(self.executor.run, request)

    def stop(self, name: str) -> None:
        self.executor.hurry()

    def refuse(self, reply: "Future[bytes]", node: str) -> None:
        raise ClusterError(f"{node} is of no use, and there is only one machine")

    def close(self) -> None:
        self.executor.end_all()


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


@dataclass(frozen=True)
class Heard:
    """What the scheduler last said of a worker."""

    slots: int  # how many chunks it can do at a time
    seen: float  # when the scheduler last heard of it, by the scheduler's clock
    at: float  # when that last changed, by ours
    silent: bool


class Placed(Future[bytes]):
    """A chunk that a worker was given; ``asked`` is what Dask knows of it."""

    def __init__(self, address: str, asked: Future[bytes]) -> None:
        super().__init__()
        self.address = address
        self.asked: Future[bytes] | None = asked
        self.set_running_or_notify_cancel()  # it may have begun: its slot is taken until it is done or lost
        asked.add_done_callback(self.settle)

    def settle(self, asked: Future[bytes]) -> None:
        """Have the outcome that Dask says, unless there is one."""
        with suppress(InvalidStateError):
            if asked.cancelled():
                self.set_exception(LostError("the connection to the scheduler is lost"))
            elif (error := asked.exception()) is not None:
                self.set_exception(error)
            else:
                self.set_result(asked.result())
        self.asked = None  # so that the worker, too, forgets it at once

    def lose(self, why: str) -> None:
        """Be lost, unless there is an outcome."""
        asked = self.asked
        with suppress(InvalidStateError):
            self.set_exception(LostError(f"the worker {self.address} {why}"))
            if asked is not None:
                asked.cancel()


class DaskNodes:
    """The workers of a Dask cluster, as many as there are at the moment.

    Which worker does a chunk is decided here, and so is when it is lost: when its worker has left or is silent. Dask
    itself waits for a timeout of 12 s or more, and may then give the chunk to another worker of the same lost host.
    """

    def __init__(self, scheduler: str, threads: int) -> None:
        try:
            import dask
            import distributed
        except ImportError:
            raise InputError("Dask is not installed; pip install 'playout[dask]' brings it") from None
        dask.config.set(DASK_TIMEOUTS)
        self.distributed = distributed
        self.scheduler, self.threads = scheduler, threads
        self.heard: dict[str, Heard] = {}
        self.refused: set[str] = set()
        self.under_way: list[Placed] = []
        try:
            self.client = self.connect()
            self.look()
        except (OSError, TimeoutError, ValueError, TypeError) as error:
            reason = " ".join(str(error).split())
            raise InputError(
                f"cannot reach the scheduler {short(scheduler)} within {CONNECT_SECONDS:g} s: {reason}"
            ) from None
        self.closed = threading.Event()
        threading.Thread(target=self.watch, daemon=True, name="playout-dask").start()

    def connect(self) -> Any:
        client: Any = self.distributed.Client
        return client(_address(self.scheduler), timeout=CONNECT_SECONDS, set_as_default=False)

    def watch(self) -> None:
        """In a thread of its own, since it may have to wait: keep in mind what workers there are."""
        while not self.closed.wait(LOOK_SECONDS):
            with suppress(Exception):  # the next look may succeed
                if self.client.status != "running":
                    self.heard = {}
                    self.client = self.connect()
                self.look()

    def look(self) -> None:
        """Ask the scheduler for its workers, and note which of them it has not heard of lately."""
        known = self.client.sync(self.client.scheduler.identity, n_workers=-1)["workers"]
        now, heard = time.monotonic(), {}
        patience = SILENT_SECONDS + len(known) / 100  # of many workers Dask wants to hear less often
        for address, worker in known.items():
            before = self.heard.get(address)
            at = before.at if before is not None and before.seen == worker["last_seen"] else now
            slots = max(1, worker["nthreads"] // self.threads) if worker["status"] == "running" else 0
            heard[address] = Heard(slots, worker["last_seen"], at, silent=now - at > patience)
        self.heard = heard

    def workers(self) -> dict[str, int]:
        """Return the workers that can be given chunks, and how many each can do at a time."""
        heard = self.heard.items()
        return {where: who.slots for where, who in heard if not who.silent and where not in self.refused}

    def slots(self) -> int:
        heard = self.heard
        for placed in self.under_way:
            if placed.address not in heard:
                placed.lose("has left")
            elif heard[placed.address].silent:
                placed.lose("is silent")
        self.under_way = [placed for placed in self.under_way if not placed.done()]
        return sum(self.workers().values())

    def submit(self, request: bytes) -> "Future[bytes]":
        workers = self.workers()
        if not workers:
            raise LostError("there is no worker")
        load = Counter(placed.address for placed in self.under_way)
        address = max(workers, key=lambda address: workers[address] - load[address])
        executor = self.client.get_executor(pure=False, workers=[address])
        self.under_way.append(Placed(address, executor.submit(chunk.work, request)))
        return self.under_way[-1]

    def stop(self, name: str) -> None:
        def tell() -> None:
            with suppress(Exception):  # who cannot be reached ends by itself, some seconds later
                self.client.run(chunk.stop, name, workers=list(self.workers()), wait=False, on_error="ignore")

        threading.Thread(target=tell, daemon=True, name="playout-stop").start()

    def refuse(self, reply: "Future[bytes]", node: str) -> None:
        self.refused.add(cast(Placed, reply).address)

    def close(self) -> None:
        self.closed.set()
        with suppress(Exception):
            self.client.close(timeout=2)


def _address(scheduler: str) -> str:
    """Return the address of a scheduler, read from the file it wrote where that is given: Dask would wait for one."""
    if not scheduler.endswith(".json"):
        return scheduler
    try:
        return str(json.loads(Path(scheduler).read_text())["address"])
    except FileNotFoundError:
        raise FileNotFoundError("there is no such file") from None
    except (ValueError, TypeError, KeyError):
        raise ValueError("it is not the file of a Dask scheduler") from None
