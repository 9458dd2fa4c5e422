"""What a split tree costs at Go: `python benchmarks/treesplit.py [--rounds 5]`.

- One rank, and no network, against tree parallelization: simulations per CPU second, with one thread and with two. Each
  round runs both in turn; ratios are medians.
- Four ranks in this process that take turns: messages, bytes and simulations that move, a simulation; and the share of
  the processor time that goes into telling and hearing of states that all ranks have, with AMAF and without.

Rows are added to benchmarks/treesplit.csv.
"""

import argparse
import statistics
import time

from record import append_rows

import playout as po
from playout import _core
from playout.parallel import Tree

# Board, playouts, bandit, expand_after; simulations for one rank and for four.
CASES = (
    (9, "light", po.UCB1(), 1, 200_000, 40_000),
    (9, "light", po.RAVE(), 1, 200_000, 40_000),
    (9, "heavy", po.RAVE(), 4, 20_000, 20_000),
    (19, "light", po.UCB1(), 1, 40_000, 20_000),
    (19, "heavy", po.UCB1(0.1), 4, 5_000, 8_000),
    (19, "heavy", po.RAVE(), 4, 5_000, 8_000),
)


def think(forest: _core.Forest, playouts: int, threads: int) -> tuple[float, float]:
    """Return how much processor time a thinking took, and how much time."""
    cpu, begin = time.process_time(), time.perf_counter()
    forest.begin(playouts, threads)
    while not forest.wait(1.0):
        pass
    forest.stop()
    return time.process_time() - cpu, time.perf_counter() - begin


def one_rank(game: po.Go, search: po.UCT, playouts: int, threads: int, rounds: int) -> dict[str, object]:
    settings = search.engine_settings(Tree().wide)
    ratios, rates = [], []
    for seed in range(rounds):
        tree = _core.Forest(game.engine(), settings, seed)
        usual, _ = think(tree, playouts, threads)
        port = _core.Network(1).port(0)
        split, _ = think(_core.Forest(game.engine(), settings, seed, port, _core.SplitSettings()), playouts, threads)
        ratios.append(usual / split)
        rates.append(playouts / split)
    spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
    return {
        "value": f"{statistics.median(ratios):.2f}",
        "detail": f"{spread}; {statistics.median(rates):.0f} a CPU second",
    }


def four_ranks(game: po.Go, search: po.UCT, playouts: int) -> dict[str, object]:
    ranks, network = 4, _core.Network(4, seed=1)
    forest = _core.Forest(game.engine(), search.engine_settings(None), 1, network, ranks, _core.SplitSettings())
    cpu, _ = think(forest, playouts, 1)
    traffic, sharing = network.port(0).traffic, forest.sharing
    each = {
        "messages": traffic.messages_sent,
        "bytes": traffic.bytes_sent,
        "moves": sharing.told,
        "tellings": sharing.exchanges,
    }
    said = ", ".join(f"{ranks * count / playouts:.3g} {name}" for name, count in each.items())
    return {"value": f"{sharing.seconds * ranks / cpu:.4f}", "detail": f"a simulation: {said}"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    rows: list[dict[str, object]] = []
    for size, policy, bandit, expand_after, alone, together in CASES:
        game = po.Go(size, komi=7.5, playouts=policy)
        search = po.UCT(bandit, expand_after=expand_after, early_stop=False)
        name = f"Go {size} x {size}, {policy}, {bandit.name}"
        for threads in (1, 2):
            found = one_rank(game, search, alone, threads, rounds)
            rows.append({"case": name, "what": f"one rank against Tree(), {threads} threads", **found})
            print(*rows[-1].values(), sep="; ", flush=True)
        rows.append({"case": name, "what": "4 ranks: time for shared states", **four_ranks(game, search, together)})
        print(*rows[-1].values(), sep="; ", flush=True)
    append_rows("treesplit.csv", rows)


if __name__ == "__main__":
    main()
