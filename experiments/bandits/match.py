"""The bandits of UCT against UCB1 at equal simulations, in three games: `python experiments/bandits/match.py`.

Colours alternate; a draw is half a win. What matches.csv has is not played again: stop it when you like.
"""

import csv
import datetime
import math
import subprocess
from pathlib import Path

import playout as po
from playout.result import cpu_name

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "matches.csv"
UCB1 = po.UCT()
OTHERS = {
    "UCB1, exploration 0.5": po.UCT(po.UCB1(0.5)),
    "UCB1, exploration 0.25": po.UCT(po.UCB1(0.25)),
    "UCBTuned1": po.UCT(po.UCBTuned1()),
    "UCBTuned2": po.UCT(po.UCBTuned2()),
    "RAVE": po.UCT(po.RAVE()),
    "RAVE without prior": po.UCT(po.RAVE(prior=0)),
    "RAVE, graph": po.UCT(po.RAVE(), graph=True),
}
HEAVY = po.Go(9, komi=7.5, playouts="heavy")  # which has priors
# Each match: its name, the game, the simulations for a move, and the opponents of UCB1.
MATCHES = [
    ("Go 9 x 9", po.Go(9, komi=7.5), 1000, OTHERS),
    ("Hex 9", po.Hex(9), 1000, OTHERS),
    ("Connect Four", po.ConnectFour(), 1000, OTHERS),
    ("Go 9 x 9, heavy playouts", HEAVY, 2000, {"UCB1, widening": po.UCT(widening=po.Widening())}),
]
COUNT = 100


def play(game: object, players: tuple[po.UCT, po.UCT], playouts: int, seed: int) -> float:
    """The result of one game for its first player: 1, 0.5 or 0."""
    sides = [po.Player(game, search, seed=2 * seed + side) for side, search in enumerate(players)]
    for turn in range(1000):
        if sides[0].finished:
            break
        move = sides[turn % 2].think(playouts=playouts).move
        for side in sides:
            side.play(move)
    score = sides[0].score or 0.0
    return 0.5 + 0.5 * ((score > 0) - (score < 0))


def main() -> None:
    done = set()
    if RESULTS.exists():
        with RESULTS.open(newline="") as stream:
            done = {(row["game"], row["search"]) for row in csv.DictReader(stream)}
    git = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=FOLDER, check=True, capture_output=True, text=True
    )
    made = [datetime.date.today().isoformat(), git.stdout.strip(), cpu_name()]
    for name, game, playouts, others in MATCHES:
        for label, search in others.items():
            if (name, label) in done:
                continue
            points = 0.0
            for seed in range(COUNT):
                first = seed % 2 == 0
                result = play(game, (search, UCB1) if first else (UCB1, search), playouts, seed)
                points += result if first else 1 - result
            share = points / COUNT
            row = [
                name,
                label,
                playouts,
                COUNT,
                round(share, 3),
                round(1.96 * math.sqrt(share * (1 - share) / COUNT), 3),
            ]
            new = not RESULTS.exists()
            with RESULTS.open("a", newline="") as stream:
                writer = csv.writer(stream, lineterminator="\n")
                if new:
                    writer.writerow(
                        ["game", "search", "playouts", "games", "won", "error", "date", "commit", "machine"]
                    )
                writer.writerow([*row, *made])
            print(*row)


if __name__ == "__main__":
    main()
