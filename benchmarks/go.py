"""Heavy playouts of Go in the tree, as `playout gtp` searches, in simulations per CPU second of one thread.

    python benchmarks/go.py [--rounds 5] [--seconds 2]

Against OpenSpiel's C++ MCTS, which plays light rollouts, and against Playout's own light rollouts in the same search.
Each round runs all of them in turn; ratios are medians over the rounds. Rows are added to benchmarks/go.csv.
"""

import argparse
from dataclasses import replace

from record import append_rows
from tree import GAMES, openspiel_rate, rate, row

import playout as po
from playout.gtp.engine import SEARCH

FULL = replace(SEARCH, early_stop=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each run")
    arguments = parser.parse_args()
    against = {size: [] for size in (9, 19)}
    light = {size: [] for size in (9, 19)}
    for seed in range(1, arguments.rounds + 1):
        for size in against:
            _, theirs, simulations = GAMES[f"Go {size} x {size}"]
            heavy = rate(po.Go(size, playouts="heavy"), arguments.seconds, seed, search=FULL)
            light[size].append((rate(po.Go(size), arguments.seconds, seed, search=FULL), heavy))
            against[size].append((openspiel_rate(theirs, simulations, arguments.seconds, seed), heavy))
    name = "Go {0} x {0}: heavy playouts, RAVE and priors"
    rows = [row(f"{name.format(size)} against OpenSpiel's UCT", "CPU second", pairs) for size, pairs in against.items()]
    rows += [row(f"{name.format(size)} against light ones", "CPU second", pairs) for size, pairs in light.items()]
    append_rows("go.csv", rows)


if __name__ == "__main__":
    main()
