"""Checkpoints: a search goes on from its file as if nothing had been, and nothing leaves a file that cannot be read."""

import hashlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import playout as po
from playout import GNRPA, NMCS, RAVE, UCB1, UCT, Hybrid, InputError, Leaf, Node, Root, SameGame, Widening, checkpoint

solving = sys.modules["playout.solve"]  # the function has the module's name
GAME = SameGame.random(7, 7, 4, seed=6)
STRATEGIES = [
    (GNRPA(level=3, iterations=20), None),
    (NMCS(level=3), None),
    (GNRPA(level=3, iterations=20), Root(3)),
    (GNRPA(level=3, iterations=20), Leaf(6)),
    (GNRPA(level=3, iterations=20), Node(2, 6)),
    (GNRPA(level=3, iterations=20), Node(2, 6, policy="local")),
    (GNRPA(level=3, iterations=20), Node(2, 6, policy="local", exchange_best=True)),
    (GNRPA(level=3, iterations=20), Hybrid(2, 3)),
    (UCT(), None),
    (UCT(RAVE()), Root(3)),
    (UCT(UCB1(0.3), widening=Widening()), Leaf(5)),
]
IDS = ["sequential", "nmcs", "root", "leaf", "node", "local", "exchange", "hybrid", "uct", "uct-root", "uct-leaf"]


class EnoughError(Exception):
    pass


def outcome(result):
    return result.score, result.moves, result.playouts


def playouts_of(search):
    return 300_000 if isinstance(search, NMCS) else 100_000


def break_off(file, search, parallel, resume, game=GAME, after=0.01, threads=2):
    """Search with a checkpoint until some time has passed, and leave by an exception; a slow disk may be slower."""
    until = time.monotonic() + after

    def on_event(progress):
        if time.monotonic() > until:
            raise EnoughError

    options = {"threads": threads, "checkpoint": file, "resume": resume, "seed": 3, "on_event": on_event}
    with suppress(EnoughError):
        po.solve(game, search, playouts=playouts_of(search), parallel=parallel, **options)


@pytest.mark.parametrize(("search", "parallel"), STRATEGIES, ids=IDS)
@pytest.mark.parametrize("game", [GAME, GAME.with_options(tabu="auto")], ids=["plain", "auto"])
def test_a_resumed_search_finds_what_an_uninterrupted_one_does(search, parallel, game, tmp_path, monkeypatch):
    """Broken off twice, with checkpoints all the time, resumed on other numbers of threads: the same, bit for bit."""
    monkeypatch.setattr(solving, "CHECKPOINT_SECONDS", 0.01)
    monkeypatch.setattr(solving, "WAKE_SECONDS", 0.005)
    file = tmp_path / "run.ckpt"
    strategy = parallel or Root(1)
    break_off(file, search, strategy, resume=False, game=game)
    broken_off = checkpoint.load(file)
    break_off(file, search, None, resume=True, game=game, threads=1)
    assert checkpoint.load(file).seconds >= broken_off.seconds > 0
    resumed = po.solve(game, search, playouts=playouts_of(search), threads=3, checkpoint=file, resume=True, seed=3)
    whole = po.solve(game, search, playouts=playouts_of(search), parallel=strategy, seed=3)
    assert outcome(resumed) == outcome(whole)
    assert resumed.parallel == strategy
    assert [score for _, _, score in resumed.history] == sorted({score for _, _, score in resumed.history})
    assert resumed.seconds > 0.02
    again = po.solve(game, search, playouts=playouts_of(search), checkpoint=file, resume=True, seed=3)
    assert outcome(again) == outcome(whole)


@pytest.mark.parametrize("jobs", [1, 3, 7])
def test_root_with_a_larger_budget_is_the_uninterrupted_search(jobs, tmp_path):
    search = GNRPA(level=3, iterations=20)
    po.solve(GAME, search, playouts=1000, parallel=Root(jobs), checkpoint=tmp_path / "run.ckpt")
    more = po.solve(GAME, search, playouts=20_000, checkpoint=tmp_path / "run.ckpt", resume=True)
    assert outcome(more) == outcome(po.solve(GAME, search, playouts=20_000, parallel=Root(jobs)))


