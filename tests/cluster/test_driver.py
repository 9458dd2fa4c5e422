"""The driver on processes of this machine: the same result as without a cluster, whatever happens to them."""

import math
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import playout as po
from playout import GNRPA, NMCS, ClusterError, Hybrid, InputError, Local, Node, Root, SameGame, checkpoint
from playout.cluster import chunk, driver, local
from playout.cluster.island import State, leader_for
from playout.cluster.nodes import LostError

GAME = SameGame.standard(1)
AUTO = SameGame.standard(1, tabu="auto")
QUICK = GNRPA(level=2)
HERE = Local(workers=2, chunk=0.1)


@pytest.fixture(autouse=True)
def no_process_is_left():
    yield
    patience = time.monotonic() + 10
    while (left := children()) and time.monotonic() < patience:
        time.sleep(0.02)
    assert not left


def children() -> list[int]:
    """The processes of local clusters that this process has started."""
    found = []
    for task in Path("/proc/self/task").glob("*/children"):
        for child in task.read_text().split():
            command = Path(f"/proc/{child}/cmdline")
            if command.exists() and b"playout.cluster.worker" in command.read_bytes():
                found.append(int(child))
    return found


def outcome(result: po.Result):
    return result.score, result.moves, result.playouts, result.detail


@pytest.mark.parametrize(
    ("problem", "search", "parallel", "threads"),
    [
        (GAME, QUICK, Root(3), 1),
        (GAME, QUICK, Hybrid(3, 4), 2),
        (GAME, NMCS(level=1), Root(2), 1),
        (AUTO, QUICK, Root(2), 1),
        (AUTO, QUICK, Hybrid(2, 2, policy="local"), 2),
    ],
)
def test_a_cluster_finds_what_one_machine_does(problem, search, parallel, threads):
    here = po.solve(problem, search, playouts=30_001, parallel=parallel, seed=9)
    there = po.solve(problem, search, playouts=30_001, parallel=parallel, seed=9, threads=threads, cluster=HERE)
    assert outcome(there) == outcome(here)
    assert there.parallel == here.parallel
    assert not there.interrupted
    assert sum(island.playouts for island in there.islands) == 30_001
    assert max(island.score for island in there.islands if island.score is not None) == there.score
    assert there.provenance["cluster"] == {"name": "local", "workers": 2, "exchange": None, "chunk": 0.1}
    assert po.result.from_json(there.to_json()).islands == there.islands


def test_islands_tell_their_history():
    result = po.solve(GAME, QUICK, playouts=20_000, parallel=Root(2), cluster=HERE)
    for island in result.islands:
        assert island.playouts == 10_000
        assert island.history[-1][2] == island.score
        assert [score for _, _, score in island.history] == sorted({score for _, _, score in island.history})
        assert all(0 <= seconds <= island.seen <= result.seconds for seconds, _, _ in island.history)
        assert all(playouts <= 10_000 for _, playouts, _ in island.history)
        assert all(re.fullmatch(r".+:\d+", node) for node in island.nodes)
    assert result.history[-1][2] == result.score


def test_fewer_playouts_than_islands():
    here = po.solve(GAME, QUICK, playouts=2, parallel=Root(4))
    assert outcome(po.solve(GAME, QUICK, playouts=2, parallel=Root(4), cluster=HERE)) == outcome(here)


def test_a_start_goes_along():
    start = po.solve(GAME, playouts=3000)
    here = po.solve(GAME, QUICK, playouts=4000, parallel=Root(2), start=start)
    assert outcome(po.solve(GAME, QUICK, playouts=4000, parallel=Root(2), start=start, cluster=HERE)) == outcome(here)


def test_killed_processes_change_nothing():
    here = po.solve(GAME, GNRPA(level=3), playouts=120_000, parallel=Root(3), seed=2)
    killed = []

    def kill(progress):
        if progress.playouts > 10_000 * (len(killed) + 1) and len(killed) < 4 and children():
            killed.append(children()[0])
            os.kill(killed[-1], signal.SIGKILL)

    there = po.solve(GAME, GNRPA(level=3), playouts=120_000, parallel=Root(3), seed=2, cluster=HERE, on_event=kill)
    assert outcome(there) == outcome(here)
    assert killed
    assert len({node for island in there.islands for node in island.nodes}) > 2  # others took over


