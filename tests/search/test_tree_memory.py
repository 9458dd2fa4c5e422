"""The memory of a tree: how much a node takes, what happens when it is full, and what is kept when a move is played."""

from pathlib import Path

import pytest

import playout as po
from tests.reference.engine import BANDITS, engine_settings, forest, think, tree_of
from tests.reference.uct import Settings

STATUS = Path("/proc/self/statm")
SMALL = 200 << 10


def pages():
    """Pages of this process that are in memory, of 4 kB or more."""
    return int(STATUS.read_text().split()[1])


def below(tree, moves):
    """The part of a tree below some moves, as seen from there."""
    return {path[len(moves) :]: node for path, node in tree.items() if path[: len(moves)] == moves}


@pytest.mark.parametrize("bandit", BANDITS)
def test_what_a_node_takes(bandit):
    """32 bytes, and 16 an action, or 32 with AMAF statistics."""
    each = 32 if bandit == "rave" else 16
    for problem in (po.ConnectFour(), po.Hex(5)):
        engine = think(forest(problem, engine_settings(Settings(bandit))), 500)
        sizes = [32 + each * len(node.actions) for node in engine.nodes()]
        report = engine.report()
        assert report.nodes == len(sizes)
        assert 0 <= report.bytes - sum(sizes) <= 64  # links below the first node's have other meanings


@pytest.mark.parametrize(("game", "moves"), [(po.ConnectFour(), 7), (po.Hex(9), 81)])
def test_what_an_analysis_says_of_memory(game, moves):
    for bandit, each in ((po.UCB1(), 16), (po.RAVE(), 32)):
        said = po.Player(game, po.UCT(bandit, memory=64, early_stop=False)).think(playouts=1000)
        assert 1 < said.nodes <= 1001  # most states are seen once, and take no memory for that
        assert said.memory <= said.nodes * (64 + each * moves)
        assert said.most_memory == 64 << 20
        assert said.capacity == pytest.approx((64 << 20) / (said.memory / said.nodes), rel=0.01)
        assert not said.full


@pytest.mark.parametrize("graph", [False, True], ids=["tree", "graph"])
def test_a_full_tree_is_searched_on(graph):
    with po.Player(po.ConnectFour(), po.UCT(memory=1, graph=graph, early_stop=False)) as player:
        first = player.think(playouts=60_000)
        assert first.full
        assert first.playouts == first.simulations == sum(first.visits.values()) == 60_000
        assert first.memory <= first.most_memory <= 1 << 20
        again = player.think(playouts=5000)
        assert again.simulations == sum(again.visits.values()) == 65_000
        assert again.nodes <= first.nodes + 8  # the ends of games are small: some fit into the rest
        assert again.memory <= again.most_memory
        player.play(again.move)
        kept = player.analysis()
        assert not kept.full
        assert 0 < kept.nodes < again.nodes
        assert kept.simulations > 0
        assert player.think(playouts=1000).simulations == kept.simulations + 1000


@pytest.mark.skipif(not STATUS.exists(), reason="the system does not say what memory is used")
@pytest.mark.parametrize("graph", [False, True], ids=["tree", "graph"])
def test_large_memory_is_used_as_the_tree_grows(graph):
    before = pages()
    with po.Player(po.ConnectFour(), po.UCT(memory=4096, graph=graph, early_stop=False)) as player:
        said = player.think(playouts=5000)
        assert said.most_memory == 4096 << 20
        assert pages() - before < 16_384
        assert said.capacity > 20_000_000
        assert said.memory < 1 << 20


@pytest.mark.parametrize("bandit", [po.UCB1(), po.RAVE()], ids=lambda one: one.name)
def test_what_is_known_is_kept_when_a_move_is_played(bandit):
    with po.Player(po.Hex(4), po.UCT(bandit, solver=False, early_stop=False)) as player:
        for playouts in (400, 300, 200):
            said = player.think(playouts=playouts)
            player.play(said.move)
            assert player.analysis().simulations == said.visits[said.move] - 1  # the first one added the state
        player.undo()
        assert player.analysis().simulations == 0


@pytest.mark.parametrize(
    "plain", [*map(Settings, BANDITS), Settings("rave", widening=True, widening_first=3.0)], ids=str
)
def test_collecting_changes_nothing(plain):
    """A tree that gave up what cannot be reached any more goes on as one that had no need to."""
    small, large = (forest(po.ConnectFour(5, 4), engine_settings(plain, memory=size), 1) for size in (SMALL, 64 << 20))
    collected = False
    for move in (3, 1, 2):
        for engine in (small, large):
            think(engine, 700 if plain.bandit == "rave" else 1800)  # whose nodes are twice as large
        before = tree_of(small.nodes())
        assert before == tree_of(large.nodes())
        assert not small.report().full
        for engine in (small, large):
            engine.play(move)
        assert tree_of(small.nodes()) == below(before, (move,)) == tree_of(large.nodes())
        collected = collected or small.report().bytes < large.report().bytes
    assert collected


@pytest.mark.parametrize("bandit", BANDITS)
def test_collecting_keeps_a_graph(bandit):
    """Where states are reached in several ways: what is left of it is as in one that had no need to."""
    graph = Settings(bandit, graph=True)
    small, large = (forest(po.ConnectFour(5, 4), engine_settings(graph, memory=size), 1) for size in (SMALL, 64 << 20))
    playouts = 800 if bandit == "rave" else 1500  # whose nodes are twice as large
    nodes = {engine: think(engine, playouts).report().nodes for engine in (small, large)}
    assert not small.report().full
    for engine in (small, large):
        engine.play(3)
    assert tree_of(small.nodes()) == tree_of(large.nodes())
    assert 0 < small.report().nodes < nodes[small]
    assert large.report().nodes == nodes[large]
    for move in (1, 2):  # states are still found by their keys
        before = think(small, playouts).report().nodes
        small.play(move)
        assert 0 < small.report().nodes < before


def test_a_move_that_was_never_tried_begins_a_tree():
    engine = think(forest(po.Hex(5), engine_settings(Settings())), 3)
    untried = next(action.move for action in engine.report().actions if action.visits == 0)
    engine.play(untried)
    assert (engine.report().visits, engine.report().nodes) == (0, 1)
    assert think(engine, 50).report().visits == 50