def test_the_budget_is_that_of_the_whole_search(tmp_path):
    file = tmp_path / "run.ckpt"
    first = po.solve(GAME, playouts=1000, checkpoint=file)
    more = po.solve(GAME, playouts=3000, checkpoint=file, resume=True)
    assert outcome(more) == outcome(po.solve(GAME, playouts=3000))
    assert more.seconds > first.seconds
    spent = po.solve(GAME, seconds=more.seconds / 2, checkpoint=file, resume=True)
    assert outcome(spent) == outcome(more)
    found = po.solve(GAME, target=more.score, checkpoint=file, resume=True)
    assert outcome(found) == outcome(more)


def test_a_start_is_part_of_the_checkpoint(tmp_path):
    best = po.solve(GAME, GNRPA(level=2), playouts=20_000)
    whole = po.solve(GAME, playouts=4000, start=best)
    po.solve(GAME, playouts=500, start=best, checkpoint=tmp_path / "run.ckpt")
    resumed = po.solve(GAME, playouts=4000, checkpoint=tmp_path / "run.ckpt", resume=True)
    assert outcome(resumed) == outcome(whole)
    assert resumed.history[0] == (resumed.history[0][0], 0, best.score)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"problem": SameGame.standard(2)}, 'its problem is "samegame:1", this search\'s is "samegame:2"'),
        ({"problem": SameGame.standard(1, tabu="auto")}, "its problem is"),
        ({"search": GNRPA(level=3)}, "its search has level 2, this search's has level 3"),
        ({"search": NMCS(level=2)}, 'its search has name "GNRPA", this search\'s has name "NMCS"'),
        (
            {"parallel": Root(3)},
            "its strategy has jobs 2, this search's has jobs 3",
        ),
        ({"parallel": Leaf(2)}, 'its strategy has name "root", this search\'s has name "leaf"'),
        ({"seed": 9}, "its seed is 1, this search's is 9"),
    ],
)
def test_a_checkpoint_of_something_else_is_refused(change, message, tmp_path):
    usual = {"problem": SameGame.standard(1), "search": GNRPA(level=2), "parallel": Root(2), "seed": 1}
    file = tmp_path / "run.ckpt"
    po.solve(**usual, playouts=100, checkpoint=file)
    before = file.read_bytes()
    with pytest.raises(InputError, match=re.escape(message)):
        po.solve(**{**usual, **change}, playouts=200, checkpoint=file, resume=True)
    assert file.read_bytes() == before


def resign(content: bytes) -> bytes:
    """A checkpoint with the right digest, whatever it says."""
    return content + hashlib.sha256(content).digest()


def test_a_checkpoint_of_another_version_is_refused(tmp_path):
    file = tmp_path / "run.ckpt"
    po.solve(GAME, playouts=100, checkpoint=file)
    line, _, state = file.read_bytes()[:-32].partition(b"\n")
    header = json.loads(line)
    file.write_bytes(resign(json.dumps({**header, "version": "9.9"}).encode() + b"\n" + state))
    with pytest.raises(InputError, match=r'written by version "9\.9" of Playout, this is'):
        po.solve(GAME, playouts=200, checkpoint=file, resume=True)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    file = tmp_path_factory.mktemp("whole") / "run.ckpt"
    po.solve(GAME, GNRPA(level=2, iterations=5), playouts=57, parallel=Hybrid(2, 3), checkpoint=file)
    return file.read_bytes()


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(data=st.data())
@pytest.mark.parametrize("signed", [False, True])
def test_a_damaged_checkpoint_is_refused_or_harmless(signed, data, whole, tmp_path):
    """Cut short or changed, and even with a digest made to fit: one clear error, or a search that goes on."""
    file = tmp_path / "run.ckpt"
    content = bytearray(whole)
    if signed:
        del content[-32:]
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    else:
        for _ in range(data.draw(st.integers(1, 4))):
            content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    file.write_bytes(resign(bytes(content)) if signed else bytes(content))
    checkpoint.previous(file).unlink(missing_ok=True)
    try:
        result = po.solve(GAME, GNRPA(level=2, iterations=5), playouts=100, seconds=20, checkpoint=file, resume=True)
        assert result.playouts >= 100
    except InputError as error:
        assert str(error).startswith(f"cannot resume from {str(file)!r}: ")
        assert len(str(error).splitlines()) == 1
    else:
        assert signed or bytes(content) == whole


