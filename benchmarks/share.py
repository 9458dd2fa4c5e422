"""What it costs ranks to share what they learn at Go: `python benchmarks/share.py [--seconds 10] [--rounds 3]`.

- Averaging: two ranks of one thread under mpiexec, an exchange every 0.1 s, of the root alone and of some 10,000 nodes:
  bytes, and the share of rank 0's processor time that goes into it: that of the searching thread (collecting, adding),
  and that of the thread that moves messages (MPI, Python). Rank 0, where all sums come together, has the most to do.
- Commands: how long rank 0 waits, from the word to stop until the last of all ranks is in, with two ranks on two cores
  and with four: more than it takes a command to reach every rank.
- Broadcast: alpha, what it costs to make another rank's simulation one's own, in parts of what a simulation costs.
  However many ranks there are, they are at most 1 / alpha times as fast as one.

Rows are added to benchmarks/share.csv.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import playout as po

INTERVAL = 0.1
SEARCH = po.UCT(po.RAVE(), expand_after=4, early_stop=False)
# How deep, and from how many simulations on, some 10,000 nodes are shared in the seconds there are.
SHARED = {"Go 9 x 9": (9, 100, 15), "Go 19 x 19": (19, 100, 4)}


def measure_averaging(size: int, depth: int, least: int, seconds: float) -> dict[str, float]:
    """On all ranks: think, and say what sharing cost rank 0."""
    game = po.Go(size, komi=7.5, playouts="heavy")
    share = po.Averaged(interval=INTERVAL, depth=depth, min_visits=least)
    player = po.Player(game, SEARCH, share=share)
    link = player._forest.job.link
    before, cpu, moving = player.sharing, time.process_time(), link.seconds
    analysis = player.think(seconds=seconds)
    after, cpu, moving = player.sharing, time.process_time() - cpu, link.seconds - moving
    exchanges = after.exchanges - before.exchanges
    sent, received = after.bytes_sent - before.bytes_sent, after.bytes_received - before.bytes_received
    return {
        "nodes": after.nodes,
        "exchanges": exchanges,
        "bytes_an_exchange": round((sent + received) / exchanges),
        "bytes_a_second": round((sent + received) / analysis.seconds),
        "searching": (after.seconds - before.seconds) / cpu,
        "moving": moving / cpu,
        "simulations": analysis.playouts / analysis.seconds,
    }


def measure_commands(rounds: int) -> list[float]:
    """On all ranks: how long rank 0 waits for the others when a thinking ends."""
    player = po.Player(po.Go(9, komi=7.5, playouts="heavy"), SEARCH, share=po.Averaged())
    trees = player._forest
    waits = []
    for _ in range(rounds):
        trees.begin(10**9, 1)
        time.sleep(0.05)
        begin = time.perf_counter()
        trees.stop()
        waits.append(time.perf_counter() - begin)
    return waits


def measure_alpha(game: Any, search: po.UCT, playouts: int) -> float:
    """What an update costs of what a simulation costs, with two ranks in this process."""
    from playout.cluster.ranks import RanksHere

    trees = RanksHere(game.engine(), search.engine_settings(None), 1, 0, po.Broadcast(), 2)
    cpu = time.process_time()
    trees.begin(playouts, 1)
    while not trees.wait(1.0):
        pass
    trees.stop()
    cpu = time.process_time() - cpu
    spent = sum(forest.sharing.seconds for forest in trees.forests)
    heard = sum(forest.sharing.heard for forest in trees.forests)
    return (spent / heard) / ((cpu - spent) / playouts)


def on_ranks(count: int, *arguments: object) -> Any:
    mpiexec = Path(sys.executable).parent / "mpiexec"
    command = [mpiexec, "-n", count, sys.executable, __file__, *arguments]
    done = subprocess.run([*map(str, command)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def averaging_rows(seconds: float, rounds: int) -> list[dict[str, object]]:
    rows = []
    for name, (size, depth, least) in SHARED.items():
        for what, (k, n) in {"the root": (0, 1), "10,000 nodes": (depth, least)}.items():
            found = [on_ranks(2, "--averaging", size, k, n, seconds) for _ in range(rounds)]
            middle = {key: statistics.median(one[key] for one in found) for key in found[0]}
            costs = [one["searching"] + one["moving"] for one in found]
            detail = (
                f"{middle['nodes']:.0f} nodes; {middle['bytes_an_exchange']:.0f} bytes an exchange, "
                f"{middle['bytes_a_second']:.0f} a second; searching thread {middle['searching']:.2%}, "
                f"moving thread {middle['moving']:.2%}; {middle['simulations']:.0f} simulations a second"
            )
            rows.append(row(f"{name}: averaging of {what} every 0.1 s, share of time", costs, detail))
    return rows


def row(what: str, values: list[float], detail: str = "") -> dict[str, object]:
    found = {"median": statistics.median(values), "least": min(values), "most": max(values)}
    print(what, *(f"{key} {value:.4f}" for key, value in found.items()), detail, flush=True)
    return {"what": what, "rounds": len(values), **{key: f"{x:.5f}" for key, x in found.items()}, "detail": detail}


def alpha_rows(rounds: int) -> list[dict[str, object]]:
    rows = []
    for name, size, playouts in (("Go 9 x 9", 9, 20_000), ("Go 19 x 19", 19, 5_000)):
        for policy in ("heavy", "light"):
            game = po.Go(size, komi=7.5, playouts=policy)
            for bandit in (po.RAVE(), po.UCB1(0.25)):
                search = po.UCT(bandit, expand_after=4, graph=True)
                found = [measure_alpha(game, search, playouts) for _ in range(rounds)]
                limit = f"at most {1 / statistics.median(found):.0f} times as fast"
                rows.append(row(f"{name}, {policy} playouts, {bandit.name}: alpha of broadcast", found, limit))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--averaging", nargs=4, type=float, help=argparse.SUPPRESS)
    parser.add_argument("--commands", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.averaging:
        size, depth, least, seconds = options.averaging
        print(json.dumps(measure_averaging(int(size), int(depth), int(least), seconds)))
        return
    if options.commands:
        print(json.dumps(measure_commands(options.commands)))
        return
    from record import append_rows

    rows = alpha_rows(options.rounds)
    for count in (2, 4):
        found = on_ranks(count, "--commands", 300)
        what = f"{count} ranks on {os.cpu_count()} cores: seconds until all have stopped"
        rows.append(row(what, found, f"99 of 100 within {sorted(found)[-len(found) // 100]:.4f}"))
    append_rows("share.csv", [*rows, *averaging_rows(options.seconds, options.rounds)])


if __name__ == "__main__":
    main()
