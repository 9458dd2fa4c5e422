"""solve() and watch(): budgets, determinism, stopping, what is refused."""

import math
import os
import signal
import subprocess
import sys
import threading
import time
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import playout as po
import playout.solve
from playout import GNRPA, NMCS, NRPA, InputError, SameGame
from playout._core import PolicyFull, Run
from playout.solve import Task
from tests.reference.nested import Searcher, Settings
from tests.reference.same_game import PlainSameGame

solve_module = sys.modules["playout.solve"]  # `playout.solve` is the function
BOARD = SameGame.standard(1)
QUICK = GNRPA(level=2)


@pytest.fixture(autouse=True)
def no_thread_is_left():
    """Whatever a test does, the engine's threads are gone after it; Python does not count them."""
    before, patience = threads(), time.monotonic() + 10
    yield
    while threads() > before and time.monotonic() < patience:
        time.sleep(0.01)  # a thread that was joined may still be on its way out
    assert threads() <= before


def threads() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


def same(one: po.Result, two: po.Result) -> bool:
    """Everything but the clock."""

    def timeless(result):
        return (
            result.score,
            result.moves,
            result.detail,
            result.playouts,
            [(playouts, score) for _, playouts, score in result.history],
        )

    return timeless(one) == timeless(two)


@pytest.mark.parametrize("search", [QUICK, NRPA(level=3, iterations=20), NMCS(level=2), NMCS(level=0), GNRPA(level=0)])
def test_the_same_search_gives_the_same_result(search):
    one = po.solve(BOARD, search, playouts=3000, seed=5)
    two = po.solve(BOARD, search, playouts=3000, seed=5)
    other = po.solve(BOARD, search, playouts=3000, seed=6)
    assert same(one, two)
    assert not same(one, other)


def test_another_process_gives_the_same_result():
    program = (
        "import playout as po;"
        "r = po.solve(po.SameGame.standard(4), po.GNRPA(level=2), playouts=5000, seed=11);"
        "print(r.score, r.moves, [(p, s) for _, p, s in r.history])"
    )
    runs = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
        for _ in range(2)
    ]
    here = po.solve(SameGame.standard(4), QUICK, playouts=5000, seed=11)
    expected = f"{here.score} {here.moves} {[(p, s) for _, p, s in here.history]}\n"
    assert runs[0].stdout == runs[1].stdout == expected


def test_a_result_pinned_across_machines_and_versions():
    """These numbers may change only when the algorithm does, and then the changelog says so."""
    result = po.solve(BOARD, GNRPA(level=2), playouts=10_000, seed=7)
    assert (result.score, len(result.moves), result.moves[:3]) == (1736.0, 56, ((0, 3), (0, 12), (6, 5)))
    assert po.solve(BOARD, NRPA(level=2), playouts=10_000, seed=7).score == 1402.0
    assert po.solve(BOARD, NMCS(level=2), playouts=10_000, seed=7).score == 1238.0


def test_a_result_is_worth_what_it_says():
    for search in (QUICK, NRPA(level=2), NMCS(level=1)):
        result = po.solve(SameGame.standard(9), search, playouts=2000)
        assert result.verify() == result.score == result.history[-1][2]
        assert [score for _, _, score in result.history] == sorted({score for _, _, score in result.history})
        assert result.playouts == 2000
        assert not result.interrupted


def test_the_default_search_is_gnrpa_of_level_four():
    assert po.solve(BOARD, playouts=10).search == GNRPA(level=4)


def test_a_target_ends_the_search_at_once():
    """At the very playout that reaches it, which a budget of that many playouts confirms."""
    result = po.solve(BOARD, QUICK, target=900)
    assert result.score >= 900
    assert result.playouts == result.history[-1][1]
    assert same(result, po.solve(BOARD, QUICK, playouts=result.playouts))


def test_a_budget_of_seconds_ends_the_search_however_short():
    result = po.solve(BOARD, QUICK, seconds=0.2)
    assert result.seconds >= 0.2
    assert not result.interrupted
    shortest = po.solve(BOARD, QUICK, seconds=1e-9)
    assert shortest.playouts >= 1
    assert shortest.verify() == shortest.score


def test_start_is_where_the_search_begins():
    """An earlier result is at once the best, and the policy knows it: a short search stays near it."""
    first = po.solve(BOARD, QUICK, playouts=20_000, seed=1)
    for start in (first, first.moves, list(map(list, first.moves))):
        again = po.solve(BOARD, GNRPA(level=1), playouts=100, seed=2, start=start)
        assert again.history[0][1:] == (0, first.score)
        assert again.score >= first.score
    scores = [p.score for p in po.watch(BOARD, NMCS(level=1), playouts=50, start=first)]
    assert scores[-1] >= first.score