@pytest.mark.parametrize("length", [0, -1])
def test_the_one_before_is_kept_and_takes_over_from_one_that_is_damaged(length, tmp_path):
    file = tmp_path / "run.ckpt"
    po.solve(GAME, GNRPA(level=2), playouts=100, checkpoint=file)
    po.solve(GAME, GNRPA(level=2), playouts=200, checkpoint=file, resume=True)
    assert {path.name for path in tmp_path.iterdir()} == {"run.ckpt", "run.ckpt.previous", "run.ckpt.DONE"}
    file.write_bytes(file.read_bytes()[:length])
    with pytest.warns(RuntimeWarning, match=r"resuming from the one before, .*run\.ckpt\.previous'$"):
        result = po.solve(GAME, GNRPA(level=2), playouts=300, checkpoint=file, resume=True)
    assert result.moves == po.solve(GAME, GNRPA(level=2), playouts=300).moves


def test_files_that_are_not_checkpoints(tmp_path):
    for name, content, message in (
        ("empty", b"", "it is not a checkpoint"),
        ("text", b"hello", "it is not a checkpoint"),
        ("start", b'{"format": "playout-checkpoint/4"', "it is damaged"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=message):
            po.solve(GAME, playouts=10, checkpoint=tmp_path / name, resume=True)
    for arguments, message in (
        ({"resume": True}, "nothing to resume from"),
        ({"resume": True, "checkpoint": tmp_path / "none"}, "No such file"),
        ({"checkpoint": tmp_path}, "it is a folder"),
        ({"checkpoint": tmp_path / "no" / "folder"}, "No such file"),
        ({"checkpoint": 7}, "checkpoint is 7; a file is needed"),
        ({"checkpoint": "/dev/null"}, "it is not a plain file"),
        ({"checkpoint": tmp_path / "text", "resume": True, "start": []}, "it is not a checkpoint"),
        ({"checkpoint": tmp_path / "text"}, "exists; resume from it, or remove it first"),
    ):
        with pytest.raises(InputError, match=message):
            po.solve(GAME, playouts=10, **arguments)
    assert (tmp_path / "text").read_bytes() == b"hello"


@pytest.mark.parametrize("policy", ["shared", "local"])
def test_a_checkpoint_of_the_format_before(policy, tmp_path):
    """It goes on, but for local policies, which were something else."""
    file, strategy = tmp_path / "run.ckpt", Node(2, 6, policy)
    po.solve(GAME, GNRPA(level=3), playouts=500, parallel=strategy, checkpoint=file)
    header, _, state = file.read_bytes()[:-32].partition(b"\n")
    described = {**json.loads(header), "format": "playout-checkpoint/3"}
    del described["what"]["strategy"]["exchange_best"]
    older = json.dumps(described).encode() + b"\n" + state
    file.write_bytes(older + hashlib.sha256(older).digest())
    if policy == "local":
        with pytest.raises(InputError, match="its local policies are of an older kind"):
            po.solve(GAME, GNRPA(level=3), playouts=1000, checkpoint=file, resume=True)
        assert file.read_bytes().startswith(b'{"format": "playout-checkpoint/3"')
    else:
        resumed = po.solve(GAME, GNRPA(level=3), playouts=1000, checkpoint=file, resume=True)
        assert outcome(resumed) == outcome(po.solve(GAME, GNRPA(level=3), playouts=1000, parallel=strategy))


def test_a_full_disk_is_said_and_the_search_goes_on(tmp_path):
    """The system lets the process write 2,000 bytes a file and no more."""
    script = f"""
import resource, sys, playout as po
sys.modules["playout.solve"].CHECKPOINT_SECONDS = 0.2
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
result = po.solve(po.SameGame.standard(1), seconds=0.7, checkpoint={str(tmp_path / "run.ckpt")!r})
print(result.interrupted, result.seconds > 0.6)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout == "False True\n"
    assert "could not write the checkpoint" in done.stderr
    assert "File too large; the search goes on" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["run.ckpt.DONE"]  # the result is there all the same
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 2000


def test_no_memory_for_a_checkpoint_is_said_and_the_search_goes_on(tmp_path):
    """While the state is gathered there is no memory; the playouts go on after it."""
    script = f"""
import resource, sys, warnings, playout as po
from playout.stop import interrupt
sys.modules["playout.solve"].CHECKPOINT_SECONDS = 0.1
events, said = 0, None
def squeeze(progress):
    global events, said
    events += 1
    if events == 2:
        with open("/proc/self/statm") as usage:
            used = int(usage.read().split()[0]) * 4096
        resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 20), -1))
    if said is None and any("out of memory" in str(warning.message) for warning in caught):
        resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
        said = progress.playouts
    if said is not None and progress.playouts > said + 1000:
        interrupt()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    po.solve(po.SameGame.standard(1), po.GNRPA(level=4), parallel=po.Node(2, 100), seconds=600,
             checkpoint={str(tmp_path / "run.ckpt")!r}, on_event=squeeze)