def test_a_process_that_says_nothing_is_not_waited_for(monkeypatch):
    """Stopped, not killed: its chunk is done by somebody else, and the first reply counts."""
    monkeypatch.setattr(driver, "PATIENCE_SECONDS", 0.5)
    here = po.solve(GAME, GNRPA(level=3), playouts=60_000, parallel=Root(2), seed=2)
    stopped = []

    def stop(progress):
        if progress.playouts > 5000 and not stopped:
            stopped.append(children()[0])
            os.kill(stopped[0], signal.SIGSTOP)

    there = po.solve(GAME, GNRPA(level=3), playouts=60_000, parallel=Root(2), seed=2, cluster=HERE, on_event=stop)
    assert stopped
    assert outcome(there) == outcome(here)


def test_a_round_does_not_wait_for_a_process_that_says_nothing(monkeypatch):
    """Of variants, each round waits for all islands: whoever has nothing to do does what is late."""
    monkeypatch.setattr(driver, "LATE_SECONDS", 0.5)
    monkeypatch.setattr(driver, "PATIENCE_SECONDS", 1e6)
    here = po.solve(AUTO, QUICK, playouts=60_000, parallel=Root(2), seed=2)
    stopped = []

    def stop(progress):
        if progress.playouts > 5000 and not stopped:
            stopped.append(children()[0])
            os.kill(stopped[0], signal.SIGSTOP)

    there = po.solve(AUTO, QUICK, playouts=60_000, parallel=Root(2), seed=2, cluster=HERE, on_event=stop)
    assert stopped
    assert outcome(there) == outcome(here)


def test_a_chunk_that_always_kills_its_process_ends_the_search(monkeypatch, tmp_path):
    monkeypatch.setattr(local.Processes, "run", lambda self, request: (_ for _ in ()).throw(LostError("gone")))
    monkeypatch.setattr(driver, "MAX_LOSSES", 1)
    with pytest.raises(ClusterError, match="a chunk of island 0 was lost 2 times: gone"):
        po.solve(GAME, QUICK, playouts=1000, parallel=Root(1), cluster=HERE)


def test_seconds_end_it():
    result = po.solve(GAME, seconds=1.5, cluster=Local(workers=2))
    assert result.seconds >= 1.5
    assert result.parallel == Root(2)
    assert not result.interrupted
    assert result.verify() == result.score


def test_a_target_ends_it():
    result = po.solve(GAME, target=1000, parallel=Root(2), cluster=Local(workers=2, chunk=8))
    assert result.score >= 1000


def test_it_can_be_broken_off_and_resumed_elsewhere(tmp_path):
    """Broken off twice, resumed on other numbers of processes: the same, bit for bit."""
    file = tmp_path / "run.ckpt"
    settings = dict(parallel=Hybrid(3, 2), seed=4, checkpoint=file)
    here = po.solve(AUTO, GNRPA(level=3), playouts=80_000, parallel=Hybrid(3, 2), seed=4)
    for number, workers in enumerate((2, 1)):
        for progress in po.watch(
            AUTO,
            GNRPA(level=3),
            playouts=80_000,
            cluster=Local(workers=workers, chunk=0.1),
            resume=number > 0,
            **settings,
        ):
            if progress.playouts > 20_000 * (number + 1):
                break
        assert checkpoint.load(file).islands
        assert not (tmp_path / "run.ckpt.DONE").exists()
    there = po.solve(AUTO, GNRPA(level=3), playouts=80_000, cluster=HERE, resume=True, **settings)
    assert outcome(there) == outcome(here)
    assert (tmp_path / "run.ckpt.DONE").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.ckpt", "run.ckpt.DONE", "run.ckpt.previous"]


def test_fewer_nodes_with_more_threads_go_on_with_what_had_one_thread(tmp_path):
    file = tmp_path / "run.ckpt"
    po.solve(GAME, QUICK, playouts=2000, cluster=Local(workers=2), checkpoint=file)
    again = po.solve(
        GAME, QUICK, playouts=9000, threads=2, cluster=Local(workers=1, chunk=0.1), checkpoint=file, resume=True
    )
    assert outcome(again) == outcome(po.solve(GAME, QUICK, playouts=9000, parallel=Root(2)))