def test_start_adapts_the_policy_ten_times():
    """The search that solve() begins from a start has the weights of ten Adapts to it, by the plain twin."""
    game = SameGame.random(6, 6, 3, seed=1)
    first = po.solve(game, QUICK, playouts=50, seed=1)
    [engine] = Task.begin(game, GNRPA(level=1), 1, None, 3, first, None, False).jobs.searches
    twin = Searcher(PlainSameGame(game), Settings(), lambda playout: iter(()))
    state, sequence = twin.problem.initial(), []
    for move in game.encode(first.moves):
        sequence.append(next(m for m in twin.problem.moves(state) if m.move == move))
        state = twin.problem.play(state, sequence[-1])
    weights: dict = {}
    for _ in range(10):
        weights = twin.adapt(weights, sequence)
    policy = engine.level_policy(1)
    assert sorted(policy.weight(entry) for entry in range(1, len(policy) + 1)) == sorted(weights.values())
    assert engine.level_moves(1) == game.encode(first.moves)


def test_a_start_that_the_selective_policy_would_leave_out_is_taken():
    free = po.solve(BOARD.with_options(tabu="none"), QUICK, playouts=2000)
    for search in (GNRPA(level=1), NMCS(level=1)):
        result = po.solve(BOARD, search, playouts=2000, start=free)
        assert result.score >= free.score
        assert result.verify() == result.score


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ([(2, 0)], "start cannot be played: move 1 is not legal there"),
        ([], "start cannot be played: after its 0 moves the game goes on; a whole playout is needed"),
        ([7], "start cannot be played: a SameGame move is"),
        (5, "start is 5; allowed are a Result or a sequence of moves"),
    ],
)
def test_a_start_that_cannot_be_played(start, message):
    with pytest.raises(InputError, match=message):
        po.solve(BOARD, QUICK, playouts=10, start=start)


def test_watch_yields_progress_and_then_the_result():
    seen = list(po.watch(BOARD, QUICK, seconds=0.5))
    assert len(seen) >= 3
    assert all(p.result is None for p in seen[:-1])
    assert isinstance(seen[-1].result, po.Result)
    playouts = [p.playouts for p in seen]
    assert playouts == sorted(playouts)
    assert seen[-1].playouts_per_second > 0
    assert seen[-1].moves == seen[-1].result.moves


def test_leaving_a_watched_search_ends_it():
    before = threads()
    for _ in po.watch(BOARD, QUICK, seconds=1000):
        assert threads() == before + 1
        break
    assert threads() == before
    assert po.solve(BOARD, QUICK, playouts=100).playouts == 100


def test_an_exception_in_a_callback_reaches_the_caller():
    def complain(progress):
        raise RuntimeError("enough")

    for _ in range(2):
        with pytest.raises(RuntimeError, match="enough"):
            po.solve(BOARD, QUICK, seconds=1000, on_event=complain)
    assert same(po.solve(BOARD, QUICK, playouts=500), po.solve(BOARD, QUICK, playouts=500, on_event=lambda p: None))


def test_ctrl_c_returns_the_best_so_far_and_another_search_works():
    def interrupt(progress):
        os.kill(os.getpid(), signal.SIGINT)

    for _ in range(2):
        result = po.solve(BOARD, QUICK, seconds=1000, on_event=lambda p: p.result or interrupt(p))
        assert result.interrupted
        assert result.verify() == result.score
    assert not po.solve(BOARD, QUICK, playouts=100).interrupted
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_ends_searches_inside_searches():
    inner = []

    def nested(progress):
        if progress.result is None:
            inner.append(
                po.solve(BOARD, QUICK, seconds=1000, on_event=lambda p: p.result or os.kill(os.getpid(), signal.SIGINT))
            )

    outer = po.solve(BOARD, QUICK, seconds=1000, on_event=nested)
    assert outer.interrupted
    assert [result.interrupted for result in inner] == [True]


def test_ctrl_c_between_two_looks_at_a_watched_search_is_the_callers():
    watched = po.watch(BOARD, QUICK, seconds=1000)
    next(watched)
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
    watched.close()
    assert not po.solve(BOARD, QUICK, playouts=100).interrupted


def test_ctrl_c_while_a_watched_search_is_waited_for_ends_it():
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    *_, last = po.watch(BOARD, QUICK, seconds=1000)
    timer.join()
    assert last.result is not None
    assert last.result.interrupted


def test_no_ctrl_c_is_lost_at_the_end_of_a_look(monkeypatch):
    """It may come after the search was asked whether it is over and before the signal is given back."""
    look = solve_module._is_over

    def interrupted_look(*arguments):
        over = look(*arguments)
        os.kill(os.getpid(), signal.SIGINT)
        return over

    monkeypatch.setattr(solve_module, "_is_over", interrupted_look)
    *_, last = po.watch(BOARD, QUICK, seconds=1000)
    assert last.result.interrupted


