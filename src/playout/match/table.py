"""What a match looks like in a terminal while it is played, and at its end."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from playout.experiment.report import Table as Report
from playout.match.result import MatchGame, MatchResult
from playout.terminal import clock, report_table

LATEST = 5  # games that the live view lists


@contextmanager
def match_view(console: Console, quiet: bool) -> Iterator[Callable[[MatchResult], object]]:
    """Show a match: a live table on a terminal, a line for each game that ends elsewhere, nothing if quiet."""
    if quiet:
        yield lambda result: None
    elif console.is_terminal and not console.is_dumb_terminal:
        view = LiveTable(console.width)
        with Live(console=console, auto_refresh=False, transient=True) as live:
            yield lambda result: live.update(view.render(result), refresh=True)
    else:
        yield GameLines(console)


class News:
    """Which games have ended since the last time, in the order of their ends; those of an earlier run are no news."""

    def __init__(self) -> None:
        self.seen: set[int] | None = None

    def of(self, result: MatchResult) -> list[MatchGame]:
        known = {game.number for game in result.games} if self.seen is None else self.seen
        self.seen = known | {game.number for game in result.games}
        return [game for game in result.games if game.number not in known]


class LiveTable:
    """The first player's table, how far the match is, and the latest games, drawn anew at each event."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.news, self.before = News(), -1
        self.latest: list[MatchGame] = []

    def render(self, result: MatchResult) -> RenderableType:
        if self.before < 0:
            self.before = len(result.games)
        self.latest = [*self.latest, *self.news.of(result)][-LATEST:]
        done = len(result.games)
        bar = Table.grid(padding=(0, 2))
        left = f"{done:,} of {result.total:,} games, {clock(result.seconds)}, left {self._left(result)}"
        bar.add_row(ProgressBar(total=result.total, completed=done, width=30), Text(left))
        parts: list[RenderableType] = [result_table(result, self.width), bar]
        parts += [Text(str(game), style="dim", no_wrap=True, overflow="ellipsis") for game in self.latest]
        parts.append(Text("Ctrl-C stops and keeps the games that have ended", style="dim"))
        return Group(*parts)

    def _left(self, result: MatchResult) -> str:
        """Return the time the missing games take if they take as long as those that ended."""
        done = len(result.games) - self.before
        return clock(result.seconds / done * (result.total - len(result.games))) if done else "-"


class GameLines:
    """A line for each game that has ended."""

    def __init__(self, console: Console) -> None:
        self.console, self.news = console, News()

    def __call__(self, result: MatchResult) -> None:
        for game in self.news.of(result):
            low, high = result.interval
            rate = "-" if result.win_rate is None else f"{result.win_rate:.1%} ({low:.1%} to {high:.1%})"
            done = f"{len(result.games):,}/{result.total:,}  {result.one} {rate}"
            self.console.print(Text(f"{done}  {game}"), soft_wrap=True)


def result_table(result: MatchResult, width: int) -> Table:
    """Return the first player's table; where it is too wide, with its columns as rows."""
    header, *rows = result.rows()
    return report_table(Report(f"{result.one} against {result.other}", header, tuple(rows)), width)
