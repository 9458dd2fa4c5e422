"""TSPTW instances: the rules, where they come from, their text, what is refused, and what is proven impossible."""

import copy
import csv
import itertools
import json
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import playout as po
from playout import TSPTW, InputError, data
from playout.problems.tsptw import _generate
from playout.result import from_json

DATA = Path(__file__).parent.parent / "data"
TEXT = """4
0 10 20 30
11 0 5 7
21 6 0 8
31 9 4 0
2 60
15 20
0 20
0 100
"""


def instance(due=(60, 20, 20, 100), **options):
    """Three customers, the way back longer than the way there; in the order 1, 2, 3 all are in time."""
    return TSPTW(((0, 10, 20, 30), (11, 0, 5, 7), (21, 6, 0, 8), (31, 9, 4, 0)), (2, 15, 0, 0), due, **options)


@st.composite
def instances(draw, most=5):
    """Small ones, many of them impossible, with ways that are shorter over others."""
    nodes = draw(st.integers(1, most))
    times = st.integers(0, 40).map(float)
    rows = st.lists(times, min_size=nodes, max_size=nodes)
    ready = draw(rows)
    due = [opens + length for opens, length in zip(ready, draw(rows), strict=True)]
    return TSPTW(draw(st.lists(rows, min_size=nodes, max_size=nodes)), ready, due)


# The rules


def test_a_tour_that_is_in_time_everywhere():
    """Begin at 2; customer 1 at 12, wait until 15; 2 at 20, as it closes; 3 at 28; back at 59. 10 + 5 + 8 + 31 = 54."""
    detail = {"cost": 54.0, "makespan": 59.0, "violations": 0, "missed": [], "feasible": True, "finished": True}
    assert instance().replay([1, 2, 3]) == (-54.0, detail)
    assert instance(objective="makespan").replay([1, 2, 3]) == (-59.0, detail)


def test_windows_that_are_missed_are_named():
    """Begin at 2; customer 2 at 22, late by 2; 1 at 28, by 8; 3 at 35; back at 66, by 6. 20 + 6 + 7 + 31 = 64."""
    score, detail = instance().replay([2, 1, 3])
    assert score == -3_000_064.0
    assert (detail["cost"], detail["makespan"], detail["violations"]) == (64.0, 66.0, 3)
    assert detail["missed"] == [
        {"customer": 2, "due": 20.0, "arrival": 22.0, "late": 2.0},
        {"customer": 1, "due": 20.0, "arrival": 28.0, "late": 8.0},
        {"customer": 0, "due": 60.0, "arrival": 66.0, "late": 6.0},
    ]
    assert not detail["feasible"]
    assert instance(objective="makespan").replay([2, 1, 3])[0] == -3_000_066.0


def test_a_part_of_a_tour_counts_as_far_as_it_goes():
    score, detail = instance().replay([1, 2])
    assert (score, detail["cost"], detail["makespan"]) == (-15.0, 15.0, 20.0)
    assert not detail["finished"]
    assert not detail["feasible"]
    assert instance().replay([])[1]["makespan"] == 2.0


def test_a_depot_alone_is_a_tour():
    score, detail = TSPTW(((0,),), (3,), (5,)).replay([])
    assert (score, detail["makespan"], detail["finished"], detail["feasible"]) == (0.0, 3.0, True, True)


@pytest.mark.parametrize(
    ("moves", "message"),
    [
        ([4], "move 1 is 4; the customers are 1 to 3"),
        ([1, 0], "move 2 is 0; the customers are 1 to 3"),
        ([1, -1], "move 2 is -1; the customers are 1 to 3"),
        ([1, 2, 1], "move 3 visits customer 1 again; move 1 did"),
        ([1, "2"], "move 2 is '2'; the customers are 1 to 3"),
        ([True], "move 1 is True; the customers are 1 to 3"),
    ],
)
def test_wrong_moves_are_named(moves, message):
    with pytest.raises(InputError) as error:
        instance().replay(moves)
    assert str(error.value) == message


def test_moves_are_customers():
    assert instance().encode((1, np.int64(3))) == [1, 3]
    assert instance().decode([2, 1]) == [2, 1]
    with pytest.raises(InputError, match="a move is 9; the customers are 1 to 3"):
        instance().encode([9])


