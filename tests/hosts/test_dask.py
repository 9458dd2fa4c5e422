"""A Dask cluster on three hosts: driver and scheduler on the first, workers on the others, and what befalls them."""

import itertools
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from playout.version import VERSION
from tests.hosts.conftest import Solving, check_result, solve
from tests.hosts.network import BIN, Host, until

pytest.importorskip("distributed")

TCP_SECONDS = 12
STALL_SECONDS = 8.0  # no reply of any island for so long, at most, while others work
SILENCE_SECONDS = 20.0  # of one island: its chunk's second, and Dask's 12 s or the driver's 10 s
TIMEOUTS = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": f"{TCP_SECONDS}s"}


class Cluster:
    """A scheduler on the first host, and workers elsewhere."""

    def __init__(self, hosts: list[Host], folder: Path, environment: dict[str, str] = TIMEOUTS) -> None:
        self.hosts, self.folder, self.environment = hosts, folder, environment
        self.address = f"tcp://{hosts[0].address}:8786"
        self.workers = 0
        command = ["dask", "scheduler", "--host", hosts[0].address, "--port", "8786", "--no-dashboard"]
        self.start(hosts[0], command, "scheduler.log")
        until(lambda: "Scheduler at" in (folder / "scheduler.log").read_text())

    def start(self, host: Host, command: list[str], log: str, **environment: str) -> "subprocess.Popen[str]":
        words = [str(BIN / command[0]), *command[1:]]
        return host.start(words, self.folder, log, {**self.environment, **environment})

    def work(self, host: Host, *options: str, wait: bool = True, **environment: str) -> "subprocess.Popen[str]":
        """Start a worker and wait until it has registered."""
        self.workers += 1
        log = f"worker{self.workers}.log"
        local = ["--no-dashboard", "--local-directory", str(self.folder)]
        process = self.start(
            host, ["dask", "worker", self.address, "--nthreads", "1", *local, *options], log, **environment
        )
        until(lambda: not wait or "Registered to" in (self.folder / log).read_text())
        return process

    def options(self) -> list[str]:
        return ["--cluster", "dask", "--scheduler", self.address]

    def solve(self, *options: str) -> Solving:
        return solve(self.hosts[0], self.folder, *self.options(), *options)


@pytest.fixture
def cluster(hosts: list[Host], tmp_path: Path) -> Cluster:
    """Return a cluster with three workers, one of them with a nanny, on two hosts."""
    cluster = Cluster(hosts, tmp_path)
    cluster.work(hosts[1], "--no-nanny", wait=False)
    cluster.work(hosts[2], "--no-nanny", wait=False)
    cluster.work(hosts[2])
    return cluster


def check_end(solving: Solving, expected: dict[str, Any], losses: int, stall: float = STALL_SECONDS) -> dict[str, Any]:
    """Check that a disturbed search came to its end and its result is that of one machine."""
    status, said, seconds = solving.end(180)
    print(f"status {status}, {seconds:.1f} s, stall {solving.stall():.1f} s, silence {solving.silence():.1f} s")
    print(said[-2000:])
    assert status == 0
    result = check_result(solving.output, expected)
    print([(i["playouts"], i["lost"], i["nodes"]) for i in result["islands"]])
    assert sum(island["lost"] for island in result["islands"]) <= losses
    assert solving.stall() < stall
    assert solving.silence() < SILENCE_SECONDS
    moments = [islands for _, islands in solving.lines()]
    for earlier, later in itertools.pairwise(moments):
        assert all(a.playouts <= b.playouts for a, b in zip(earlier, later, strict=True)), "work was lost"
    return result


def on(host: Host, solving: Solving) -> set[int]:
    """Return the islands whose last chunk ran on a host."""
    return {n for n, seen in enumerate(solving.islands()) if seen.node.startswith(f"{host.name}:")}


def node_of(host: Host, solving: Solving) -> int:
    """Return the process of a worker on a host that is at work."""
    nodes = [seen.node for seen in solving.islands() if seen.node.startswith(f"{host.name}:")]
    return int(nodes[0].partition(":")[2])


