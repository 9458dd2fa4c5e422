"""Hosts that are network namespaces of this machine: each with an address, a host name and a link that can be cut."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

BIN = Path(sys.executable).parent
WAIT_SECONDS = 60.0


class NotAllowedError(Exception):
    """Hosts cannot be made here; the message says why."""


class Host:
    """A network namespace with a link to the switch."""

    def __init__(self, network: "Network", number: int) -> None:
        self.network, self.number = network, number
        self.name = f"host{number}"
        self.namespace = f"{network.prefix}-{number}"
        self.port = f"port{number}"
        self.address = f"10.213.77.{number}"

    def wrapped(self, command: list[str]) -> list[str]:
        """Return the command that runs a command on this host. It is the same process in the end, with one id.

        Memory is not shared between hosts, so that MPI has to use the link.
        """
        enter = ["ip", "netns", "exec", self.namespace, "unshare", "--uts", "--ipc", "--"]
        return [*enter, "sh", "-c", f'hostname {self.name}; exec "$@"', "sh", *command]

    def start(
        self, command: list[str], folder: Path, log: str = "", environment: dict[str, str] | None = None
    ) -> "subprocess.Popen[str]":
        """Start a command; what it says goes to a file, or to pipes."""
        pipe: Any = subprocess.PIPE
        errors: Any = subprocess.PIPE
        if log:
            pipe, errors = open(folder / log, "w"), subprocess.STDOUT  # noqa: SIM115, closed below
        try:
            process = subprocess.Popen(
                self.wrapped(command),
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=pipe,
                stderr=errors,
                text=True,
                env={**os.environ, **(environment or {})},
                start_new_session=True,
            )
        finally:
            if log:
                pipe.close()
        self.network.processes.append(process)
        return process

    def cut(self) -> None:
        """Cut the link: whatever is sent is lost, and nobody is told."""
        _ip("-n", self.network.switch, "link", "set", self.port, "down")

    def mend(self) -> None:
        _ip("-n", self.network.switch, "link", "set", self.port, "up")

    def pids(self) -> list[int]:
        """Return the processes on this host."""
        return [int(word) for word in _ip("netns", "pids", self.namespace).split()]

    def kill(self) -> None:
        """End everything on this host, as a power cut does."""
        for pid in self.pids():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


class Network:
    """Some hosts on one switch, which is a bridge in a namespace of its own."""

    def __init__(self, count: int) -> None:
        self.prefix = f"playout{os.getpid()}"
        self.switch = f"{self.prefix}-switch"
        self.hosts: list[Host] = []
        self.processes: list[subprocess.Popen[str]] = []
        for program in ("ip", "unshare", "hostname"):
            if shutil.which(program) is None:
                raise NotAllowedError(f"the program {program!r} is missing (iproute2, util-linux and hostname have it)")
        try:
            self.build(count)
        except subprocess.CalledProcessError as error:
            self.close()
            raise NotAllowedError(f"network namespaces are not allowed here: {error.stderr.strip()}") from None

    def build(self, count: int) -> None:
        _ip("netns", "add", self.switch)
        _ip("-n", self.switch, "link", "add", "bridge", "type", "bridge")
        _ip("-n", self.switch, "link", "set", "bridge", "up")
        for number in range(1, count + 1):
            host = Host(self, number)
            _ip("netns", "add", host.namespace)
            self.hosts.append(host)
            peer = ["peer", "name", "eth0", "netns", host.namespace]
            _ip("-n", self.switch, "link", "add", host.port, "type", "veth", *peer)
            _ip("-n", self.switch, "link", "set", host.port, "master", "bridge", "up")
            _ip("-n", host.namespace, "address", "add", f"{host.address}/24", "dev", "eth0")
            for device in ("lo", "eth0"):
                _ip("-n", host.namespace, "link", "set", device, "up")
            subprocess.run(host.wrapped(["true"]), check=True, capture_output=True, text=True)

    def rest(self) -> None:
        """End all processes and mend all links."""
        for host in self.hosts:
            host.kill()
            host.mend()
        for host in self.hosts:  # nobody remembers who could not be reached
            until(lambda port=host.port: " UP " in _ip("-n", self.switch, "-brief", "link", "show", port))
            _ip("-n", host.namespace, "neighbour", "flush", "all")
        for process in self.processes:
            with suppress(ProcessLookupError):
                process.kill()
            process.communicate()
        self.processes.clear()

    def close(self) -> None:
        """Leave nothing behind."""
        with suppress(subprocess.CalledProcessError):
            self.rest()
        for namespace in (*(host.namespace for host in self.hosts), self.switch):
            subprocess.run(["ip", "netns", "delete", namespace], capture_output=True, check=False)


def until(condition: Callable[[], Any], seconds: float = WAIT_SECONDS) -> Any:
    """Wait until something is true, and return it."""
    give_up = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < give_up, f"still not so after {seconds:g} s"
        time.sleep(0.05)
    return value


def _ip(*words: str) -> str:
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True).stdout