@given(instances(), st.randoms())
def test_the_detail_adds_up(problem, random):
    """Cost is the sum of the distances, nobody begins before a window opens, and the score is made of the two."""
    moves = random.sample(range(1, problem.nodes), problem.nodes - 1)
    score, detail = problem.replay(moves)
    legs = itertools.pairwise([0, *moves, 0]) if moves else []
    assert detail["cost"] == sum(problem.distances[a][b] for a, b in legs)
    assert score == -(detail["cost"] + 1e6 * detail["violations"])
    assert len(detail["missed"]) == detail["violations"]
    stops = problem.tour(moves).stops
    assert all(stop.start >= stop.ready and stop.start >= stop.arrival for stop in stops)
    assert json.loads(json.dumps(detail)) == detail


# What cannot be feasible


def test_an_instance_that_cannot_be_feasible_says_so_in_its_result():
    """Customer 2 closes at 18: 22 is the direct way, 20 the way over customer 1, who is not ready before 15."""
    _, detail = instance(due=(60, 20, 18, 100)).replay([1, 2, 3])
    assert detail["impossible"] == "customer 2 cannot be reached before 20, its window closes at 18"
    assert "impossible" not in instance().replay([1, 2, 3])[1]


def test_a_return_that_is_always_too_late():
    """Customer 3 is reached at 22, over 1; from there nobody else is in time, and the direct way takes 31."""
    assert instance(due=(50, 20, 20, 100)).impossible == (
        "the depot cannot be reached before 53 after customer 3, its window closes at 50"
    )


def test_two_customers_that_exclude_each_other():
    problem = TSPTW(((0, 10, 10), (10, 0, 30), (10, 30, 0)), (0, 0, 0), (100, 20, 20))
    assert problem.impossible == (
        "customers 1 and 2 cannot both be in time: 2 is reached at 40 after 1, its window closes at 20; "
        "1 is reached at 40 after 2, its window closes at 20"
    )


@given(instances())
def test_nothing_is_called_impossible_that_is_not(problem):
    """Against all tours of up to four customers."""
    if problem.impossible is not None:
        assert "\n" not in problem.impossible
        tours = itertools.permutations(range(1, problem.nodes))
        assert not any(problem.replay(moves)[1]["feasible"] for moves in tours)


def test_a_large_instance_is_looked_at_for_single_customers_only():
    problem = TSPTW.random(999, width=0, seed=1)
    assert problem.impossible is None
    late = TSPTW(problem.distances, (1.0, *[0.0] * 999), [1e9, *[0.5] * 999])
    assert late.impossible.startswith("customer 1 cannot be reached before")


# The text format


def test_the_format_can_be_read_and_written(tmp_path):
    problem = TSPTW.parse(TEXT)
    assert problem == instance()
    assert problem.to_text() == TEXT
    spaced = TEXT.replace(" ", " \t ").replace("\n", "  \r\n\n") + "\n\n"
    assert TSPTW.parse(spaced) == problem
    problem.save(tmp_path / "a.txt")
    loaded = TSPTW.load(tmp_path / "a.txt")
    assert loaded == problem
    assert loaded.name == "a"


@given(instances(), st.floats(0, 1e9))
def test_every_number_is_read_as_it_was_written(problem, odd):
    changed = TSPTW(problem.distances, [0.0] * problem.nodes, [odd] * problem.nodes)
    assert TSPTW.parse(changed.to_text()) == changed