def test_an_undisturbed_search_is_that_of_one_machine(
    cluster: Cluster, playouts: int, on_one_machine: dict[str, Any]
) -> None:
    solving = cluster.solve("--playouts", str(playouts))
    solving.wait_for_nodes(3)
    check_end(solving, on_one_machine, losses=0)


@pytest.mark.parametrize("number", [1, 2])
def test_a_killed_worker_costs_its_chunk(
    cluster: Cluster, playouts: int, on_one_machine: dict[str, Any], number: int
) -> None:
    solving = cluster.solve("--playouts", str(playouts))
    solving.wait_for_nodes(3)
    os.kill(node_of(cluster.hosts[number], solving), signal.SIGKILL)
    check_end(solving, on_one_machine, losses=1)


def test_a_host_that_is_gone(cluster: Cluster, playouts: int, on_one_machine: dict[str, Any]) -> None:
    solving = cluster.solve("--playouts", str(playouts))
    solving.wait_for_nodes(3)
    cluster.hosts[2].cut()
    time.sleep(5)
    cluster.hosts[2].kill()
    check_end(solving, on_one_machine, losses=4)


@pytest.mark.parametrize("seconds", [5, None])
def test_a_cut_link(cluster: Cluster, playouts: int, on_one_machine: dict[str, Any], seconds: int | None) -> None:
    solving = cluster.solve("--playouts", str(playouts))
    solving.wait_for_nodes(3)
    cluster.hosts[2].cut()
    if seconds is not None:
        time.sleep(seconds)
        cluster.hosts[2].mend()
    check_end(solving, on_one_machine, losses=4)


def test_a_link_cut_for_good_with_the_timeouts_of_dask_itself(
    hosts: list[Host], tmp_path: Path, playouts: int, on_one_machine: dict[str, Any]
) -> None:
    """Dask's 30 s do not matter: it is the driver that does not wait."""
    cluster = Cluster(hosts, tmp_path, {})
    cluster.work(hosts[1], "--no-nanny", wait=False)
    cluster.work(hosts[2], "--no-nanny")
    solving = cluster.solve("--playouts", str(playouts))
    solving.wait_for_nodes(2)
    hosts[2].cut()
    check_end(solving, on_one_machine, losses=1)


def test_the_driver_cut_off_for_5_seconds(
    hosts: list[Host], tmp_path: Path, playouts: int, on_one_machine: dict[str, Any]
) -> None:
    cluster = Cluster([hosts[1], hosts[0], hosts[2]], tmp_path)
    cluster.work(hosts[1], "--no-nanny", wait=False)
    cluster.work(hosts[2], "--no-nanny")
    solving = solve(hosts[0], tmp_path, *cluster.options(), "--playouts", str(playouts))
    solving.wait_for_nodes(2)
    hosts[0].cut()
    time.sleep(5)
    hosts[0].mend()
    check_end(solving, on_one_machine, losses=0, stall=12)


def with_one_worker(hosts: list[Host], tmp_path: Path, playouts: int) -> tuple[Cluster, Solving]:
    """Return a cluster with one worker, and a search that it works on."""
    cluster = Cluster(hosts, tmp_path)
    cluster.work(hosts[1], "--no-nanny")
    solving = cluster.solve("--playouts", str(playouts))
    solving.wait_for_nodes(1)
    return cluster, solving


def test_a_worker_that_joins_is_used(
    hosts: list[Host], tmp_path: Path, playouts: int, on_one_machine: dict[str, Any]
) -> None:
    cluster, solving = with_one_worker(hosts, tmp_path, playouts)
    assert not on(hosts[2], solving)
    cluster.work(hosts[2], "--no-nanny")
    joined = time.monotonic()
    until(lambda: on(hosts[2], solving), 10)
    print(f"used {time.monotonic() - joined:.1f} s after it joined")
    check_end(solving, on_one_machine, losses=0)


