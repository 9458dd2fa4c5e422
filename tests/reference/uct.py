"""UCT in plain Python, from the papers' listings and the header comments of cpp/search/uct.h and cpp/search/bandit.h.

A problem is one of tests/reference/rules.py. Sums and quotients are taken in the engine's order, so that trees agree to
the last bit.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from playout._core import exp
from tests.reference.floats import single
from tests.reference.rules import Move
from tests.reference.stream import Stream

ROOT2 = float.fromhex("0x1.6a09e667f3bcdp+0")
LN2 = float.fromhex("0x1.62e42fefa39efp-1")


def log(x: float) -> float:
    """The natural logarithm: x = m 2^e with m near 1, and the series of log m in s = (m - 1) / (m + 1)."""
    half, e = math.frexp(x)
    m, e = 2 * half, e - 1
    if m > ROOT2:
        m, e = m / 2, e + 1
    s = (m - 1) / (m + 1)
    total = 1 / 23
    for odd in range(21, 0, -2):
        total = total * (s * s) + 1 / odd
    return e * LN2 + 2 * s * total


@dataclass
class Settings:
    """As UctSettings, for one thread."""

    bandit: str = "ucb1"
    exploration: float = 1.0
    first_play: float = math.inf
    rave_k: float = 3000.0
    even_prior: float = 10.0
    widening: bool = False
    widening_first: float = 40.0
    widening_growth: float = 1.8
    expand_after: int = 1
    graph: bool = False
    solver: bool = True


@dataclass(eq=False)
class Action:
    move: Move
    visits: int = 0
    total: float = 0.0  # wins of the player to move, or scores
    amaf_visits: int = 0
    amaf_total: float = 0.0
    prior: tuple[float, float] = (0.0, 0.0)  # of RAVE: visits and wins beyond the even ones
    bounds: tuple[int, int] = (0, 2)  # in half wins of player 0
    child: "Node | None" = None
    open: bool = True
    illegal: bool = False  # after all: by the history, on the one way to it


@dataclass(eq=False)
class Node:
    player: int
    actions: list[Action]
    bounds: tuple[int, int] = (0, 2)
    result: float | None = None  # where the game is over

    @property
    def visits(self) -> int:
        return sum(action.visits for action in self.actions)


@dataclass
class Uct:
    """One tree; ``width`` playouts begin where a simulation leaves it (leaf parallelization)."""

    problem: Any
    settings: Settings
    seed: int
    job: int = 0
    width: int = 1
    simulations: int = 0
    lowest: float = math.inf
    highest: float = -math.inf
    states: dict[Any, Node] = field(default_factory=dict)  # in graph mode: by their keys

    def __post_init__(self) -> None:
        self.start = self.problem.initial()
        self.root = self.node_of(self.start)

    def advance(self, playouts: int) -> "Uct":
        """Make as many simulations, or end when the result is proven."""
        end = self.simulations + playouts
        while self.simulations < end and self.known(self.root) is None:
            streams = [Stream.of(self.seed, 0, self.job, self.simulations + i) for i in range(self.width)]
            path, state, outcome = self.descend(streams[0])
            if outcome is None:
                ends = [self.problem.playout(state, stream) for stream in streams]
            else:
                ends = [([], outcome)] * self.width
            for plays, score in ends:
                self.update(path, plays, score)
            self.simulations += self.width
        return self

    # In the tree, and expand

    def descend(self, stream: Stream) -> tuple[list[tuple[Node, Action]], Any, float | None]:
        """Return the path in the tree, the state where it ends, and the result if that is known there."""
        path: list[tuple[Node, Action]] = []
        node, state = self.root, self.start
        while (outcome := self.known(node)) is None:
            action = self.choose(node, state, stream)
            if action is None:
                return path, state, self.known(node)
            path.append((node, action))
            state = self.problem.play(state, action.move)
            if action.child is None:
                if action.visits + 1 < self.settings.expand_after:
                    return path, state, None
                action.child = self.states.get(self.problem.key(state)) if self.settings.graph else None
                if action.child is None:
                    action.child = self.node_of(state)
                    if self.settings.graph or action.visits < self.settings.expand_after:
                        return path, state, action.child.result
                    # else others have been here, whose visits were added to this tree's: go on
            if action.child in [before for before, _ in path]:
                return path, state, None
            node = action.child
        return path, state, outcome

    def node_of(self, state: Any) -> Node:
        """Add a state to the tree."""
        actions = [Action(move, open=not self.settings.widening) for move in self.problem.moves(state)]
        node = Node(self.problem.player(state), actions)
        if self.problem.is_game:
            self.add_priors(state, actions)
        if not actions:
            node.result = self.problem.score(state)
            node.bounds = (int(2 * won(node.result, 0)),) * 2
        if self.settings.graph:
            self.states[self.problem.key(state)] = node
        return node

    def add_priors(self, state: Any, actions: list[Action]) -> None:
        if hasattr(self.problem, "priors") and actions:
            priors = self.problem.priors(state, [action.move for action in actions])
            for action, prior in zip(actions, priors, strict=True):
                action.prior = prior
        elif self.problem.has_bias:  # of a user's game: as often won as its bias says
            for action in actions:
                share = 1 / (1 + exp(-action.move.bias)) - 0.5
                action.prior = (0.0, single(self.settings.even_prior * share))

    def known(self, node: Node) -> float | None:
        """The result of a state where the game is over or solved."""
        lower, upper = node.bounds
        solved = self.proves and lower == upper
        return lower - 1.0 if solved and node.result is None else node.result

    def choose(self, node: Node, state: Any, stream: Stream) -> Action | None:
        """Algorithm 2, among what the history allows: what it forbids is drawn like the others, and then left out."""
        if self.settings.widening:
            while sum(action.open for action in node.actions) < min(len(node.actions), self.considered(node.visits)):
                self.open_next(node, stream)
        forbidden: list[Action] = []
        while (action := self.draw(node, stream, forbidden)) and not self.problem.is_allowed(state, action.move):
            if self.settings.graph:
                forbidden.append(action)
            else:
                action.illegal = True
                self.settle(node)
        return action

    def draw(self, node: Node, stream: Stream, forbidden: list[Action]) -> Action | None:
        def tried(action: Action) -> bool:
            return action.open and not action.illegal and action not in forbidden and self.worth_trying(node, action)

        while not (actions := [action for action in node.actions if tried(action)]):
            if all(action.open for action in node.actions):
                return None
            self.open_next(node, stream)
        scores = [self.score(node, action) for action in actions]
        best = [action for action, score in zip(actions, scores, strict=True) if score == max(scores)]
        return best[stream.below(len(best))] if len(best) > 1 else best[0]

    def worth_trying(self, node: Node, action: Action) -> bool:
        if not self.proves:
            return True
        (low, high), (certain_0, certain_1) = action.bounds, node.bounds
        return high > certain_0 if node.player == 0 else low < certain_1

    def considered(self, n: int) -> int:
        """K(n): the number of k with t(k) <= n."""
        k, t, step = 0, 0.0, self.settings.widening_first
        while t <= n and k < 1000:
            k, t, step = k + 1, t + step, step * self.settings.widening_growth
        return k

    def open_next(self, node: Node, stream: Stream) -> None:
        closed = [action for action in node.actions if not action.open]
        orders = [self.order(action) for action in closed]
        best = [action for action, order in zip(closed, orders, strict=True) if order == max(orders)]
        chosen = best[stream.below(len(best))] if len(best) > 1 else best[0]
        chosen.open = True

    def order(self, action: Action) -> float:
        """What widening goes by: the priors, else the bias, else the AMAF estimate."""
        if hasattr(self.problem, "priors"):
            visits = self.settings.even_prior + action.prior[0]
            return (0.5 * self.settings.even_prior + action.prior[1]) / visits if visits else 0.5
        if self.problem.has_bias:
            return action.move.bias
        assert self.settings.bandit == "rave", "there is nothing to order moves by"
        return self.mean(action.amaf_total, action.amaf_visits) if action.amaf_visits else 0.5

    # The bandits

    def mean(self, total: float, visits: int) -> float:
        """What simulations brought, from 0 to 1; scores by the least and the greatest seen."""
        if visits == 0:
            return 0.0
        if self.problem.is_game:
            return total / visits
        span = self.highest - self.lowest
        return (total / visits - self.lowest) / span if span > 0 else 0.5

    def score(self, node: Node, action: Action) -> float:
        s, n = self.settings, action.visits
        log_total = log(node.visits) if node.visits else 0.0
        mean = self.mean(action.total, n)
        if s.bandit == "rave":
            return self.rave(action, mean, log_total)
        if n == 0:
            return s.first_play
        if s.bandit == "ucb1":
            return mean + s.exploration * math.sqrt(2 * log_total / n)
        variance = max(0.001, mean * (1 - mean))
        doubt = math.sqrt(variance * log_total / n)
        return mean + s.exploration * (doubt if s.bandit == "tuned1" else doubt + log_total / n)

    def rave(self, action: Action, mean: float, log_total: float) -> float:
        s, amaf_visits = self.settings, action.amaf_visits
        n = action.visits + (s.even_prior + action.prior[0])
        if n + amaf_visits == 0:
            return s.first_play
        prior = 0.5 * s.even_prior + action.prior[1]
        mean = (mean * action.visits + prior) / n if n else 0.0
        b = amaf_visits / (amaf_visits + n + n * amaf_visits / s.rave_k)
        score = (1 - b) * mean + b * self.mean(action.amaf_total, amaf_visits)
        return score + s.exploration * math.sqrt(2 * log_total / n) if s.exploration and n else score

    # Update

    def update(self, path: list[tuple[Node, Action]], plays: list, score: float) -> None:
        self.lowest, self.highest = min(self.lowest, score), max(self.highest, score)
        played = set(plays)
        if self.problem.first_play_counts:
            first = {code: player for player, code in reversed(plays)}
            played = {(player, code) for code, player in first.items()}
        for node, action in reversed(path):
            reward = won(score, node.player) if self.problem.is_game else score
            action.visits += 1
            action.total += reward
            played.add((node.player, action.move.code))
            if self.problem.first_play_counts:
                played.discard((1 - node.player, action.move.code))
            for other in node.actions if self.settings.bandit == "rave" else []:
                if (node.player, other.move.code) in played:
                    other.amaf_visits += 1
                    other.amaf_total += reward
            if action.child is not None and self.proves:
                action.bounds = action.child.bounds
                self.settle(node)

    @property
    def proves(self) -> bool:
        return self.problem.is_game and self.settings.solver

    def settle(self, node: Node) -> None:
        """What is proven of the actions is proven of the node."""
        if self.proves:
            best = max if node.player == 0 else min
            lower, upper = zip(*[action.bounds for action in node.actions if not action.illegal], strict=True)
            node.bounds = (best(lower), best(upper))

    def tree(self) -> dict[tuple[int, ...], tuple[int, list[tuple]]]:
        """Return path -> (visits, [(move, visits, wins, AMAF visits, AMAF wins, bounds)]), where there were visits."""
        nodes = self.walk(self.root, {self.root}, self.start, ())
        return {path: (visits, actions) for path, (visits, actions) in nodes if visits or not actions}

    def walk(self, node: Node, nodes: set[Node], state: Any, path: tuple[int, ...]) -> Iterator[tuple]:
        """In a graph each node once, by the first way that its history allows."""

        def row(a: Action) -> tuple:
            return a.move.move, a.visits, a.total, a.amaf_visits, a.amaf_total, a.bounds

        yield path, (node.visits, [row(action) for action in node.actions])
        for action in node.actions:
            if action.child is None or action.child in nodes or not self.problem.is_allowed(state, action.move):
                continue
            nodes.add(action.child)
            yield from self.walk(action.child, nodes, self.problem.play(state, action.move), (*path, action.move.move))


def won(score: float, player: int) -> float:
    """A result for a player: 1 a win, 0.5 a draw."""
    first = 0.5 + (score > 0) / 2 - (score < 0) / 2
    return first if player == 0 else 1 - first
