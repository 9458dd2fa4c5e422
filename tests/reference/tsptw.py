"""The TSPTW in plain Python, as a search sees it: rules, selective policy, bias."""

import math
import random
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from playout import _core


class Move(NamedTuple):
    move: int
    code: int
    bias: float


@dataclass
class State:
    node: int
    time: float
    cost: float
    violations: int
    left: list
    lost: set


@dataclass
class PlainTsptw:
    distances: list  # rows
    ready: list
    due: list
    makespan: bool = False
    urgent: bool = False
    avoid_late: bool = False
    temperature = 1.0

    def __post_init__(self) -> None:
        self.n = len(self.ready)
        arcs = [self.distances[i][j] for i in range(self.n) for j in range(self.n) if i != j]
        self.least, self.most = (min(arcs), max(arcs)) if arcs else (0.0, 0.0)

    def engine(self) -> _core.Problem:
        flat = [distance for row in self.distances for distance in row]
        return _core.tsptw(flat, self.ready, self.due, self.makespan, self.urgent, self.avoid_late)

    @cached_property
    def ways(self) -> list:
        """The shortest ways over customers; a detour counts as a little shorter, unless all numbers are whole.

        Where no way over one customer is shorter than the arc, the arcs.
        """
        if not (self.urgent or self.avoid_late):
            return self.distances
        arcs, due = np.array(self.distances, dtype=float), np.array(self.due, dtype=float)
        np.fill_diagonal(arcs, 0)
        whole = all(number.is_integer() and abs(number) < 1e12 for number in (*arcs.flat, *map(float, self.ready)))
        slack = np.zeros(self.n) if whole else 1e-12 * np.maximum(abs(due), abs(self.ready[0]))
        shortest, ways, metric = arcs.copy(), arcs.copy(), True
        for stop in range(1, self.n):
            metric &= not (self.over(stop, arcs) - slack < arcs).any()
            through = self.over(stop, shortest)
            shortest = np.minimum(shortest, through)
            ways = np.minimum(ways, through - slack)
        return arcs.tolist() if metric else ways.tolist()

    @staticmethod
    def over(stop: int, ways: np.ndarray) -> np.ndarray:
        """Every way over one more customer; infinite where it is no stop between two others, or for the depot."""
        through = ways[:, [stop]] + ways[stop]
        through[:, [0, stop]] = through[stop] = np.inf
        np.fill_diagonal(through, np.inf)
        return through

    def initial(self) -> State:
        return self.without_lost(State(0, self.ready[0], 0.0, 0, list(range(1, self.n)), set()))

    def without_lost(self, state: State) -> State:
        """Note the customers that can no longer be reached in time; they stay lost."""
        late = {k for k in state.left if state.time + self.ways[state.node][k] > self.due[k]}
        return replace(state, lost=(state.lost | late) & set(state.left))

    def all_moves(self, state: State) -> list[Move]:
        return [self.named(state, customer) for customer in state.left]

    def moves(self, state: State) -> list[Move]:
        """Tell, from the definitions, which moves harm nobody and who cannot wait."""
        left, alive = state.left, set(state.left) - state.lost
        late = {j: self.late_after(state, j, alive) for j in left} if self.urgent or self.avoid_late else {}
        chosen = []
        if self.urgent:
            chosen = [k for k in left if k in alive and all(k in late[j] for j in left if j != k)]
        if not chosen and self.avoid_late:
            chosen = [j for j in left if not late[j]]
        return [self.named(state, customer) for customer in chosen or left]

    def late_after(self, state: State, customer: int, alive: set) -> set:
        """Who is alive and late by that move: whichever way somebody goes there after it, or by the move itself."""
        arrival = state.time + self.distances[state.node][customer]
        start = max(arrival, self.ready[customer])
        itself = alive & {customer} if arrival > self.due[customer] else set()
        return itself | {k for k in alive - {customer} if start + self.ways[customer][k] > self.due[k]}

    def named(self, state: State, customer: int) -> Move:
        distance, width = self.distances[state.node][customer], self.most - self.least
        bias = -10.0 * (distance - self.least) / width if width > 0 else 0.0
        return Move(customer, state.node * self.n + customer, bias)

    def travel(self, state: State, to: int) -> State:
        distance = self.distances[state.node][to]
        arrival = state.time + distance
        late = arrival > self.due[to]
        left = [customer for customer in state.left if customer != to]
        time = max(arrival, self.ready[to])
        return State(to, time, state.cost + distance, state.violations + late, left, state.lost)

    def play(self, state: State, move: Move) -> State:
        state = self.travel(state, move.move)
        return self.without_lost(state) if state.left else self.travel(state, 0)

    def score(self, state: State) -> float:
        return -((state.time if self.makespan else state.cost) + 1e6 * state.violations)

    def score_of(self, customers: list) -> float:
        """Replay a tour."""
        state = self.initial()
        for customer in customers:
            state = self.travel(state, customer)
        return self.score(self.travel(state, 0) if customers else state)

    def improve(self, customers: list) -> list:
        """What the engine's local search makes of a tour; it is tested on its own."""
        return _core.improve(self.engine(), customers)


def random_instance(n: int, seed: int, tightness: float = 1.0, whole: bool = False, **settings: bool) -> PlainTsptw:
    """Points in the plane, and windows around the times of a random tour; a few arcs are longer one way."""
    numbers = random.Random(seed)
    points = [(numbers.uniform(0, 50), numbers.uniform(0, 50)) for _ in range(n)]
    digits = 0 if whole else 2
    distances = [[round(math.dist(a, b) * numbers.choice((1, 1, 1, 1.3)), digits) for b in points] for a in points]
    tour, time = numbers.sample(range(1, n), n - 1), 0.0
    ready, due = [0.0] * n, [round(60.0 * n, digits)] * n
    for before, customer in pairwise([0, *tour]):
        time += distances[before][customer]
        ready[customer] = round(max(time - numbers.uniform(0, 60) / tightness, 0.0), digits)
        due[customer] = round(time + numbers.uniform(0, 60) / tightness, digits)
        time = max(time, ready[customer])
    return PlainTsptw(distances, ready, due, **settings)


def random_matrix(n: int, seed: int, unit: float, tightness: float, **settings: bool) -> PlainTsptw:
    """No geometry: arcs that are longer than detours, multiples of a unit, and windows around a random tour's times."""
    numbers = random.Random(seed)
    most = numbers.choice((3, 20))
    distances = [[unit * numbers.randint(0, most) for _ in range(n)] for _ in range(n)]
    ready, due, time = [0.0] * n, [unit * most * n] * n, 0.0
    for before, customer in pairwise([0, *numbers.sample(range(1, n), n - 1)]):
        time += distances[before][customer]
        width = unit * most / tightness
        ready[customer], due[customer] = max(time - numbers.uniform(0, width), 0.0), time + numbers.uniform(0, width)
        time = max(time, ready[customer])
    return PlainTsptw(distances, ready, due, **settings)
