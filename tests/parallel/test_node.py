"""Node and leaf parallelization against their plain Python twins, on any number of threads, cut into any pieces."""

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from playout import GNRPA, NRPA, SameGame
from playout._core import Run
from playout.parallel import Leaf, Node
from tests.search.test_nested import LATE, PAIRS, SMALL, TABU, TIGHT, advance, moves_of, searcher, twin_settings
from tests.search.test_serialise import assert_refused_or_harmless

LARGE = SameGame.standard(1)
CASES = [
    (GNRPA, {}),
    (GNRPA, {"alpha": 0.5, "temperature": 1.4}),
    (GNRPA, {"temperature": 0.7, "initial": "bias"}),
    (GNRPA, {"repetitions": 1}),
    (GNRPA, {"playouts_per_call": 4}),
    (GNRPA, {"repetitions": 0, "playouts_per_call": 3}),
    (NRPA, {"alpha": 2.0}),
]
POLICIES = [("shared", False), ("local", False), ("local", True)]
IMPROVED = [(kind, {**given, "improve": True}) for kind, given in CASES]


def begin(search, parallel, game, seed):
    return search.begin(game, seed, wide=parallel.wide)


@pytest.mark.parametrize(
    ("game", "kind", "given", "policy", "exchange_best"),
    [
        *((game, *case, "shared", False) for game in (SMALL, TABU, PAIRS, TIGHT) for case in CASES),
        *((game, *case, "local", False) for game in (SMALL, TIGHT) for case in CASES),
        *((game, *case, "local", True) for game in (TABU, TIGHT) for case in CASES),
        *((game, *case, *policy) for game in (TIGHT, LATE) for case in IMPROVED for policy in POLICIES),
    ],
)
def test_the_twin_finds_the_same(game, kind, given, policy, exchange_best):
    """Every wide level of searches of level 1 to 3, with widths that divide the iterations and that do not."""
    for level, iterations in ((1, 12), (2, 7), (3, 4)):
        for wide in range(1, level + 1):
            if policy == "local" and wide == 1 and "playouts_per_call" in given:
                continue
            for width in (1, 3, 4) if level < 3 else (3, 4):
                twin = searcher(game, twin_settings(kind, iterations, given), seed=level)
                score, _ = twin.node(level, wide, width, policy == "local", exchange_best)
                search = kind(level=level, iterations=iterations, **given)
                engine = begin(search, Node(wide, width, policy, exchange_best), game, level)
                advance(engine, twin.playouts)
                assert engine.playouts == twin.playouts
                assert engine.score == twin.best[0] == score
                assert engine.moves == moves_of(twin.best[1])


@pytest.mark.parametrize(
    ("game", "kind", "given"), [*((TABU, *case) for case in CASES), *((TIGHT, *case) for case in IMPROVED)]
)
@pytest.mark.parametrize(("policy", "exchange_best"), POLICIES)
def test_width_one_is_the_plain_search(game, kind, given, policy, exchange_best):
    """Whatever the policies and the wide level, bit for bit, through several restarts of the top level."""
    search = kind(level=3, iterations=4, **given)
    for wide in (1, 2, 3):
        if wide == 1 and "playouts_per_call" in given and ("repetitions" in given or policy == "local"):
            continue  # all P playouts are one round: repetitions are counted after it, and no policy is local
        plain, node = search.begin(game, 3), begin(search, Node(wide, 1, policy, exchange_best), game, 3)
        for _ in range(20):
            advance(plain, 17)
            advance(node, 17)
            assert (plain.playouts, plain.score, plain.moves) == (node.playouts, node.score, node.moves)


