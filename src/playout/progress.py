"""Budgets of searches, and searches at one moment."""

import math
from dataclasses import dataclass
from typing import Any

from playout.errors import InputError, check_integer, check_number, check_positive
from playout.result import History, Island, Result

MAX_PLAYOUTS = 2**63
WAKE_SECONDS = 0.1  # how often the calling thread looks at signals, the deadline and callbacks
CHECKPOINT_SECONDS = 30.0
START_ADAPTATIONS = 10  # to a sequence that a search starts from


@dataclass(frozen=True)
class Progress:
    """A search at one moment.

    Attributes
    ----------
    seconds, playouts
        Since the search began.
    score
        The best so far; None before the first playout has ended.
    moves
        The sequence of that score.
    playouts_per_second
        On average so far.
    result
        The Result, in the last Progress of a search; None before.
    islands
        Of a search on a cluster, what is known of each island.
    """

    seconds: float
    playouts: int
    score: float | None
    moves: tuple[Any, ...]
    playouts_per_second: float
    result: Result | None = None
    islands: tuple[Island, ...] = ()


@dataclass(frozen=True)
class Budget:
    """When a search ends: at the first of these that is reached."""

    seconds: float | None
    playouts: int | None
    target: float | None

    def __post_init__(self) -> None:
        if self.seconds is None and self.playouts is None and self.target is None:
            raise InputError("no budget: give seconds, playouts or target, or several of them")
        if self.seconds is not None:
            object.__setattr__(self, "seconds", check_positive("seconds", self.seconds))
        if self.playouts is not None:
            object.__setattr__(self, "playouts", check_integer("playouts", self.playouts, 1, MAX_PLAYOUTS))
        if self.target is not None:
            object.__setattr__(self, "target", check_number("target", self.target))


@dataclass(frozen=True)
class Moment:
    """A search at one moment, with what a Result has of it."""

    seconds: float
    playouts: int
    score: float
    moves: tuple[Any, ...]
    history: History
    islands: tuple[Island, ...] = ()

    def progress(self, result: Result | None = None) -> Progress:
        return Progress(
            seconds=self.seconds,
            playouts=self.playouts,
            score=self.score if self.score > -math.inf else None,
            moves=self.moves,
            playouts_per_second=self.playouts / self.seconds if self.seconds > 0 else 0.0,
            result=result,
            islands=self.islands,
        )

    def has_spent(self, budget: Budget) -> bool:
        return (budget.playouts is not None and self.playouts >= budget.playouts) or (
            budget.target is not None and self.score >= budget.target
        )
