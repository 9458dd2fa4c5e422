"""Algorithm 6 in plain Python: trees of several ranks whose statistics near the root are added up.

Each rank makes some simulations; then each tells what it has learned since the last time, and adds what the others
tell. Nodes are known by the moves that lead to them. News of a node that a tree does not have, or that no simulation
has gone on from there, waits until one has.
"""

from dataclasses import dataclass, field
from typing import Any

from tests.reference.uct import Action, Node, Settings, Uct

Way = tuple[int, ...]
News = dict[Way, dict[int, list]]  # of the actions of a node: visits, wins, AMAF visits, AMAF wins, bounds


@dataclass
class Rank:
    tree: Uct
    remembered: dict[Way, list[list]] = field(default_factory=dict)  # of nodes that are shared, after the last exchange
    waiting: dict[Way, list[dict[int, list]]] = field(default_factory=dict)

    def collect(self, depth: int, least: int, everything: bool) -> News:
        news: News = {}
        self.look(self.tree.root, (), depth, least, everything, news)
        return news

    def look(self, node: Node, way: Way, depth: int, least: int, everything: bool, news: News) -> None:
        if way not in self.remembered:
            self.remembered[way] = [[0, 0, 0, 0, (0, 2)] for _ in node.actions]
            for waited in self.waiting.pop(way, []):
                self.add(node, way, waited)
        changed, further = {}, []
        for i, (action, old) in enumerate(zip(node.actions, self.remembered[way], strict=True)):
            new = statistics(action)
            has_changed = everything or new[0] != old[0]
            if has_changed and len(way) < depth and action.visits >= least and action.child and action.child.visits:
                further.append(i)
            if new == old:
                continue
            changed[i] = [*(a - b for a, b in zip(new[:4], old[:4], strict=True)), action.bounds]
            self.remembered[way][i] = new
        if changed:
            news[way] = changed
        for i in further:
            self.look(node.actions[i].child, (*way, i), depth, least, everything, news)

    def add(self, node: Node, way: Way, news: dict[int, list]) -> None:
        """Add what others have learned to the tree, and to what is remembered: it is not this rank's to tell."""
        for i, (visits, wins, amaf_visits, amaf_wins, bounds) in news.items():
            action, old = node.actions[i], self.remembered[way][i]
            action.visits += visits
            action.total += wins
            action.amaf_visits += amaf_visits
            action.amaf_total += amaf_wins
            action.bounds = both(action.bounds, bounds)
            added = [a + b for a, b in zip(old[:4], (visits, wins, amaf_visits, amaf_wins), strict=True)]
            self.remembered[way][i] = [*added, both(old[4], bounds)]
        self.tree.settle(node)

    def take_in(self, news: News) -> None:
        for way, changed in news.items():
            if way in self.remembered:
                self.add(self.node(way), way, changed)
            else:
                self.waiting.setdefault(way, []).append(changed)

    def node(self, way: Way) -> Node:
        node = self.tree.root
        for i in way:
            node = node.actions[i].child
        return node


def statistics(action: Action) -> list:
    return [action.visits, action.total, action.amaf_visits, action.amaf_total, action.bounds]


def both(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return max(one[0], other[0]), min(one[1], other[1])


def search(
    problem: Any, settings: Settings, seed: int, ranks: int, playouts: int, every: int, depth: int = 0, least: int = 1
) -> list[Uct]:
    """Let each rank make so many simulations, with an exchange after every so many, and one at the end."""
    members = [Rank(Uct(problem, settings, seed, job=rank)) for rank in range(ranks)]
    for made in range(0, playouts - playouts % every, every):
        for member in members:
            member.tree.advance(every)
        exchange(members, depth, least, everything=made == 0)
    for member in members:
        member.tree.advance(playouts % every)
    exchange(members, depth, least, everything=True)
    return [member.tree for member in members]


def exchange(members: list[Rank], depth: int, least: int, everything: bool) -> None:
    told = [member.collect(depth, least, everything) for member in members]
    for receiver, member in enumerate(members):
        for sender, news in enumerate(told):
            if sender != receiver:
                member.take_in(news)
