"""A tour with time windows in words and numbers: what the drawing and the pictures say of it."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from playout.problems.tsptw_rules import Stop

if TYPE_CHECKING:
    from playout.problems.tsptw import TSPTW

LEAST_SPAN = 1e-9  # of the axis of time: shorter ones are no use, and their numbers leave the range of a double


class Timetable:
    """The stops of a sequence of customers, in a form to be shown; without moves, the windows in order of closing."""

    def __init__(self, problem: "TSPTW", moves: Sequence[Any]) -> None:
        self.problem, self.tour = problem, problem.tour(moves)
        self.arrived = bool(moves)
        windows = zip(range(problem.nodes), problem.ready, problem.due, strict=True)
        waiting = (Stop(node, opens, opens, closes) for node, opens, closes in windows if node)
        self.stops = self.tour.stops if moves else tuple(sorted(waiting, key=lambda stop: (stop.due, stop.ready)))

    @cached_property
    def digits(self) -> int:
        """How many decimals times are shown with: two unless all are whole numbers."""
        times = [self.tour.cost, *(time for stop in self.stops for time in (stop.arrival, stop.ready, stop.due))]
        return 0 if all(time.is_integer() for time in times) else 2

    @property
    def begin(self) -> float:
        """Where the axis of time begins: when the tour does."""
        return self.tour.begin

    @cached_property
    def end(self) -> float:
        """Where it ends: at the last window's end, but not long after the last arrival."""
        last = max((stop.due for stop in self.stops), default=self.begin)
        if self.arrived:
            arrived = max(stop.start for stop in self.stops)
            last = max(arrived, min(last, self.begin + 1.2 * (arrived - self.begin)))
        return last if last - self.begin >= LEAST_SPAN else self.begin + 1

    def goes_on(self, stop: Stop) -> tuple[bool, bool]:
        """Whether a window is open before the axis begins, and after it ends."""
        return stop.ready < self.begin, stop.due > self.end

    @property
    def any_goes_on(self) -> bool:
        return any(any(self.goes_on(stop)) for stop in self.stops)

    def amount(self, value: float) -> str:
        text = f"{value:,.{self.digits}f}"
        return f"{value:.2g}" if value and not text.strip("0.,") else text

    def who(self, stop: Stop) -> str:
        return str(stop.customer) if stop.customer else "depot"

    def remark(self, stop: Stop) -> str:
        """How long is waited, or how late the arrival is; nothing if it is in time."""
        if stop.late:
            return f"late {self.amount(stop.late)}"
        return f"wait {self.amount(stop.wait)}" if stop.wait else ""

    def cells(self, stop: Stop) -> list[str]:
        """The stop as a row of a table: customer, arrival, window, wait or late; or customer and window."""
        window = f"{self.amount(stop.ready)} - {self.amount(stop.due)}"
        if not self.arrived:
            return [self.who(stop), window]
        return [self.who(stop), self.amount(stop.arrival), window, self.remark(stop)]

    def sentence(self, number: int, stop: Stop) -> str:
        """The stop in words."""
        who = _who(stop)
        window = f"window {self.amount(stop.ready)} to {self.amount(stop.due)}"
        if not self.arrived:
            return f"{who}: {window}"
        remark = self.remark(stop)
        return f"Stop {number}, {who}: arrival {self.amount(stop.arrival)}, {window}" + (remark and f", {remark}")


def sentences(shown: Timetable) -> list[str]:
    """Say what the tour costs and which windows it misses."""
    tour, amount = shown.tour, shown.amount
    lines = []
    if shown.arrived:
        back = "back at the depot at" if tour.finished else "so far, without the return; the time is"
        lines.append(f"Cost {amount(tour.cost)}, {back} {amount(tour.makespan)}, {_missed(shown)}")
    elif shown.stops:
        lines.append(f"{shown.problem.nodes - 1:,} customers, the tour begins at {amount(tour.begin)}")
    else:
        lines.append(f"No customer is visited, the tour begins at {amount(tour.begin)}")
    if shown.problem.impossible is not None:
        lines.append(f"No tour is in time everywhere: {shown.problem.impossible}")
    return lines


def _missed(shown: Timetable) -> str:
    missed = shown.tour.missed
    if not missed:
        return "no window missed"
    which = ", ".join(f"{_who(stop)} by {shown.amount(stop.late)}" for stop in missed)
    return f"{len(missed)} window{'s' if len(missed) > 1 else ''} missed: {which}"


def _who(stop: Stop) -> str:
    return f"customer {stop.customer}" if stop.customer else "the depot"
