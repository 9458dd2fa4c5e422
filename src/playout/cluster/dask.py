"""Chunks on the workers of a Dask cluster."""

import json
import threading
import time
from collections import Counter
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from playout.cluster import chunk
from playout.cluster.nodes import LostError
from playout.errors import InputError, short

CONNECT_SECONDS = 10.0
LOOK_SECONDS = 0.5  # between two looks for who is there
SILENT_SECONDS = 8.0  # a link that is cut for 5 s costs nothing: what was sent is sent again 6.4 s later
DASK_TIMEOUTS = {"distributed.comm.timeouts.tcp": "12s", "distributed.comm.timeouts.connect": "10s"}


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
        self.outcome = b""
        try:
            self.client = self.connect()
            self.look()
        except (OSError, TimeoutError, ValueError, TypeError, AssertionError) as error:
            # The last of these is Dask's way to say that its own thread has not started within ten seconds.
            reason = " ".join(str(error).split()) or "this machine is too busy"
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
