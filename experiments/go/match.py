"""How strong Go is against GNU Go, on 9 x 9: `python experiments/go/match.py NAME...`, names as below, all by default.

Komi 7.5, one thread, colours alternating, two opening moves by a seed; GNU Go at level 10 says who has won. Each match
keeps its games in NAME.jsonl and goes on from there: stop it when you like. The tables of README.md are what it prints.
"""

import sys
from pathlib import Path

import playout as po

FOLDER = Path(__file__).parent
GNUGO = "gnugo --mode gtp --chinese-rules --level {}"
# Who, GNU Go's level, how many games, and the seed of the openings.
MATCHES = {
    "level-1": (po.Contestant(playouts=500), 1, 200, 1),
    "level-1-light": (po.Contestant(playouts=500, policy="light"), 1, 50, 1),
    "level-10-2000": (po.Contestant(playouts=2_000), 10, 40, 1),
    "level-10": (po.Contestant(playouts=10_000), 10, 40, 1),
}


def main() -> None:
    for name in sys.argv[1:] or MATCHES:
        player, level, games, seed = MATCHES[name]
        result = po.match(
            player,
            GNUGO.format(level),
            games=games,
            seed=seed,
            judge=GNUGO.format(10),
            record=FOLDER / f"{name}.jsonl",
            jobs=1,
            patience=600.0,
        )
        print(name, result.summary(), sep=": ", flush=True)


if __name__ == "__main__":
    main()
