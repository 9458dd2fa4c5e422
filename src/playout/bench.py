"""How many playouts this machine plays: what ``playout bench`` prints."""

import statistics
import time
from collections.abc import Callable
from typing import Any

from playout import search as searches
from playout.errors import check_positive
from playout.parallel import Hybrid, Leaf, Node, Parallel, Root, describe
from playout.problems import BuiltIn, problem
from playout.search import GNRPA, NMCS, NRPA, Search
from playout.solve import solve
from playout.uct import RAVE, UCT

CASES: tuple[tuple[str, Search], ...] = (
    ("samegame:1", GNRPA(level=2)),
    ("samegame:9", GNRPA(level=2)),
    ("samegame:16", GNRPA(level=2)),
    ("samegame:1", NRPA(level=2)),
    ("samegame:1", NMCS(level=2)),
    ("samegame:random:1,width=20,height=20", GNRPA(level=2)),
    ("tsptw:random:1,n=50,width=200", GNRPA(level=3)),
    ("tsptw:random:1,n=50,width=200", GNRPA(level=3, improve=True)),
    ("samegame:1", UCT()),
    ("go:9", UCT()),
    ("go:19", UCT(RAVE())),
    ("connectfour", UCT()),
)


def measure(seconds: float, tell: Callable[[str], None] | None = None) -> list[dict[str, Any]]:
    """Return a row for each case: problem, search and playouts per CPU second on one thread."""
    check_positive("seconds", seconds)
    rows = []
    for name, search in CASES:
        if tell is not None:
            tell(f"measuring {short_name(search)} on {name}")
        rows.append(
            {
                "problem": name,
                "search": short_name(search),
                "playouts_per_cpu_second": rate(problem(name), search, seconds, seed=1),
            }
        )
    return rows


def scaling(
    threads: int, seconds: float, tell: Callable[[str], None] | None = None, rounds: int = 3
) -> list[dict[str, Any]]:
    """Return a row for each strategy and number of threads, 1, 2, 4 and so on: playouts per second of time.

    Interleaved in rounds, so that a slow moment hits all alike; a rate is the median of its rounds, and the ratio is to
    one thread with the same strategy. Jobs and width are the same for all numbers of threads.
    """
    check_positive("seconds", seconds)
    counts = [*(1 << power for power in range((threads - 1).bit_length())), threads]
    strategies: list[Parallel] = [
        Root(threads),
        Leaf(4),
        Leaf(16),
        Leaf(16, policy="local"),
        Node(2, 16),
        Hybrid(threads, 4),
    ]
    found: dict[tuple[int, int], list[float]] = {}
    for number in range(rounds):
        for which, parallel in enumerate(strategies):
            if tell is not None:
                tell(f"measuring {describe(parallel)}, round {number + 1} of {rounds}")
            for count in counts:
                found.setdefault((which, count), []).append(wall_rate(parallel, count, seconds / rounds, number))
    rates = {key: statistics.median(values) for key, values in found.items()}
    return [
        {
            "strategy": describe(strategies[which]),
            "threads": count,
            "playouts_per_second": rates[which, count],
            "ratio": rates[which, count] / rates[which, 1],
        }
        for which, count in rates
    ]


def wall_rate(parallel: Parallel, threads: int, seconds: float, seed: int) -> float:
    """Return the playouts per second of time on board 1, GNRPA of level 3."""
    result = solve(
        problem("samegame:1"), GNRPA(level=3), seconds=seconds, parallel=parallel, threads=threads, seed=seed
    )
    return result.playouts / result.seconds


def rate(built: BuiltIn, search: Search, seconds: float, seed: int) -> float:
    """Return the playouts per CPU second of one search, run in this thread for that much CPU time."""
    under_way = search.begin(built, seed)
    begin = time.process_time()
    while time.process_time() - begin < seconds:
        under_way.advance(500)
    return float(under_way.playouts / (time.process_time() - begin))


def short_name(search: Any) -> str:
    """Name a search by its level."""
    improve = ", improve" if getattr(search, "improve", False) else ""
    return searches.short_name(search) + improve