ONE = "1\n0\n0 9\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: ends too early: the number of nodes is missing"),
        ("\n \n", "line 1: ends too early: the number of nodes is missing"),
        ("\nx", "line 2: the number of nodes is 'x'; allowed are whole numbers from 1 to 1,000"),
        ("0", "line 1: the number of nodes is '0'; allowed are whole numbers from 1 to 1,000"),
        ("-4", "line 1: the number of nodes is '-4'; allowed are whole numbers from 1 to 1,000"),
        ("1001", "line 1: the number of nodes is '1001'; allowed are whole numbers from 1 to 1,000"),
        ("4 4", "line 1: the number of nodes is '4 4'; allowed are whole numbers from 1 to 1,000"),
        ("٣", "line 1: the number of nodes is '٣'; allowed are whole numbers from 1 to 1,000"),
        ("9" * 5000, "allowed are whole numbers from 1 to 1,000"),
        ("2", "line 2: ends too early: row 1 of 2 of the matrix is missing"),
        ("2\n0 1\n", "line 3: ends too early: row 2 of 2 of the matrix is missing"),
        ("2\r0 1\r\n1 0\n\r", "line 4: ends too early: the window of the depot is missing"),
        ("2\n0 1\n1 0\n0 9\n", "line 5: ends too early: the window of customer 1 is missing"),
        ("2\n0\x0c1\n\x85\n1\u20280\n\nx", "line 6: the window of the depot has 1 number; a ready and a due time"),
        ("2\n0 1 2\n1 0\n", "line 2: row 1 of the matrix has 3 numbers; 2 are needed"),
        ("2\n0 1\n\n1\n", "line 4: row 2 of the matrix has 1 number; 2 are needed"),
        ("2\n0 x\n", "line 2: a distance is 'x'; allowed are numbers from 0 to 1,000,000,000"),
        ("2\n0 -1\n", "line 2: a distance is '-1'; allowed are numbers from 0 to 1,000,000,000"),
        ("2\n0 nan\n", "line 2: a distance is 'nan'; allowed are numbers from 0 to 1,000,000,000"),
        ("2\n0 inf\n", "line 2: a distance is 'inf'; allowed are numbers from 0 to 1,000,000,000"),
        ("2\n0 1e300\n", "line 2: a distance is '1e300'; allowed are numbers from 0 to 1,000,000,000"),
        ("2\n0 1_0\n", "line 2: a distance is '1_0'; allowed are numbers from 0 to 1,000,000,000"),
        ("1\n0\n0\n", "line 3: the window of the depot has 1 number; a ready and a due time are needed"),
        ("1\n0\n0 9 9\n", "line 3: the window of the depot has 3 numbers; a ready and a due time are needed"),
        ("1\n0\n-1 9\n", "line 3: a time is '-1'; allowed are numbers from 0 to 1,000,000,000"),
        ("1\n0\n9 8.5\n", "line 3: the window of the depot closes at 8.5, before it opens at 9"),
        (TEXT.replace("15 20", "15 14"), "line 7: the window of customer 1 closes at 14, before it opens at 15"),
        (ONE + "\nEOF\n", "line 5: 'EOF' follows the only window; nothing may"),
        (ONE + "x" * 500, "line 4: 'xxxxxxx"),
    ],
)
def test_a_malformed_text_says_what_is_wrong_and_where(text, message, tmp_path):
    file = tmp_path / "odd.txt"
    file.write_text(text, encoding="utf-8")
    for make in (lambda: TSPTW.parse(text), lambda: TSPTW.load(file)):
        with pytest.raises(InputError, match=r"^[^\n]{1,400}$") as error:
            make()
        assert message.replace("the instance", "") in str(error.value)
    assert str(file) in str(error.value)


@given(st.text(max_size=100) | st.text("012 \n.-e", max_size=60))
def test_any_text_is_an_instance_or_a_clear_error(text):
    try:
        problem = TSPTW.parse(text)
    except InputError as error:
        assert "\n" not in str(error)
    else:
        assert problem.nodes > 0


