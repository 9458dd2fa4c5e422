"""Which stones are dead, and the score then: what playouts from here make of every point."""

import math
import time
from dataclasses import dataclass
from functools import cached_property

from playout.gtp.history import History
from playout.problems.go import PLAYERS, Go, Score
from playout.result import MAX_SEED

PLAYOUTS = 400
ROUND = 20  # of them at a time
CLEAR = 0.7  # of +1 and -1: nobody doubts whose it is


@dataclass(frozen=True)
class Status:
    """What becomes of the stones on a board.

    Attributes
    ----------
    game
        A game that begins with them.
    cells
        Whose stone is on each point.
    owners
        Whose each point is at the end of playouts, from 1 (always Black's) to -1 (always White's).
    """

    game: Go
    cells: tuple[int, ...]
    owners: tuple[float, ...]

    @cached_property
    def chains(self) -> list[tuple[list[int], float]]:
        """The points of each chain, and how well it lives: 1 if it always does, -1 if it never does."""
        found: list[tuple[list[int], float]] = []
        seen: set[int] = set()
        for point, colour in enumerate(self.cells):
            if colour and point not in seen:
                chain = sorted(self.game.region(self.cells, point)[0])
                seen.update(chain)
                black = sum(self.owners[p] for p in chain) / len(chain)
                found.append((chain, black if colour == 1 else -black))
        return found

    @property
    def dead(self) -> list[list[str]]:
        """The vertices of each dead chain."""
        return [self.game.decode(chain) for chain, life in self.chains if life < 0]

    @property
    def alive(self) -> list[list[str]]:
        """The vertices of each chain that lives, be it in seki."""
        return [self.game.decode(chain) for chain, life in self.chains if life >= 0]

    @property
    def is_clear(self) -> bool:
        """Whether nobody doubts which stones are dead."""
        return all(abs(life) >= CLEAR for _, life in self.chains)

    @property
    def all_live(self) -> bool:
        """Whether nobody doubts that all stones live."""
        return all(life >= CLEAR for _, life in self.chains)

    def dead_of(self, colour: str) -> set[int]:
        """The points of this colour's dead stones."""
        number = PLAYERS.index(colour) + 1
        return {p for chain, life in self.chains if life < 0 for p in chain if self.cells[p] == number}

    def score(self) -> Score:
        """The score once the dead stones are taken off."""
        return self.game.score([], dead=[chain[0] for chain in self.dead])


def judge(history: History, seed: int, playouts: int = PLAYOUTS, deadline: float = math.inf) -> Status:
    """Play from here, with either colour first, and see; less often if it would end after a deadline."""
    games = [history.afresh(colour) for colour in PLAYERS]
    owners = [0.0] * len(history.cells())
    rounds = 0
    while rounds == 0 or (rounds < playouts // ROUND and time.monotonic() < deadline):
        found = games[rounds % 2].ownership([], playouts=ROUND, seed=(seed + rounds) % (MAX_SEED + 1))
        owners = [one + other for one, other in zip(owners, found, strict=True)]
        rounds += 1
    return Status(games[0], tuple(history.cells()), tuple(owner / rounds for owner in owners))


def written(margin: float) -> str:
    """Return a score as the protocol has it: B+3.5, W+0.5 or 0."""
    return "0" if margin == 0 else f"{'B' if margin > 0 else 'W'}+{abs(margin):g}"