@pytest.mark.parametrize("wide", [1, 2])
@pytest.mark.parametrize(("policy", "exchange_best"), POLICIES)
def test_width_one_of_a_start_is_the_plain_search(wide, policy, exchange_best):
    start = advance(GNRPA(level=2, iterations=10).begin(TABU, 1), 100).moves
    search = GNRPA(level=2, iterations=8)
    plain, node = search.begin(TABU, 3), begin(search, Node(wide, 1, policy, exchange_best), TABU, 3)
    for engine in (plain, node):
        engine.start_from(start, 10)
    for _ in range(10):
        advance(plain, 17)
        advance(node, 17)
        assert (plain.playouts, plain.score, plain.moves) == (node.playouts, node.score, node.moves)


def test_a_worker_is_a_shorter_search_that_begins_with_nothing():
    """Of two workers the first does the first half of the plain search; only a better second one hides its result."""
    first_is_best = 0
    for seed in range(10):
        half = advance(GNRPA(level=2, iterations=8).begin(LARGE, seed), 32)
        both = advance(begin(GNRPA(level=2, iterations=8), Node(2, 2, "local"), LARGE, seed), 64)
        assert both.score >= half.score
        if both.score == half.score:
            assert both.moves == half.moves
            first_is_best += 1
    assert 0 < first_is_best < 10


def test_workers_that_exchange_learn_from_the_best_of_all():
    """Two workers of one iteration each have nothing to exchange; of more iterations they end elsewhere."""

    def found(iterations, exchange_best):
        search, node = GNRPA(level=1, iterations=iterations), Node(1, 2, "local", exchange_best)
        return [advance(begin(search, node, LARGE, seed), iterations).moves for seed in range(5)]

    assert found(2, True) == found(2, False)
    assert found(40, True) != found(40, False)


def test_a_stabilised_leaf_is_the_plain_search_whatever_the_width():
    search = GNRPA(level=3, iterations=5, playouts_per_call=7)
    plain = advance(search.begin(TABU, 3), 500)
    for width in (1, 2, 5, 64):
        leaf = advance(begin(search, Leaf(width=width), TABU, 3), 500)
        assert (plain.score, plain.moves) == (leaf.score, leaf.moves)


STRATEGIES = [
    (GNRPA(level=1, iterations=20), Leaf(width=6)),
    (GNRPA(level=2, iterations=9), Leaf(width=4)),
    (GNRPA(level=2, iterations=9), Leaf(width=4, policy="local")),
    (GNRPA(level=2, iterations=9), Node(level=2, width=4)),
    (GNRPA(level=3, iterations=5), Node(level=2, width=3, policy="local")),
    (GNRPA(level=3, iterations=5), Node(level=3, width=3, policy="local")),
    (GNRPA(level=1, iterations=20), Leaf(width=6, policy="local", exchange_best=True)),
    (GNRPA(level=3, iterations=5), Node(level=2, width=3, policy="local", exchange_best=True)),
    (GNRPA(level=3, iterations=5, repetitions=0), Node(level=3, width=2, policy="local", exchange_best=True)),
    (GNRPA(level=3, iterations=5, repetitions=1), Node(level=2, width=4)),
    (GNRPA(level=3, iterations=4, playouts_per_call=5), Leaf(width=2)),
    (GNRPA(level=3, iterations=4, playouts_per_call=5), Node(level=2, width=3)),
    (GNRPA(level=2, iterations=9, improve=True), Leaf(width=4)),
    (GNRPA(level=2, iterations=9, improve=True), Leaf(width=4, policy="local")),
    (GNRPA(level=3, iterations=5, improve=True, repetitions=1), Node(level=2, width=3)),
    (GNRPA(level=3, iterations=5, improve=True), Node(level=2, width=3, policy="local")),
    (GNRPA(level=2, iterations=9, improve=True), Leaf(width=4, policy="local", exchange_best=True)),
    (GNRPA(level=3, iterations=4, improve=True, playouts_per_call=5), Leaf(width=2)),
]


def game_of(search):
    return TIGHT if search.improve else TABU


