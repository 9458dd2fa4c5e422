"""Simulations per second of tree search: against OpenSpiel's C++ MCTS, of two threads against one, and memory.

    python benchmarks/tree.py [--rounds 5] [--seconds 2]

The same search in both: UCB1 as it was published, one uniformly random rollout a simulation, from the empty board, no
solver; OpenSpiel's values are -1 to 1, so its constant is twice as large. Each round runs both programs on each game,
in turn, in CPU time; ratios are medians over the rounds. Rollouts without a tree stand beside them. Threads are
compared in time, on two idle cores, at the same number of simulations. Rows are added to benchmarks/tree.csv; OpenSpiel
is the package `open_spiel`.
"""

import argparse
import statistics
import time

import pyspiel
from record import append_rows

import playout as po
from playout import _core

GAMES = {
    "Go 9 x 9": (po.Go(9, komi=7.5), "go(board_size=9,komi=7.5)", 5_000),
    "Go 19 x 19": (po.Go(19, komi=7.5), "go(board_size=19,komi=7.5)", 200),
    "Connect Four": (po.ConnectFour(), "connect_four", 50_000),
}
PLAIN = po.UCT(early_stop=False, solver=False)


def openspiel_rate(name: str, simulations: int, seconds: float, seed: int) -> float:
    """Simulations per CPU second of OpenSpiel's MCTSBot."""
    game = pyspiel.load_game(name)
    state = game.new_initial_state()
    made, begin = 0, time.process_time()
    while time.process_time() - begin < seconds:
        evaluator = pyspiel.RandomRolloutEvaluator(1, seed + made)
        bot = pyspiel.MCTSBot(game, evaluator, 2 * 2**0.5, simulations, 4000, False, seed + made, False)
        bot.mcts_search(state)
        made += simulations
    return made / (time.process_time() - begin)


def rate(game: object, seconds: float, seed: int, search: po.UCT = PLAIN, **options: object) -> float:
    """Simulations per CPU second of a player, one thinking after another, each with a new tree."""
    made, begin = 0, time.process_time()
    while time.process_time() - begin < seconds:
        made += po.Player(game, search, seed=seed + made, **options).think(playouts=20_000).playouts
    return made / (time.process_time() - begin)


def rollout_rate(game: object, seconds: float, seed: int) -> float:
    """Random games per CPU second, without a tree."""
    position = _core.Position(game.engine())
    made, begin = 0, time.process_time()
    while time.process_time() - begin < seconds:
        position.rollouts(seed + made, 2_000)
        made += 2_000
    return made / (time.process_time() - begin)


def wall_rate(game: object, playouts: int, threads: int, strategy: object) -> float:
    """Simulations per second of a player with some threads, for so many simulations."""
    with po.Player(game, PLAIN, threads=threads, parallel=strategy) as player:
        return player.think(playouts=playouts).playouts_per_second


def row(what: str, unit: str, pairs: list[tuple[float, float]]) -> dict[str, object]:
    ratios = [after / before for before, after in pairs]
    result = {
        "what": what,
        "unit": unit,
        "rounds": len(pairs),
        "before": round(statistics.median(before for before, _ in pairs)),
        "after": round(statistics.median(after for _, after in pairs)),
        "ratio": round(statistics.median(ratios), 3),
        "least_ratio": round(min(ratios), 3),
        "most_ratio": round(max(ratios), 3),
    }
    print(*result.values())
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each run")
    arguments = parser.parse_args()
    rounds, seconds = range(1, arguments.rounds + 1), arguments.seconds
    against = {name: [] for name in GAMES}
    rollouts = {name: [] for name in GAMES}
    alone, rave, scaled = [], [], {name: [] for name in GAMES}
    for seed in rounds:
        for name, (game, theirs, simulations) in GAMES.items():
            peer = openspiel_rate(theirs, simulations, seconds, seed)
            against[name].append((peer, rate(game, seconds, seed)))
            rollouts[name].append((peer, rollout_rate(game, seconds, seed)))
        go = GAMES["Go 9 x 9"][0]
        plain = rate(go, seconds, seed)
        alone.append((plain, rate(go, seconds, seed, parallel=po.Tree())))
        rave.append((plain, rate(go, seconds, seed, search=po.UCT(po.RAVE(), early_stop=False, solver=False))))
        for name, (game, _, _) in GAMES.items():
            playouts = int(seconds * against[name][-1][1])
            one = wall_rate(game, playouts, 1, None)
            scaled[name].append((one, wall_rate(game, playouts, 2, po.Tree())))
    rows = [row(f"{name}: UCT against OpenSpiel", "CPU second", pairs) for name, pairs in against.items()]
    rows += [row(f"{name}: rollouts against OpenSpiel's UCT", "CPU second", pairs) for name, pairs in rollouts.items()]
    rows += [row(f"{name}: Tree, two threads against one", "second", pairs) for name, pairs in scaled.items()]
    rows.append(row("Go 9 x 9: Tree with one thread against no strategy", "CPU second", alone))
    rows.append(row("Go 9 x 9: RAVE against UCB1", "CPU second", rave))
    append_rows("tree.csv", rows)


if __name__ == "__main__":
    main()
