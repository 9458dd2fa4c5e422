"""Chunks on this machine, in processes of its own."""

import subprocess
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import BinaryIO, cast

from playout.cluster.nodes import LostError
from playout.cluster.worker import receive, send
from playout.errors import ClusterError


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
        self.outcome = b""

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
