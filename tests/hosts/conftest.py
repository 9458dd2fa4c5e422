"""Three hosts for the tests in this folder; they are skipped where network namespaces are not allowed."""

import itertools
import json
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.network import BIN, Host, Network, NotAllowedError, until

PROBLEM = "samegame:1,tabu=none"  # one variant: islands do not wait for each other
ISLANDS = 4
CPU_SECONDS = 20.0  # how long a search is that is disturbed: one worker alone must not be through before it is mended
SEARCH = ["--level", "3", "--seed", "7", "--parallel", "root", "--jobs", str(ISLANDS)]
ALONE = [*SEARCH, "--threads", "2", "--quiet", "--json"]


@dataclass(frozen=True)
class Seen:
    """What the driver knew of an island at a moment."""

    playouts: int
    at: float  # when its last reply came, in seconds since the search began
    lost: int
    node: str


@dataclass
class Solving:
    """A ``playout solve`` under way, and what it writes."""

    process: "subprocess.Popen[str]"
    output: Path
    log: Path
    began: float
    said: str = ""

    def lines(self) -> list[tuple[float, list[Seen]]]:
        """Return what was known of the islands, and when, each time there was something new."""
        if not self.log.exists():
            return []
        whole = self.log.read_text().rpartition("\n")[0].splitlines()
        lines = [json.loads(line) for line in whole]
        return [
            (line["at"], [Seen(p, at, lost, node[0] if node else "") for p, at, lost, node in line["islands"]])
            for line in lines
        ]

    def islands(self) -> list[Seen]:
        lines = self.lines()
        return lines[-1][1] if lines else []

    def wait_for_nodes(self, count: int) -> list[Seen]:
        """Wait until so many nodes do something, and for two seconds more."""
        until(lambda: len({seen.node for seen in self.islands() if seen.node}) >= count)
        time.sleep(2.0)
        return self.islands()

    def end(self, seconds: float) -> tuple[int, str, float]:
        """Wait for the end; return the status, what was said, and how many seconds it all took."""
        out, errors = self.process.communicate(timeout=seconds)
        self.said = out + errors
        return self.process.returncode, self.said, time.monotonic() - self.began

    def stall(self) -> float:
        """Return the longest time between two replies, of whatever islands, from the first to the last."""
        times = sorted({seen.at for _, islands in self.lines() for seen in islands if seen.playouts})
        return max(b - a for a, b in itertools.pairwise(times))

    def silence(self) -> float:
        """Return the longest time that one island did not get on, while it had playouts to do."""
        times = [sorted({islands[n].at for _, islands in self.lines()} - {0.0}) for n in range(ISLANDS)]
        return max(b - a for island in times for a, b in itertools.pairwise(island))


@pytest.fixture(scope="session")
def network() -> Iterator[Network]:
    try:
        network = Network(3)
    except NotAllowedError as error:
        pytest.skip(str(error))
    before = signal.signal(signal.SIGTERM, lambda *_: pytest.exit("SIGTERM", 143))  # else nobody would clean up
    try:
        yield network
    finally:
        network.close()
        signal.signal(signal.SIGTERM, before)


@pytest.fixture
def hosts(network: Network) -> Iterator[list[Host]]:
    """Return three hosts that nothing runs on."""
    yield network.hosts
    network.rest()


@pytest.fixture(scope="session")
def playouts() -> int:
    """Return a budget that costs this machine about CPU_SECONDS."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [BIN / "playout", "solve", PROBLEM, *ALONE, "--seconds", "2"]
    done = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return int(done["playouts"] / (after.ru_utime - before.ru_utime) * CPU_SECONDS)


@pytest.fixture(scope="session")
def on_one_machine(playouts: int) -> dict[str, Any]:
    """Return the result of the same islands without a cluster."""
    command = [BIN / "playout", "solve", PROBLEM, *ALONE, "--playouts", str(playouts)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def solve(host: Host, folder: Path, *options: str, launcher: tuple[str, ...] = ()) -> Solving:
    """Start ``playout solve`` on a host."""
    output, log = folder / "result.json", folder / "log.jsonl"
    command = [*launcher, sys.executable, "-m", "tests.hosts.watched", "solve", PROBLEM, *SEARCH]
    command += ["--threads", "1", "--chunk", "1", "--output", str(output), *options]
    where = {"PLAYOUT_TEST_LOG": str(log), "PYTHONPATH": str(Path(__file__).parents[2])}
    process = host.start(command, folder, environment=where)
    return Solving(process, output, log, time.monotonic())


def check_result(file: Path, expected: dict[str, Any] | None = None) -> dict[str, Any]:
    """Check that a result is right, and the expected one; return it."""
    subprocess.run([BIN / "playout", "verify", file], check=True, capture_output=True)
    result = json.loads(file.read_text())
    if expected is not None:
        for key in ("score", "moves", "playouts"):
            assert result[key] == expected[key], key
    return result