@pytest.mark.parametrize(("search", "parallel"), STRATEGIES, ids=str)
@given(data=st.data())
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
def test_any_pieces_and_any_break_give_the_same(search, parallel, data):
    """Cut into pieces, copied, written as bytes and read again on the way: the state is the same to the last byte."""
    whole = begin(search, parallel, game_of(search), 5)
    pieces = begin(search, parallel, game_of(search), 5)
    for _ in range(3):
        lengths = data.draw(st.lists(st.integers(1, 60), min_size=1, max_size=6))
        advance(whole, sum(lengths))
        for length in lengths:
            advance(pieces, length)
            if data.draw(st.booleans()):
                state = pieces.serialise()
                pieces = begin(search, parallel, game_of(search), 5)
                pieces.deserialise(state)
            elif data.draw(st.booleans()):
                pieces = pieces.copy()
        assert (pieces.playouts, pieces.score, pieces.moves) == (whole.playouts, whole.score, whole.moves)
        assert pieces.serialise() == whole.serialise()


@pytest.mark.parametrize(("search", "parallel"), STRATEGIES, ids=str)
def test_any_number_of_threads_gives_the_same(search, parallel):
    """The state after 1,000 playouts, to the last byte, several times over."""
    alone = advance(begin(search, parallel, game_of(search), 5), 1000)
    for threads in (1, 2, 3, 8, 8, 3, 2):
        run = Run([begin(search, parallel, game_of(search), 5)], 1000, math.inf, threads=threads)
        while not run.wait(10):
            pass
        now = run.progress()
        assert (now.playouts, now.score, now.moves) == (1000, alone.score, alone.moves)
        assert alone.serialise() in run.serialise()


@pytest.mark.parametrize(("search", "parallel"), STRATEGIES, ids=str)
@given(data=st.data())
@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow])
def test_damaged_bytes_are_refused_or_harmless(search, parallel, data):
    playouts = data.draw(st.integers(0, 60))
    content = bytearray(advance(begin(search, parallel, game_of(search), 5), playouts).serialise())
    assert_refused_or_harmless(content, begin(search, parallel, game_of(search), 5), data)


def test_a_search_that_began_from_a_start_goes_on_from_it():
    """Whatever the wide level, nothing worse than the start is the result, and the policy knows it."""
    best = advance(GNRPA(level=3, iterations=10).begin(TABU, 1), 1000)
    for _, parallel in STRATEGIES[:6]:
        level = max(parallel.wide.level, 2)
        engine = begin(GNRPA(level=level, iterations=9), parallel, TABU, 2)
        engine.start_from(best.moves, 10)
        assert (engine.playouts, engine.score, engine.moves) == (0, best.score, best.moves)
        assert advance(engine, 200).score >= best.score


def test_huge_settings_keep_their_random_numbers_apart():
    """Calls whose playouts would outnumber 2^64 still draw numbers of their own, and their state can be read."""
    for level, wide, *policy in ((4, 4), (4, 4, "local"), (4, 3, "local"), (4, 3, "local", True), (3, 1)):
        search, node = GNRPA(level=level, iterations=2**24), Node(wide, 2, *policy)
        seeds = range(8)
        both = [advance(begin(search, node, LARGE, seed), 40).moves for seed in seeds]
        first = [advance(search.begin(LARGE, seed), 20).moves for seed in seeds]
        assert both != first  # the second call is the better one now and then
        both = advance(begin(search, node, TABU, 5), 200)
        again = begin(search, node, TABU, 5)
        again.deserialise(both.serialise())
        assert advance(again, 100).serialise() == advance(both, 100).serialise()


def test_a_stabilised_leaf_of_any_size_is_played_in_pieces():
    """A million playouts a call are not a million recordings."""
    search = GNRPA(level=2, iterations=5, playouts_per_call=3000)
    plain = advance(search.begin(TABU, 3), 10_000)
    leaf = advance(begin(search, Leaf(width=1), TABU, 3), 10_000)
    assert (plain.score, plain.moves) == (leaf.score, leaf.moves)
    assert len(begin(GNRPA(level=2, playouts_per_call=10**9), Leaf(width=1), TABU, 3).serialise()) < 200_000
