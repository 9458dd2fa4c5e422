"""Problems of one's own: compiled and in plain Python, in every search and strategy."""

import copy
import gc
import pickle
import signal
import subprocess
import sys
import threading
import time
import traceback
import weakref
from pathlib import Path

import numpy as np
import pytest

import playout as po
from playout import compile as compiling
from tests.own import problems as own

SEARCHES = [po.NRPA(level=2), po.GNRPA(level=2), po.GNRPA(level=2, initial="bias"), po.NMCS(level=2)]
STRATEGIES = [po.Root(2), po.Leaf(3), po.Node(2, 2), po.Leaf(2, "local"), po.Hybrid(2, 2)]


def plain(problem):
    other = copy.copy(problem)
    other.compiled = False
    return other


def outcome(problem, search, playouts=150, **options):
    result = po.solve(problem, search, playouts=playouts, seed=3, **options)
    return result.score, result.moves, result.playouts


@pytest.mark.parametrize("search", SEARCHES, ids=repr)
@pytest.mark.parametrize("kind", [own.Digits, own.Scored])
def test_compiled_and_plain_are_the_same_search(kind, search):
    assert outcome(kind(), search) == outcome(plain(kind()), search)


@pytest.mark.parametrize("parallel", STRATEGIES, ids=repr)
@pytest.mark.parametrize("kind", [own.Digits, own.Scored])
def test_every_strategy_and_any_number_of_threads(kind, parallel):
    results = {
        outcome(problem, po.GNRPA(level=2), parallel=parallel, threads=threads)
        for problem in (kind(), plain(kind()))
        for threads in (1, 3)
    }
    assert len(results) == 1


def test_the_best_is_found():
    result = po.solve(own.Digits(), po.GNRPA(level=2), playouts=20_000)
    assert result.score == 8 * 3 + 0.5
    assert result.detail == {"finished": True}
    assert result.verify() == result.score


def test_other_constants_are_another_problem():
    problem = own.Digits()
    first = po.solve(problem, po.GNRPA(level=2), playouts=2_000)
    problem.values = np.array([0, 0, 9])
    second = po.solve(problem, po.GNRPA(level=2), playouts=2_000)
    assert (first.score, second.score) == (24.5, 72.0)
    longer = po.solve(own.Digits(values=[1, 2, 3, 4]), po.GNRPA(level=2), playouts=2_000)
    assert longer.score >= 32.0


def test_a_frozen_dataclass_can_be_a_problem():
    result = po.solve(own.Frozen(length=6), po.NRPA(level=2), playouts=1_000)
    assert (result.score, result.moves) == (6.0, (1,) * 6)


def test_start_from_a_sequence():
    result = po.solve(own.Digits(), po.GNRPA(level=1), playouts=1, start=[0] * 8)
    assert result.score >= 24.5
    with pytest.raises(po.InputError, match="move 3 is not legal"):
        po.solve(own.Digits(), po.GNRPA(level=1), playouts=1, start=[0, 0, 7, 0, 0, 0, 0, 0])


@pytest.mark.parametrize("kind", [own.Digits, own.Scored])
@pytest.mark.parametrize("compiled", [True, False])
def test_resume(tmp_path, kind, compiled):
    problem = kind() if compiled else plain(kind())
    search, file = po.GNRPA(level=2), tmp_path / "run.ckpt"
    whole = po.solve(problem, search, playouts=300, seed=1, parallel=po.Root(2), threads=2)
    po.solve(problem, search, playouts=110, seed=1, parallel=po.Root(2), threads=2, checkpoint=file)
    rest = po.solve(problem, search, playouts=300, seed=1, parallel=po.Root(2), threads=1, checkpoint=file, resume=True)
    assert (rest.score, rest.moves, rest.playouts) == (whole.score, whole.moves, whole.playouts)
    other = own.Digits(bonus=0.125)
    with pytest.raises(po.InputError, match="problem"):
        po.solve(other, search, playouts=400, seed=1, parallel=po.Root(2), checkpoint=file, resume=True)


