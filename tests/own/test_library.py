"""Problems in libraries: the example in C, and everything that can be wrong with one."""

import itertools
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import playout as po
from playout import _core

KNIGHTS = Path(__file__).parents[2] / "examples" / "knights.c"
COMPILER = shutil.which("cc") or shutil.which("gcc")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")


def build(source, library, *options):
    include = f"-I{po.get_include()}"
    strict = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror")
    words = [COMPILER, *strict, "-O1", "-shared", "-fPIC", include, *options, source, "-o", library]
    subprocess.run(words, check=True, timeout=120)
    return library


@pytest.fixture(scope="module")
def knights(tmp_path_factory):
    return build(KNIGHTS, tmp_path_factory.mktemp("library") / "knights.so")


# A playout counts to 5 by moves of 1 or 2. Each macro is something to get wrong.
SOURCE = """
#include "playout.h"
#include <math.h>
#include <stdlib.h>
#ifndef SCORE
#define SCORE *(const int64_t *)state
#endif
#ifndef MOVES
#define MOVES out[0] = 1, out[1] = 2, *(const int64_t *)state < 5 ? 2 : 0
#endif
#ifndef PLAY
#define PLAY *(int64_t *)state += move
#endif
#ifndef PLAYER
#define PLAYER *(const int64_t *)state % 2
#endif
#ifndef FIELDS
#define FIELDS
#endif
#ifndef TABLE
#define TABLE &table
#endif
static void init(const void *data, void *state) { (void)data, (void)state; }
static int64_t moves(const void *data, const void *state, int64_t *out) { return (void)data, (void)state, MOVES; }
static void play(const void *data, void *state, int64_t move) { (void)data, PLAY; }
static double score(const void *data, const void *state) { return (void)data, (void)state, SCORE; }
static double bias(const void *data, const void *state, int64_t move) {
  return (void)data, (void)state, move == 1 ? NAN : 0;
}
static int64_t player(const void *data, const void *state) { return (void)data, (void)state, PLAYER; }
double (*const unused)(const void *, const void *, int64_t) = bias;
int64_t (*const unused_too)(const void *, const void *) = player;
static struct playout_table table = {PLAYOUT_TABLE_VERSION, 8, 2, 0, 0, NULL, NULL, init, moves, play, score, NULL,
                                     NULL, NULL};
const struct playout_table *ENTRY(const char *argument) {
  (void)argument;
  FIELDS;
  return TABLE;
}
"""


@pytest.fixture
def library(tmp_path):
    numbers = itertools.count()

    def make(entry="playout_problem", **macros):
        name = f"broken{next(numbers)}"  # a library that is loaded stays: each has a name of its own
        (tmp_path / f"{name}.c").write_text(SOURCE)
        options = [f"-D{key}={value}" for key, value in {"ENTRY": entry, **macros}.items()]
        return build(tmp_path / f"{name}.c", tmp_path / f"{name}.so", *options)

    return make


