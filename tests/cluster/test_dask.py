"""A real Dask cluster on loopback: workers that are killed, leave, join, or are of another version."""

import os
import re
import signal
import socket
import subprocess
import sys
import time

import pytest

import playout as po
from playout import GNRPA, Dask, InputError, Root, SameGame

pytest.importorskip("distributed", reason="Dask is not installed; the dask extra brings it")

GAME = SameGame.standard(1)
SEARCH = GNRPA(level=3)
ENVIRONMENT = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "12s", "DASK_DISTRIBUTED__ADMIN__TICK__LIMIT": "60s"}


class Cluster:
    """A scheduler and its workers, each a process of its own."""

    def __init__(self, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.folder = folder
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.processes = []
        self.scheduler = self.start("scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard")
        self.workers = []

    def start(self, kind, *arguments, **environment):
        log = open(self.folder / f"{kind}-{len(self.processes)}.log", "w")  # noqa: SIM115
        with log:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", kind, *arguments],
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env={**os.environ, **ENVIRONMENT, **environment},
            )
        self.processes.append(process)
        return process

    def join(self, *options, **environment):
        worker = self.start(
            "worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard", *options, **environment
        )
        self.workers.append(worker)
        return worker

    def wait_for(self, count):
        """Wait until so many workers are there."""
        from distributed import Client

        with Client(self.address, timeout=30, set_as_default=False) as client:
            client.wait_for_workers(count, timeout=60)

    def end(self):
        for process in self.processes:
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path):
    made = Cluster(tmp_path)
    try:
        yield made
    finally:
        made.end()


def outcome(result):
    return result.score, result.moves, result.playouts


# What Dask does behind its own back when a peer dies is not ours to report.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")


def test_killed_and_joining_workers_change_nothing(cluster):
    """One is killed, one joins, one is killed: the result is that of this process alone."""
    here = po.solve(GAME, SEARCH, playouts=150_000, parallel=Root(3), seed=2)
    cluster.join(), cluster.join()
    cluster.wait_for(2)
    steps = iter(
        [
            (10_000, lambda: cluster.workers[0].kill()),
            (30_000, cluster.join),
            (30_001, lambda: cluster.workers[1].kill()),  # the new one has to do the rest
        ]
    )
    todo = [next(steps)]

    def disturb(progress):
        if todo and progress.playouts >= todo[0][0]:
            todo.pop()[1]()
            todo.extend([step for step in [next(steps, None)] if step])

    there = po.solve(
        GAME,
        SEARCH,
        playouts=150_000,
        parallel=Root(3),
        seed=2,
        cluster=Dask(cluster.address, chunk=0.3),
        on_event=disturb,
    )
    assert not todo
    assert outcome(there) == outcome(here)
    nodes = {node for island in there.islands for node in island.nodes}
    assert any(node.endswith(f":{cluster.workers[2].pid}") for node in nodes)


def test_workers_that_join_get_islands_of_their_own(cluster, ctrl_c):
    cluster.join()
    cluster.wait_for(1)
    joined = []

    def join(progress):
        if progress.playouts and not joined:
            joined.append(cluster.join())
        if len(progress.islands) == 2 and all(island.playouts for island in progress.islands):
            ctrl_c()

    result = po.solve(GAME, SEARCH, seconds=1000, cluster=Dask(cluster.address, chunk=0.5), on_event=join)
    assert len(result.islands) == 2
    assert result.parallel == Root(2)
    assert result.verify() == result.score


