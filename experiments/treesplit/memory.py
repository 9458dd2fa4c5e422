"""How many states N tables of one size hold together: `python experiments/treesplit/memory.py`.

Light playouts until every table is full, ranks in turns, 16 MB each, the defaults of Treesplit. Rows are added to
memory.csv; the table of README.md is what it prints.
"""

import csv
import sys
from pathlib import Path

import playout as po
from playout import _core

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parent.parent / "benchmarks"))
from record import COMMIT  # noqa: E402, a folder of scripts

MEMORY = 16  # MB
GAMES = {"Go 9 x 9": po.Go(9, komi=7.5), "Go 19 x 19": po.Go(19, komi=7.5)}
SEARCHES = {"UCB1": po.UCT(po.UCB1(0.3)), "RAVE": po.UCT(po.RAVE())}


def fill(game: po.Go, search: po.UCT, ranks: int) -> int:
    """Return how many states there are when all ranks are full."""
    settings = search.engine_settings(None)
    settings.memory = MEMORY << 20
    settings.early_stop = settings.solver = False
    network = _core.Network(ranks, seed=1)
    forest = _core.Forest(game.engine(), settings, 1, network, ranks, po.Treesplit().engine_settings())
    while not forest.report().full:
        forest.begin(20_000 * ranks, 1)
        while not forest.wait(1.0):
            pass
        forest.stop()
    return forest.report().nodes


def main() -> None:
    rows = []
    print("| | one rank | 2 ranks | 4 ranks | 8 ranks |\n|---|---:|---:|---:|---:|")
    for game, engine in GAMES.items():
        for bandit, search in SEARCHES.items():
            states = {ranks: fill(engine, search, ranks) for ranks in (1, 2, 4, 8)}
            rows += [
                {"commit": COMMIT, "game": game, "bandit": bandit, "ranks": n, "states": s} for n, s in states.items()
            ]
            shares = " | ".join(f"{states[n]:,} ({states[n] / states[1] / n:.3f})" for n in (2, 4, 8))
            print(f"| {game}, {bandit} | {states[1]:,} | {shares} |", flush=True)
    with (FOLDER / "memory.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0]], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
