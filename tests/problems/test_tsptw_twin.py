"""The TSPTW of the engine against the plain rules: moves, order, codes, biases, scores, settings."""

import itertools
import math
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import playout as po
from playout import GNRPA, _core
from tests.reference.tsptw import PlainTsptw, random_instance, random_matrix

SETTINGS = [
    {"urgent": urgent, "avoid_late": avoid_late, "makespan": makespan}
    for urgent, avoid_late, makespan in itertools.product((False, True), repeat=3)
]

small = st.builds(
    random_instance,
    n=st.integers(1, 9),
    seed=st.integers(0, 10**6),
    tightness=st.sampled_from([0.3, 1.0, 3.0, 20.0]),
    whole=st.booleans(),
)
rough = st.builds(
    random_matrix,
    n=st.integers(1, 7),
    seed=st.integers(0, 10**6),
    unit=st.sampled_from([1.0, 0.1, 1 / 3]),
    tightness=st.sampled_from([0.3, 1.0, 3.0, math.inf]),
)
times = st.one_of(st.floats(0, 100), st.integers(0, 5).map(float), st.sampled_from([1e-300, 0.1, 1e17, 1 - 2**-53]))


@st.composite
def strange(draw):
    """No geometry at all, and numbers whose sums round."""
    n = draw(st.integers(1, 6))
    row = st.lists(times, min_size=n, max_size=n)
    return PlainTsptw(draw(st.lists(row, min_size=n, max_size=n)), draw(row), draw(row))


@pytest.mark.parametrize("given_settings", SETTINGS, ids=str)
@given(plain=st.one_of(small, rough, strange()), seed=st.integers(0, 1000), all_moves=st.booleans())
@settings(max_examples=60)
def test_the_moves_are_those_of_the_definitions(given_settings, plain, seed, all_moves):
    """Along a random game, kept and found from scratch; with `all_moves` the game plays what is left out, too."""
    plain = replace(plain, **given_settings)
    position, state, numbers = _core.Position(plain.engine()), plain.initial(), random.Random(seed)
    while state.left:
        expected = [tuple(move) for move in plain.moves(state)]
        assert position.moves() == position.moves(fresh=True) == expected
        assert position.moves(all=True) == [tuple(move) for move in plain.all_moves(state)]
        move = numbers.choice(plain.all_moves(state) if all_moves else plain.moves(state))
        position.play(move.move)
        state = plain.play(state, move)
    assert position.moves() == []
    assert position.score() == plain.score(state)


def test_a_tour_by_hand():
    """Wait at 1 until 30, be late at 2 by 1, come back at 43, in time."""
    distances = [[99, 10, 20], [11, 99, 5], [8, 6, 99]]
    ready, due = [0, 30, 0], [43, 40, 34]
    for makespan, value in ((False, 23), (True, 43)):
        plain = PlainTsptw(distances, ready, due, makespan=makespan)
        position = _core.Position(plain.engine())
        assert position.moves() == [(1, 1, -10 * (10 - 5) / 15), (2, 2, -10.0)]
        position.play(1)
        assert position.moves() == [(2, 5, 0.0)]
        position.play(2)
        assert position.score() == plain.score_of([1, 2]) == -(value + 1e6)


def test_only_urgent_customers_and_only_harmless_moves():
    """Three customers 10 apart; 3 must be next, for after any other it would be late."""
    distances = [[0 if i == j else 10 for j in range(4)] for i in range(4)]
    plain = PlainTsptw(distances, [0] * 4, [100, 100, 100, 15])
    names = {}
    for urgent, avoid_late in itertools.product((False, True), repeat=2):
        position = _core.Position(replace(plain, urgent=urgent, avoid_late=avoid_late).engine())
        names[urgent, avoid_late] = [move for move, _, _ in position.moves()]
    assert names == {(False, False): [1, 2, 3], (False, True): [3], (True, False): [3], (True, True): [3]}
    both = replace(plain, due=[100, 100, 15, 15])
    position = _core.Position(replace(both, urgent=True, avoid_late=True).engine())
    assert [move for move, _, _ in position.moves()] == [2, 3]  # all moves harm someone; these two cannot wait
    position = _core.Position(replace(both, avoid_late=True).engine())
    assert [move for move, _, _ in position.moves()] == [1, 2, 3]


def beginnings(plain):
    """Every beginning of a tour that is in time everywhere, by brute force."""
    found = set()
    for tour in itertools.permutations(range(1, plain.n)):
        if plain.score_of(list(tour)) > -1e6:
            found |= {tour[:count] for count in range(1, plain.n)}
    return found


@pytest.mark.parametrize(
    "policy", [{"avoid_late": True}, {"urgent": True}, {"avoid_late": True, "urgent": True}], ids=str
)
@given(plain=st.one_of(rough, small.filter(lambda plain: plain.n < 8)))
@settings(max_examples=100)
def test_no_tour_that_is_in_time_is_left_out(policy, plain):
    """Whatever the distances: triangle inequality or none, sums that are rounded, windows of no width."""
    engine = replace(plain, **policy).engine()
    for beginning in beginnings(plain):
        position = _core.Position(engine)
        for customer in beginning[:-1]:
            position.play(customer)
        assert beginning[-1] in [move for move, _, _ in position.moves()]


