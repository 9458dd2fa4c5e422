"""solve() and watch(): run a search within a budget, from the thread that called."""

import math
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from playout import _core
from playout.errors import InputError, check_integer, check_number, check_positive, short
from playout.problems import BuiltIn
from playout.result import MAX_SEED, Result, provenance
from playout.search import GNRPA, Search
from playout.stop import interrupts

WAKE_SECONDS = 0.1  # how often the calling thread looks at signals, the deadline and callbacks
START_ADAPTATIONS = 10
MAX_PLAYOUTS = 2**63


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
    """

    seconds: float
    playouts: int
    score: float | None
    moves: tuple[Any, ...]
    playouts_per_second: float
    result: Result | None = None


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


def solve(
    problem: BuiltIn,
    search: Search | None = None,
    *,
    seconds: float | None = None,
    playouts: int | None = None,
    target: float | None = None,
    seed: int = 0,
    start: Result | Sequence[Any] | None = None,
    on_event: Callable[[Progress], object] | None = None,
) -> Result:
    """Search a problem for its best sequence of moves.

    Parameters
    ----------
    problem
        What to search, such as ``SameGame.standard(1)``.
    search
        How; ``GNRPA()`` if None.
    seconds, playouts, target
        The budget: the search ends after that many seconds, or after that many playouts, or once a score of at least
        ``target`` is found, whichever comes first. At least one is required.
    seed
        Of the random numbers, 0 to 2**64 - 1. Same problem, search, ``playouts`` and seed give the same result, bit for
        bit, on any x86-64 machine. A budget of seconds cannot promise that.
    start
        A whole sequence of moves, or an earlier Result: it becomes the top level's best so far, and the policy is
        adapted to it ten times before the search begins.
    on_event
        Called with a :class:`Progress` about ten times a second, and at the end. An exception in it ends the search and
        reaches the caller.

    Returns
    -------
    Result
        Ctrl-C ends the search early: the best so far is returned, with ``interrupted`` set. A second Ctrl-C raises
        KeyboardInterrupt. (In Python's main thread, and unless the program handles SIGINT itself, as asyncio does.)

    Raises
    ------
    InputError
        A ValueError that names the value and what is allowed.
    """
    budget = Budget(seconds, playouts, target)
    with interrupts() as interrupted:
        for progress in _watch(*_begin(problem, search, seed, start), budget, interrupted):
            if on_event is not None:
                on_event(progress)
            if progress.result is not None:
                return progress.result
    raise AssertionError("a watched search always ends with its result")


def watch(
    problem: BuiltIn,
    search: Search | None = None,
    *,
    seconds: float | None = None,
    playouts: int | None = None,
    target: float | None = None,
    seed: int = 0,
    start: Result | Sequence[Any] | None = None,
) -> Iterator[Progress]:
    """Search a problem and yield a :class:`Progress` about ten times a second.

    Takes what :func:`solve` takes but for ``on_event``. The last Progress has the Result. Leaving the loop early ends
    the search. Ctrl-C while the loop waits for the next Progress ends it too, and that Progress is the last.
    """
    budget = Budget(seconds, playouts, target)
    return _watch(*_begin(problem, search, seed, start), budget)


def _begin(
    problem: BuiltIn, search: Search | None, seed: int, start: Result | Sequence[Any] | None
) -> tuple[BuiltIn, Search, int, _core.Search]:
    """Check what is to be searched and how, and begin the search."""
    seed = check_integer("seed", seed, 0, MAX_SEED)
    search = GNRPA() if search is None else search
    if isinstance(search, type) or not hasattr(search, "begin"):
        raise InputError(f"search is {short(search)}; allowed are GNRPA(), NRPA() and NMCS()")
    if isinstance(problem, type) or not hasattr(problem, "engine"):
        raise InputError(f"problem is {short(problem)}; allowed are problems such as SameGame.standard(1)")
    under_way = search.begin(problem, seed)
    if start is not None:
        _start_from(under_way, problem, start)
    return problem, search, seed, under_way


def _start_from(under_way: _core.Search, problem: BuiltIn, start: Result | Sequence[Any]) -> None:
    try:
        moves = problem.encode(start.moves if isinstance(start, Result) else start)
        under_way.start_from(moves, START_ADAPTATIONS)
    except TypeError:
        raise InputError(f"start is {short(start)}; allowed are a Result or a sequence of moves") from None
    except ValueError as error:
        raise InputError(f"start cannot be played: {error}") from None


def _watch(
    problem: BuiltIn,
    search: Search,
    seed: int,
    under_way: _core.Search,
    budget: Budget,
    interrupted: threading.Event | None = None,
) -> Iterator[Progress]:
    """Run a search; where nobody else listens to Ctrl-C, listen while waiting."""
    run = _core.Run(under_way, budget.playouts or MAX_PLAYOUTS, math.inf if budget.target is None else budget.target)
    deadline = math.inf if budget.seconds is None else time.monotonic() + budget.seconds
    try:
        while True:
            with interrupts() if interrupted is None else nullcontext(interrupted) as event:
                over = _is_over(run, deadline, event)
            if over or event.is_set():
                break
            yield _progress(problem, run.progress())
    finally:
        run.stop()
    now = run.progress()
    yield _last_progress(problem, search, seed, now, event.is_set() and not _spent(now, budget))


def _is_over(run: _core.Run, deadline: float, interrupted: threading.Event) -> bool:
    """Wait for the next moment to look up; true once the search should end or has ended."""
    try:
        ended = run.wait(max(0.0, min(WAKE_SECONDS, deadline - time.monotonic())))
    except MemoryError as full:  # a PolicyFull says more
        warnings.warn(f"the search ended early: {str(full) or 'out of memory'}", RuntimeWarning, stacklevel=2)
        interrupted.set()
        return True
    return ended or interrupted.is_set() or time.monotonic() >= deadline


def _spent(now: _core.Progress, budget: Budget) -> bool:
    return (budget.playouts is not None and now.playouts >= budget.playouts) or (
        budget.target is not None and now.score >= budget.target
    )


def _progress(problem: BuiltIn, now: _core.Progress, result: Result | None = None) -> Progress:
    found = now.score > -math.inf
    return Progress(
        seconds=now.seconds,
        playouts=now.playouts,
        score=now.score if found else None,
        moves=tuple(problem.decode(now.moves)),
        playouts_per_second=now.playouts / now.seconds if now.seconds > 0 else 0.0,
        result=result,
    )


def _last_progress(problem: BuiltIn, search: Search, seed: int, now: _core.Progress, early: bool) -> Progress:
    moves = tuple(problem.decode(now.moves))
    result = Result(
        problem=problem,
        search=search,
        parallel=None,
        seed=seed,
        score=now.score,
        moves=moves,
        detail=problem.replay(moves)[1],
        playouts=now.playouts,
        seconds=now.seconds,
        interrupted=early,
        history=tuple(now.history),
        provenance=provenance(),
    )
    return _progress(problem, now, result)