def test_pickles_and_copies_are_searched_alike():
    problem = own.Digits()
    expected = outcome(problem, po.NRPA(level=2))
    assert outcome(pickle.loads(pickle.dumps(problem)), po.NRPA(level=2)) == expected
    assert outcome(copy.deepcopy(problem), po.NRPA(level=2)) == expected


@pytest.mark.parametrize("compiled", [True, False])
def test_a_problem_that_nobody_holds_is_let_go(compiled):
    problem = own.Scored() if compiled else plain(own.Scored())
    outcome(problem, po.NRPA(level=1))
    gone = weakref.ref(problem)
    del problem
    gc.collect()
    assert gone() is None


# Exceptions


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("threads", [1, 2])
def test_an_exception_in_python_reaches_the_caller_with_its_traceback(compiled, threads):
    problem = own.ScoreRaises() if compiled else plain(own.ScoreRaises())
    with pytest.raises(LookupError, match="no such thing") as caught:
        po.solve(problem, po.NRPA(level=2), playouts=10_000, threads=threads, parallel=po.Root(2))
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert "score" in names
    assert outcome(own.Digits(), po.NRPA(level=1))  # and the next search is none the worse


@pytest.mark.parametrize("search", [po.NRPA(level=2), po.NMCS(level=2)])
@pytest.mark.parametrize("threads", [1, 2])
def test_an_exception_in_compiled_code_is_never_a_score(search, threads):
    hook = sys.unraisablehook
    with pytest.raises(po.InputError, match=r"RaisesLate: a compiled method raises ValueError: too good .*line \d+"):
        po.solve(own.RaisesLate(), search, playouts=200_000, threads=threads, parallel=po.Root(2))
    assert sys.unraisablehook is hook


def test_an_index_out_of_bounds_in_compiled_code_is_never_a_score():
    with pytest.raises(po.InputError, match="IndexesLate: a compiled method raises IndexError"):
        po.solve(own.IndexesLate(), po.NRPA(level=2), playouts=200_000)


def test_exceptions_of_others_go_where_they_went():
    seen = []
    before, sys.unraisablehook = sys.unraisablehook, seen.append
    try:
        with compiling.explained(own.Digits()):
            sys.unraisablehook(type("Other", (), {"object": "something else"})())
        assert len(seen) == 1
    finally:
        sys.unraisablehook = before


def test_one_problem_s_exception_is_not_another_s():
    """Where the other search is under way on the same thread, and on another."""
    good = po.watch(own.Digits(), po.NRPA(level=3), playouts=300_000)
    next(good)
    with pytest.raises(po.InputError, match="RaisesLate: a compiled method raises ValueError: too good"):
        po.solve(own.RaisesLate(), po.NRPA(level=2), playouts=200_000)
    *_, last = good
    assert last.result.score == 24.5


def test_an_exception_while_watching():
    with pytest.raises(LookupError):
        for _ in po.watch(own.ScoreRaises(), po.NRPA(level=2), playouts=100_000):
            pass


def test_leaving_a_watched_search_in_the_middle():
    before = len(list(Path("/proc/self/task").iterdir()))
    for _ in po.watch(own.Scored(), po.NRPA(level=3), seconds=60, threads=2, parallel=po.Root(2)):
        break
    gc.collect()
    assert len(list(Path("/proc/self/task").iterdir())) <= before