def test_checkpoints_of_one_machine_and_of_clusters_are_told_apart(tmp_path):
    settings = dict(playouts=500, parallel=Root(2))
    po.solve(GAME, QUICK, checkpoint=tmp_path / "here", **settings)
    po.solve(GAME, QUICK, checkpoint=tmp_path / "there", cluster=HERE, **settings)
    with pytest.raises(InputError, match="it is of a search on one machine"):
        po.solve(GAME, QUICK, checkpoint=tmp_path / "here", resume=True, cluster=HERE, **settings)
    with pytest.raises(InputError, match="it is of a search on a cluster; say which: --cluster local, mpi or dask"):
        po.solve(GAME, QUICK, checkpoint=tmp_path / "there", resume=True, **settings)
    with pytest.raises(InputError, match="its seed is 0, this search's is 1"):
        po.solve(GAME, QUICK, checkpoint=tmp_path / "there", resume=True, seed=1, cluster=HERE, **settings)


def test_the_best_so_far_is_on_disk(tmp_path, ctrl_c):
    file, seen = tmp_path / "best.json", []

    def look(progress):
        if file.exists():
            seen.append(po.load(file))
            assert seen[-1].interrupted or progress.result is not None
        if len({kept.score for kept in seen}) > 1:
            ctrl_c()

    result = po.solve(GAME, GNRPA(level=3), seconds=1000, cluster=HERE, output=file, on_event=look)
    assert result.interrupted
    assert all(kept.verify() == kept.score for kept in seen)
    assert po.load(file).to_json() == result.to_json()


def test_a_result_that_cannot_be_written_is_tried_again(tmp_path):
    result = po.solve(GAME, QUICK, playouts=100)
    output = sys.modules["playout.solve"].Output(tmp_path / "folder" / "run.json")
    with pytest.warns(RuntimeWarning, match="could not write"):
        output.write(result)
    assert output.score == -math.inf
    output.file.parent.mkdir()
    output.write(result)
    assert output.score == result.score


def test_an_interrupt_ends_it_at_once_and_keeps_all(tmp_path, ctrl_c):
    file = tmp_path / "run.ckpt"

    def interrupt(progress):
        if progress.seconds > 1 and len(children()) == 2:
            ctrl_c()

    result = po.solve(GAME, seconds=1000, cluster=Local(workers=2, chunk=8), checkpoint=file, on_event=interrupt)
    assert result.interrupted
    kept = checkpoint.load(file)
    assert sum(island["playouts"] for island in kept.islands) == result.playouts > 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1])
