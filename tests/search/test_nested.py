"""NRPA, GNRPA and NMCS against their plain Python twins: the same draws, the same sequences, the same weights."""

from dataclasses import replace

import pytest

from playout import GNRPA, NMCS, NRPA, SameGame
from playout import random as twin_random
from playout.errors import InputError
from tests.reference.nested import Searcher, Settings
from tests.reference.same_game import PlainSameGame
from tests.reference.tsptw import PlainTsptw, random_instance

SMALL = SameGame.random(6, 6, 3, seed=1)
TABU = SameGame.random(7, 5, 3, seed=2, tabu=1)
PAIRS = SameGame.random(4, 9, 4, seed=3, tabu="none")
TOUR = random_instance(9, seed=4, tightness=3.0)
TIGHT = random_instance(9, seed=5, tightness=0.7, urgent=True, avoid_late=True)
LATE = random_instance(10, seed=6, tightness=20.0, avoid_late=True, makespan=True)


def searcher(game, settings, seed, optimised=True):
    return Searcher(
        game if isinstance(game, PlainTsptw) else PlainSameGame(game),
        settings,
        lambda playout: twin_random.uniforms(seed, 0, 0, playout),
        optimised=optimised,
    )


def advance(search, playouts):
    """Move a search on by that many playouts, whatever improves on the way."""
    end = search.playouts + playouts
    while search.playouts < end:
        search.advance(end - search.playouts)
    return search


def moves_of(sequence):
    return [move.move for move in sequence]


def assert_same(game, search, settings, level, seed):
    """One whole search: the twin and the engine end with the same best sequence after as many playouts."""
    twin = searcher(game, settings, seed)
    score, _ = twin.nrpa(level, {})
    engine = search.begin(game, seed)
    advance(engine, twin.playouts)
    assert engine.score == twin.best[0] == score
    assert engine.moves == moves_of(twin.best[1])


CASES = [
    (GNRPA, {}),
    (GNRPA, {"alpha": 0.5, "temperature": 1.4}),
    (GNRPA, {"bias": False}),
    (GNRPA, {"temperature": 0.7, "initial": "bias"}),
    (GNRPA, {"alpha": 64.0, "temperature": 0.1}),
    (GNRPA, {"playouts_per_call": 4}),
    (GNRPA, {"repetitions": 2}),
    (GNRPA, {"repetitions": 0, "playouts_per_call": 3}),
    (NRPA, {}),
    (NRPA, {"alpha": 2.0, "repetitions": 3}),
]


def twin_settings(kind, iterations, given):
    given = dict(given)
    bias = given.pop("bias", kind is GNRPA)
    initial = given.pop("initial", "zero") == "bias"
    return Settings(iterations=iterations, bias=bias, initial_bias=initial, **given)


@pytest.mark.parametrize("game", [SMALL, TABU, PAIRS, TOUR], ids=["small", "tabu", "pairs", "tour"])
@pytest.mark.parametrize(("kind", "given"), CASES)
def test_the_twin_finds_the_same(game, kind, given):
    """Levels 0 to 3 with few iterations: the best sequence is the twin's, move by move."""
    for level, iterations in ((0, 1), (1, 12), (2, 7), (3, 4)):
        settings = twin_settings(kind, iterations, given)
        assert_same(game, kind(level=level, iterations=iterations, **given), settings, level, seed=level + 5)


@pytest.mark.parametrize("urgent", [False, True])
@pytest.mark.parametrize("avoid_late", [False, True])
@pytest.mark.parametrize("makespan", [False, True])
@pytest.mark.parametrize("given", [{"temperature": 1.4}, {"initial": "bias"}, {"bias": False}], ids=str)
def test_the_twin_finds_the_same_tour(urgent, avoid_late, makespan, given):
    """With all settings of the selective policy, and both aims."""
    tour = replace(TOUR, urgent=urgent, avoid_late=avoid_late, makespan=makespan)
    settings = twin_settings(GNRPA, 12, given)
    assert_same(tour, GNRPA(level=2, iterations=12, **given), settings, 2, seed=3)


@pytest.mark.parametrize("tour", [TOUR, TIGHT, LATE], ids=["tour", "tight", "late"])
@pytest.mark.parametrize(("kind", "given"), CASES)
def test_the_twin_finds_the_same_with_a_local_search(tour, kind, given):
    """Every level's best is improved before it is learned, and the best of all is an improved one."""
    for level, iterations in ((1, 12), (2, 7), (3, 4)):
        settings = twin_settings(kind, iterations, {**given, "improve": True})
        search = kind(level=level, iterations=iterations, improve=True, **given)
        assert_same(tour, search, settings, level, seed=level + 5)


def test_a_local_search_makes_a_search_better():
    tour = random_instance(25, seed=7, tightness=0.5)
    with_it, without = (advance(GNRPA(level=2, improve=improve).begin(tour, 1), 500) for improve in (True, False))
    assert with_it.score > without.score
    assert tour.improve(with_it.moves) == with_it.moves
    assert tour.score_of(with_it.moves) == with_it.score


@pytest.mark.parametrize("level", [0, 1, 2])
def test_a_start_is_improved(level):
    tour = random_instance(12, seed=7)
    start = list(range(1, 12))
    engine = GNRPA(level=level, improve=True).begin(tour, 1)
    engine.start_from(start, 10)
    assert engine.moves == tour.improve(start) != start
    assert engine.score == tour.score_of(engine.moves)