def test_two_threads_search_at_once():
    expected = outcome(own.Scored(), po.NRPA(level=2))
    problem, found = own.Scored(), []
    threads = [threading.Thread(target=lambda: found.append(outcome(problem, po.NRPA(level=2)))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 3


def test_the_score_runs_on_the_thread_that_called():
    class Where(own.Scored):
        threads = set()

        @po.python
        def score(self, s):
            Where.threads.add(threading.get_ident())
            return 0.0

    po.solve(Where(), po.NRPA(level=2), playouts=500, threads=2, parallel=po.Root(4))
    assert Where.threads == {threading.get_ident()}


def test_ctrl_c_ends_a_search_in_python():
    class Pressed(own.Digits):
        calls = []

        @po.python
        def score(self, s):
            self.calls.append(s.total)
            if len(self.calls) == 100:  # well after the games of the check
                signal.raise_signal(signal.SIGINT)
            return s.total

    result = po.solve(Pressed(), po.NRPA(level=4), seconds=1000, threads=2, parallel=po.Root(2))
    assert result.interrupted
    assert result.score == max(Pressed.calls)


# Compiling


def run_python(program, folder):
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


PROGRAM = """
import playout as po
from mine import problem
from playout.compile import _compiled
result = po.solve(problem, po.NRPA(level=1), playouts=100)
(functions,) = _compiled.values()
print(result.score, sum(bool(function.cache_hits) for function in functions.values()), len(functions))
"""
SOURCE = """
import playout as po

class Base(po.Problem):
    State = dict(n="i8")
    max_moves = 1
    def init(self, s): s.n = 0
    def moves(self, s, out):
        out[0] = 1
        return 1 if s.n < 3 else 0
    def play(self, s, move): s.n += 1
    def score(self, s): return s.n * 1.0
"""


def test_the_second_run_of_a_program_does_not_compile(tmp_path):
    """Also where methods are inherited from another file, which may change."""
    (tmp_path / "base.py").write_text(SOURCE)
    (tmp_path / "mine.py").write_text("from base import Base\nclass Mine(Base): pass\nproblem = Mine()\n")
    assert run_python(PROGRAM, tmp_path) == ["3.0", "0", "5"]
    assert run_python(PROGRAM, tmp_path) == ["3.0", "5", "5"]
    (tmp_path / "base.py").write_text(SOURCE.replace("s.n < 3", "s.n < 4"))
    assert run_python(PROGRAM, tmp_path)[0] == "4.0"


def test_a_class_without_a_file_is_compiled_each_time():
    space = {}
    exec(SOURCE, space)
    assert po.solve(space["Base"](), po.NRPA(level=1), playouts=10).score == 3.0


def test_without_numba_the_same_runs_in_plain_python(monkeypatch):
    expected = outcome(own.Digits(), po.NRPA(level=2))
    monkeypatch.setattr(compiling, "has_numba", lambda: False)
    with pytest.warns(RuntimeWarning, match=r"plain Python.*playout\[numba\]"):
        assert outcome(own.Digits(), po.NRPA(level=2)) == expected
    problem = own.Digits()
    problem.compiled = True
    with pytest.raises(po.InputError, match="Numba is not installed"):
        po.solve(problem, playouts=1)


# Mistakes that are seen at once


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "State is {}"),
        (["n"], "State is"),
        ({"n": "U8"}, "numbers and arrays"),
        ({"n": "no"}, "'n' of State"),
        ({"_n": "i8"}, "cannot be the name"),
        ({"class": "i8"}, "cannot be the name"),
        ({"n": ("i8", 0)}, "arrays of numbers"),
        ({"n": ("i8", -1)}, "'n' of State"),
        ({"n": "c16"}, "numbers and arrays"),
        ({"n": ("f8", 1 << 22)}, "at most"),
    ],
)
def test_a_state_that_cannot_be(fields, message):
    problem = own.Digits()
    problem.State = fields
    with pytest.raises(po.InputError, match=message):
        po.solve(problem, playouts=1)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("max_moves", 0, "max_moves is 0"),
        ("max_moves", 2.5, "max_moves is 2.5"),
        ("max_length", -1, "max_length is -1"),
        ("temperature", 0, "temperature is 0"),
        ("huge", 2**70, "2\\*\\*63"),
        ("engine", 3, "needs that name itself"),
    ],
)
def test_attributes_that_cannot_be(name, value, message):
    problem = own.Digits()
    setattr(problem, name, value)
    with pytest.raises(po.InputError, match=message):
        po.solve(problem, playouts=1)


