"""Jobs: root and hybrid parallelization and the portfolio give what their jobs give, on any number of threads."""

import math

import pytest

import playout as po
from playout import GNRPA, NMCS, NRPA, Hybrid, Leaf, Node, Root, SameGame
from playout._core import Run
from playout.parallel import _quota, begin
from tests.reference import portfolio
from tests.search.test_nested import TABU, advance

AUTO = SameGame.random(7, 7, 4, seed=6, tabu="auto")
STRATEGIES = [
    (TABU, GNRPA(level=2, iterations=10), None),
    (TABU, GNRPA(level=2, iterations=10), Root(5)),
    (TABU, NMCS(level=2), Root(3)),
    (TABU, NRPA(level=3, iterations=5), Leaf(3)),
    (TABU, GNRPA(level=3, iterations=5), Leaf(3, policy="local")),
    (TABU, GNRPA(level=3, iterations=5), Node(2, 2)),
    (TABU, GNRPA(level=3, iterations=5), Node(2, 2, policy="local")),
    (TABU, GNRPA(level=3, iterations=5), Hybrid(2, 3, 2, policy="local", exchange_best=True)),
    (TABU, GNRPA(level=2, iterations=10), Hybrid(3, 4)),
    (TABU, GNRPA(level=3, iterations=5, playouts_per_call=6), Leaf(2)),
    (AUTO, GNRPA(level=2, iterations=10), None),
    (AUTO, GNRPA(level=2, iterations=10), Root(3)),
    (AUTO, GNRPA(level=2, iterations=10), Leaf(4)),
    (AUTO, GNRPA(level=2, iterations=10), Hybrid(2, 2)),
]


def outcome(result):
    return result.score, result.moves, result.playouts


