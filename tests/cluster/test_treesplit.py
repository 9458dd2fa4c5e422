"""One tree on several ranks: as the plain twin has it, every state in one place, every simulation counted once."""

import math

import pytest

import playout as po
from playout import _core
from playout.cluster.ranks import RanksHere
from tests.own import problems as own
from tests.reference import games, treesplit
from tests.reference.engine import BANDITS, engine_settings, think
from tests.reference.rules import Board
from tests.reference.stream import fold
from tests.reference.uct import Settings


class KeyedHex(games.Hex):
    """With the engine's keys: they say which rank a state belongs to."""

    def key(self, state):
        key, side = 0, self.side
        for line in range(side):
            own = sum((state[line * side + i] == 1) << i for i in range(side))
            others = sum((state[i * side + line] == 2) << i for i in range(side))
            key = fold(key, own << 32 | others)
        return key


class KeyedConnectFour(games.ConnectFour):
    def key(self, state):
        key = 0
        for player in (1, 2):
            cells = [
                (i % self.width) * (self.height + 1) + i // self.width for i in range(len(state)) if state[i] == player
            ]
            key = fold(key, sum(1 << cell for cell in cells))
        return key


def in_turns(problem, plain, ranks, split=None, *, seed=0, network=0, delay=0.0, **more):
    settings = engine_settings(plain, **more)
    return _core.Forest(problem.engine(), settings, seed, _core.Network(ranks, delay, seed=network), ranks, cut(split))


def cut(split):
    """The engine's settings of a split tree, from the twin's."""
    out = _core.SplitSettings()
    for name, value in vars(split or treesplit.Split()).items():
        setattr(out, name, value)
    return out


def rows(forest):
    """The nodes of all ranks, as the twin has them."""

    def row(a):
        return a.visits, a.wins, a.amaf_visits, a.amaf_wins, a.bounds

    return sorted((node.key, node.visits, [row(a) for a in node.actions]) for node in forest.nodes())


@pytest.mark.parametrize("ranks", [1, 2, 3, 7])
@pytest.mark.parametrize("bandit", BANDITS)
def test_the_twin_has_the_same_nodes_on_all_ranks(bandit, ranks):
    """To the last visit of the last copy, also after a move that all ranks go on from."""
    for problem, plain in (
        (po.Hex(4), Board(KeyedHex(4))),
        (po.ConnectFour(5, 4), Board(KeyedConnectFour(5, 4))),
    ):
        for split in (treesplit.Split(4, 6, 3), treesplit.Split(0, 25, 2), treesplit.Split(10**9, 1, 5)):
            twin = treesplit.Ranks(plain, Settings(bandit), 5, ranks, split, network=3)
            engine = in_turns(problem, Settings(bandit), ranks, split, seed=5, network=3)
            for playouts in (250, 120):
                twin.think(playouts)
                think(engine, playouts)
                assert engine.spent[0] == playouts == sum(rank.ended for rank in twin.ranks)
                assert rows(engine) == twin.rows()
                best = max(engine.report().actions, key=lambda action: action.visits).move
                engine.play(best)
                twin.play(best)
