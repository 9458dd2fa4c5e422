"""Playouts per second of the parallel strategies on 1, 2 and 8 threads, in one run, interleaved.

    python benchmarks/scaling.py [--rounds 10] [--seconds 1]

GNRPA of level 3 with 100 iterations on board 1, in seconds of time: run it on a machine with two idle cores. Each round
runs every strategy on each number of threads, in turn; a ratio is the median over the rounds. Rows are added to
benchmarks/scaling.csv.
"""

import argparse
import statistics

from record import append_rows

from playout import Hybrid, Leaf, Node, Root
from playout.bench import wall_rate
from playout.parallel import describe

THREADS = (1, 2, 8)
STRATEGIES = (
    Root(2),
    Hybrid(2, 4),
    Leaf(2),
    Leaf(4),
    Leaf(16),
    Leaf(4, policy="local"),
    Leaf(16, policy="local"),
    Node(2, 4),
    Node(2, 16),
    Node(2, 4, policy="local"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each run")
    arguments = parser.parse_args()
    rates: dict[tuple[int, int], list[float]] = {}
    for seed in range(arguments.rounds):
        for which, strategy in enumerate(STRATEGIES):
            for threads in THREADS:
                found = wall_rate(strategy, threads, arguments.seconds, seed)
                rates.setdefault((which, threads), []).append(found)
                print(f"{describe(strategy):<45} {threads} threads {found:>8,.0f} playouts a second", flush=True)
    rows = [row(rates, which, threads, arguments.seconds) for which, threads in rates]
    append_rows("scaling.csv", rows)


def row(rates: dict[tuple[int, int], list[float]], which: int, threads: int, seconds: float) -> dict[str, object]:
    ratios = [one / base for one, base in zip(rates[which, threads], rates[which, 1], strict=True)]
    result = {
        "strategy": describe(STRATEGIES[which]),
        "threads": threads,
        "rounds": len(ratios),
        "seconds": seconds,
        "playouts_per_second": round(statistics.median(rates[which, threads])),
        "ratio": round(statistics.median(ratios), 3),
        "least_ratio": round(min(ratios), 3),
        "most_ratio": round(max(ratios), 3),
    }
    print(f"{result['strategy']:<45} {threads} threads: {result['ratio']}")
    return result


if __name__ == "__main__":
    main()
