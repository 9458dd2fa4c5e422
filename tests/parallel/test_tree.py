"""Tree search by many threads: no simulation is lost or counted twice, and what should not depend on them does not."""

from dataclasses import replace

import pytest

import playout as po
from tests.own import problems as own
from tests.reference import games, uct
from tests.reference.engine import BANDITS, engine_settings, forest, think
from tests.reference.rules import Board
from tests.reference.uct import Settings

THREADS = 8
TOGETHER = [{"virtual_loss": 0}, {"virtual_loss": 1}, {"virtual_loss": 3}, {"in_flight": True}]


def check_root(engine, playouts):
    """All the simulations are in the root's statistics."""
    report = engine.report()
    assert report.visits == sum(action.visits for action in report.actions) == playouts
    assert all(0 <= action.wins <= action.visits for action in report.actions)


def check_nodes(engine, of_tree=True):
    """All visits add up: of a node those of its actions, of an action those of its node and what ended there."""
    nodes = {tuple(node.path): node for node in engine.nodes()}
    for path, node in nodes.items():
        assert node.visits == sum(action.visits for action in node.actions)
        for action in node.actions:
            child = nodes.get((*path, action.move))
            assert 0 <= action.wins <= action.visits
            assert action.amaf_visits == 0 or action.amaf_visits >= action.visits
            if of_tree and child is not None:
                assert (
                    child.visits <= action.visits
                )  # the first ended there, unless another was faster to add the state


@pytest.mark.parametrize("together", TOGETHER, ids=str)
@pytest.mark.parametrize("bandit", BANDITS)
def test_visits_add_up(bandit, together):
    for problem, graph in ((po.ConnectFour(), False), (po.Hex(5), False), (po.ConnectFour(5, 5), True)):
        settings = engine_settings(Settings(bandit, graph=graph), **together)
        engine = forest(problem, settings, 1)
        for thinking in (1, 2):
            think(engine, 1000, THREADS)
            assert engine.spent[0] == 1000
            check_root(engine, 1000 * thinking)
        if not graph:
            check_nodes(engine)


@pytest.mark.parametrize("bandit", BANDITS)
def test_visits_add_up_where_much_is_proven(bandit):
    """Threads come to solved states, and to the end of games, and one of them proves the result."""
    for problem in (po.TicTacToe(), po.Hex(3), own.Take(12)):
        for graph in (False, True):
            widening = bandit == "rave" or isinstance(problem, own.Take)
            settings = engine_settings(Settings(bandit, graph=graph, widening=widening, widening_first=3.0))
            engine = think(forest(problem, settings, 2), 40_000, THREADS)
            check_root(engine, engine.spent[0])
            report = engine.report()
            assert report.bounds[0] == report.bounds[1] == (1 if isinstance(problem, po.MNK) else 2)
            if not graph:
                check_nodes(engine)


def test_without_a_solver_or_with_few_nodes():
    for settings in (
        {"solver": False},
        {"expand_after": 4},
        {"bandit": "rave", "widening": True, "widening_first": 2.0},
    ):
        engine = think(forest(po.TicTacToe(), engine_settings(Settings(**settings)), 3), 2000, THREADS)
        check_root(engine, engine.spent[0])
        check_nodes(engine)


@pytest.mark.parametrize("graph", [False, True], ids=["tree", "graph"])
@pytest.mark.parametrize("bandit", ["ucb1", "rave"])
def test_a_full_tree_is_searched_on(bandit, graph):
    settings = engine_settings(Settings(bandit, graph=graph), memory=1 << 20)
    engine = think(forest(po.ConnectFour(), settings, 1), 40_000, THREADS)
    report = engine.report()
    assert engine.spent[0] == 40_000
    assert report.full
    assert report.bytes <= report.most_bytes <= 1 << 20
    check_root(engine, 40_000)
    nodes = report.nodes
    think(engine, 3000, THREADS)
    check_root(engine, 43_000)
    assert engine.report().nodes <= nodes + 8  # the ends of games are small: some fit into the rest


@pytest.mark.parametrize("together", [po.Tree(), po.Tree(virtual_loss=0), po.Tree(in_flight=True)], ids=str)
def test_puzzles(together):
    for problem in (po.SameGame.standard(1), own.Digits()):
        for bandit in (po.UCB1(), po.RAVE(), po.UCBTuned2(exploration=0.1)):
            search = po.UCT(bandit, memory=1)
            result = po.solve(problem, search, playouts=1500, threads=THREADS, parallel=together)
            assert result.playouts == 1500
            assert problem.replay(result.moves)[0] == result.score


def test_one_thread_searches_a_tree_as_without_a_strategy():
    for bandit in (po.UCB1(), po.RAVE()):
        alone = po.Player(po.Hex(5), po.UCT(bandit), seed=4).think(playouts=500)
        for together in (po.Tree(), po.Tree(virtual_loss=3), po.Tree(in_flight=True)):
            assert same(po.Player(po.Hex(5), po.UCT(bandit), seed=4, parallel=together).think(playouts=500), alone)


def same(one, other):
    """Whether analyses say the same."""
    return replace(one, seconds=0.0) == replace(other, seconds=0.0)


@pytest.mark.parametrize("bandit", [po.UCB1(), po.UCBTuned1(), po.UCBTuned2(), po.RAVE()], ids=lambda b: b.name)
@pytest.mark.parametrize("parallel", [po.Leaf(1), po.Leaf(6), po.Root(1), po.Root(5)], ids=str)
def test_leaf_and_root_do_not_depend_on_the_number_of_threads(parallel, bandit):
    search = po.UCT(bandit, early_stop=False)

    def played(threads):
        with po.Player(po.ConnectFour(), search, threads=threads, parallel=parallel, seed=3) as player:
            first = player.think(playouts=300)
            player.play(first.move)
            return first, player.think(playouts=200)

    alone = played(1)
    assert alone[0].playouts == alone[0].simulations == 300
    for threads in (2, 5):
        assert all(map(same, played(threads), alone))


def test_root_parallelization_adds_up_independent_trees():
    settings, rules = Settings(), Board(games.Hex(4))
    twins = [uct.Uct(rules, settings, 5, job=job).advance(60) for job in range(4)]
    engine = think(forest(po.Hex(4), engine_settings(settings), 5, jobs=4), 240, 3)
    check_root(engine, 240)
    for i, action in enumerate(engine.report().actions):
        trees = [twin.root.actions[i] for twin in twins]
        assert (action.visits, action.wins) == (sum(a.visits for a in trees), sum(a.total for a in trees))


def test_thinking_that_is_stopped_leaves_a_whole_tree():
    for graph in (False, True):
        engine = forest(po.Hex(5), engine_settings(Settings("rave", graph=graph)), 1)
        for _ in range(5):
            before = engine.report().visits
            engine.begin(10**9, THREADS)
            while engine.report().visits < before + 50:  # looked at while it goes on
                pass
            engine.stop()
            check_root(engine, before + engine.spent[0])
        if not graph:
            check_nodes(engine)
