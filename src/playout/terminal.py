"""What a search, and an experiment, look like in a terminal while they run."""

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from playout.experiment import report
from playout.experiment.runner import Status
from playout.parallel import describe
from playout.progress import Budget, Progress
from playout.result import shown
from playout.search import describe as describe_search
from playout.solve import Task

LINES_EVERY_SECONDS = 1.0
REPORT_EVERY_SECONDS = 60.0
IMPROVEMENTS_SHOWN = 5
WIDEST = 10_000  # what takes any width asks for this

OnEvent = Callable[[Progress], object]
OnStatus = Callable[[Status], object]


def plain_console(stderr: bool = False) -> Console:
    """Return a console that shows what users and files say as it is: no name in it becomes a picture."""
    return Console(stderr=stderr, emoji=False)


def width_for(console: Console, part: RenderableType) -> int:
    """Return the width a part is to be printed with: that of the terminal, or elsewhere what the part needs."""
    if console.is_terminal or os.environ.get("COLUMNS", "").isdecimal():
        return console.width
    wanted = console.measure(part, options=console.options.update(width=WIDEST))
    return max(console.width, wanted.maximum if wanted.maximum < WIDEST else wanted.minimum)


@contextmanager
def view(console: Console, task: Task, budget: Budget, quiet: bool) -> Iterator[OnEvent]:
    """Show the progress of a search: a live view on a terminal, plain lines elsewhere, nothing if quiet."""
    if quiet:
        yield lambda progress: None
    elif console.is_terminal and not console.is_dumb_terminal:
        live_view = LiveView(title(task), budget, console.height)
        with Live(console=console, auto_refresh=False, transient=True) as live:
            yield lambda progress: live.update(live_view.render(progress), refresh=True)
    else:
        yield PlainLines(console, title(task))


def title(task: Task) -> str:
    """Say what is searched and how, in two lines."""
    variants = len(task.problem.variants())
    count = task.jobs.threads if task.cluster is None else task.threads
    threads = "1 thread" if count == 1 else f"{count} threads"
    if task.cluster is not None:
        threads += f" each, {task.nodes.slots()} at a time ({task.cluster.name})"
    chosen = "" if task.parallel is None or not task.chosen else " (chosen for them; --parallel says otherwise)"
    strategy = "" if task.parallel is None and variants > 1 else f"{describe(task.parallel)}, "
    how = f"{strategy}on {threads}{chosen}"
    most = "the best one gets" if task.jobs.keep == 1 else f"the best {task.jobs.keep} get"
    tried = f"; {len(task.jobs.searches)} searches try {variants} variants of the problem, {most} most playouts"
    tried = "" if variants == 1 else tried
    before = "" if task.seconds == 0 else f"; resumed after {clock(task.seconds)}"
    return f"{task.problem.describe()}: {describe_search(task.search, task.problem)}\n{how}{tried}{before}"


class LiveView:
    """Score, playouts, rate, time left and the latest improvements, drawn anew at each event."""

    def __init__(self, heading: str, budget: Budget, height: int = 25) -> None:
        self.heading, self.budget, self.height = heading, budget, height
        self.improvements: list[tuple[float, float]] = []

    def render(self, progress: Progress) -> RenderableType:
        if progress.score is not None and (not self.improvements or progress.score > self.improvements[-1][1]):
            self.improvements.append((progress.seconds, progress.score))
        share = fraction_spent(progress, self.budget)
        numbers = Table.grid(padding=(0, 3))
        numbers.add_row("score", "playouts", "playouts/s", "elapsed", "left", style="dim")
        numbers.add_row(
            Text("-" if progress.score is None else shown(progress.score), style="bold green"),
            f"{progress.playouts:,}",
            f"{progress.playouts_per_second:,.0f}",
            clock(progress.seconds),
            time_left(progress, share),
        )
        parts: list[RenderableType] = [Text(self.heading, style="bold"), numbers]
        if share is not None:
            bar = Table.grid()  # a bar of its own does not end its line
            bar.add_row(ProgressBar(total=1.0, completed=share, width=60))
            parts.append(bar)
        if progress.islands:
            parts.append(islands_table(progress, self.height))
        latest = self.improvements[-IMPROVEMENTS_SHOWN:]
        improved = "   ".join(f"{shown(score)} at {clock(at)}" for at, score in latest)
        parts.append(Text(f"improved  {improved}", style="dim"))
        parts.append(Text("Ctrl-C stops and keeps the best so far", style="dim"))
        return Group(*parts)


