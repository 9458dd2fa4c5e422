"""The engine's trees, with the settings of the plain ones and written as those are."""

from typing import Any

from playout import _core
from tests.reference.uct import Settings

BANDITS = ("ucb1", "tuned1", "tuned2", "rave")
Tree = dict[tuple[int, ...], tuple[int, list[tuple]]]


def engine_settings(plain: Settings, **others: Any) -> _core.UctSettings:
    settings = _core.UctSettings()
    settings.early_stop = False
    for name, value in {**vars(plain), **others}.items():
        setattr(settings, name, getattr(_core.Bandit, value) if name == "bandit" else value)
    return settings


def think(forest: _core.Forest, playouts: int, threads: int = 1) -> _core.Forest:
    """Let a forest think to the end."""
    forest.begin(playouts, threads)
    while not forest.wait(1.0):
        pass
    forest.stop()
    return forest


def forest(problem: Any, settings: _core.UctSettings, seed: int = 0, jobs: int = 1, width: int = 0) -> _core.Forest:
    return _core.Forest(problem.engine(), settings, seed, jobs, width)


def advance(search: _core.Search, playouts: int) -> _core.Search:
    """Move the search of a puzzle on by that many playouts, whatever improves on the way."""
    end = search.playouts + playouts
    while search.playouts < end:
        search.advance(end - search.playouts)
    return search


def tree_of(nodes: list[_core.NodeReport]) -> Tree:
    """Return path -> (visits, [(move, visits, wins, AMAF visits, AMAF wins, bounds)]), where there were visits."""

    def row(a: _core.ActionReport) -> tuple:
        return a.move, a.visits, a.wins, a.amaf_visits, a.amaf_wins, a.bounds

    visited = (node for node in nodes if node.visits or not node.actions)
    return {tuple(node.path): (node.visits, [row(action) for action in node.actions]) for node in visited}
