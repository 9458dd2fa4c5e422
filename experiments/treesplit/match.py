"""How strong one tree on several ranks is at Go, on 9 x 9: `python experiments/treesplit/match.py NAME...`.

Without names, all matches. Light playouts, RAVE, komi 7.5, colours alternating, two opening moves by a seed; the ranks
are in this process and take turns, and a message takes a turn.

- split-N: N ranks against the sequential search, both with 4,000 simulations a move: what is lost by the simulations
  that are under way, and by what ranks tell each other late.
- often-N: the same where ranks tell each other of a move after 10 visits instead of 100.
- flight-N: the same where no state but the first is on all ranks, and that is told of at once: what is lost by the
  simulations under way alone.
- double-N: 2 N ranks against N, each with 1,000 simulations a move of every rank: the form of Table 1b of "Parallel
  Monte-Carlo Tree Search for HPC Systems".

Each match keeps its games in NAME.jsonl and goes on from there: stop it when you like. The tables of README.md are what
it prints.
"""

import sys
from dataclasses import replace
from pathlib import Path

import playout as po
from playout.gtp.engine import usual_search

FOLDER = Path(__file__).parent
GAMES, SEED = 100, 1


def ranks(count: int, playouts: int, share: po.Treesplit = po.Treesplit()) -> po.Contestant:  # noqa: B008, frozen
    """So many ranks with so many simulations a move together; one is the sequential search."""
    search = replace(usual_search(playouts, 64), graph=True)
    split = {} if count == 1 else {"share": share, "ranks": count}
    name = "sequential" if count == 1 else f"{count} ranks"
    return po.Contestant(search, playouts=playouts, policy="light", name=f"{name} {playouts}", **split)


SPLITS = {
    "split": po.Treesplit(),
    "often": po.Treesplit(sync_every=10),
    "flight": po.Treesplit(duplicate_after=None, sync_every=1),
}
MATCHES = {
    f"{kind}-{count}": (ranks(count, 4000, share), ranks(1, 4000))
    for kind, share in SPLITS.items()
    for count in (2, 4, 8, 16)
}
MATCHES |= {f"double-{count}": (ranks(2 * count, 2000 * count), ranks(count, 1000 * count)) for count in (1, 2, 4)}


def match(name: str, games: int = GAMES) -> po.MatchResult:
    return po.match(*MATCHES[name], games=games, seed=SEED, record=FOLDER / f"{name}.jsonl")


def main() -> None:
    for name in sys.argv[1:] or MATCHES:
        print(name, match(name).summary(), sep=": ", flush=True)


if __name__ == "__main__":
    main()