def test_a_problem_without_a_local_search_says_so():
    for kind in (NRPA, GNRPA):
        with pytest.raises(InputError, match=r"improve is on, but .* has no local search"):
            kind(improve=True).begin(SMALL, 1)
        with pytest.raises(InputError, match="improve is 1; allowed are True and False"):
            kind(improve=1)
    with pytest.raises(TypeError):
        NMCS(improve=True)


@pytest.mark.parametrize("game", [SMALL, TOUR], ids=["small", "tour"])
@pytest.mark.parametrize("optimised", [True, False], ids=["algorithm 6", "algorithm 5"])
@pytest.mark.parametrize(("kind", "given"), CASES[:5])
def test_weights_are_the_twins_to_the_last_bit(game, kind, given, optimised):
    """Both forms of Adapt: after 9 of 10 iterations of level 1, every code has the twin's weight."""
    settings = twin_settings(kind, 9, given)
    twin = searcher(game, settings, 3, optimised)
    policy, best_score, best = {}, float("-inf"), None
    for _ in range(9):
        score, sequence = twin.playout(policy)
        if score >= best_score:
            best_score, best = score, sequence
        policy = twin.adapt(policy, best)
    engine = advance(kind(level=1, iterations=10, **given).begin(game, 3), 9)
    learned = engine.level_policy(1)
    weights = sorted(learned.weight(entry) for entry in range(1, len(learned) + 1))
    assert weights == sorted(policy.values())
    assert engine.level_moves(1) == moves_of(best)


def test_gnrpa_with_temperature_one_and_no_bias_is_nrpa():
    for seed in range(5):
        one = advance(GNRPA(level=2, iterations=20, temperature=1.0, bias=False).begin(SMALL, seed), 400)
        two = advance(NRPA(level=2, iterations=20).begin(SMALL, seed), 400)
        assert (one.score, one.moves) == (two.score, two.moves)


@pytest.mark.parametrize("search", [GNRPA(level=2, iterations=10), GNRPA(level=3, iterations=5), NMCS(level=2)])
def test_a_search_is_a_value(search):
    """Moved on in one go, in pieces, or as a copy made on the way, it finds the same."""
    whole = advance(search.begin(TABU, 1), 700)
    pieces = search.begin(TABU, 1)
    for piece in (1, 99, 250):
        advance(pieces, piece)
    copy = pieces.copy()
    advance(pieces, 350)
    advance(copy, 350)
    assert (whole.score, whole.moves) == (pieces.score, pieces.moves) == (copy.score, copy.moves)


@pytest.mark.parametrize("game", [SMALL, TABU, PAIRS, TOUR], ids=["small", "tabu", "pairs", "tour"])
@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_nmcs_is_its_twin(game, level):
    """A whole search, and as much again: the second game goes on with the numbers of the next playout."""
    twin = searcher(game, Settings(), seed=9)
    engine = NMCS(level=level).begin(game, 9)
    for _ in range(2 if level < 3 else 1):
        twin.nmcs(level, twin.problem.initial(), [])
        advance(engine, twin.playouts - engine.playouts)
        assert engine.score == twin.best[0]
        assert engine.moves == moves_of(twin.best[1])


@pytest.mark.parametrize("search", [NRPA(level=2), GNRPA(level=0), NMCS(level=2), NMCS(level=0)])
@pytest.mark.parametrize("rows", ["0", "01\n10", "00", "0\n0"])
def test_games_of_no_or_one_move(search, rows):
    """Nothing to choose is no reason to hang or crash; the board of one pair is cleared."""
    game = SameGame.parse(rows)
    engine = advance(search.begin(game, 0), 500)
    score, _ = game.replay(game.decode(engine.moves))
    assert engine.score == score == (1000 if rows in ("00", "0\n0") else 0)


def test_the_top_level_starts_afresh_and_the_best_is_kept():
    """After 100 playouts of level 1 the policy is empty again; the best never gets worse."""
    engine = GNRPA(level=1, iterations=50).begin(SMALL, 2)
    advance(engine, 49)
    assert len(engine.level_policy(1)) > 0
    best = engine.score
    advance(engine, 1)
    assert len(engine.level_policy(1)) == 0
    for _ in range(10):
        advance(engine, 25)
        assert engine.score >= best
        best = engine.score


def test_limited_repetitions_leave_a_level_early():
    """With one legal move every playout is the same: the fifth is the fourth repetition, and the level ends."""
    engine = GNRPA(level=1, iterations=1000, repetitions=3).begin(SameGame.parse("00"), 0)
    known = [len(advance(engine, 1).level_policy(1)) for _ in range(10)]
    assert known == [1, 1, 1, 1, 0] * 2


def test_extreme_settings_still_search():
    """Alpha 64 and temperature 0.1: the score of 300 playouts is still that of a search, not of one playout."""
    single = max(advance(GNRPA(level=0).begin(SameGame.standard(1), s), 1).score for s in range(3))
    found = advance(GNRPA(level=2, iterations=20, alpha=64.0, temperature=0.1).begin(SameGame.standard(1), 1), 400)
    assert found.score > single
