"""The rules of the TSPTW in plain Python.

They share nothing with the engine (cpp/problems/tsptw.h). Times are added up in visiting order, as the engine does, so
that both have the same bits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from playout.errors import InputError, short

PENALTY = 1e6  # off the score for each window that is missed

Matrix = tuple[tuple[float, ...], ...]
Times = tuple[float, ...]


@dataclass(frozen=True)
class Stop:
    """One arrival: at a customer, or at the depot, customer 0, at the end."""

    customer: int
    arrival: float
    ready: float
    due: float

    @property
    def start(self) -> float:
        """When the visit begins, after waiting for the window to open."""
        return max(self.arrival, self.ready)

    @property
    def wait(self) -> float:
        return self.start - self.arrival

    @property
    def late(self) -> float:
        return max(self.arrival - self.due, 0.0)


@dataclass(frozen=True)
class Tour:
    """The stops of a sequence of customers, with the return to the depot once all have been visited."""

    stops: tuple[Stop, ...]
    cost: float
    begin: float
    finished: bool

    @property
    def makespan(self) -> float:
        """When the depot is reached again; the time so far if the tour is not finished."""
        return self.stops[-1].start if self.stops else self.begin

    @cached_property
    def missed(self) -> tuple[Stop, ...]:
        return tuple(stop for stop in self.stops if stop.late > 0)


def tour(distances: Matrix, ready: Times, due: Times, moves: Sequence[Any]) -> Tour:
    """Follow the customers of a sequence, in order.

    Raises
    ------
    InputError
        If there is no such customer, or it was visited before, with the number of the move.
    """
    where, time, cost = 0, ready[0], 0.0
    visited: dict[int, int] = {}
    stops = []

    def go(to: int) -> None:
        nonlocal where, time, cost
        cost += distances[where][to]
        stops.append(Stop(to, time + distances[where][to], ready[to], due[to]))
        where, time = to, stops[-1].start

    for number, move in enumerate(moves, 1):
        to = customer(move, len(ready), f"move {number}")
        if to in visited:
            raise InputError(f"move {number} visits customer {to} again; move {visited[to]} did")
        visited[to] = number
        go(to)
    finished = len(visited) == len(ready) - 1
    if finished and visited:
        go(0)
    return Tour(tuple(stops), cost, ready[0], finished)


def customer(value: Any, nodes: int, what: str) -> int:
    """Return a customer's number as an int; raise if there is no such customer."""
    whole = not isinstance(value, bool) and hasattr(value, "__index__")
    if not whole or not 0 < value < nodes:
        raise InputError(f"{what} is {short(value)}; the customers are 1 to {nodes - 1}")
    return int(value)


def plain(value: float) -> str:
    """Return a number as people write it, to ten digits."""
    return f"{value:.10g}"
