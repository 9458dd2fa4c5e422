"""What compiled methods can hold, and where their machine code is kept."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

import playout as po


class Flags(po.Problem):
    """Raise flags one after another, some of which may be."""

    State = dict(up=("?", (2, 3)), any="?", count="i8")
    max_moves = 6
    allowed = np.array([[True, False, True], [True, True, False]])

    def init(self, s):
        s.up[:] = False

    def moves(self, s, out):
        count = 0
        for i in range(6):
            if self.allowed[i // 3, i % 3] and not s.up[i // 3, i % 3]:
                out[count] = i
                count += 1
        return count

    def play(self, s, move):
        s.up[move // 3, move % 3] = True
        s.any = True

    def score(self, s):
        return s.up.sum() + 10 * (s.up & ~self.allowed).sum() + 100 * s.any


def test_arrays_of_booleans():
    assert po.check(Flags(), playouts=5), po.check(Flags(), playouts=5)
    assert po.solve(Flags(), po.NMCS(level=1), playouts=10).score == 104


class Grows(po.Problem):
    """Triple a number until it no longer fits."""

    State = dict(number="i4")
    max_moves = 1

    def init(self, s):
        s.number = 1

    def moves(self, s, out):
        out[0] = 3
        return 1

    def play(self, s, move):
        s.number *= move

    def score(self, s):
        return s.number


def test_a_number_that_does_not_fit_its_field():
    report = po.check(Grows(), playouts=1)
    assert "the field 'number' of the state, 'i4', cannot hold 3486784401, after 19 moves" in str(report)


FILE = """
import playout as po

class Count(po.Problem):
    State = dict(n="i8")
    max_moves = 1

    def init(self, s):
        s.n = START

    def moves(self, s, out):
        out[0] = 7
        return 1 if s.n < 10 else 0

    def play(self, s, move):
        s.n += 1

    def score(self, s):
        return s.n

problem = Count()
if __name__ == "__main__":
    print(po.solve(problem, playouts=5).score)
"""


def by_path(path):
    """Run a file without telling Python the name of the module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return po.solve(module.problem, playouts=5).score


def as_script(path):
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=120, cwd="/")
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


def by_name(path):
    words = [sys.executable, "-m", "playout", "solve", f"{path}:problem", "--playouts", "5", "--threads", "1"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return 10.0


@pytest.mark.parametrize("first", [by_path, as_script, by_name])
def test_what_is_kept_on_disk_is_read_however_the_file_is_run(first, tmp_path):
    path = tmp_path / "counting.py"
    path.write_text(FILE.replace("START", "0"))
    for run in (first, by_path, as_script, by_name):
        assert run(path) == 10
    kept = sorted((tmp_path / "__pycache__").glob("*.nbc"))
    assert len(kept) == 5  # init, play, score, find and step, once each


def test_what_is_kept_is_not_kept_longer_than_the_source(tmp_path):
    path = tmp_path / "counting.py"
    for start in (0, 12):
        path.write_text(FILE.replace("START", str(start)))
        assert by_path(path) == max(10, start)


def test_damage_to_what_is_kept_does_no_harm(tmp_path):
    path = tmp_path / "counting.py"
    path.write_text(FILE.replace("START", "0"))
    assert by_path(path) == 10
    for kept in (tmp_path / "__pycache__").glob("*.nb?"):
        kept.write_bytes(b"damaged")
    assert as_script(path) == 10


BASE = """
import playout as po

class Base(po.Problem):
    State = dict(n="i8", k="i8")
    max_moves = 1

    def init(self, s):
        s.n = 0

    def moves(self, s, out):
        out[0] = 7
        return 1 if s.n < 10 else 0

    def score(self, s):
        return s.k
"""
DERIVED = """
import helping
from base import Base
from helping import step

STEP = 1

class Derived(Base):
    def play(self, s, move):
        s.n += 1
        s.k += STEP + step() + helping.other()

problem = Derived()
print(problem.compiled, __import__("playout").solve(problem, playouts=3).score)
"""
HELPING = """
import numba

@numba.njit
def inner():
    return 10

@numba.njit
def step():
    return inner()

@numba.njit
def other():
    return 100
"""


def test_what_is_kept_changes_with_other_files_that_are_used(tmp_path):
    """Numba itself looks only at the file that a function is in."""
    files = {"base.py": BASE, "derived.py": DERIVED, "helping.py": HELPING}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    changes = [("helping.py", "10\n", "20\n"), ("derived.py", "STEP = 1", "STEP = 2"), ("helping.py", "100", "500")]
    script = tmp_path / "derived.py"
    for expected, change in zip((1110, 1210, 1220, 5220), [*changes, None], strict=True):
        done = subprocess.run([sys.executable, "-B", script], capture_output=True, text=True, timeout=120)
        assert done.stdout == f"None {expected}.0\n", done.stderr
        if change is not None:
            name, old, new = change
            files[name] = files[name].replace(old, new)
            (tmp_path / name).write_text(files[name])


PLACED = """
import playout as po

class Sizes:
    LEAST = 3

class Placed(po.Problem):
    State = dict(total="i8")
    max_moves = 1

    def moves(self, s, out):
        out[0] = Sizes.LEAST
        return 1 if s.total not in {10, 1000, 100_000, -7} else 0

    def play(self, s, move):
        s.total += 1

    def score(self, s):
        return s.total

total = TOTAL
calls = 0

class Counted(Placed):
    @po.python
    def score(self, s):
        global calls
        calls += 1
        return s.total
"""


def test_the_digest_is_of_what_methods_are_and_not_of_where(tmp_path):
    """Another folder, another module name, a global that is called as a field is, another order of a set's hashes."""
    script = "import importlib, sys; from playout.problem import methods_digest as m; "
    script += "module = importlib.import_module(sys.argv[1]); module.calls += len(sys.argv[1]); "
    script += "print(m(module.Placed), m(module.Counted))"
    found = set()
    for name, total in (("one", 1), ("another", 2)):
        (tmp_path / f"{name}.py").write_text(PLACED.replace("TOTAL", str(total)))
        for _ in range(2):  # from the source, and from what Python keeps of it
            words = [sys.executable, "-c", script, name]
            found.add(subprocess.run(words, capture_output=True, text=True, check=True, cwd=tmp_path).stdout)
    assert len(found) == 1
    assert len(set(found.pop().split())) == 2