print(*(warning.message for warning in caught))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert "out of memory; the search goes on" in done.stdout, done.stderr
    assert checkpoint.load(tmp_path / "run.ckpt").state


def test_a_failed_search_leaves_the_checkpoint_before(tmp_path, monkeypatch):
    """What a search that threw has left is not saved over a state that can be resumed."""
    file = tmp_path / "run.ckpt"
    po.solve(GAME, playouts=500, checkpoint=file)
    before = file.read_bytes()

    class Failed:
        failed = True

        def __init__(self, *arguments, **options):
            self.run = solving_run(*arguments, **options)

        def __getattr__(self, name):
            return getattr(self.run, name)

    solving_run = solving._core.Run
    monkeypatch.setattr(solving._core, "Run", Failed)
    po.solve(GAME, playouts=1000, checkpoint=file, resume=True)
    assert file.read_bytes() == before


def test_a_disk_that_fills_up_leaves_the_checkpoint_before(tmp_path, monkeypatch):
    file = tmp_path / "run.ckpt"
    po.solve(GAME, playouts=500, checkpoint=file)
    before = file.read_bytes()

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.warns(RuntimeWarning, match="could not write the checkpoint .*: No space left on device$"):
        po.solve(GAME, playouts=1500, checkpoint=file, resume=True)
    assert file.read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"run.ckpt", "run.ckpt.previous", "run.ckpt.DONE"}


def test_there_is_a_checkpoint_from_the_beginning(tmp_path):
    """So that a kill in the first seconds leaves one, and a second search does not take the same name."""
    file = tmp_path / "run.ckpt"
    for _ in po.watch(GAME, seconds=60, checkpoint=file):
        assert checkpoint.load(file).state
        with pytest.raises(InputError, match="exists; resume from it, or remove it first"):
            po.solve(GAME, playouts=10, checkpoint=file)
        break


SEARCHER = """
import sys, playout as po
solving = sys.modules["playout.solve"]
solving.CHECKPOINT_SECONDS, solving.WAKE_SECONDS = 0.02, 0.005
file, resume = sys.argv[1], sys.argv[2] == "resume"
print("ready", flush=True)
po.solve(po.SameGame.standard(1, tabu="auto"), po.GNRPA(level=3), playouts=200_000, threads=2,
         parallel=po.Hybrid(2, 4), checkpoint=file, resume=resume, seed=5)
"""


@pytest.mark.slow("kills a search eight times")
def test_killed_at_any_moment_it_leaves_a_checkpoint_that_can_be_read(tmp_path):
    """Kill -9, eight times, while it searches and writes; then the rest: the same as without all that."""
    file = tmp_path / "run.ckpt"
    for kill in range(8):
        command = [sys.executable, "-c", SEARCHER, file, "resume" if file.exists() else "begin"]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"ready\n"
            time.sleep(0.15 + 0.013 * kill)
            process.send_signal(signal.SIGKILL)
        if file.exists():
            assert checkpoint.load(file).state
    board = SameGame.standard(1, tabu="auto")
    options = {"playouts": 200_000, "threads": 2, "seed": 5}
    resumed = po.solve(board, GNRPA(level=3), checkpoint=file, resume=True, **options)
    assert outcome(resumed) == outcome(po.solve(board, GNRPA(level=3), parallel=Hybrid(2, 4), **options))