def test_a_class_that_cannot_be():
    with pytest.raises(po.InputError, match="replay: Playout needs that name"):
        type("Mine", (po.Problem,), {"replay": lambda self: 0})
    with pytest.raises(po.InputError, match="only score can be"):
        type("Mine", (po.Problem,), {"moves": po.python(lambda self: 0)})
    with pytest.raises(po.InputError, match="a method is needed"):
        type("Mine", (po.Problem,), {"moves": 3})
    with pytest.raises(po.InputError, match="allowed are problems"):
        po.solve(own.Digits, playouts=1)


# Results


def test_save_load_verify(tmp_path):
    problem = own.Digits()
    result = po.solve(problem, po.GNRPA(level=2), playouts=500)
    result.save(tmp_path / "run.json")
    alone = po.load(tmp_path / "run.json")
    assert alone.moves == result.moves
    assert "tests.own.problems:Digits" in repr(alone)
    with pytest.raises(po.InputError, match="a problem of somebody's own"):
        alone.verify()
    assert po.load(tmp_path / "run.json", problem=problem).verify() == result.score
    with pytest.raises(po.InputError, match="not of the problem given"):
        po.load(tmp_path / "run.json", problem=own.Digits(bonus=1.0))
    with pytest.raises(po.InputError, match="not of the problem given"):
        po.load(tmp_path / "run.json", problem=po.SameGame.standard(1))
    assert "<pre>" in result._repr_html_()


def test_a_sequence_that_is_not_legal_does_not_replay():
    with pytest.raises(po.InputError, match="move 2, 5, is not legal"):
        own.Digits().replay([0, 5])
    assert own.Digits().replay([0, 1])[1] == {"finished": False}


# The local search


@pytest.mark.parametrize("parallel", [None, *STRATEGIES], ids=repr)
def test_a_local_search_of_ones_own(parallel):
    on, off = po.GNRPA(level=2, improve=True), po.GNRPA(level=2)
    results = {
        outcome(problem, on, 40, parallel=parallel, threads=threads)
        for problem in (own.Improved(), plain(own.Improved()))
        for threads in ((1, 2) if parallel else (1,))
    }
    assert len(results) == 1
    assert results != {outcome(own.Improved(), off, 40, parallel=parallel)}


def test_a_search_with_a_local_search_resumes(tmp_path):
    search, file = po.GNRPA(level=2, improve=True), tmp_path / "run.ckpt"
    whole = po.solve(own.Improved(), search, playouts=300, seed=1)
    po.solve(own.Improved(), search, playouts=110, seed=1, checkpoint=file)
    rest = po.solve(own.Improved(), search, playouts=300, seed=1, checkpoint=file, resume=True)
    assert (rest.score, rest.moves) == (whole.score, whole.moves)


def test_a_local_search_that_cheats():
    for kind, message in ((own.ImprovedBadly, "improve"), (own.ImprovedShort, "improve")):
        with pytest.raises(po.InputError, match=message):
            po.solve(kind(), po.GNRPA(level=2, improve=True), playouts=100)
    with pytest.raises(po.InputError, match="has no local search"):
        po.solve(own.Digits(), po.GNRPA(improve=True), playouts=1)


# A problem that changes while it is searched


def test_watched_on_another_thread_than_it_was_begun_on():
    steps, found = po.watch(own.Scored(), po.NRPA(level=2), playouts=150, seed=3), []
    thread = threading.Thread(target=lambda: found.extend(steps))
    thread.start()
    thread.join(60)
    assert not thread.is_alive()
    assert found[-1].result.score == outcome(own.Scored(), po.NRPA(level=2))[0]


def test_a_counter_in_a_score(tmp_path):
    problem, search = own.Counted(), po.NRPA(level=2)
    result = po.solve(problem, search, playouts=200, start=[0] * 8, checkpoint=tmp_path / "run.ckpt")
    assert problem.calls > 200
    result.save(tmp_path / "run.json")
    assert po.load(tmp_path / "run.json", problem=own.Counted()).verify() == result.score
    again = po.solve(own.Counted(), search, playouts=300, checkpoint=tmp_path / "run.ckpt", resume=True)
    assert again.playouts == 300


