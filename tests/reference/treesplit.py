"""UCT-Treesplit in plain Python: one tree on several ranks.

From section 3 of "Parallel Monte-Carlo Tree Search for HPC Systems" and the header comments of cpp/cluster/treesplit.h
and shared_nodes.h. Ranks take turns, each a package or a simulation begun; then messages move, from link to link in the
order that the network's seed draws. A problem is one of tests/reference/rules.py whose keys are the engine's: they say
which rank a state belongs to.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from tests.reference.averaging import both, statistics
from tests.reference.stream import Stream, fold
from tests.reference.uct import Action, Node, Settings, Uct, won

UNKNOWN = (0, 2)


@dataclass
class Stop:
    """A state on a simulation's way, and what was selected there."""

    key: int
    rank: int
    action: int
    player: int
    code: int
    after: tuple[int, int] = UNKNOWN  # what was proven of the state after it


@dataclass
class Simulation:
    number: int
    stream: Stream
    way: list[Stop] = field(default_factory=list)


@dataclass
class Split:
    duplicate_after: int = 16
    sync_every: int = 100
    overload: int = 3


class Rank:
    def __init__(self, index: int, ranks: "Ranks") -> None:
        self.index, self.ranks, self.split = index, ranks, ranks.split
        self.tree = Uct(ranks.problem, ranks.settings, ranks.seed)
        self.tree.settings.graph = True
        self.table: dict[int, Node] = {}  # by keys; copies too
        self.told: dict[int, list[list]] = {}  # of shared states: what is known to the home, or to all
        self.first = self.begun = self.ended = self.budget = 0
        self.news: deque = deque()
        self.packages: deque = deque()

    # A thinking

    def begin(self, budget: int) -> None:
        self.first += self.begun
        self.begun = self.ended = 0
        self.budget, self.stopped = budget, False
        key = self.key = self.ranks.problem.key(self.ranks.state)
        if key not in self.table:
            self.table[key] = self.tree.node_of(self.ranks.state)
        if self.ranks.count > 1 and key not in self.told:
            if self.is_home(key):
                self.share(key)
            else:
                self.told[key] = [nothing() for _ in self.table[key].actions]

    def step(self) -> None:
        if self.news:
            self.take(*self.news.popleft())
        elif self.packages:
            self.take(*self.packages.popleft())
        else:
            self.begin_simulation()

    def is_home(self, key: int) -> bool:
        return key % self.ranks.count == self.index

    def send(self, to: int, *message: Any) -> None:
        self.ranks.links[self.index, to].append((self.index, *message))

    def send_to_others(self, *message: Any) -> None:
        for to in range(self.ranks.count):
            if to != self.index:
                self.send(to, *message)

    def take(self, sender: int, kind: str, *rest: Any) -> None:
        getattr(self, f"take_{kind}")(sender, *rest)

    # A simulation

    def begin_simulation(self) -> None:
        root = self.table[self.key]
        if self.ranks.settings.solver and root.bounds[0] == root.bounds[1] and not self.stopped:
            self.stopped = True
            if self.key in self.told:
                self.tell(self.key)
        if self.stopped or self.begun >= self.budget or self.begun - self.ended >= self.split.overload:
            return
        number = (self.first + self.begun) * self.ranks.count + self.index
        self.begun += 1
        stream = Stream.of(self.ranks.seed, 0, 0, number)
        self.go_down(Simulation(number, stream), root, self.ranks.state)

    def take_move(self, sender: int, simulation: Simulation, state: Any) -> None:
        key = self.ranks.problem.key(state)
        if key not in self.table:
            self.table[key] = self.tree.node_of(state)
        self.go_down(simulation, self.table[key], state)

    def go_down(self, simulation: Simulation, node: Node | None, state: Any) -> None:
        outcome = None
        while node is not None:
            key = self.ranks.problem.key(state)
            if simulation.way:
                simulation.way[-1].after = node.bounds
            outcome = self.tree.known(node)
            if outcome is not None:
                break
            many = self.ranks.count > 1 and node.visits >= self.split.duplicate_after
            if self.is_home(key) and many and key not in self.told:
                self.share(key)
            action = self.tree.choose(node, state, simulation.stream)
            assert action is not None
            action.visits += 1  # it counts when it is selected
            code = action.move.code
            simulation.way.append(Stop(key, self.index, node.actions.index(action), node.player, code))
            state = self.ranks.problem.play(state, action.move)
            node, away = self.follow(simulation, action, state)
            if away:
                return
        if not simulation.way:  # the result is known
            self.begun -= 1
            return
        plays: list = []
        if outcome is None:
            plays, outcome = self.ranks.problem.playout(state, simulation.stream)
        for to in {stop.rank for stop in simulation.way} - {self.index}:
            self.send(to, "update", simulation, plays, outcome)
        self.update(simulation, plays, outcome)

    def follow(self, simulation: Simulation, action: Action, state: Any) -> tuple[Node | None, bool]:
        """Return where an action leads, and whether the simulation has gone to another rank."""
        on_way = [stop.key for stop in simulation.way]
        key = self.ranks.problem.key(state)
        if action.child is not None:
            return (None if key in on_way else action.child), False
        if action.visits < self.ranks.settings.expand_after:
            return None, False
        action.child = self.table.get(key)
        if key in on_way:
            return None, False
        is_over = not self.ranks.problem.moves(state)
        if action.child is None and (action.visits > self.ranks.settings.expand_after or is_over):
            if not self.is_home(key):
                self.send(key % self.ranks.count, "move", simulation, state)
                return None, True
            action.child = self.table[key] = self.tree.node_of(state)
        return action.child, False

    def take_update(self, sender: int, simulation: Simulation, plays: list, outcome: float) -> None:
        self.update(simulation, plays, outcome)

    def update(self, simulation: Simulation, plays: list, outcome: float) -> None:
        """Walk from the leaf to the root, and add the outcome to what was selected here."""
        played = set(plays)
        for stop in reversed(simulation.way):
            played.add((stop.player, stop.code))
            if stop.rank != self.index:
                continue
            node = self.table[stop.key]
            action = node.actions[stop.action]
            reward = won(outcome, node.player)
            action.total += reward
            for other in node.actions if self.ranks.settings.bandit == "rave" else []:
                if (node.player, other.move.code) in played:
                    other.amaf_visits += 1
                    other.amaf_total += reward
            self.prove(node, action, stop.after if action.child is None else action.child.bounds)
            told = self.told.get(stop.key)
            if told is not None and action.visits - told[stop.action][0] >= self.split.sync_every:
                self.tell(stop.key)
        if simulation.number % self.ranks.count == self.index:
            self.ended += 1

    def prove(self, node: Node, action: Action, bounds: tuple[int, int]) -> None:
        if self.tree.proves and both(action.bounds, bounds) != action.bounds:
            action.bounds = both(action.bounds, bounds)
            before = node.bounds
            self.tree.settle(node)
            node.bounds = both(before, node.bounds)

    # Shared states

    def share(self, key: int) -> None:
        node = self.table[key]
        self.told[key] = [statistics(action) for action in node.actions]
        rows = [(action.move, action.prior, action.open) for action in node.actions]
        self.send_to_others("copy", key, node.player, rows, [list(row) for row in self.told[key]])

    def take_copy(self, sender: int, key: int, player: int, rows: list, known: list[list]) -> None:
        if key not in self.table:
            actions = [Action(move, prior=prior, open=is_open) for move, prior, is_open in rows]
            self.table[key] = Node(player, actions)
            self.told[key] = [nothing() for _ in actions]
        self.add(key, dict(enumerate(known)))

    def tell(self, key: int, sender: int = -1, theirs: dict[int, list] | None = None) -> None:
        """Tell the home what is new of a copy; or all others, if this is it, but a rank what came from it."""
        news = self.collect(key)
        if not self.is_home(key):
            if news:
                self.send(key % self.ranks.count, "difference", key, news)
            return
        for to in range(self.ranks.count):
            rest = news
            if to == sender:
                rest = {i: less(row, theirs.get(i, nothing())) for i, row in news.items()}
                rest = {i: row for i, row in rest.items() if row != nothing()}
            if to != self.index and rest:
                self.send(to, "total", key, rest)

    def collect(self, key: int) -> dict[int, list]:
        news = {}
        for i, (action, old) in enumerate(zip(self.table[key].actions, self.told[key], strict=True)):
            new = statistics(action)
            if new != old:
                news[i] = less(new, [*old[:4], UNKNOWN])
                if new[4] == old[4]:
                    news[i][4] = UNKNOWN
                self.told[key][i] = new
        return news

    def take_difference(self, sender: int, key: int, news: dict[int, list]) -> None:
        node = self.table[key]
        for i, row in news.items():
            add(node.actions[i], row)
            self.prove(node, node.actions[i], row[4])
        self.tell(key, sender, news)

    def take_total(self, sender: int, key: int, news: dict[int, list]) -> None:
        self.add(key, news)

    def add(self, key: int, news: dict[int, list]) -> None:
        """Add to a copy what it is told, and to what it was told."""
        node = self.table[key]
        for i, row in news.items():
            add(node.actions[i], row)
            self.prove(node, node.actions[i], row[4])
            old = self.told[key][i]
            self.told[key][i] = [*(a + b for a, b in zip(old[:4], row[:4], strict=True)), both(old[4], row[4])]