def test_a_host_that_comes_back_is_used_again(hosts: list[Host], tmp_path: Path) -> None:
    """The driver does without its workers after some seconds; they themselves give up only after Dask's 30 s."""
    cluster = Cluster(hosts, tmp_path, {})
    cluster.work(hosts[1], "--no-nanny", wait=False)
    cluster.work(hosts[2], "--no-nanny")
    solving = cluster.solve("--seconds", "90")
    solving.wait_for_nodes(2)
    hosts[2].cut()
    time.sleep(15)
    assert not on(hosts[2], solving)
    hosts[2].mend()
    mended = time.monotonic()
    until(lambda: on(hosts[2], solving), 30)
    print(f"used {time.monotonic() - mended:.1f} s after it came back")
    solving.process.terminate()
    assert solving.end(10)[0] == 128 + signal.SIGTERM


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1])
def test_a_signal_ends_it_in_time_though_a_link_is_cut(cluster: Cluster, number: signal.Signals) -> None:
    checkpoint = cluster.folder / "run.ckpt"
    solving = cluster.solve("--seconds", "60", "--checkpoint", str(checkpoint))
    solving.wait_for_nodes(3)
    cluster.hosts[2].cut()
    time.sleep(1)
    told = time.monotonic()
    solving.process.send_signal(number)
    status, _, _ = solving.end(30)
    print(f"ended {time.monotonic() - told:.1f} s after the signal")
    assert time.monotonic() - told < 10
    assert status == 128 + number
    result = check_result(solving.output)
    assert checkpoint.exists()
    assert result["playouts"] >= sum(seen.playouts for seen in solving.islands())


def test_a_budget_of_seconds_is_kept_though_a_link_is_cut(cluster: Cluster) -> None:
    solving = cluster.solve("--seconds", "10")
    solving.wait_for_nodes(3)
    cluster.hosts[2].cut()
    status, _, seconds = solving.end(60)
    result = check_result(solving.output)
    print(f"{seconds:.1f} s, the search {result['seconds']:.1f}")
    assert status == 0
    assert result["seconds"] < 10 + 8
    assert seconds < 25


def test_an_unreachable_scheduler_is_said_within_seconds(hosts: list[Host], tmp_path: Path) -> None:
    """One whose host is there and one whose host is not."""
    for address in (hosts[1].address, "10.213.77.99"):
        where = ["--cluster", "dask", "--scheduler", f"tcp://{address}:8786"]
        solving = solve(hosts[0], tmp_path, *where, "--seconds", "5")
        status, said, seconds = solving.end(60)
        print(f"{seconds:.1f} s: {said}")
        assert status == 2
        assert f"cannot reach the scheduler 'tcp://{address}:8786'" in said
        assert said.count("\n") == 1, "one line"
        assert seconds < 15


def other_version(folder: Path) -> str:
    """Return a PYTHONPATH with which Playout is of another version."""
    (folder / "other").mkdir()
    (folder / "other" / "sitecustomize.py").write_text("import playout.version\nplayout.version.VERSION = '0.0.9'\n")
    return str(folder / "other")


def test_another_version_on_a_worker_is_refused(hosts: list[Host], tmp_path: Path) -> None:
    cluster = Cluster(hosts, tmp_path)
    cluster.work(hosts[2], "--no-nanny", PYTHONPATH=other_version(tmp_path))
    cluster.work(hosts[1], "--no-nanny")
    status, said, seconds = cluster.solve("--seconds", "10").end(60)
    print(f"{seconds:.1f} s: {said}")
    assert status == 2
    assert "host3:" in said
    assert f'Playout is version "0.0.9" there, and "{VERSION}" here; all nodes need the same' in said


def test_a_worker_of_another_version_that_joins_is_left_out(
    hosts: list[Host], tmp_path: Path, playouts: int, on_one_machine: dict[str, Any]
) -> None:
    cluster, solving = with_one_worker(hosts, tmp_path, playouts)
    cluster.work(hosts[2], "--no-nanny", PYTHONPATH=other_version(tmp_path))
    result = check_end(solving, on_one_machine, losses=1)
    assert 'is left out: Playout is version "0.0.9" there' in solving.said
    assert {node.partition(":")[0] for island in result["islands"] for node in island["nodes"]} == {"host2"}
