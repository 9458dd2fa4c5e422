"""A cheap proof that some instances of the TSPTW have no feasible tour."""

import numpy as np
from numpy.typing import NDArray

from playout.problems.tsptw_rules import Matrix, Times, plain

MAX_PAIRS = 300  # nodes up to which pairs of customers are looked at: a second of work at most


def why_impossible(distances: Matrix, ready: Times, due: Times) -> str | None:
    """Return a reason why every tour misses a window, or None if none is found, which proves nothing.

    Whoever is in time everywhere reaches a customer over customers that are in time, too, waits where that is needed,
    and does not pass the depot. So the earliest arrival over such ways is a bound: for a customer from the depot, for a
    second customer after a first one, and for the return. Rounding never breaks it: the sums are those of a real way.
    """
    arcs, opens, closes = np.array(distances), np.array(ready), np.array(due)
    nodes = len(ready)
    if nodes == 1:
        return None
    first = _earliest(arcs, opens, closes, np.array([0]), np.array([ready[0]]))[0]
    for j in range(1, nodes):
        if first[j] > due[j]:
            return f"customer {j} cannot be reached before {plain(first[j])}, its window closes at {plain(due[j])}"
    if nodes > MAX_PAIRS:
        return None
    customers = np.arange(1, nodes)
    after = _earliest(arcs, opens, closes, customers, np.maximum(first, opens)[1:])
    for i in customers:
        if after[i - 1, 0] > due[0]:
            back = plain(after[i - 1, 0])
            return f"the depot cannot be reached before {back} after customer {i}, its window closes at {plain(due[0])}"
    too_late = after[:, 1:] > closes[1:]
    for one, other in np.argwhere(np.triu(too_late & too_late.T, 1)) + 1:
        here, there = plain(after[one - 1, other]), plain(after[other - 1, one])
        return (
            f"customers {one} and {other} cannot both be in time: "
            f"{other} is reached at {here} after {one}, its window closes at {plain(due[other])}; "
            f"{one} is reached at {there} after {other}, its window closes at {plain(due[one])}"
        )
    return None


def _earliest(
    arcs: NDArray[np.float64],
    opens: NDArray[np.float64],
    closes: NDArray[np.float64],
    sources: NDArray[np.int64],
    leave: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the earliest arrival at each node from each source, over customers that are in time themselves."""
    arrival = leave[:, None] + arcs[sources]
    while True:
        before = arrival.copy()
        for k in range(1, len(opens)):
            go_on = np.where(arrival[:, k] <= closes[k], np.maximum(arrival[:, k], opens[k]), np.inf)
            np.minimum(arrival, go_on[:, None] + arcs[k], out=arrival)
        if np.array_equal(before, arrival):
            return arrival
