"""The solver: what a tree search proves is what an exhaustive search finds."""

import random

import pytest

import playout as po
from tests.own import problems as own
from tests.reference import games
from tests.reference.engine import BANDITS, engine_settings, forest, think
from tests.reference.uct import Settings

MEMORY = 64 << 20
RESULTS = ["loss", "draw", "win"]  # for player 0, in half wins


def exhaustive(game):
    """Return the function of a state that gives its value, in half wins of player 0."""
    values = {}

    def value(state):
        if state not in values:
            player, moves = game.player(state), game.moves(state)
            best = 1 + int(game.score(state)) if not moves else 2 * player
            for move in moves:
                best = (min if player else max)(best, value(game.play(state, move)))
                if best == 2 - 2 * player:
                    break
            values[state] = best
        return values[state]

    return value


def after(game, moves):
    state = game.initial()
    for move in moves:
        state = game.play(state, move)
    return state


def openings(game, length):
    """All states that so many moves lead to, once each, by the moves of one way."""
    ways = {game.initial(): ()}
    for _ in range(length):
        ways = {game.play(s, move): (*way, move) for s, way in ways.items() for move in game.moves(s)}
    return list(ways.values())


def some_openings(game, length, count, seed):
    """The moves of random games that are not over after so many."""
    draw, found = random.Random(seed), []
    while len(found) < count:
        way, state = (), game.initial()
        while len(way) < length and (moves := game.moves(state)):
            move = draw.choice(moves)
            way, state = (*way, move), game.play(state, move)
        found += [way] if game.moves(state) else []
    return found


def solver(problem, bandit="ucb1", graph=True, **settings):
    plain = Settings(bandit, exploration=0.5, graph=graph, **settings)
    return forest(problem, engine_settings(plain, memory=MEMORY), 1)


def proven(engine, moves, playouts=200_000):
    """What is proven of the state after some moves."""
    engine.go_to(moves)
    lower, upper = think(engine, playouts).report().bounds
    return lower if lower == upper else None


@pytest.mark.parametrize("graph", [True, False], ids=["graph", "tree"])
@pytest.mark.parametrize("bandit", BANDITS)
def test_first_positions(bandit, graph):
    for problem, expected in (
        (po.TicTacToe(), "draw"),
        (po.MNK(4, 3, 3), "win"),
        (po.MNK(2, 3, 3), "draw"),
        (po.Hex(2), "win"),
        (po.Hex(3), "win"),
        (own.Take(8), "win"),
    ):
        value = proven(solver(problem, bandit, graph), [])
        assert value is not None
        assert RESULTS[value] == expected


def test_tic_tac_toe_to_depth_three():
    game, engine = games.TicTacToe(), solver(po.TicTacToe())
    value = exhaustive(game)
    for length in range(4):
        for way in openings(game, length):
            assert proven(engine, way) == value(after(game, way))


@pytest.mark.parametrize("bandit", BANDITS)
@pytest.mark.parametrize("graph", [True, False], ids=["graph", "tree"])
def test_positions(bandit, graph):
    for game, problem, length, count in (
        (games.TicTacToe(), po.TicTacToe(), 4, 20),
        (games.Mnk(4, 3, 3), po.MNK(4, 3, 3), 3, 10),
        (games.ConnectFour(4, 4), po.ConnectFour(4, 4), 8, 10),
        (games.ConnectFour(5, 4), po.ConnectFour(5, 4), 12, 10),
        (games.Hex(3), po.Hex(3), 2, 15),
        (games.Hex(4), po.Hex(4), 8, 10),
    ):
        value, engine = exhaustive(game), solver(problem, bandit, graph)
        for way in some_openings(game, length, count, seed=length):
            assert proven(engine, way) == value(after(game, way)), way


def test_every_action_that_is_proven_is_so():
    """Also below the root, and where the root is not proven yet."""
    for game, problem, graph in (
        (games.TicTacToe(), po.TicTacToe(), False),
        (games.TicTacToe(), po.TicTacToe(), True),
        (games.Hex(3), po.Hex(3), False),
    ):
        value = exhaustive(game)
        for bandit in BANDITS:
            nodes = think(solver(problem, bandit, graph), 400).nodes()
            for node in nodes:
                for action in node.actions:
                    lower, upper = action.bounds
                    if (lower, upper) != (0, 2):
                        assert lower <= value(after(game, [*node.path, action.move])) <= upper


def test_openings_of_hex():
    """On 4x4 the short diagonal alone wins: so says the exhaustive search, which is too slow to be run here."""
    game, engine = games.Hex(3), solver(po.Hex(3))
    value = exhaustive(game)
    for move in range(9):
        assert proven(engine, [move]) == value(after(game, [move]))
    engine = solver(po.Hex(4))
    assert [move for move in range(16) if proven(engine, [move]) == 2] == [3, 6, 9, 12]


@pytest.mark.parametrize("bandit", BANDITS)
def test_connect_four_on_a_small_board(bandit):
    """A draw, as exhaustive search says, after any first move."""
    engine = solver(po.ConnectFour(4, 4), bandit)
    assert [proven(engine, [move]) for move in range(4)] == [1, 1, 1, 1]


@pytest.mark.parametrize("bandit", BANDITS)
def test_without_a_solver_nothing_is_proven(bandit):
    engine = think(solver(po.TicTacToe(), bandit, graph=False, solver=False), 3000)
    assert engine.spent[0] == 3000
    report = engine.report()
    assert report.bounds == (0, 2)
    assert all(action.bounds == (0, 2) for node in engine.nodes() for action in node.actions)
    assert sum(action.visits for action in report.actions) == 3000


def test_a_solved_game_is_answered_at_once():
    engine = think(solver(po.TicTacToe()), 100_000)
    assert 0 < engine.spent[0] < 100_000
    assert think(engine, 100_000).spent[0] == 0
    with po.Player(po.Hex(3), po.UCT(graph=True)) as player:
        first = player.think(playouts=100_000)
        assert first.proven == "win"
        assert first.value == 1.0
        assert first.moves[0].proven == "win"
        again = player.think(playouts=100_000)
        assert (again.playouts, again.proven, again.move) == (0, "win", first.move)
        while not player.finished:  # one side plays on, the other keeps the win
            player.play(player.think(playouts=20_000).move)
        assert player.score == 1.0
