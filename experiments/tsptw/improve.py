"""How often and how soon GNRPA with the local search reaches the best known tour, within 10 seconds on one thread.

    PLAYOUT_DATA=path/to/data python experiments/tsptw/improve.py [--seeds 10]

Runs GNRPA(level=4, improve=True) on all instances of best-known.csv (in the data folder, beside the instances), until
the best known cost is reached or 10 seconds have passed. A row of improve.csv for each run; what is there is not run
again. Then prints a table of what there is.
"""

import argparse
import csv
import sys
from collections import defaultdict
from pathlib import Path

import playout as po
from playout.data import find

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent / "benchmarks"))
from record import append_rows  # noqa: E402

SECONDS = 10
ROUNDING = 0.005  # best-known.csv has two decimals
RESULTS = HERE / "improve.csv"


def best_known() -> dict[str, float]:
    file = find("tsptw", "best-known.csv")
    with file.open() as stream:
        return {row["instance"]: float(row["cost"]) for row in csv.DictReader(stream)}


def rows() -> list[dict[str, str]]:
    if not RESULTS.exists():
        return []
    with RESULTS.open() as stream:
        return list(csv.DictReader(stream))


def run(instance: str, seed: int, cost: float) -> dict[str, object]:
    problem, search = po.problem(f"tsptw:{instance}"), po.GNRPA(level=4, improve=True)
    result = po.solve(problem, search, seconds=SECONDS, target=-(cost + ROUNDING), seed=seed)
    return {
        "instance": instance,
        "seed": seed,
        "best_known": cost,
        "cost": round(result.detail["cost"], 2),
        "violations": result.detail["violations"],
        "seconds": round(result.seconds, 3),
        "playouts": result.playouts,
    }


def table() -> None:
    by_instance: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in rows():
        by_instance[row["instance"]].append(row)
    print(
        "| instance | best known | runs | feasible | at best known | longest of those, s |\n|---|---|---|---|---|---|"
    )
    for instance, runs in sorted(by_instance.items()):
        feasible = [row for row in runs if row["violations"] == "0"]
        best = [row for row in feasible if float(row["cost"]) <= float(row["best_known"]) + ROUNDING]
        longest = max((float(row["seconds"]) for row in best), default=float("nan"))
        known = f"{float(runs[0]['best_known']):.2f}"
        print(f"| {instance} | {known} | {len(runs)} | {len(feasible)} | {len(best)} | {longest:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    arguments = parser.parse_args()
    done = {(row["instance"], int(row["seed"])) for row in rows()}
    for seed in range(arguments.seeds):
        for instance, cost in best_known().items():
            if (instance, seed) not in done:
                append_rows(str(RESULTS), [run(instance, seed, cost)])
    table()


if __name__ == "__main__":
    main()