def crosses(n, a, b, c, d):
    """Whether the open segments from a to b and from c to d have a point in common, by plain arithmetic."""
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = ((square % n, square // n) for square in (a, b, c, d))

    def turn(px, py, qx, qy, rx, ry):
        value = (qx - px) * (ry - py) - (qy - py) * (rx - px)
        return (value > 0) - (value < 0)

    return (
        turn(ax, ay, bx, by, cx, cy) * turn(ax, ay, bx, by, dx, dy) < 0
        and turn(cx, cy, dx, dy, ax, ay) * turn(cx, cy, dx, dy, bx, by) < 0
    )


@pytest.mark.parametrize(("n", "known"), [(3, 2), (4, 5), (5, 10), (6, 17)])
def test_the_knight_goes_as_far_as_it_can(knights, n, known):
    problem = po.load_problem(knights, str(n))
    assert po.check(problem)
    result = po.solve(problem, po.GNRPA(level=3, iterations=50), playouts=20_000)
    assert result.score == known
    assert result.verify() == known
    assert len(set(result.moves)) == known + 1
    jumps = list(itertools.pairwise(result.moves))
    assert all({abs(a % n - b % n), abs(a // n - b // n)} == {1, 2} for a, b in jumps)
    assert not any(crosses(n, *first, *second) for first, second in itertools.combinations(jumps, 2))


def test_the_knight_on_several_threads(knights):
    problem = po.load_problem(knights, "7")
    alone, together = (po.solve(problem, playouts=5_000, parallel=po.Root(2), threads=threads) for threads in (1, 2))
    assert (alone.moves, alone.score) == (together.moves, together.score)


def test_two_problems_of_one_library(knights):
    small, large = po.load_problem(knights, "3"), po.load_problem(knights, "6")
    assert po.solve(small, playouts=100).score == 2
    assert po.solve(large, playouts=100).score > 5
    assert (small.name, small.max_moves, large.max_moves) == ("knight's path", 9, 36)


def test_a_result_is_saved_and_verified(knights, tmp_path):
    problem = po.load_problem(knights, "5")
    result = po.solve(problem, playouts=500)
    result.save(tmp_path / "run.json")
    with pytest.raises(po.InputError, match="a problem of somebody's own"):
        po.load(tmp_path / "run.json").verify()
    assert po.load(tmp_path / "run.json", problem=problem).verify() == result.score
    with pytest.raises(po.InputError):
        po.load(tmp_path / "run.json", problem=po.load_problem(knights, "6"))
    assert pickle.loads(pickle.dumps(problem)).describe() == problem.describe()


def test_the_command_line(knights, tmp_path):
    name = f"{knights}:5"
    run = [sys.executable, "-m", "playout"]
    for words in (
        ["check", name],
        ["solve", name, "--playouts", "2000", "--output", "run.json"],
        ["verify", "run.json", "--problem", name],
        ["show", "run.json", "--problem", name],
    ):
        done = subprocess.run([*run, *words], cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
    done = subprocess.run([*run, "solve", f"{knights}:99", "--playouts", "5"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "it has no problem for the argument '99'" in " ".join(done.stderr.split())


def test_the_header_is_where_it_is_said_to_be():
    header = Path(po.get_include()) / "playout.h"
    assert header.is_file()
    done = subprocess.run([sys.executable, "-m", "playout", "include"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(header.parent)


@pytest.mark.parametrize(("compiler", "standard"), [("gcc", "c99"), ("g++", "c++17")])
def test_the_header_compiles(compiler, standard, tmp_path):
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no {compiler}")
    source = tmp_path / "header.c"
    source.write_text(2 * '#include "playout.h"\n' + "int main(void) { return PLAYOUT_TABLE_VERSION - 1; }")
    language = "c" if compiler == "gcc" else "c++"
    strict = [f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    words = [compiler, "-x", language, *strict, f"-I{po.get_include()}", source, "-o", tmp_path / "header"]
    subprocess.run(words, check=True, timeout=120)


def test_the_library_of_these_tests_is_right_unless_told_otherwise(library):
    problem = po.load_problem(library())
    assert po.check(problem)
    assert po.solve(problem, playouts=100).score == 6
    assert problem.name.startswith("broken")


@pytest.mark.parametrize(
    ("macros", "message"),
    [
        ({"entry": "another_name"}, r"does not export playout_problem\(\), which playout.h declares"),
        ({"FIELDS": "table.version = 7"}, "its table is of version 7, this Playout reads version 1"),
        ({"TABLE": "table.version == 0 ? &table : NULL"}, "it has no problem for the argument 'x'"),
        ({"FIELDS": "table.init = NULL"}, "init, moves, play and score must not be NULL"),
        ({"FIELDS": "table.moves = NULL"}, "must not be NULL"),
        ({"FIELDS": "table.play = NULL"}, "must not be NULL"),
        ({"FIELDS": "table.score = NULL"}, "must not be NULL"),
        ({"FIELDS": "table.max_moves = 0"}, "max_moves is 1 to 1,048,576"),
        ({"FIELDS": "table.max_moves = -1"}, "max_moves is 1 to 1,048,576"),
        ({"FIELDS": "table.max_moves = -4294967291"}, "max_moves is 1 to 1,048,576"),
        ({"FIELDS": "table.max_moves = 1 << 30"}, "max_moves is 1 to 1,048,576"),
        ({"FIELDS": "table.max_length = -1"}, "max_length"),
        ({"FIELDS": "table.temperature = NAN"}, "temperature"),
        ({"FIELDS": "table.temperature = -1"}, "temperature"),
        ({"FIELDS": 'table.name = "\\xff"'}, "name"),
        ({"FIELDS": "table.state_bytes = 4000000000u"}, "state_bytes"),
    ],
)
def test_what_cannot_be_loaded(library, macros, message):
    with pytest.raises(po.InputError, match=message):
        po.load_problem(library(**macros), "x")


@pytest.mark.parametrize(
    ("macros", "message"),
    [
        ({"MOVES": "out[0] = 1, 3"}, "moves returned 3; allowed are 0 to max_moves, 2"),
        ({"MOVES": "out[0] = 1, -1"}, "moves returned -1; allowed are 0 to max_moves, 2"),
        ({"MOVES": "out[0] = out[1] = out[2] = out[3] = out[9] = 1, 10"}, "moves returned 10"),
        (
            {"MOVES": "out[0] = out[1] = 1, *(const int64_t *)state < 5 ? 2 : 0"},
            "moves lists the move 1 more than",
        ),
        ({"SCORE": "NAN"}, "score returned nan"),
        ({"SCORE": "HUGE_VAL"}, "score returned inf"),
        ({"FIELDS": "table.bias = bias"}, "bias returned nan"),
        ({"MOVES": "out[0] = 1, 1"}, "a playout goes on after 10,?000 moves"),
        ({"MOVES": "out[0] = 1, 1", "FIELDS": "table.max_length = 50"}, "a playout goes on after 50 moves"),
        ({"PLAY": "(void)state, (void)move"}, "play leaves the state unchanged: move"),
        ({"SCORE": "rand()"}, "the same moves, played again, give other moves, codes, biases or another score"),
    ],
)
def test_what_can_be_loaded_and_is_wrong(library, macros, message):
    problem = po.load_problem(library(**macros))
    report = po.check(problem, playouts=10)
    assert not report
    with pytest.raises(po.InputError, match=message):
        po.solve(problem, playouts=1_000)


def test_a_game(library):
    problem = po.load_problem(library(FIELDS="table.player = player", SCORE="*(const int64_t *)state == 6 ? 1 : -1"))
    report = po.check(problem, playouts=10)
    assert report, report
    assert "a game for two players" in str(report)
    position = _core.Position(problem.engine())
    players = [position.player()]
    for move in (2, 1, 2):
        position.play(move)
        players.append(position.player())
    assert players == [0, 0, 1, 1]
    assert not _core.Position(po.load_problem(library()).engine()).player()
    with pytest.raises(po.InputError, match="is a game for two players: it is played with"):
        po.solve(problem, playouts=10)


@pytest.mark.parametrize("player", [-1, 2, 2**32, -(2**62)])
def test_a_player_that_there_is_not(library, player):
    problem = po.load_problem(library(FIELDS="table.player = player", PLAYER=f"{player}"))
    assert f"player returned {player}; allowed are 0 and 1, at the beginning" in str(po.check(problem))
    for ask in (_core.Position.player, _core.Position.key):
        with pytest.raises(_core.ProblemError, match=f"player returned {player}; allowed are 0 and 1"):
            ask(_core.Position(problem.engine()))


def test_what_is_wrong_only_later(library):
    """So rarely that the games before a search do not show it: the search itself must."""
    played, sum_of_moves = "(*(const int64_t *)state % 256)", "(*(const int64_t *)state / 256)"
    usual = {
        "PLAY": "*(int64_t *)state += 1 + 256 * (move - 1)",
        "MOVES": f"out[0] = 1, out[1] = 2, {played} < 12 ? 2 : 0",
        "SCORE": sum_of_moves,
    }
    wrong = {
        "score returned nan": {"SCORE": f"{sum_of_moves} == 12 ? NAN : {sum_of_moves}"},
        "moves returned 5": {"MOVES": f"out[0] = 1, out[1] = 2, {played} < 12 ? 2 : {sum_of_moves} == 12 ? 5 : 0"},
        "a playout goes on": {"MOVES": f"out[0] = 1, out[1] = 2, {played} < 12 || {sum_of_moves} > 11 ? 2 : 0"},
    }
    for message, macros in wrong.items():
        problem = po.load_problem(library(**{**usual, **macros}))
        assert po.check(problem, playouts=5)
        for threads in (1, 2):
            with pytest.raises(po.InputError, match=message):
                po.solve(problem, playouts=1_000_000, threads=threads)


@pytest.mark.parametrize("content", [b"", b"not a library", b"\x7fELF" + bytes(100)])
def test_a_file_that_is_no_library(tmp_path, content):
    path = tmp_path / "nothing.so"
    path.write_bytes(content)
    with pytest.raises(po.InputError, match=r"cannot load .*nothing\.so"):
        po.load_problem(path)


def test_arguments_that_are_none(tmp_path, knights):
    with pytest.raises(po.InputError, match="there is no such file"):
        po.load_problem(tmp_path / "missing.so")
    with pytest.raises(po.InputError, match="there is no such file"):
        po.load_problem(tmp_path)
    for arguments in ((3,), (knights, 5), (knights, "5\0"), (knights, "\udcff"), (knights, None), ("\0",)):
        with pytest.raises(po.InputError, match="load_problem takes a file and a text"):
            po.load_problem(*arguments)
    with pytest.raises(po.InputError, match="not legal"):
        po.load_problem(knights, "5").replay([0, 1])