def test_a_detour_may_be_the_only_way():
    """Some arcs here are longer than a way over others; the only tour in time needs such ways."""
    distances = [
        [0, 4, 8, 13, 3, 15],
        [2, 0, 17, 16, 3, 16],
        [18, 0, 0, 3, 13, 1],
        [5, 10, 8, 0, 18, 1],
        [10, 1, 9, 1, 0, 0],
        [18, 7, 14, 11, 8, 0],
    ]
    ready, due = zip((6, 30), (0, 36), (0, 15), (1, 40), (11, 29), (16, 22), strict=True)
    result = po.solve(po.TSPTW(distances, ready, due), po.GNRPA(level=2), playouts=2000)
    assert result.score == -23
    assert result.moves == (2, 3, 5, 4, 1)


def test_a_detour_that_is_shorter_by_rounding():
    """0.1 + 0.2 is more than 0.3; but begun at 7.9 the sum is less, and customer 2 is in time only after 1."""
    distances, due = [[0, 0.1, 0.3], [0.1, 0, 0.2], [0.3, 0.2, 0]], 7.9 + 0.1 + 0.2
    assert due < 7.9 + 0.3
    plain = PlainTsptw(distances, [7.9, 0, 0], [99, 99, due], avoid_late=True)
    assert plain.score_of([1, 2]) > -1e6
    assert [move for move, _, _ in _core.Position(plain.engine()).moves()] == [1]


@pytest.mark.parametrize("n", [300, pytest.param(1024, marks=pytest.mark.slow("writes gigabytes of memory"))])
def test_large_instances(n):
    """Codes that do not fit the policy's dense table, and the most nodes there may be."""
    plain = random_instance(n, 1, tightness=0.2, urgent=True, avoid_late=True)
    engine = GNRPA(level=1, iterations=4).begin(plain, 1)
    while engine.playouts < 6:
        engine.advance(1)
    assert sorted(engine.moves) == list(range(1, n))
    assert plain.score_of(engine.moves) == engine.score
    position, state = _core.Position(plain.engine()), plain.initial()
    for customer in engine.moves[:3]:
        assert position.moves() == [tuple(move) for move in plain.moves(state)]
        position.play(customer)
        state = plain.play(state, plain.named(state, customer))


@pytest.mark.parametrize(
    ("distances", "ready", "due"),
    [
        ([], [], []),
        ([0.0] * 4, [0.0], [0.0]),
        ([0.0] * 4, [0.0] * 2, [0.0]),
        ([0.0] * 3, [0.0] * 2, [0.0] * 2),
        ([0.0, -1.0, 1.0, 0.0], [0.0] * 2, [0.0] * 2),
        ([0.0, math.nan, 1.0, 0.0], [0.0] * 2, [0.0] * 2),
        ([0.0, 1.0, 1.0, 0.0], [0.0] * 2, [0.0, math.inf]),
        ([0.0] * 1025**2, [0.0] * 1025, [0.0] * 1025),
    ],
)
def test_what_is_no_instance_is_refused(distances, ready, due):
    with pytest.raises(ValueError, match=r"n nodes|a distance|1025 nodes"):
        _core.tsptw(distances, ready, due)


@given(plain=st.one_of(small, strange()), makespan=st.booleans(), data=st.data())
def test_a_tour_that_was_improved_is_better_and_improved_no_more(plain, makespan, data):
    plain = replace(plain, makespan=makespan)
    tour = data.draw(st.permutations(range(1, plain.n)))
    improved = plain.improve(tour)
    assert sorted(improved) == sorted(tour)
    assert improved == tour or plain.score_of(improved) > plain.score_of(tour)
    assert plain.improve(improved) == improved


def neighbours(tour):
    """Every tour with one customer elsewhere, or a part turned round."""
    for i, j in itertools.product(range(len(tour)), repeat=2):
        others = tour[:i] + tour[i + 1 :]
        yield [*others[:j], tour[i], *others[j:]]
        if i < j:
            yield tour[:i] + tour[i : j + 1][::-1] + tour[j + 1 :]


@given(
    n=st.integers(2, 9),
    seed=st.integers(0, 10**6),
    tightness=st.sampled_from([0.1, 0.5, 1.0]),
    makespan=st.booleans(),
    data=st.data(),
)
def test_a_feasible_tour_that_was_improved_has_no_better_neighbour(n, seed, tightness, makespan, data):
    """By brute force; with whole numbers there is no rounding."""
    plain = random_instance(n, seed, tightness, whole=True, makespan=makespan)
    improved = plain.improve(data.draw(st.permutations(range(1, n))))
    if plain.score_of(improved) > -1e6:
        assert max(map(plain.score_of, neighbours(improved))) <= plain.score_of(improved)


def test_what_is_no_tour_is_not_improved():
    plain = random_instance(5, 1)
    for moves in ([], [1, 2, 3], [1, 2, 3, 3], [1, 2, 3, 5], [0, 1, 2, 3], [1, 2, 3, -4]):
        assert plain.improve(moves) == moves


def test_a_problem_without_a_local_search_says_so():
    board = _core.same_game(2, 1, [1, 1], 0, _core.Leftover.none)
    assert not board.improves
    assert random_instance(5, 1).engine().improves
    with pytest.raises(ValueError, match="no local search"):
        _core.improve(board, [0])
