"""Playouts per CPU second on rc_204.1, without and with the selective policies and the local search, interleaved.

    PLAYOUT_DATA=path/to/data python benchmarks/tsptw.py [--rounds 10] [--seconds 1]

GNRPA of level 4 on one thread. Rows are added to benchmarks/tsptw.csv.
"""

import argparse
import statistics

from record import append_rows

from playout import GNRPA, problem
from playout.bench import rate

CASES = (
    ("tsptw:rc_204.1,avoid_late=no", False),
    ("tsptw:rc_204.1", False),
    ("tsptw:rc_204.1,urgent=yes", False),
    ("tsptw:rc_204.1", True),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=1.0, help="CPU seconds of each run")
    arguments = parser.parse_args()
    rates: dict[tuple[str, bool], list[float]] = {case: [] for case in CASES}
    for seed in range(1, arguments.rounds + 1):
        for name, improve in CASES:
            search = GNRPA(level=4, improve=improve)
            rates[name, improve].append(rate(problem(name), search, arguments.seconds, seed))
    rows: list[dict[str, object]] = [
        {
            "problem": name,
            "improve": improve,
            "rounds": arguments.rounds,
            "cpu_seconds": arguments.seconds,
            "playouts_per_cpu_second": round(statistics.median(found)),
            "least": round(min(found)),
            "most": round(max(found)),
        }
        for (name, improve), found in rates.items()
    ]
    for row in rows:
        print(row)
    append_rows("tsptw.csv", rows)


if __name__ == "__main__":
    main()
