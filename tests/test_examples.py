"""The examples of problems of one's own find what they say."""

import importlib.util
import itertools
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import playout as po

EXAMPLES = Path(__file__).parent.parent / "examples"


def module(name):
    """One that was not run before: what a test changes in it, no other sees."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def said(name, capsys):
    """What the script prints."""
    source = (EXAMPLES / f"{name}.py").read_text()
    exec(compile(source, EXAMPLES / f"{name}.py", "exec"), {"__name__": "__main__"})
    return capsys.readouterr().out


NAMES = ("knapsack", "weak_schur", "precedence_tour", "black_box")


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_wrong_with_it(name):
    report = po.check(module(name).problem, playouts=10)
    assert report, report


@pytest.mark.parametrize("name", NAMES)
def test_compiled_and_plain_are_the_same(name):
    example = module(name)
    compiled = po.solve(example.problem, po.GNRPA(level=2), playouts=150, seed=5)
    example.problem.compiled = False
    plain = po.solve(example.problem, po.GNRPA(level=2), playouts=150, seed=5)
    assert (plain.moves, plain.score) == (compiled.moves, compiled.score)
    assert plain.verify() == plain.score


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_threads_do_not_change_the_result(name, compiled):
    problem = module(name).problem
    problem.compiled = compiled
    playouts = 2_000 if compiled else 100
    alone, together = (
        po.solve(problem, po.GNRPA(level=2), playouts=playouts, threads=threads, parallel=po.Root(2), seed=3)
        for threads in (1, 2)
    )
    assert (alone.moves, alone.score) == (together.moves, together.score)


@pytest.mark.parametrize("name", NAMES)
def test_the_command_line_solves_it(name, tmp_path):
    run = [sys.executable, "-m", "playout"]
    problem = ["--problem", f"{EXAMPLES / name}.py:problem"]
    solve = [*run, "solve", problem[1], "--playouts", "500", "--level", "2", "--output", "run.json"]
    for words in (solve, [*run, "verify", "run.json", *problem], [*run, "show", "run.json", *problem]):
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr


def test_the_knapsack_is_the_best(capsys):
    found, possible = said("knapsack", capsys).split(", ")[:2]
    assert found.split()[1] == possible.split()[1]
    small = module("knapsack").Knapsack([3, 4, 5, 9, 14], [3, 4, 4, 10, 15], capacity=17)
    bags = [bag for bag in itertools.product((0, 1), repeat=5) if np.dot(bag, small.weights) <= 17]
    assert po.solve(small, po.NMCS(level=2), playouts=500).score == max(np.dot(bag, small.values) for bag in bags)


def test_weak_schur_numbers(capsys):
    lines = said("weak_schur", capsys).splitlines()
    assert [line.split(" after")[0] for line in lines] == ["3 parts: 1 to 23 of 23", "4 parts: 1 to 66 of 66"]
    problem = module("weak_schur").WeakSchur(4)
    result = po.solve(problem, po.GNRPA(level=3), playouts=200_000, target=66, seed=1)
    for part in range(4):
        numbers = {n for n, move in enumerate(result.moves, 1) if move == part}
        assert not any(x + y in numbers for x, y in itertools.combinations(numbers, 2))


def test_nim_is_won(capsys):
    assert po.check(module("nim").problem, playouts=10)
    assert said("nim", capsys).startswith("from heap 0 take 2, ")


def test_parcels_are_picked_up_before_they_are_delivered(capsys):
    lines = said("precedence_tour", capsys).splitlines()
    lengths = [float(line.split()[-1]) for line in lines[::2]]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[-1] < 5.1
    for line in lines[1::2]:
        stops = line.split()
        assert sorted(map(int, stops)) == [*range(-15, 0), *range(1, 16)]
        assert all(stops.index(f"+{parcel}") < stops.index(f"-{parcel}") for parcel in range(1, 16))


def test_the_length_of_the_tour():
    problem = module("precedence_tour").problem
    result = po.solve(problem, po.GNRPA(level=2), playouts=500)
    stops = [0, *result.moves, 0]
    assert -result.score == pytest.approx(sum(problem.distance[a, b] for a, b in itertools.pairwise(stops)))


def test_the_black_box_is_opened_by_the_caller(capsys):
    lines = said("black_box", capsys).splitlines()
    assert lines[-1].startswith("two threads played, MainThread computed the scores")
    found, known = (np.array(eval(line.split("[")[1].split("]")[0])) for line in lines[:2])
    assert np.abs(found - known).max() < 0.03


def test_the_score_of_the_black_box():
    result = po.solve(module("black_box").problem, po.GNRPA(level=2), playouts=500, threads=2)
    x = np.array(result.moves) / 50 - 1
    differences = [b - a for a, b in itertools.combinations(x, 2)]  # Vandermonde's determinant is their product
    leading = [1, 1, 3 / 2, 5 / 2, 35 / 8, 63 / 8, 231 / 16, 429 / 16]  # of the Legendre polynomials
    assert result.score == pytest.approx(np.log(differences).sum() + np.log(leading).sum())
