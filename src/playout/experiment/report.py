"""The report of an experiment: tables of mean scores with 95 % confidence intervals."""

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from playout.errors import InputError
from playout.experiment.plan import NO_STRATEGY, Plan, budget_label
from playout.experiment.results import Row
from playout.progress import Budget
from playout.result import write_whole

README = "README.md"
BEGIN, END = "<!-- report: begin -->", "<!-- report: end -->"
MISSING = "missing"

Scores = dict[int, float]  # by seed


@dataclass(frozen=True)
class Table:
    """A title, a header and rows, as text."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables(plan: Plan, rows: Sequence[Row], at: Sequence[int] = ()) -> list[Table]:
    """Return a table for each budget, and one more for each number of playouts in at that the budget reaches."""
    for number in at:
        if all(budget.playouts is not None and budget.playouts < number for budget in plan.budgets.values()):
            raise InputError(f"at is {number}; no budget has that many playouts")
    return [
        _table(plan, label, rows, number)
        for label, budget in plan.budgets.items()
        for number in (None, *at)
        if number is None or budget.playouts is None or number <= budget.playouts
    ]


def source(plan: Plan, rows: Sequence[Row]) -> str:
    """Return where the numbers come from, and what is missing, in a line."""
    used = [row for row in rows if plan.covers(row.run)]
    runs = plan.runs()
    missing = len(set(runs) - {row.run for row in used})
    gap = f" {missing:,} of {len(runs):,} runs are missing." if missing else ""
    if not used:
        return f"No run is done.{gap}"
    seeds = len({row.seed for row in used})
    dates = sorted({row.date for row in used})
    commits = list(dict.fromkeys(row.commit for row in used))
    return (
        f"Mean and 95 % interval (Student's t), {seeds} seed{'s'[: seeds > 1]}, "
        f"{' to '.join(dict.fromkeys((dates[0], dates[-1])))}, commit{'s'[: len(commits) > 1]} {', '.join(commits)}, "
        f"{'; '.join(dict.fromkeys(row.machine for row in used))}.{gap}"
    )


def to_markdown(shown: Iterable[Table], end: str) -> str:
    """Return tables and a last line, as Markdown."""
    lines = []
    for table in shown:
        lines += [f"{table.title}:", "", _markdown_row(table.header), "|---" * len(table.header) + "|"]
        lines += [*(_markdown_row(row) for row in table.rows), ""]
    return "\n".join([*lines, end])


def write_readme(folder: Path, text: str) -> Path:
    """Put a text between the two marker lines of the README.md there; return the file."""
    file = folder / README
    try:
        before = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {str(file)!r}: {getattr(error, 'strerror', 'it is not UTF-8')}") from None
    lines = before.splitlines()
    marks = [number for number, line in enumerate(lines) if line.strip() in (BEGIN, END)]
    if [lines[number].strip() for number in marks] != [BEGIN, END]:
        raise InputError(f"{str(file)!r} needs the lines {BEGIN} and {END}, once each and in this order")
    try:
        write_whole(file, "\n".join([*lines[: marks[0] + 1], text, *lines[marks[1] :]]) + "\n")
    except OSError as error:
        raise InputError(f"cannot write {str(file)!r}: {error.strerror}") from None
    return file


def score_at(row: Row, playouts: int) -> float | None:
    """Return the best score after that many playouts; None if the row does not tell."""
    found = [score for when, score in row.history if when <= playouts]
    return found[-1] if found and playouts <= row.playouts else None


def interval(scores: Sequence[float]) -> tuple[float, float]:
    """Return the mean, and half the width of its 95 % interval; not a number for a single score."""
    mean = statistics.fmean(scores)
    if len(scores) < 2:
        return mean, math.nan
    return mean, student_t(len(scores) - 1) * statistics.stdev(scores) / math.sqrt(len(scores))


@cache
def student_t(freedom: int) -> float:
    """Return the t that a Student variable with so many degrees of freedom stays within, both sides, 95 % of the time.

    The probability is a finite series in the angle whose tangent is t / sqrt(freedom) (Abramowitz and Stegun, 26.7.3
    and 26.7.4); bisection finds the angle.
    """
    low, high = 0.0, math.pi / 2
    while low < (angle := (low + high) / 2) < high:
        low, high = (angle, high) if _within(angle, freedom) < 0.95 else (low, angle)
    return math.sqrt(freedom) * math.tan(low)


def _within(angle: float, freedom: int) -> float:
    """Return the probability that a Student variable is nearer to 0 than sqrt(freedom) tan(angle)."""
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2 == 1
    term, total = (cosine, 0.0) if odd else (1.0, 0.0)
    for k in range(2 if odd else 1, freedom, 2):
        total += term
        term *= cosine * cosine * k / (k + 1)
    return (angle + sine * total) * 2 / math.pi if odd else sine * total


def _table(plan: Plan, label: str, rows: Sequence[Row], at: int | None) -> Table:
    named = list(plan.strategies) != [NO_STRATEGY]
    several = len(plan.problems) > 1
    header = ("search", *(["parallel"] * named), *plan.problems, *(["all problems"] * several), "n")
    lines = []
    for searched in plan.searches:
        for strategy in plan.strategies:
            alike = [row for row in rows if (row.budget, row.search, row.parallel) == (label, searched, strategy)]
            scores = [_scores(alike, problem, at) for problem in plan.problems]
            cells = [*map(_cell, scores), *([_cell(_over_problems(scores))] * several)]
            lines.append((searched, *([strategy] * named), *cells, _count(scores, len(plan.seeds))))
    return Table(_title(plan.budgets[label], at), header, tuple(lines))


def _title(budget: Budget, at: int | None) -> str:
    text = budget_label(budget, ",")
    return text if at is None else f"{text}, the best after {at:,} playouts"


def _scores(rows: Sequence[Row], problem: str, at: int | None) -> Scores:
    of_problem = {row.seed: row.score if at is None else score_at(row, at) for row in rows if row.problem == problem}
    return {seed: score for seed, score in of_problem.items() if score is not None}


def _over_problems(scores: Sequence[Scores]) -> Scores:
    """Return for each seed that has a score on all problems the mean of these."""
    seeds = [seed for seed in scores[0] if all(seed in of_problem for of_problem in scores)]
    return {seed: statistics.fmean(of_problem[seed] for of_problem in scores) for seed in seeds}


def _cell(scores: Scores) -> str:
    if not scores:
        return MISSING
    mean, half = interval(list(scores.values()))
    if not half > 0:
        return f"{mean + 0.0:,.10g} ± {'?' if math.isnan(half) else '0'}"
    digits = min(6, max(0, 1 - math.floor(math.log10(half))))  # two of the half-width
    return f"{round(mean, digits) + 0.0:,.{digits}f} ± {half:,.{digits}f}"


def _count(scores: Sequence[Scores], planned: int) -> str:
    """Return how many runs each cell of a row has, and how many it should have where that is more."""
    least, most = min(map(len, scores)), max(map(len, scores))
    counts = f"{least}" if least == most else f"{least} to {most}"
    return counts if least >= planned else f"{counts} of {planned}"


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