def islands_table(progress: Progress, height: int) -> Table:
    """Return the islands of a cluster, the best first, as many as there is room for."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    for header in ("island", "score", "playouts", "playouts/s", "last seen", "lost", "node"):
        table.add_column(header, justify="left" if header == "node" else "right", header_style="dim", no_wrap=True)
    islands = sorted(progress.islands, key=lambda island: -math.inf if island.score is None else island.score)[::-1]
    room = max(3, height - 10)
    for island in islands[:room]:
        ago = f"{max(0.0, progress.seconds - island.seen):.0f} s ago"
        table.add_row(
            f"{island.number}",
            "-" if island.score is None else shown(island.score),
            f"{island.playouts:,}",
            f"{island.playouts_per_second:,.0f}",
            ago if island.nodes else "-",
            f"{island.lost or ''}",
            Text(island.nodes[-1] if island.nodes else "waiting"),
        )
    if len(islands) > room:
        table.add_row(f"and {len(islands) - room:,} more", style="dim")
    return table


class PlainLines:
    """The heading, then a line when the best improves, at most one a second; of a cluster one a minute in any case."""

    def __init__(self, console: Console, heading: str) -> None:
        self.console, self.heading = console, heading
        self.shown, self.at = -math.inf, -math.inf
        self.lost = 0

    def __call__(self, progress: Progress) -> None:
        if self.heading:
            self.console.print(Text(self.heading), soft_wrap=True)
            self.heading = ""
        if progress.score is None:
            return
        silent = time.monotonic() - self.at
        lost = sum(island.lost for island in progress.islands)
        report = bool(progress.islands) and (silent >= REPORT_EVERY_SECONDS or lost > self.lost)
        if progress.score <= self.shown and not report:
            return
        if progress.result is None and silent < LINES_EVERY_SECONDS:
            return
        self.shown, self.at, self.lost = progress.score, time.monotonic(), lost
        line = f"{progress.seconds:8.1f} s  {progress.playouts:>14,} playouts  score {shown(progress.score)}"
        self.console.print(Text(f"{line}  {islands_line(progress)}".rstrip()), soft_wrap=True)


def islands_line(progress: Progress) -> str:
    """Return the islands of a cluster in a few words; of a search on one machine nothing."""
    islands = progress.islands
    if not islands:
        return ""
    nodes = len({node for island in islands for node in island.nodes[-1:]})
    lost = sum(island.lost for island in islands)
    rate = f"{progress.playouts_per_second:,.0f}/s"
    text = f"{rate}  {len(islands)} islands on {nodes} node{'s'[: nodes != 1]}"
    return text + (f", {lost} chunk{'s'[: lost != 1]} lost and done again" if lost else "")


@contextmanager
def experiment_view(console: Console) -> Iterator[OnStatus]:
    """Show the progress of an experiment: a live line on a terminal, plain lines elsewhere."""
    if console.is_terminal and not console.is_dumb_terminal:
        with Live(console=console, auto_refresh=False, transient=True) as live:
            yield lambda status: live.update(experiment_line(status), refresh=True)
    else:
        yield ExperimentLines(console)


def experiment_line(status: Status) -> Text:
    """Say in one line how many runs are done, how long the others take, and which are under way."""
    share = status.done / status.total
    running = f"{status.running[0]}" if status.running else ""
    more = f" and {len(status.running) - 1} more" if len(status.running) > 1 else ""
    text = f"{status.done:,}/{status.total:,} runs  {share:.0%}  left {experiment_left(status)}  {running}{more}"
    return Text(text, no_wrap=True, overflow="ellipsis")


def experiment_left(status: Status) -> str:
    """Return the time the missing runs take if they take as long as those that ended."""
    if status.done_now == 0:
        return "-"
    return clock(status.seconds / status.done_now * (status.total - status.done))


class ExperimentLines:
    """A line when a run has ended, at most one a second, and one at the end."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.shown, self.at = 0, -math.inf

    def __call__(self, status: Status) -> None:
        if status.latest is None or status.done_now == self.shown:
            return
        if status.running and time.monotonic() - self.at < LINES_EVERY_SECONDS:
            return
        self.shown, self.at = status.done_now, time.monotonic()
        done = f"{status.done:,}/{status.total:,} runs, left {experiment_left(status)}"
        line = f"{done}: {status.latest.run}: score {shown(status.latest.score)}"
        self.console.print(Text(line), soft_wrap=True)


def report_table(made: report.Table, width: int) -> Table:
    """Draw a table of a report; one that is too wide with its columns as rows, and no number is ever cut."""
    lines = [made.header, *made.rows]
    table = _grid(made.title, lines)
    if _width(table) > width:
        table = _grid(made.title, list(zip(*lines, strict=True)))
        table.width = _width(table)
    return table


def _grid(title: str, lines: Sequence[Sequence[str]]) -> Table:
    table = Table(title=Text(title), title_justify="left")
    for number, header in enumerate(lines[0]):
        table.add_column(Text(header), justify="right" if number else "left", no_wrap=True)
    for line in lines[1:]:
        table.add_row(*map(Text, line))
    return table


def _width(table: Table) -> int:
    return Console(width=WIDEST).measure(table).maximum


def fraction_spent(progress: Progress, budget: Budget) -> float | None:
    """Return how much of the budget is used, 0 to 1; None where only a target ends the search."""
    shares = []
    if budget.seconds is not None:
        shares.append(progress.seconds / budget.seconds)
    if budget.playouts is not None:
        shares.append(progress.playouts / budget.playouts)
    return min(1.0, max(shares)) if shares else None


def time_left(progress: Progress, share: float | None) -> str:
    """Return the time to the end of the budget at the present rate."""
    if share is None:
        return "until the target"
    if share <= 0:
        return "-"
    return clock(progress.seconds * (1 - share) / share)


def scaling_table(rows: list[dict[str, Any]]) -> Table:
    """Return the scaling of the strategies: a line each, a column for each number of threads."""
    counts = sorted({row["threads"] for row in rows})
    table = Table("strategy", title="Playouts per second, samegame:1, GNRPA level 3, and times those of one thread")
    for count in counts:
        table.add_column(f"{count} thread" + ("" if count == 1 else "s"), justify="right")
    for strategy in dict.fromkeys(row["strategy"] for row in rows):
        cells = {row["threads"]: row for row in rows if row["strategy"] == strategy}
        shown = [f"{cells[count]['playouts_per_second']:,.0f}" for count in counts]
        ratios = ["" if count == 1 else f"  {cells[count]['ratio']:.2f}" for count in counts]
        table.add_row(Text(strategy), *(rate + ratio for rate, ratio in zip(shown, ratios, strict=True)))
    return table


def clock(seconds: float) -> str:
    """Return seconds as h:mm:ss or m:ss."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