def test_what_is_no_text_is_refused(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(InputError, match=r"a.txt' is not a text file"):
        TSPTW.load(tmp_path / "a.txt")
    with pytest.raises(InputError, match=r"cannot read '.*': Is a directory"):
        TSPTW.load(tmp_path)
    monkeypatch.setattr("playout.problems.tsptw_text.MAX_BYTES", 10)
    (tmp_path / "a.txt").write_text(TEXT)
    with pytest.raises(InputError, match=r"is larger than an instance can be \(10 characters\)"):
        TSPTW.load(tmp_path / "a.txt")


# Values from Python


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TSPTW(((0, 1), (1,)), (0, 0), (9, 9)), "row 1 of distances has 1 number; 2 are needed"),
        (lambda: TSPTW(((0, 1), (1, 0)), (0,), (9, 9)), "ready has 1 number; 2 are needed"),
        (lambda: TSPTW(((0, 1), (1, 0)), (0, 0), (9, 9, 9)), "due has 3 numbers; 2 are needed"),
        (lambda: TSPTW((), (), ()), "distances has 0 rows; allowed are 1 to 1,000"),
        (lambda: TSPTW(3, (), ()), "distances is 3; rows of numbers are needed"),
        (lambda: TSPTW(((0,),), 3, (1,)), "ready is 3; a sequence of numbers is needed"),
        (lambda: TSPTW(((0, -1), (1, 0)), (0, 0), (9, 9)), "a distance is -1; allowed are finite numbers from 0"),
        (lambda: TSPTW((("0",),), (0,), (9,)), "a distance is '0'; allowed are finite numbers from 0"),
        (lambda: TSPTW(((0,),), (float("nan"),), (9,)), "a ready time is nan; allowed are finite numbers from 0"),
        (lambda: TSPTW(((0,),), (0,), (float("inf"),)), "a due time is inf; allowed are finite numbers from 0"),
        (lambda: instance(due=(60, 14, 20, 100)), "the window of customer 1 closes at 14, before it opens at 15"),
        (lambda: instance(objective="time"), "objective is 'time'; allowed are cost, makespan"),
        (lambda: instance(urgent="yes"), "urgent is 'yes'; allowed are True and False"),
        (lambda: TSPTW.random(0), "n is 0; allowed are whole numbers from 1 to 999"),
        (lambda: TSPTW.random(1000), "n is 1000; allowed are whole numbers from 1 to 999"),
        (lambda: TSPTW.random(width=-1), "width is -1; allowed are whole numbers from 0 to 1,000,000"),
        (lambda: TSPTW.load("/does/not/exist"), "cannot read '/does/not/exist': No such file"),
        (lambda: po.problem("tsptw"), "'tsptw' does not say which tsptw; write one of tsptw:rc_204.1"),
        (lambda: po.problem("tsptw:random:x"), "the seed of tsptw:random:SEED is 'x'; a whole number is needed"),
        (lambda: po.problem("tsptw:random:1,colours=2"), "unknown option 'colours'"),
        (lambda: po.problem("tsptw:a,n=2"), "unknown option 'n'"),
        (lambda: po.problem("tsptw:random:1,urgent=1"), "urgent is '1'; allowed are yes, no"),
        (lambda: po.problem("tsptw:a/b.txt"), "cannot read 'a/b.txt': No such file"),
        (lambda: po.problem("tsptw:.."), "there is no tsptw instance '..'"),
        (lambda: po.problem("tsptw:a\0b"), "there is no tsptw instance 'a\\x00b'"),
        (lambda: po.problem("tsptw:\ud800"), "there is no tsptw instance '\\ud800'"),
        (lambda: po.problem("tsptw:" + "a" * 5000), "there is no tsptw instance"),
    ],
)
def test_impossible_values_are_named(make, message):
    with pytest.raises(InputError, match=r"^[^\n]*$") as error:
        make()
    assert message in str(error.value)


def test_an_instance_is_plain_data():
    """Arrays become tuples, equal instances are equal keys, and copies leave the computed parts out."""
    from_arrays = TSPTW(np.array(instance().distances), np.array([2, 15, 0, 0]), np.array(instance().due))
    assert from_arrays == instance()
    assert hash(from_arrays) == hash(instance())
    assert type(from_arrays.distances[0][1]) is float
    assert instance(urgent=True) != instance()
    assert from_arrays.impossible is None
    for twin in (pickle.loads(pickle.dumps(from_arrays)), copy.deepcopy(from_arrays)):
        assert twin == from_arrays
        assert "impossible" not in vars(twin)
    assert from_arrays.temperature == 1.4
    assert from_arrays.variants() == [from_arrays]


# Names


def test_names_are_looked_for_in_the_data_folders(tmp_path, monkeypatch):
    """Folders in order, a subfolder of the kind first, with and without .txt; an existing path wins."""
    first, second, here = tmp_path / "first", tmp_path / "second", tmp_path / "here"
    for folder in (first / "tsptw", second, here):
        folder.mkdir(parents=True)
    monkeypatch.setenv("PLAYOUT_DATA", f"{first}{os.pathsep}{os.pathsep}{second}")
    monkeypatch.chdir(here)
    assert data.folders()[:2] == [first, second]
    places = [
        second / "a.1.txt",
        first / "a.1",
        first / "tsptw" / "a.1.txt",
        here / "a.1",
    ]
    for number, place in enumerate(places, 1):
        TSPTW.random(number, seed=1).save(place)
        problem = po.problem("tsptw:a.1")
        assert problem.nodes == number + 1
        assert problem.describe() == "tsptw:a.1"
    assert po.problem("tsptw:a.1.txt,objective=makespan,avoid_late=no").nodes == 4
    assert po.problem(f"tsptw:{second}/a.1.txt").name == "a.1"
    with pytest.raises(InputError) as error:
        po.problem("tsptw:b.1")
    for folder in (here, first, second, data.OWN):
        assert str(folder) in str(error.value)
    assert "set PLAYOUT_DATA to the folder that has it" in str(error.value)


def test_names_rebuild_random_instances():
    for name in ("tsptw:random:7", "tsptw:random:7,n=5,width=10", "tsptw:random:0,objective=makespan,urgent=yes"):
        problem = po.problem(name)
        assert problem.to_json() == name == problem.describe()
        assert problem.rebuilds
    assert po.problem("tsptw:random:7,n=5,width=10,avoid_late=no") == TSPTW.random(5, 10, 7, avoid_late=False)


