"""How a tour with time windows looks in a terminal: what it costs, and its timetable."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from playout.errors import InputError
from playout.problems.tsptw_rules import Stop
from playout.problems.tsptw_timetable import Timetable, sentences

if TYPE_CHECKING:
    from playout.problems.tsptw import TSPTW

LEAST_BAR, MOST_BAR = 10, 60
SIGNS, ASCII_SIGNS = tuple("━·─●◂▸"), tuple("=.-o<>")


def draw(problem: "TSPTW", moves: Sequence[Any], step: int | None) -> RenderableType:
    """Draw the timetable of the tour, of its first steps, or the windows if there is no tour."""
    if step is not None and not 0 <= step <= len(moves):
        raise InputError(f"step is {step}; the result has moves 1 to {len(moves)}, and 0 is the depot")
    shown = Timetable(problem, moves if step is None else moves[:step])
    lines = [Text(line, style="bold") for line in sentences(shown)]
    if step is not None:
        lines.insert(0, Text(f"After {step} of {len(moves)} customers", style="bold"))
    if not shown.stops:
        return Group(*lines)
    return Group(*lines, Text(), _Table(shown))


class _Table:
    """The timetable; the windows are drawn on the axis of time where there is room. Too narrow, it is folded."""

    def __init__(self, shown: Timetable) -> None:
        self.shown = shown
        self.headings = ["customer", "window"]
        if shown.arrived:
            self.headings = ["stop", "customer", "arrival", "window", "wait or late"]
        self.rows = [
            [str(number), *shown.cells(stop)] if shown.arrived else shown.cells(stop)
            for number, stop in enumerate(shown.stops, 1)
        ]
        columns = zip(self.headings, *self.rows, strict=True)
        self.taken = sum(max(map(len, column)) + 2 for column in columns)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(self.taken, self.taken + MOST_BAR).with_maximum(options.max_width)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        shown = self.shown
        begin, end = shown.amount(shown.begin), shown.amount(shown.end)
        size = min(options.max_width - self.taken, MOST_BAR)
        has_bars = size >= max(LEAST_BAR, len(begin) + 1 + len(end))
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        fits = self.taken <= options.max_width
        for heading in self.headings:
            table.add_column(heading, justify="right", no_wrap=fits, overflow="fold")
        if has_bars:
            table.add_column(f"{begin}{end:>{size - len(begin)}}", no_wrap=True)
        for cells, stop in zip(self.rows, shown.stops, strict=True):
            bar = [_bar(shown, stop, size, options.ascii_only)] if has_bars else []
            table.add_row(*cells, *bar, style="red" if shown.arrived and stop.late else "")
        yield table
        if has_bars:
            yield Text(_legend(shown, options.ascii_only), style="dim")


def _bar(shown: Timetable, stop: Stop, size: int, ascii_only: bool) -> Text:
    """The window as a bar, a mark at the arrival, and the way between them if it is before or after."""
    window, waiting, lateness, mark, before, after = ASCII_SIGNS if ascii_only else SIGNS
    place = [" "] * size

    def column(time: float) -> int:
        return max(0, min(size - 1, int((time - shown.begin) / (shown.end - shown.begin) * size)))

    def fill(first: float, last: float, sign: str) -> None:
        for i in range(column(first), column(last) + 1):
            place[i] = sign

    if shown.arrived and stop.wait:
        fill(stop.arrival, stop.ready, waiting)
    if shown.arrived and stop.late:
        fill(stop.due, stop.arrival, lateness)
    fill(stop.ready, stop.due, window)
    goes_on = shown.goes_on(stop)
    if goes_on[0]:
        place[0] = before
    if goes_on[1]:
        place[-1] = after
    if shown.arrived:
        place[column(stop.arrival)] = mark
    text = Text("".join(place).rstrip(), no_wrap=True)
    text.highlight_regex(f"[{window}{before}{after}]+", "blue")
    return text


def _legend(shown: Timetable, ascii_only: bool) -> str:
    window, waiting, lateness, mark, before, after = ASCII_SIGNS if ascii_only else SIGNS
    stops = f"  {mark} arrival  {waiting} waiting  {lateness} late" if shown.arrived else ""
    return f"{window} window" + stops + (f"  {before} {after} the window goes on" if shown.any_goes_on else "")