def test_a_search_that_runs_out_of_memory_returns_its_best(monkeypatch):
    """With a warning that says what was full."""

    class Full(Run):
        def wait(self, seconds):
            super().wait(0.2)
            raise PolicyFull("the policy is full")

    monkeypatch.setattr(solve_module._core, "Run", Full)
    with pytest.warns(RuntimeWarning, match="the search ended early: the policy is full"):
        result = po.solve(BOARD, QUICK, seconds=1000)
    assert result.interrupted
    assert result.verify() == result.score


def test_a_watched_search_may_be_closed_by_another_thread():
    watched = po.watch(BOARD, QUICK, seconds=1000)
    next(watched)
    thread = threading.Thread(target=watched.close)
    thread.start()
    thread.join()
    assert not po.solve(BOARD, QUICK, playouts=100).interrupted


def test_settings_of_any_numeric_type_become_plain_numbers():
    """So that they can be saved, whatever they came as."""
    search = GNRPA(level=np.int64(2), alpha=Fraction(1, 2), temperature=np.float32(1.5), repetitions=np.uint8(3))
    assert search == GNRPA(level=2, alpha=0.5, temperature=1.5, repetitions=3)
    assert [type(value) for value in (search.level, search.alpha, search.temperature)] == [int, float, float]
    assert po.solve(SameGame.standard(np.int64(1)), search, playouts=np.int32(5), seed=np.uint64(1)).seed == 1
    assert po.solve(BOARD, search, seconds=Decimal("0.01"), target=Fraction(9999)).score > 0


def test_a_second_ctrl_c_raises():
    def stuck(progress):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        po.solve(BOARD, QUICK, seconds=1000, on_event=stuck)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_search_runs_in_any_thread():
    results = []
    threads = [
        threading.Thread(target=lambda seed=seed: results.append(po.solve(BOARD, QUICK, playouts=2000, seed=seed)))
        for seed in (1, 1, 2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({(r.seed, r.score, r.moves) for r in results}) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "no budget: give seconds, playouts or target"),
        ({"seconds": 0}, "seconds is 0; allowed are finite numbers greater than 0"),
        ({"seconds": math.nan}, "seconds is nan"),
        ({"seconds": math.inf}, "seconds is inf"),
        ({"seconds": "5"}, "seconds is '5'"),
        ({"playouts": 0}, "playouts is 0; allowed are whole numbers from 1"),
        ({"playouts": 1.5}, "playouts is 1.5"),
        ({"playouts": True}, "playouts is True"),
        ({"target": math.nan}, "target is nan; allowed are finite numbers"),
        ({"playouts": 1, "seed": -1}, "seed is -1; allowed are whole numbers from 0"),
        ({"playouts": 1, "seed": 2**64}, "seed is 18446744073709551616"),
        ({"playouts": 1, "search": "gnrpa"}, r"search is 'gnrpa'; allowed are GNRPA\(\)"),
        ({"playouts": 1, "search": GNRPA}, r"search is <class .*; allowed are GNRPA\(\)"),
        ({"seconds": 10**400}, "seconds is 1000"),
        ({"playouts": 1, "problem": "samegame:1"}, "problem is 'samegame:1'; allowed are problems such as"),
    ],
)
def test_impossible_arguments_are_named(arguments, message):
    with pytest.raises(InputError, match=message):
        po.solve(**{"problem": BOARD, "search": QUICK, **arguments})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GNRPA(level=-1), "level is -1; allowed are whole numbers from 0 to 20"),
        (lambda: GNRPA(level=2.0), "level is 2.0"),
        (lambda: NRPA(iterations=0), "iterations is 0; allowed are whole numbers from 1"),
        (lambda: NRPA(alpha=0), "alpha is 0; allowed are finite numbers from 1e-06 to 1e\\+06"),
        (lambda: NRPA(alpha=math.nan), "alpha is nan"),
        (lambda: GNRPA(temperature=0), "temperature is 0; allowed are finite numbers from 1e-06"),
        (lambda: GNRPA(temperature=-1.0), "temperature is -1.0"),
        (lambda: GNRPA(temperature=math.inf), "temperature is inf"),
        (lambda: GNRPA(bias="yes"), "bias is 'yes'; allowed are True and False"),
        (lambda: GNRPA(initial="random"), "initial is 'random'; allowed are zero, bias"),
        (lambda: GNRPA(initial="bias", bias=False), "initial is 'bias' while bias is False"),
        (lambda: GNRPA(playouts_per_call=0), "playouts_per_call is 0"),
        (lambda: GNRPA(repetitions=-1), "repetitions is -1"),
        (lambda: NMCS(level=-2), "level is -2"),
    ],
)
def test_impossible_settings_are_named(make, message):
    with pytest.raises(InputError, match=message):
        make()
