"""What ranks that share bring at Go, on 9 x 9: `python experiments/share/match.py NAME...`, all matches by default.

N ranks in one process with 300 simulations a move each play against one rank with 300. They add up the statistics of
the root every 30 simulations of a rank (averaged-N), or at the end alone (voting-N); beside it the ceiling, one rank
with N times 300 (ceiling-N). Heavy playouts, komi 7.5, colours alternating, two opening moves by a seed. Each match
keeps its games in NAME.jsonl and goes on from there: stop it when you like. The table of README.md is what it prints.
"""

import math
import sys
from pathlib import Path

import playout as po

FOLDER = Path(__file__).parent
SIMULATIONS, EVERY, GAMES, SEED = 300, 30, 100, 1
RANKS = (2, 3, 4, 8)


def ranks(count: int, share: po.Averaged | po.Broadcast) -> po.Contestant:
    return po.Contestant(playouts=count * SIMULATIONS, share=share, ranks=count)


MATCHES = {
    f"{kind}-{count}": player
    for count in RANKS
    for kind, player in {
        "averaged": ranks(count, po.Averaged(simulations=EVERY)),
        "voting": ranks(count, po.Averaged(interval=math.inf)),
        "ceiling": po.Contestant(playouts=count * SIMULATIONS),
    }.items()
}
MATCHES["averaged-4-depth-2"] = ranks(4, po.Averaged(simulations=EVERY, depth=2))
MATCHES["broadcast-4"] = ranks(4, po.Broadcast(simulations=EVERY))


def match(name: str, games: int = GAMES) -> po.MatchResult:
    one = po.Contestant(playouts=SIMULATIONS)
    return po.match(MATCHES[name], one, games=games, seed=SEED, record=FOLDER / f"{name}.jsonl")


def main() -> None:
    for name in sys.argv[1:] or MATCHES:
        print(name, match(name).summary(), sep=": ", flush=True)


if __name__ == "__main__":
    main()
