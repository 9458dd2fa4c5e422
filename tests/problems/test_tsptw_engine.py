"""The TSPTW inside the engine: its scores are those of the plain rules, and it finds what can be found."""

import itertools
import pickle
from itertools import permutations

import pytest

import playout as po
from playout import TSPTW
from playout.picture import to_html, to_svg
from playout.problems.tsptw import _generate
from tests.problems.test_tsptw import best_known, instance

OPTIONS = [
    {"objective": objective, "urgent": urgent, "avoid_late": avoid_late}
    for objective in ("cost", "makespan")
    for urgent in (True, False)
    for avoid_late in (True, False)
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("seed", range(3))
def test_the_engines_score_is_that_of_the_plain_rules(options, seed):
    result = po.solve(TSPTW.random(12, 40, seed, **options), po.GNRPA(level=2), playouts=300, seed=seed)
    assert result.verify() == result.score
    assert sorted(result.moves) == list(range(1, 13))
    assert result.problem.engine() is result.problem.engine()


@pytest.mark.parametrize("objective", ["cost", "makespan"])
@pytest.mark.parametrize("seed", range(3))
def test_small_instances_are_solved(objective, seed):
    """Against all tours of six customers."""
    problem = TSPTW.random(6, 200, seed, objective=objective)
    best = max(problem.replay(moves)[0] for moves in itertools.permutations(range(1, 7)))
    assert po.solve(problem, po.GNRPA(level=2), playouts=3000).score == best


def test_scores_have_the_same_bits_where_sums_are_rounded():
    """A tenth has no exact double: the order of the additions shows."""
    problem = TSPTW.random(20, 60, seed=4)
    tenths = TSPTW(
        [[0.1 * distance for distance in row] for row in problem.distances],
        [0.1 * time for time in problem.ready],
        [0.1 * time + 0.05 for time in problem.due],
    )
    for search in (po.GNRPA(level=2), po.NRPA(level=2), po.NMCS(level=1)):
        result = po.solve(tenths, search, playouts=500)
        assert result.verify() == result.score


def test_a_search_goes_on_from_a_tour():
    problem = TSPTW.random(20, 60, seed=4)
    tour = _generate(20, 60, 4)[1]
    result = po.solve(problem, po.GNRPA(level=2), playouts=200, start=tour)
    assert result.score >= problem.replay(tour)[0]
    assert result.detail["feasible"]


def test_an_instance_that_cannot_be_feasible_is_searched_all_the_same(tmp_path):
    result = po.solve(instance(due=(60, 20, 18, 100)), po.GNRPA(level=1), playouts=50)
    assert result.detail["violations"] == 1
    assert "customer 2 cannot be reached" in result.detail["impossible"]
    result.save(tmp_path / "run.json")
    best = max(result.problem.replay(tour)[0] for tour in permutations((1, 2, 3)))
    assert po.load(tmp_path / "run.json").verify() == result.score == best


@pytest.mark.parametrize("nodes", [1, 2])
def test_the_smallest_instances(nodes):
    problem = TSPTW([[0.0] * nodes] * nodes, [3.0] * nodes, [5.0] * nodes)
    result = po.solve(problem, po.GNRPA(level=1), playouts=5)
    assert result.moves == tuple(range(1, nodes))
    assert result.verify() == result.score == 0.0


def test_the_engine_stays_out_of_pickles():
    problem = TSPTW.random(5, seed=1)
    problem.engine()
    assert pickle.loads(pickle.dumps(problem)) == problem


def test_no_public_instance_is_solved_better_than_it_can_be():
    """The ten smallest: feasible tours cost at least the best known, up to the rounding of two decimals."""
    for row in sorted(best_known(), key=lambda row: int(row["nodes"]))[:10]:
        result = po.solve(po.problem(f"tsptw:{row['instance']}"), po.GNRPA(level=3), playouts=5000)
        if result.detail["feasible"]:
            assert result.detail["cost"] >= float(row["cost"]) - 0.01


def test_a_score_of_minus_zero_is_shown_as_zero():
    result = po.solve(TSPTW([[0.0] * 3] * 3, [0.0] * 3, [5.0] * 3), po.GNRPA(level=1), playouts=5)
    assert "score 0 in 2 moves" in result.summary()
    for text in (result._repr_html_(), to_html(result), to_svg(result)):
        assert ": 0<" in text or "score 0 in" in text
        assert ">-0" not in text