@pytest.mark.parametrize(("problem", "search", "parallel"), STRATEGIES, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("playouts", [1, 3, 2999, 7000])
def test_threads_change_nothing(problem, search, parallel, playouts):
    """One, two, three and eight threads, several times over; few playouts and many, and more jobs than threads."""
    strategy = Root(1) if parallel is None else parallel  # else more threads would choose one
    one = po.solve(problem, search, playouts=playouts, parallel=strategy, seed=3)
    assert one.playouts == playouts
    for threads in (2, 3, 8, 2):
        several = po.solve(problem, search, playouts=playouts, parallel=strategy, seed=3, threads=threads)
        assert outcome(several) == outcome(one)


def test_root_is_the_best_of_its_jobs():
    """Each job plays its share with random numbers of its own; the first of equals wins."""
    for search in (GNRPA(level=2, iterations=10), NMCS(level=2)):
        jobs = [advance(search.begin(TABU, 3, job), 101 if job == 0 else 100) for job in range(7)]
        assert len({tuple(job.moves) for job in jobs}) > 1
        best = max(jobs, key=lambda job: job.score)
        result = po.solve(TABU, search, playouts=701, parallel=Root(7), seed=3, threads=2)
        assert (result.score, TABU.encode(result.moves)) == (best.score, best.moves)


def test_one_job_is_the_search_alone():
    alone = po.solve(TABU, GNRPA(level=2), playouts=500, seed=4)
    assert alone.parallel is None
    for parallel in (Root(1), Leaf(1), Node(2, 1), Hybrid(1, 1)):
        assert outcome(po.solve(TABU, GNRPA(level=2), playouts=500, seed=4, parallel=parallel)) == outcome(alone)


def test_hybrid_is_the_best_of_its_leaves():
    search, parallel = GNRPA(level=2, iterations=10), Hybrid(3, 4)
    jobs = [advance(search.begin(TABU, 3, job, parallel.wide), 200) for job in range(3)]
    result = po.solve(TABU, search, playouts=600, parallel=parallel, seed=3, threads=2)
    assert result.score == max(job.score for job in jobs)


@pytest.mark.parametrize(("jobs", "keep"), [(4, 1), (5, 2), (8, 4), (10, 5), (3, 2)])
def test_the_portfolio_is_its_twin(jobs, keep):
    """The jobs' own playouts at the end, round by round: what the twin gives them."""
    search = GNRPA(level=2, iterations=10)
    games = [AUTO.variants()[job % 4] for job in range(jobs)]

    def score(job, playouts):
        return advance(search.begin(games[job], 5, job), playouts).score

    for playouts in (jobs * 1000 - 5, 9000, 33_333):
        *_, quotas = portfolio.rounds(jobs, keep, playouts, score)
        searches = [search.begin(game, 5, job) for job, game in enumerate(games)]
        run = Run(searches, playouts, math.inf, threads=2, crews=2, keep=keep)
        while not run.wait(10):
            pass
        state = run.serialise()
        for job, quota in enumerate(quotas):
            assert advance(searches[job].copy(), quota).serialise() in state
        assert sum(quotas) == run.progress().playouts == playouts


def test_variants_are_all_tried_and_the_best_get_most():
    """As many jobs as kept ones need, each variant at least once; sequences of a variant are the problem's own."""
    assert [game.tabu for game in AUTO.variants()] == sorted(range(4), key=lambda c: (-str(AUTO).count(str(c)), c))
    assert len(SameGame.standard(1).variants()) == 1
    for keep, expected in ((1, 4), (2, 4), (3, 8), (4, 8), (5, 12)):
        jobs = begin(AUTO, GNRPA(), Root(keep), 2, 0)
        assert (len(jobs.searches), jobs.keep, jobs.crews, jobs.threads) == (expected, keep, 2, 2)
    result = po.solve(AUTO, GNRPA(level=2, iterations=20), playouts=20_000, seed=1)
    assert result.problem.to_json() == AUTO.to_json()
    assert result.verify() == result.score


@pytest.mark.slow("runs twenty searches")
def test_auto_finds_the_better_colour():
    """Board 10: the dominant colour is the wrong one. At equal playouts the portfolio is far ahead (4 seeds)."""
    search = GNRPA(level=3)
    totals = [
        sum(po.solve(SameGame.standard(10, tabu=tabu), search, playouts=50_000, seed=seed).score for seed in range(4))
        for tabu in ("auto", "dominant")
    ]
    assert totals[0] > totals[1] + 4 * 200


def test_threads_form_crews():
    """Jobs first; with a wide level what is left over helps; nobody is started who has nothing to do."""
    search = GNRPA(level=2)
    for parallel, threads, expected in (
        (Root(4), 2, (2, 2)),
        (Root(2), 8, (2, 2)),
        (Leaf(4), 2, (1, 2)),
        (Leaf(4), 8, (1, 4)),
        (Hybrid(2, 4), 8, (2, 8)),
        (Hybrid(3, 2), 8, (3, 6)),
        (None, 1, (1, 1)),
    ):
        jobs = begin(TABU, search, parallel, threads, 0)
        assert (jobs.crews, jobs.threads) == expected
    assert begin(TABU, GNRPA(level=2, playouts_per_call=64), Leaf(1), 8, 0).threads == 8


def test_a_run_serialised_while_it_runs_goes_on_and_can_be_resumed():
    """Taken at whatever moments, on whatever threads: the end is the same."""
    for problem, search, parallel in STRATEGIES[1:]:
        jobs = begin(problem, search, parallel, 2, 3)
        options = {"keep": jobs.keep, "threads": jobs.threads, "crews": jobs.crews}
        whole = Run(jobs.searches, 6000, math.inf, **options)
        states = [whole.serialise() for _ in range(3)]
        while not whole.wait(0.002):
            states.append(whole.serialise())
        expected = whole.serialise()
        for state in (*states[:4], states[-1]):
            resumed = Run(jobs.searches, 6000, math.inf, keep=jobs.keep, threads=1, state=state)
            while not resumed.wait(10):
                pass
            assert resumed.serialise() == expected
            assert resumed.progress().moves == whole.progress().moves


def test_threads_without_a_strategy_choose_one():
    """And the result says which, so that it can be had again on any number of threads."""
    for search, threads, expected in (
        (GNRPA(), 1, None),
        (GNRPA(), 2, Hybrid(2, 4)),
        (NRPA(), 3, Hybrid(2, 4)),
        (GNRPA(iterations=3), 9, Hybrid(4, 3)),
        (GNRPA(playouts_per_call=2), 2, Hybrid(2, 4)),
        (GNRPA(level=0), 4, Root(4)),
        (NMCS(), 5, Root(5)),
    ):
        result = po.solve(TABU, search, playouts=200, threads=threads, seed=2)
        assert result.parallel == expected
        again = po.solve(TABU, search, playouts=200, parallel=expected, seed=2)
        assert outcome(again) == outcome(result)


def test_processors_are_those_a_control_group_leaves(tmp_path):
    """Version 2: the least of all groups above; version 1: quota and period; nothing readable: no limit."""
    own, root = tmp_path / "own", tmp_path / "groups"
    (root / "a" / "b").mkdir(parents=True)
    own.write_text("0::/a/b\n")
    assert _quota(root, own) == math.inf
    (root / "a" / "b" / "cpu.max").write_text("max 100000\n")
    (root / "a" / "cpu.max").write_text("250000 100000\n")
    assert _quota(root, own) == 2.5
    (root / "cpu,cpuacct" / "x").mkdir(parents=True)
    own.write_text("3:cpu,cpuacct:/x\n2:memory:/x\n")
    (root / "cpu,cpuacct" / "x" / "cpu.cfs_quota_us").write_text("150000\n")
    (root / "cpu,cpuacct" / "x" / "cpu.cfs_period_us").write_text("100000\n")
    assert _quota(root, own) == 1.5
    assert _quota(root, tmp_path / "none") == math.inf
