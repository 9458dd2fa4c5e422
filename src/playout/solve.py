"""solve() and watch(): run a search within a budget, from the thread that called."""

import math
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from playout import _core
from playout.errors import InputError, check_integer, check_positive, is_number
from playout.problems import BuiltIn
from playout.result import MAX_SEED, Result, provenance
from playout.search import GNRPA, Search

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
            check_positive("seconds", self.seconds)
        if self.playouts is not None:
            check_integer("playouts", self.playouts, 1, MAX_PLAYOUTS)
        if self.target is not None and (not is_number(self.target) or not math.isfinite(self.target)):
            raise InputError(f"target is {self.target!r}; allowed are finite numbers")


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
        Ctrl-C ends the search early: the best so far is returned, with ``interrupted`` set.

    Raises
    ------
    InputError
        A ValueError that names the value and what is allowed.
    """
    for progress in watch(problem, search, seconds=seconds, playouts=playouts, target=target, seed=seed, start=start):
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

    Takes what :func:`solve` takes. The last Progress has the Result. Leaving the loop early ends the search; Ctrl-C
    ends it too, and the Progress that follows is the last.
    """
    budget = Budget(seconds, playouts, target)
    check_integer("seed", seed, 0, MAX_SEED)
    search = GNRPA() if search is None else search
    if not hasattr(search, "begin"):
        raise InputError(f"search is {search!r}; allowed are GNRPA(), NRPA() and NMCS()")
    if not hasattr(problem, "engine"):
        raise InputError(f"problem is {problem!r}; allowed are problems such as SameGame.standard(1)")
    under_way = search.begin(problem, int(seed))
    if start is not None:
        _start_from(under_way, problem, start)
    return _watch(problem, search, budget, int(seed), under_way)


def _start_from(under_way: _core.Search, problem: BuiltIn, start: Result | Sequence[Any]) -> None:
    try:
        moves = problem.encode(start.moves if isinstance(start, Result) else start)
        under_way.start_from(moves, START_ADAPTATIONS)
    except ValueError as error:
        raise InputError(f"start cannot be played: {error}") from None


def _watch(problem: BuiltIn, search: Search, budget: Budget, seed: int, under_way: _core.Search) -> Iterator[Progress]:
    with _interrupts() as interrupted:
        run = _core.Run(
            under_way, budget.playouts or MAX_PLAYOUTS, math.inf if budget.target is None else budget.target
        )
        deadline = math.inf if budget.seconds is None else time.monotonic() + budget.seconds
        try:
            while not _is_over(run, deadline, interrupted):
                yield _progress(problem, run.progress())
        finally:
            run.stop()
        early = interrupted.is_set() and not _spent(run.progress(), budget)
        yield _last_progress(problem, search, seed, run.progress(), early)


def _is_over(run: _core.Run, deadline: float, interrupted: threading.Event) -> bool:
    """Wait for the next moment to look up; true once the search should end or has ended."""
    try:
        ended = run.wait(max(0.0, min(WAKE_SECONDS, deadline - time.monotonic())))
    except _core.PolicyFull as full:
        warnings.warn(f"the search ended early: {full}", RuntimeWarning, stacklevel=2)
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


_listening: list[threading.Event] = []


@contextmanager
def _interrupts() -> Iterator[threading.Event]:
    """While inside, the first Ctrl-C sets the event instead of raising; the second raises as usual.

    Only Python's main thread may listen to signals, and a handler that the program has set itself is left alone.
    """
    interrupted = threading.Event()
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) not in (signal.default_int_handler, _on_interrupt):
        yield interrupted
        return
    _listening.append(interrupted)
    signal.signal(signal.SIGINT, _on_interrupt)
    try:
        yield interrupted
    finally:
        _listening.remove(interrupted)
        if not _listening:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _on_interrupt(number: int, frame: Any) -> None:
    if all(event.is_set() for event in _listening):
        signal.default_int_handler(number, frame)
    for event in _listening:
        event.set()