def nothing() -> list:
    return [0, 0, 0, 0, UNKNOWN]


def less(one: list, other: list) -> list:
    return [*(a - b for a, b in zip(one[:4], other[:4], strict=True)), one[4]]


def add(action: Action, row: list) -> None:
    action.visits += row[0]
    action.total += row[1]
    action.amaf_visits += row[2]
    action.amaf_total += row[3]


class Ranks:
    """All ranks of a split tree, and the network."""

    def __init__(self, problem: Any, settings: Settings, seed: int, ranks: int, split: Split, network: int) -> None:
        self.problem, self.settings, self.seed, self.split = problem, settings, seed, split
        self.state = problem.initial()
        self.count = ranks
        self.ranks = [Rank(index, self) for index in range(ranks)]
        self.links = {(one, to): deque() for one in range(ranks) for to in range(ranks) if one != to}
        self.network = Stream(fold(0, network))

    def think(self, playouts: int) -> None:
        count = self.count
        for rank in self.ranks:
            rank.begin(playouts // count + (rank.index < playouts % count))
        while not self.is_over():
            for rank in self.ranks:
                rank.step()
            self.deliver()
        for mine in (False, True):  # copies tell their homes, then the homes tell all
            for rank in self.ranks:
                for key in [*rank.told]:
                    if rank.is_home(key) == mine:
                        rank.tell(key)
            while any(self.links.values()) or any(rank.news for rank in self.ranks):
                self.deliver()
                for rank in self.ranks:
                    while rank.news:
                        rank.take(*rank.news.popleft())

    def is_over(self) -> bool:
        busy = any(self.links.values()) or any(rank.news or rank.packages for rank in self.ranks)
        return not busy and all(
            (rank.stopped or rank.begun >= rank.budget) and rank.begun == rank.ended for rank in self.ranks
        )

    def deliver(self) -> None:
        links, order = [*self.links], []
        for i in range(len(links)):
            order.append(i)
            j = self.network.below(i + 1)
            order[i], order[j] = order[j], order[i]
        for i in order:
            queue = self.links[links[i]]
            while queue:
                message = queue.popleft()
                rank = self.ranks[links[i][1]]
                (rank.packages if message[1] in ("move", "update") else rank.news).append(message)

    def play(self, move: int) -> None:
        chosen = next(one for one in self.problem.moves(self.state) if one.move == move)
        self.state = self.problem.play(self.state, chosen)

    def rows(self) -> list[tuple]:
        """Return (key, visits, [(visits, wins, AMAF visits, AMAF wins, bounds)]) of all ranks' nodes."""
        return sorted(
            (key, node.visits, [tuple(statistics(action)) for action in node.actions])
            for rank in self.ranks
            for key, node in rank.table.items()
        )
