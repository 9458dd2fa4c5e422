"""Analysis as it goes, in the form of Leela Zero that Sabaki and Lizzie read."""

import time
from collections.abc import Callable, Sequence

from playout.gtp.engine import Engine
from playout.gtp.protocol import SYNTAX, GtpError, colour, integer
from playout.play import Analysis, MoveAnalysis

INTERVAL = 50  # centiseconds, if none is given
LEAST_INTERVAL, MOST_INTERVAL = 5, 100_000
MOVES = 20  # shown, the best first


def arguments(words: Sequence[str], to_move: str) -> tuple[str, float]:
    """Read whose move and the interval, in seconds: both may be left out, as ``[colour] [[interval] centiseconds]``."""
    left, who, interval = list(words), to_move, INTERVAL
    if left and left[0].lower() in ("b", "w", "black", "white"):
        who = colour(left.pop(0))
    if left and left[0].lower() == "interval":
        left.pop(0)
        if not left:
            raise GtpError(SYNTAX)
    if left:
        interval = integer(left.pop(0))
    if left or interval < 0:
        raise GtpError(SYNTAX)
    return who, min(max(interval, LEAST_INTERVAL), MOST_INTERVAL) / 100


def shower(engine: Engine, send: Callable[[str], object]) -> Callable[[Analysis], None]:
    """Return what sends an analysis as a line, once there is something to say."""

    def show(analysis: Analysis) -> None:
        tried = [one for one in analysis.top(MOVES) if one.visits]
        if tried:
            send(" ".join(_info(order, one, engine.variation(one.move)) for order, one in enumerate(tried)))

    return show


def every(interval: float, show: Callable[[Analysis], object]) -> Callable[[Analysis], None]:
    """Return the same, but no more often than after each interval."""
    due = time.monotonic() + interval

    def maybe(analysis: Analysis) -> None:
        nonlocal due
        if time.monotonic() >= due:
            due = time.monotonic() + interval
            show(analysis)

    return maybe


def _info(order: int, one: MoveAnalysis, variation: Sequence[str]) -> str:
    value = one.value or 0.0
    spread = (value * (1 - value) / one.visits) ** 0.5 if one.visits else 0.0
    lower = max(0.0, value - 1.96 * spread)
    return (
        f"info move {one.move} visits {one.visits} winrate {round(10_000 * value)} prior 0 "
        f"lcb {round(10_000 * lower)} order {order} pv {' '.join(variation)}"
    )