def test_a_signal_to_a_script_ends_its_search_and_not_the_script(number, tmp_path):
    script = (
        "import signal, playout as po\n"
        "result = po.solve(po.SameGame.standard(1), seconds=60, cluster=po.Local(workers=1), checkpoint='run.ckpt',\n"
        "                  on_event=lambda progress: progress.playouts and print('searching', flush=True))\n"
        "print(result.interrupted, result.verify() == result.score)\n"
        "assert signal.getsignal(signal.SIGTERM) == signal.getsignal(signal.SIGUSR1) == signal.SIG_DFL\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    assert process.stdout.readline() == "searching\n"
    process.send_signal(number)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert out.splitlines()[-1] == "True True"
    assert checkpoint.load(tmp_path / "run.ckpt").islands


def test_ended_before_it_began_it_has_a_result_all_the_same(tmp_path):
    script = (
        "import os, signal, playout as po\n"
        "from playout.cluster import local\n"
        "def slots(self):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    return 0\n"
        "local.LocalNodes.slots = slots\n"
        "result = po.solve(po.SameGame.standard(1), seconds=60, parallel=po.Root(2), cluster=po.Local(workers=1))\n"
        "print(result.interrupted, result.playouts, result.verify() == result.score)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.stdout == "True 1 True\n", done.stderr


def test_idle_processes_begin_islands_of_their_own(tmp_path, ctrl_c):
    """With time to fill and no strategy asked for, a cluster that grows is used."""
    with nodes_of(Local(workers=1)) as growing:

        def grow(progress):
            if progress.playouts:
                growing.workers = 3
            if len(progress.islands) == 3 and all(island.playouts for island in progress.islands):
                ctrl_c()

        result = po.solve(GAME, QUICK, seconds=1000, cluster=growing, on_event=grow, checkpoint=tmp_path / "run.ckpt")
    assert result.parallel == Root(3)
    assert len(result.islands) == 3
    assert all(island.playouts for island in result.islands)
    longer = result.seconds + 1
    again = po.solve(GAME, QUICK, seconds=longer, cluster=HERE, checkpoint=tmp_path / "run.ckpt", resume=True)
    assert again.parallel == Root(3)
    assert again.playouts > result.playouts


class nodes_of:  # noqa: N801, a cluster whose nodes a test can reach
    name, exchange, chunk = "local", None, 0.1

    def __init__(self, cluster):
        self.inner = local.LocalNodes(3)
        self.workers = self.inner.workers = cluster.workers

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.inner.close()

    def open(self, threads):
        self.inner.slots = lambda: self.workers
        return self.inner

    __dataclass_fields__ = {}


def test_exchange_goes_on_from_the_better_ones():
    """Islands take over, and never more than half of them the same search; playouts still add up."""
    cluster = Local(workers=2, chunk=0.05, exchange=0.01)
    result = po.solve(GAME, GNRPA(level=3), playouts=200_000, parallel=Root(6), cluster=cluster)
    families = Counter(island.family for island in result.islands)
    assert len(families) < 6
    assert max(families.values()) <= 3
    assert result.playouts == sum(island.playouts for island in result.islands) == 200_000
    assert result.verify() == result.score


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5)), min_size=1, max_size=12))
def test_who_takes_over_from_whom(islands):
    """The rule in plain words, for every island there is."""
    states = [State(number, 0, number, family, line=line) for number, (line, family) in enumerate(islands)]
    lines = sorted(line for line, _ in islands)
    for island in states:
        other = leader_for(island, states)
        behind = sum(line < island.line for line in lines)
        if behind >= max(1, len(states) // 4) or island.line >= lines[len(states) // 2]:
            assert other is None
        if other is not None:
            family = [state for state in states if state.family == other.family]
            assert other.line > island.line
            assert 2 * (len(family) + 1) <= len(states) + 1
            assert island not in family


def test_two_islands_stay_two():
    assert leader_for(State(0, 0, 0, 0, line=1.0), [State(0, 0, 0, 0, line=1.0), State(1, 0, 1, 1, line=9.0)]) is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cluster": "local"}, "cluster is 'local'; allowed are Local(), MPI() and Dask()"),
        ({"cluster": Local}, "allowed are Local(), MPI() and Dask()"),
        ({"parallel": Node(1, 2)}, "parallel can be Root() or Hybrid()"),
        ({"threads": 2, "parallel": Root(2)}, "the searches of Root() have one thread each; use Hybrid()"),
        ({"output": 7}, "output is 7; a file is needed"),
        ({"output": "/no/such/folder/x.json"}, "cannot write"),
        ({"playouts": None}, "no budget"),
    ],
)
def test_what_cannot_be_is_refused(changes, message):
    usual = {"playouts": 100, "cluster": HERE}
    with pytest.raises(InputError, match=re.escape(message)):
        po.solve(GAME, QUICK, **{**usual, **changes})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"workers": 0}, "workers is 0"),
        ({"exchange": 0}, "exchange is 0"),
        ({"chunk": -1}, "chunk is -1"),
        ({"chunk": 9}, "chunk is 9; at most 8 seconds"),
    ],
)
def test_settings_that_cannot_be(settings, message):
    with pytest.raises(InputError, match=re.escape(message)):
        Local(**settings)


def test_a_lie_of_a_node_is_found_out(monkeypatch):
    honest = chunk.Reply.from_bytes

    def lying(reply):
        said = honest(reply)
        return chunk.Reply(**{**vars(said), "score": said.score + 1})

    monkeypatch.setattr(driver.Reply, "from_bytes", staticmethod(lying))
    with pytest.raises(ClusterError, match="its moves are not worth that"):
        po.solve(GAME, QUICK, playouts=100, parallel=Root(1), cluster=HERE)


def test_when_the_driver_is_killed_its_processes_end(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import playout as po\n"
        "po.solve(po.SameGame.standard(1), seconds=60, cluster=po.Local(workers=2, chunk=0.5), checkpoint='run.ckpt')\n"
    )
    process = subprocess.Popen([sys.executable, script], cwd=tmp_path)
    workers = wait_for(lambda: grandchildren(process.pid), 2)
    process.kill()
    process.wait()
    assert wait_for(lambda: [pid for pid in workers if Path(f"/proc/{pid}").exists()], 0) == []
    assert math.isfinite(checkpoint.load(tmp_path / "run.ckpt").seconds)


def grandchildren(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def wait_for(look, count):
    patience = time.monotonic() + 30
    while len(found := look()) != count and time.monotonic() < patience:
        time.sleep(0.05)
    return found