def test_an_instance_of_a_file_is_kept_whole():
    """The file need not be there when a result is loaded, on another machine, say."""
    problem = TSPTW.load(DATA / "tsptw-5.txt", objective="makespan", urgent=True)
    kept = json.loads(json.dumps(problem.to_json()))
    assert kept["name"] == "tsptw-5"
    rebuilt = TSPTW.from_json(kept)
    assert rebuilt == problem
    assert rebuilt.describe() == problem.describe() == "tsptw:tsptw-5,objective=makespan,urgent=yes"
    assert instance().describe() == "tsptw of 4 nodes"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"distances": None}, "'problem' has no distances, ready and due times"),
        ({"distances": [[0]]}, "ready has 6 numbers"),
        ({"distances": [0] * 6}, "row 0 of distances is 0"),
        ({"ready": [None] * 6}, "a ready time is None"),
        ({"name": 3}, "the name of 'problem' is 3; allowed are 1 to 100 printable characters"),
        ({"name": "a\x1b[2J"}, "allowed are 1 to 100 printable characters"),
        ({"objective": 7}, "objective is 7"),
        ({"urgent": 1}, "urgent is 1"),
    ],
)
def test_damaged_instances_are_refused(change, message):
    kept = TSPTW.load(DATA / "tsptw-5.txt").to_json()
    with pytest.raises(InputError, match=r"^[^\n]*$") as error:
        po.problems.from_json(kept | change)
    assert message in str(error.value)


def a_result(problem, moves):
    """What a search would return; the engine has no part in it."""
    score, detail = problem.replay(moves)
    return po.Result(
        problem, po.GNRPA(level=2), None, 1, score, tuple(moves), detail, 100, 0.5, False, ((0.1, 10, score),), {}
    )


def test_a_result_is_verified_and_says_what_it_is_of():
    problem = TSPTW.load(DATA / "tsptw-5.txt")
    result = a_result(problem, _generate(5, 60, 5)[1])
    assert from_json(json.loads(json.dumps(result.to_json()))) == result
    assert result.verify() == result.score
    assert result.summary().startswith("tsptw:tsptw-5: score -")
    with pytest.raises(InputError, match="the game goes on after the last of the 2 moves"):
        a_result(problem, [1, 2]).verify()
    late = a_result(problem, sorted(result.moves, key=lambda customer: -problem.due[customer]))
    assert late.detail["violations"] > 0
    assert f"score {late.score:,.10g} in 5 moves" in late.summary()
    assert "e+" not in late.summary()


# Random instances


@given(st.integers(1, 60), st.integers(0, 300), st.integers(0, 2**64 - 1))
def test_random_instances_have_a_feasible_tour(n, width, seed):
    """That which they were made around; windows are no longer than asked for, and the triangle inequality holds."""
    problem = TSPTW.random(n, width, seed)
    tour = _generate(n, width, seed)[1]
    assert sorted(tour) == list(range(1, n + 1))
    assert problem.replay(tour)[1]["feasible"]
    assert problem.impossible is None
    assert all(due - ready <= width for ready, due in list(zip(problem.ready, problem.due, strict=True))[1:])
    arcs = np.array(problem.distances)
    assert (arcs == arcs.T).all()
    assert all((arcs <= arcs[:, [k]] + arcs[[k]]).all() for k in range(n + 1))


@pytest.mark.parametrize("n", [5, 12, 20])
def test_random_instances_are_the_same_everywhere(n):
    assert TSPTW.random(n, seed=n).to_text() == (DATA / f"tsptw-{n}.txt").read_text()


# The public instances


def best_known():
    """Rows of instance, nodes, cost and makespan, from the data folders."""
    for folder in data.folders():
        for file in (folder / "tsptw" / "best-known.csv", folder / "best-known.csv"):
            if file.is_file():
                return list(csv.DictReader(file.read_text().splitlines()))
    return pytest.skip("the public instances and best-known.csv are in none of the data folders; set PLAYOUT_DATA")


def test_the_public_instances_can_be_read():
    rows = best_known()
    assert len(rows) == 30
    for row in rows:
        problem = po.problem(f"tsptw:{row['instance']}")
        assert problem.nodes == int(row["nodes"])
        assert problem.impossible is None
        assert TSPTW.parse(problem.to_text()) == problem
