"""How many playouts this machine plays: what ``playout bench`` prints."""

import time
from collections.abc import Callable
from typing import Any

from playout.errors import check_positive
from playout.problems import BuiltIn, problem
from playout.search import GNRPA, NMCS, NRPA, Search

CASES: tuple[tuple[str, Search], ...] = (
    ("samegame:1", GNRPA(level=2)),
    ("samegame:9", GNRPA(level=2)),
    ("samegame:16", GNRPA(level=2)),
    ("samegame:1", NRPA(level=2)),
    ("samegame:1", NMCS(level=2)),
    ("samegame:random:1,width=20,height=20", GNRPA(level=2)),
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


def rate(built: BuiltIn, search: Search, seconds: float, seed: int) -> float:
    """Return the playouts per CPU second of one search, run in this thread for that much CPU time."""
    under_way = search.begin(built, seed)
    begin = time.process_time()
    while time.process_time() - begin < seconds:
        under_way.advance(500)
    return float(under_way.playouts / (time.process_time() - begin))


def short_name(search: Any) -> str:
    """Name a search by its level."""
    return f"{search.name} level {search.level}"
