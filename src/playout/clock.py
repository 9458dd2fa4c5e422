"""A player's clock at Go: absolute time, byo-yomi and Canadian overtime, and how long to think by it.

A clock is a value: it never looks at the time. What happens to it gives another clock.
"""

from dataclasses import dataclass, replace

from playout.errors import check_integer, check_number

MARGIN = 0.5  # seconds that are never planned for
A_MOVE = 0.03  # seconds that a move takes besides thinking
DOUBT = 0.005  # seconds by which our clock and a referee's may differ at the end of the main time
CAUTION = 2  # times that is kept back for each move to come: there may be twice as many
MAX_SECONDS = 1e9
MAX_COUNT = 1_000_000


@dataclass(frozen=True)
class Clock:
    """What a player has left.

    Attributes
    ----------
    kind
        ``"none"``, ``"absolute"``, ``"byoyomi"`` (each move has a period of its own, and one that takes longer uses up
        periods) or ``"canadian"`` (so many moves in a period, again and again).
    left
        Seconds left of the main time or, in overtime, of the period.
    period
        Seconds of a period of overtime.
    count
        Of byo-yomi: how many periods; of Canadian overtime: how many moves in a period.
    overtime
        Whether the main time is over.
    count_left
        In overtime: periods left, the one under way included, or moves left to play in this one.
    lost
        Whether the time is up.
    instead
        The clock that the referee may have instead, since it rounds: of Canadian overtime, where the main time ended
        with a move, the one in which that move was a stone of the first period. Time is planned for both.
    """

    kind: str = "none"
    left: float = 0.0
    period: float = 0.0
    count: int = 0
    overtime: bool = False
    count_left: int = 0
    lost: bool = False
    instead: "Clock | None" = None

    @classmethod
    def absolute(cls, main: float) -> "Clock":
        return cls("absolute", _seconds(main))

    @classmethod
    def byoyomi(cls, main: float, period: float, periods: int) -> "Clock":
        return cls._with_overtime("byoyomi", main, period, periods)

    @classmethod
    def canadian(cls, main: float, period: float, stones: int) -> "Clock":
        return cls._with_overtime("canadian", main, period, stones)

    @classmethod
    def _with_overtime(cls, kind: str, main: float, period: float, count: int) -> "Clock":
        main, period, count = _seconds(main), _seconds(period), check_integer("count", count, 0, MAX_COUNT)
        if period == 0 or count == 0:
            return cls("absolute", main)
        clock = cls(kind, main, period, count)
        return clock if main > 0 else clock._in_overtime()

    def _in_overtime(self) -> "Clock":
        return replace(self, overtime=True, left=self.period, count_left=self.count)

    def after(self, seconds: float) -> "Clock":
        """Return the clock after a move that took so long."""
        if self.kind == "none" or self.lost:
            return self
        if self.instead is not None:
            return replace(replace(self, instead=None).after(seconds), instead=self.instead.after(seconds))
        left = self.left - seconds
        if self.kind == "canadian" and not self.overtime and abs(left) < DOUBT:
            in_overtime = self._in_overtime()
            return replace(in_overtime, instead=in_overtime._after_stone(self.period + min(left, 0.0)))
        if self.overtime:
            return self._after_period(seconds) if self.kind == "byoyomi" else self._after_stone(left)
        if left > 0:
            return replace(self, left=left)
        if self.kind == "absolute":
            return replace(self, left=0.0, lost=left < 0)
        return self._in_overtime().after(-left)

    def _after_stone(self, left: float) -> "Clock":
        if left < 0:
            return replace(self, left=0.0, lost=True)
        return replace(self, left=left, count_left=self.count_left - 1) if self.count_left > 1 else self._in_overtime()

    def _after_period(self, seconds: float) -> "Clock":
        periods = self.count_left
        if seconds > self.left:  # the rest of this period, and perhaps more of them
            periods -= 1 + int((seconds - self.left) // self.period)
        if periods <= 0:
            return replace(self, left=0.0, count_left=0, lost=True)
        return replace(self, left=self.period, count_left=periods)

    def told(self, seconds: float, count: int) -> "Clock":
        """Return the clock as a referee says it is: so long and, in overtime, so many stones or periods."""
        seconds, count = _seconds(seconds), check_integer("count", count, 0, MAX_COUNT)
        if self.kind == "none" and count == 0:
            return self if seconds == 0 else Clock.absolute(seconds)
        if count > 0 and self.kind in ("none", "absolute"):  # nobody said that there is overtime: this is all we know
            return replace(Clock.canadian(0.0, max(seconds, A_MOVE), count), left=seconds)
        if count > 0:
            return replace(self, overtime=True, left=seconds, count_left=count, lost=False, instead=None)
        if seconds == 0 and self.period > 0:
            return replace(self._in_overtime(), instead=None)
        return replace(self, overtime=False, left=seconds, count_left=0, lost=False, instead=None)

    def budget(self, moves_to_go: int, lag: float = 0.0) -> float | None:
        """Return how many seconds to think about the next move; None if there is no limit.

        Parameters
        ----------
        moves_to_go
            About how many moves this player has still to make.
        lag
            Seconds by which moves were late, as far as that is known: taken off, beside the margin.
        """
        if self.kind == "none":
            return None
        late = A_MOVE + max(0.0, lag)
        if self.overtime:
            moves, spare = 1 if self.kind == "byoyomi" else self.count_left, 0.0
        else:  # what overtime would give to this move may be used too
            moves = max(1, moves_to_go)
            spare = self.period / (1 if self.kind == "byoyomi" else max(1, self.count))
        most = self._most(spare, late)
        share = (self.left - MARGIN) / moves + spare - CAUTION * late
        planned = max(0.0, min(share, most))
        return planned if self.instead is None else min(planned, self.instead.budget(moves_to_go, lag) or 0.0)

    def limit(self, lag: float = 0.0) -> float | None:
        """Return how many seconds the next move may take at most; None if there is no limit."""
        if self.kind == "none":
            return None
        spare = 0.0 if self.overtime else self.period / (1 if self.kind == "byoyomi" else max(1, self.count))
        most = max(0.0, self._most(spare, A_MOVE + max(0.0, lag)))
        return most if self.instead is None else min(most, self.instead.limit(lag) or 0.0)

    def _most(self, spare: float, late: float) -> float:
        return self.left + spare - MARGIN - late


def _seconds(value: float) -> float:
    return check_number("seconds", value, 0.0, MAX_SECONDS)