def test_constants_that_change_during_a_search_are_those_it_began_with():
    problem = own.Digits()
    steps = po.watch(problem, po.GNRPA(level=2), playouts=20_000)
    problem.values = np.array([100, 100, 100])
    with pytest.warns(RuntimeWarning, match="is worth .* in plain Python"):
        *_, last = steps
    assert last.result.score == 24.5


def test_a_method_that_is_replaced_is_compiled_anew(monkeypatch):
    assert po.solve(own.Digits(), po.GNRPA(level=2), playouts=5_000).score == 24.5

    def score(self, s):
        return -s.total

    monkeypatch.setattr(own.Digits, "score", score)
    assert po.solve(own.Digits(), po.GNRPA(level=2), playouts=5_000).score < 0


@pytest.mark.parametrize(("kind", "message"), [(own.Narrow, "cannot be replayed"), (own.Grows, "is worth")])
def test_a_result_that_plain_python_does_not_confirm_is_kept_and_said(kind, message):
    with pytest.warns(RuntimeWarning, match=message):
        result = po.solve(kind(), po.GNRPA(level=2), playouts=20_000)
    assert result.moves


def test_start_is_played_by_compiled_code_too():
    with pytest.raises(po.InputError, match="RaisesLate: a compiled method raises ValueError: too good"):
        po.solve(own.RaisesLate(), po.NRPA(level=1), playouts=1, start=[0] * 8)


def test_what_is_raised_while_a_search_ends_is_raised():
    class Late(own.Digits):
        @po.python
        def score(self, s):
            if threading.current_thread() is threading.main_thread() and Late.armed:
                time.sleep(0.5)
                raise LookupError("the simulator crashed")
            return s.total

    Late.armed = False
    steps = po.watch(Late(), po.NRPA(level=3), seconds=0.3)
    next(steps)
    Late.armed = True
    with pytest.raises(LookupError, match="the simulator crashed"):
        list(steps)


def test_a_local_search_that_solves():
    assert po.solve(own.ImproveSolves(), po.NRPA(level=1), playouts=20).score > 0
    assert po.solve(own.ImproveSolves(), po.NRPA(level=1, improve=True), playouts=20).score > 0


@pytest.mark.parametrize(
    "name", ["loops", pytest.param("loops_plain", marks=pytest.mark.slow("waits for signals that come late"))]
)
def test_a_loop_without_an_end_can_be_left(name, tmp_path):
    """The first signal ends the search after the playouts under way; one much later does not wait for them."""
    command = [sys.executable, "-m", "playout", "solve", f"tests.own.problems:{name}", "--seconds", "60"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            while "playouts" not in process.stderr.readline():
                pass
            time.sleep(1)  # it meets the loop soon
            for _ in range(20):
                process.send_signal(signal.SIGINT)
                time.sleep(0.9)
                if process.poll() is not None:
                    break
        finally:
            process.kill()
    assert process.returncode in (128 + signal.SIGINT, -signal.SIGINT)  # or a signal too many, on the way out


STALE = """
import enum
import numba

class C(enum.IntEnum):
    K = 2

@numba.njit
def f(x, k=2):
    return x * k
"""
USES_STALE = SOURCE.replace("return s.n * 1.0", "return f(s.n) * 1.0 + pkg.sub.C.K.value + C.K.value").replace(
    "import playout as po", "import playout as po\nimport pkg.sub\nfrom pkg.sub import C, f"
)


def test_kept_machine_code_changes_with_what_it_uses(tmp_path):
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("")
    (tmp_path / "pkg" / "sub.py").write_text(STALE)
    (tmp_path / "mine.py").write_text(USES_STALE + "\nproblem = Base()\n")
    assert run_python(PROGRAM, tmp_path)[0] == "10.0"
    (tmp_path / "pkg" / "sub.py").write_text(STALE.replace("k=2", "k=5").replace("K = 2", "K = 30"))
    assert run_python(PROGRAM, tmp_path)[0] == "75.0"