def test_the_command_line_on_dask(cluster, tmp_path):
    cluster.join(), cluster.join()
    cluster.wait_for(2)
    command = [sys.executable, "-m", "playout", "solve", "samegame:1,tabu=dominant", "--level", "3", "--jobs", "2"]
    command += ["--parallel", "root", "--playouts", "60000", "--cluster", "dask", "--scheduler", cluster.address]
    done = subprocess.run([*command, "--output", "run.json"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "2 at a time (dask)" in done.stderr
    here = po.solve(GAME, SEARCH, playouts=60_000, parallel=Root(2))
    assert outcome(po.load(tmp_path / "run.json")) == outcome(here)


def test_sigterm_ends_it_with_everything_saved(cluster, tmp_path):
    cluster.join()
    cluster.wait_for(1)
    command = [sys.executable, "-m", "playout", "solve", "samegame:1", "--seconds", "1000", "--cluster", "dask"]
    command += ["--scheduler", cluster.address, "--checkpoint", "run.ckpt", "--chunk", "8", "--quiet"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    patience = time.monotonic() + 60
    while not (tmp_path / "run.ckpt.json").exists() and time.monotonic() < patience:
        time.sleep(0.05)
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode == 143
    result = po.load(tmp_path / "run.ckpt.json")
    kept = po.checkpoint.load(tmp_path / "run.ckpt")
    assert sum(island["playouts"] for island in kept.islands) == result.playouts > 0


OTHER = """
import playout.version
playout.version.VERSION = "9.9"
"""


def test_a_worker_of_another_version_is_refused(cluster, tmp_path, ctrl_c):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "sitecustomize.py").write_text(OTHER)
    cluster.join(PYTHONPATH=str(tmp_path / "other"))
    cluster.wait_for(1)
    with pytest.raises(InputError, match=r':\d+: Playout is version "9\.9" there, and ".*" here; all nodes need'):
        po.solve(GAME, SEARCH, playouts=1000, cluster=Dask(cluster.address))
    # Beside others, and later, it is left out.
    cluster.join()
    cluster.workers[0].send_signal(signal.SIGSTOP)
    cluster.workers[0].kill()
    cluster.wait_for(1)
    joined = []

    def join(progress):
        if progress.playouts and not joined:
            joined.append(cluster.join(PYTHONPATH=str(tmp_path / "other")))
            cluster.wait_for(2)
        if seen:
            ctrl_c()

    with pytest.warns(RuntimeWarning, match=r'is left out: Playout is version "9\.9" there') as seen:
        result = po.solve(
            GAME, SEARCH, seconds=1000, parallel=Root(4), cluster=Dask(cluster.address, chunk=0.3), on_event=join
        )
    assert result.verify() == result.score
    assert len({node for island in result.islands for node in island.nodes}) == 1


def test_a_problem_that_a_worker_cannot_find(cluster, tmp_path):
    cluster.join()
    cluster.wait_for(1)
    source = po.library.get_include()
    assert source
    game = tmp_path / "libgame.so"
    built = subprocess.run(
        ["cc", "-shared", "-fPIC", f"-I{source}", "examples/knights.c", "-o", str(game)], capture_output=True
    )
    assert built.returncode == 0, built.stderr
    problem = po.load_problem(game, "5")
    game.unlink()
    with pytest.raises(InputError, match=r"libgame\.so"):
        po.solve(problem, SEARCH, playouts=100, cluster=Dask(cluster.address))


def test_a_scheduler_that_cannot_be_reached():
    with socket.socket() as silent:  # taken, but nobody listens
        silent.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(InputError, match=rf"cannot reach the .*scheduler '{re.escape(address)}' within 10 s"):
            po.solve(GAME, playouts=10, cluster=Dask(address))
    for wrong in ("nonsense", "ftp://x:1", "tcp://", "/no/such/scheduler.json"):
        with pytest.raises(InputError, match=re.escape(repr(wrong))):
            po.solve(GAME, playouts=10, cluster=Dask(wrong))


@pytest.mark.parametrize("content", ["{}", "[]", "no JSON", '{"address": 3}'])
def test_a_file_of_something_else(content, tmp_path):
    file = tmp_path / "scheduler.json"
    file.write_text(content)
    with pytest.raises(InputError, match=r"cannot reach the scheduler"):
        po.solve(GAME, playouts=1000, cluster=po.Dask(str(file)))


def test_a_scheduler_has_to_be_named(monkeypatch):
    monkeypatch.delenv("DASK_SCHEDULER_ADDRESS", raising=False)
    with pytest.raises(InputError, match="Give its address: --scheduler"):
        po.solve(GAME, playouts=10, cluster=Dask())
    with pytest.raises(InputError, match="scheduler is 7"):
        Dask(7)


def test_without_dask(tmp_path):
    (tmp_path / "dask.py").write_text("raise ModuleNotFoundError('no dask')\n")
    done = subprocess.run(
        [sys.executable, "-m", "playout", "solve", "samegame:1", "--playouts", "10", "--cluster", "dask"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "DASK_SCHEDULER_ADDRESS": "tcp://127.0.0.1:9"},
        cwd=tmp_path,
    )
    assert done.returncode == 2
    assert done.stderr == "playout: Dask is not installed; pip install 'playout[dask]' brings it\n"
