"""UCT against its plain Python twin: the same draws, the same trees, to the last bit."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

import playout as po
from playout import _core
from tests.own import problems as own
from tests.reference import games, uct
from tests.reference.engine import BANDITS, advance, engine_settings, forest, think, tree_of
from tests.reference.rules import Board, GoBoard, Own, Puzzle
from tests.reference.same_game import PlainSameGame
from tests.reference.uct import Settings

PINNED = Path(__file__).parent.parent / "data" / "tree-connect-four.txt"
BOARDS = {
    "tic-tac-toe": (po.TicTacToe(), Board(games.TicTacToe())),
    "4,3,3": (po.MNK(4, 3, 3), Board(games.Mnk(4, 3, 3))),
    "connect four 5x4": (po.ConnectFour(5, 4), Board(games.ConnectFour(5, 4))),
    "hex 3": (po.Hex(3), Board(games.Hex(3))),
    "hex 4": (po.Hex(4), Board(games.Hex(4))),
}
GO = {
    "go 3x3": (po.Go(3, komi=2.5), GoBoard(3, 3, komi=2.5)),
    "go 2x2, superko": (po.Go(2, komi=0.5), GoBoard(2, 2, komi=0.5)),
    "go 3x2, situational": (po.Go(3, 2, komi=0, ko="situational"), GoBoard(3, 2, komi=0, ko="situational")),
    "go 1x3, suicide": (
        po.Go(1, 3, komi=1, ko="simple", suicide=True),
        GoBoard(1, 3, komi=1, ko="simple", suicide=True),
    ),
    "go 4x3": (po.Go(4, 3, komi=0, ko="simple"), GoBoard(4, 3, komi=0, ko="simple")),
}
WIDENING = {"widening": True, "widening_first": 4.0, "widening_growth": 1.3}
SETTINGS = [
    {},
    {"solver": False},
    {"graph": True},
    {"graph": True, "solver": False, "expand_after": 2},
    {"exploration": 0.3},
    {"exploration": 0.0, "first_play": 0.6},
    {"expand_after": 3},
]
OF_RAVE = [
    {"rave_k": 20.0},
    {"rave_k": 100.0, "even_prior": 0.0, "exploration": 0.0},
    {"even_prior": 0.0, "first_play": 0.4, "exploration": 0.2},
    {"even_prior": 3.5, "exploration": 0.1, **WIDENING},
    WIDENING,
    {**WIDENING, "widening_growth": 1.0, "graph": True, "solver": False},
]


def named(settings):
    return ",".join(f"{name}={value}" for name, value in settings.items()) or "plain"


def assert_same(problem, rules, settings, playouts, seed, width=0, threads=1):
    twin = uct.Uct(rules, settings, seed, width=max(1, width)).advance(playouts)
    engine = think(forest(problem, engine_settings(settings), seed, 1, width), playouts, threads)
    assert engine.spent[0] == twin.simulations
    assert tree_of(engine.nodes()) == twin.tree()


def compiled(problem, yes):
    problem.compiled = yes
    return problem


def test_the_logarithm():
    for x in (*range(1, 2000), 1.5, math.sqrt(2), 1e-300, 1e300, 2.0**31 - 1):
        assert _core.log(x) == uct.log(x)
        assert uct.log(x) == pytest.approx(math.log(x), rel=1e-15, abs=1e-16)


@pytest.mark.parametrize("bandit", BANDITS)
@pytest.mark.parametrize("board", BOARDS)
def test_games(board, bandit):
    problem, rules = BOARDS[board]
    for seed in (0, 2**63):
        assert_same(problem, rules, Settings(bandit), 200, seed)


@pytest.mark.parametrize(
    "settings",
    [
        *(Settings("ucb1", **more) for more in ({}, {"solver": False}, {"graph": True, "solver": False})),
        *(Settings("rave", **more) for more in ({}, {"solver": False}, {"graph": True, "solver": False}, WIDENING)),
    ],
    ids=str,
)
@pytest.mark.parametrize("board", GO)
def test_go(board, settings):
    problem, rules = GO[board]
    assert_same(problem, rules, replace(settings, exploration=0.5), 300, 5)


@pytest.mark.parametrize("bandit", BANDITS)
@pytest.mark.parametrize("settings", SETTINGS, ids=named)
def test_settings(settings, bandit):
    for board in ("tic-tac-toe", "hex 3"):
        problem, rules = BOARDS[board]
        assert_same(problem, rules, Settings(bandit, **settings), 250, 7)


@pytest.mark.parametrize("settings", OF_RAVE, ids=named)
def test_settings_of_rave(settings):
    for board in ("tic-tac-toe", "connect four 5x4"):
        problem, rules = BOARDS[board]
        assert_same(problem, rules, Settings("rave", **settings), 300, 8)


@pytest.mark.parametrize("bandit", BANDITS)
def test_a_long_search(bandit):
    """To the proof, and where there is none thousands of simulations."""
    problem, rules = BOARDS["tic-tac-toe"]
    assert_same(problem, rules, Settings(bandit, graph=True, exploration=0.7), 700, 3)
    assert_same(problem, rules, Settings(bandit, solver=False), 1500, 4)


def test_a_search_that_goes_on():
    """Thinking again goes on with the tree, and with the next random numbers."""
    problem, rules = BOARDS["hex 4"]
    twin = uct.Uct(rules, Settings(), 5)
    engine = forest(problem, engine_settings(Settings()), 5)
    for playouts in (1, 30, 100):
        twin.advance(playouts)
        think(engine, playouts)
        assert tree_of(engine.nodes()) == twin.tree()


@pytest.mark.parametrize("yes", [True, False], ids=["compiled", "plain"])
@pytest.mark.parametrize("bandit", BANDITS)
def test_games_of_ones_own(bandit, yes):
    for kind in (own.Take, own.TwoPlayers):
        for settings in ({}, {"solver": False, "exploration": 0.4}, {"graph": True}, WIDENING):
            if settings is not WIDENING or kind is own.Take or bandit == "rave":
                assert_same(compiled(kind(), yes), Own(kind()), Settings(bandit, **settings), 100, 2)


@pytest.mark.parametrize("bandit", BANDITS)
def test_puzzles(bandit):
    same_game = po.SameGame.random(5, 5, 3, seed=1)
    for settings in ({}, {"exploration": 0.2}, {"first_play": 0.7}, {"expand_after": 3}, WIDENING, {"even_prior": 0.0}):
        for problem, rules in (
            (same_game, Puzzle(PlainSameGame(same_game))),
            (own.Digits(), Own(own.Digits())),
            (compiled(own.Digits(), False), Own(own.Digits())),
        ):
            plain = Settings(bandit, **settings)
            twin = uct.Uct(rules, plain, 6, job=2).advance(120)
            engine = advance(_core.uct(problem.engine(), engine_settings(plain), 6, 2), 120)
            assert tree_of(_core.nodes_of(engine)) == twin.tree()
            assert engine.score == twin.highest
            assert problem.replay(problem.decode(engine.moves))[0] == twin.highest


@pytest.mark.parametrize("bandit", BANDITS)
def test_leaf_parallelization(bandit):
    problem, rules = BOARDS["connect four 5x4"]
    for width, threads in ((1, 1), (3, 2), (8, 1), (8, 5)):
        assert_same(problem, rules, Settings(bandit), 160, 9, width, threads)
    alone = think(forest(problem, engine_settings(Settings(bandit)), 9), 200)
    one_leaf = think(forest(problem, engine_settings(Settings(bandit)), 9, 1, 1), 200, 2)
    assert tree_of(alone.nodes()) == tree_of(one_leaf.nodes())


def test_leaves_of_puzzles():
    problem, rules = own.Digits(), Own(own.Digits())
    for bandit in BANDITS:
        twin = uct.Uct(rules, Settings(bandit), 1, width=4).advance(100)
        engine = advance(_core.uct(problem.engine(), engine_settings(Settings(bandit)), 1, 0, 4), 100)
        assert tree_of(_core.nodes_of(engine)) == twin.tree()


@pytest.mark.parametrize("bandit", BANDITS)
def test_widening_and_the_solver(bandit):
    """Where all moves that are considered are lost another one is, at once: the proof does not depend on widening."""
    slow = {"widening": True, "widening_first": 1e6, "widening_growth": 2.0}
    if bandit == "rave":
        problem, rules = BOARDS["tic-tac-toe"]
        assert_same(problem, rules, Settings(bandit, graph=True, **slow), 600, 1)
    game = own.Take(8)  # who begins loses unless a turn is left out
    report = think(forest(game, engine_settings(Settings(bandit, **slow))), 5000).report()
    assert report.bounds == (2, 2)


def pinned():
    """Visits of the actions of the first nodes, for each bandit on Connect Four.

    If the algorithm was changed on purpose: ``python -c "from tests.search import test_uct as t; t.pin()"``.
    """
    lines = []
    for bandit in BANDITS:
        settings = engine_settings(replace(Settings(bandit), exploration=0.5))
        for node in think(forest(po.ConnectFour(), settings, 1), 2000).nodes():
            if len(node.path) <= 2:
                path, visits = "".join(map(str, node.path)), " ".join(str(action.visits) for action in node.actions)
                lines.append(f"{bandit} {path or '-'}: {visits}\n")
    return "".join(lines)


def pin():
    PINNED.write_text(pinned())


def test_a_tree_does_not_change_by_accident():
    assert pinned() == PINNED.read_text()


@pytest.mark.parametrize("bandit", BANDITS)
def test_connect_four(bandit):
    assert_same(po.ConnectFour(), Board(games.ConnectFour()), Settings(bandit, exploration=0.5), 60, 1)
