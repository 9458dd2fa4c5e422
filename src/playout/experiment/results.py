"""``results.csv``: a row for each run that has ended, appended by one runner at a time."""

import csv
import datetime
import io
import json
import os
import subprocess
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from playout import parallel, search
from playout.errors import InputError, check_integer, check_number, short, whole_number
from playout.experiment.plan import Plan, Run, check_text, inside
from playout.lines import LinesFile, check_file, whole_lines
from playout.progress import MAX_PLAYOUTS
from playout.result import MAX_SEED, Result, cpu_name

RESULTS = "results.csv"


@dataclass(frozen=True)
class Row:
    """A run and what came out; the fields are the columns.

    ``history`` has the playouts and the score of each improvement. It and ``seconds`` may be empty. ``settings`` is
    JSON of the search and the strategy, with all their settings.
    """

    date: str
    commit: str
    machine: str
    problem: str
    search: str
    parallel: str
    budget: str
    threads: int
    seed: int
    score: float
    playouts: int
    seconds: float | None
    history: tuple[tuple[int, float], ...]
    settings: str

    @property
    def run(self) -> Run:
        return Run(self.seed, self.problem, self.budget, self.search, self.parallel)

    def to_csv(self) -> str:
        """Return the row as a line of the file."""
        values = {
            **asdict(self),
            "score": plain(self.score),
            "seconds": "" if self.seconds is None else f"{self.seconds:.2f}",
            "history": " ".join(f"{playouts}:{plain(score)}" for playouts, score in self.history),
        }
        return _line(values.values())


COLUMNS = tuple(field.name for field in fields(Row))


class ResultsFile(LinesFile):
    """``results.csv`` of a folder, locked while inside: a second runner is told, and writes nothing."""

    writer = "runner"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / RESULTS)
        self.rows: list[Row] = []

    def read(self, content: bytes) -> None:
        self.rows = parse(content, self.path)

    def first_line(self) -> str:
        return _line(COLUMNS)

    def append(self, row: Row) -> None:
        """Add a row that has reached the disk when this returns."""
        self.write(row.to_csv())
        self.rows.append(row)


def read(folder: Path) -> list[Row]:
    """Return the rows of an experiment; a last line that is being written is not one yet."""
    path = folder / RESULTS
    check_file(path)
    try:
        content = path.read_bytes() if path.exists() else b""
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}") from None
    return parse(content, path)


def parse(content: bytes, path: Path) -> list[Row]:
    """Return the rows of a results file, which may come from anywhere."""
    with inside(str(path)):
        try:
            reader = csv.reader(io.StringIO(whole_lines(content).decode(), newline=""), strict=True)
            lines = [(reader.line_num, line) for line in reader]
        except (UnicodeDecodeError, csv.Error) as error:
            raise InputError(f"is not CSV: {error}") from None
        if lines and lines[0][1] != list(COLUMNS):
            raise InputError(f"the first line is {short(','.join(lines[0][1]))}; {','.join(COLUMNS)} is needed")
        rows: dict[Run, Row] = {}
        for number, line in lines[1:]:
            with inside(f"line {number}"):
                row = _row(line)
                if row.run in rows:
                    raise InputError(f"the run is there twice: {row.run}")
                rows[row.run] = row
        return list(rows.values())


def settings_text(searched: Any, strategy: Any) -> str:
    """Return a search and a strategy with all their settings, as compact JSON."""
    both = {"search": search.to_json(searched), "parallel": parallel.to_json(strategy)}
    return json.dumps(both, separators=(",", ":"))


def check_settings(plan: Plan, rows: list[Row]) -> None:
    """Raise if rows of a label were made with other settings than the label has now.

    Settings are compared as they are understood today: one that a row does not have was at its default.
    """
    for row in rows:
        with inside(f"{plan.folder / RESULTS}, {row.run}"):
            searched, strategy = _from_settings(row.settings)
        if row.search in plan.searches:
            _check_same(row.search, searched, plan.searches[row.search])
        if row.parallel in plan.strategies:
            _check_same(row.parallel, strategy, plan.strategies[row.parallel])
        timed = row.budget in plan.budgets and plan.budgets[row.budget].seconds is not None
        if timed and row.threads != plan.threads:
            raise InputError(
                f"budget {row.budget!r} has results with threads={row.threads}, run.toml says threads={plan.threads}; "
                f"put it back, or move {RESULTS} away"
            )


def commit(folder: Path = Path(__file__).parent.parent) -> str:
    """Return the commit that is checked out there, with a plus sign if tracked sources differ from it."""

    def git(*arguments: str) -> str:
        command = ["git", "--no-optional-locks", *arguments]
        return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout

    try:
        if not git("ls-files", "--", "."):  # installed below somebody else's repository
            return "unknown"
        changed = git("status", "--short", "--untracked-files=no", "--", ":/cpp", ":/src", ":/CMakeLists.txt")
        return git("rev-parse", "--short", "HEAD").strip() + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def machine() -> str:
    """Return the processor's name and how many there are."""
    return f"{cpu_name()}, {os.cpu_count()} cores"


def make_row(plan: Plan, run: Run, result: Result, made_by: str, made_on: str) -> Row:
    """Return the row of a run that has just ended."""
    return Row(
        date=datetime.date.today().isoformat(),
        commit=made_by,
        machine=made_on,
        problem=run.problem,
        search=run.search,
        parallel=run.parallel,
        budget=run.budget,
        threads=plan.threads,
        seed=run.seed,
        score=result.score,
        playouts=result.playouts,
        seconds=result.seconds,
        history=tuple((playouts, score) for _, playouts, score in result.history),
        settings=settings_text(plan.searches[run.search], plan.strategies[run.parallel]),
    )


def plain(number: float) -> str:
    """Return a number with all its digits, and without a point where it is whole."""
    return repr(float(number)).removesuffix(".0")


def _line(values: Any) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(values)
    return text.getvalue()


def _row(line: list[str]) -> Row:
    if len(line) != len(COLUMNS):
        raise InputError(f"has {len(line)} fields; {len(COLUMNS)} are needed")
    text = dict(zip(COLUMNS, line, strict=True))
    words = {name: check_text(name, text[name]) for name in COLUMNS[:7]}
    return Row(
        **{**words, "date": _date(text["date"])},
        threads=_whole("threads", text["threads"], 1, parallel.MAX_THREADS),
        seed=_whole("seed", text["seed"], 0, MAX_SEED),
        score=_number("score", text["score"]),
        playouts=_whole("playouts", text["playouts"], 0, MAX_PLAYOUTS),
        seconds=None if text["seconds"] == "" else _number("seconds", text["seconds"]),
        history=tuple(_improvement(word) for word in text["history"].split()),
        settings=text["settings"],
    )


def _date(text: str) -> str:
    try:
        return datetime.date.fromisoformat(text).isoformat()
    except ValueError:
        raise InputError(f"date is {short(text)}; a date such as 2026-11-15 is needed") from None


def _whole(name: str, text: str, least: int, most: int) -> int:
    return check_integer(name, whole_number(name, text), least, most)


def _number(name: str, text: str) -> float:
    try:
        return check_number(name, float(text))
    except ValueError:
        raise InputError(f"{name} is {short(text)}; a number is needed") from None


def _improvement(word: str) -> tuple[int, float]:
    playouts, _, score = word.partition(":")
    return _whole("playouts in history", playouts, 0, MAX_PLAYOUTS), _number("a score in history", score)


@cache
def _from_settings(text: str) -> tuple[Any, Any]:
    """Rebuild the search and the strategy of a row."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict) or set(data) != {"search", "parallel"}:
        raise InputError(f"settings is {short(text)}; JSON of search and parallel is needed")
    return search.from_json(data["search"]), parallel.from_json(data["parallel"])


def _check_same(label: str, before: Any, now: Any) -> None:
    if before == now:
        return
    old = {} if before is None else {"name": before.name, **asdict(before)}
    new = {} if now is None else {"name": now.name, **asdict(now)}
    key = next(key for key in (*old, *new) if old.get(key) != new.get(key))
    raise InputError(
        f"{label!r} has results with {key}={old.get(key)}, run.toml says {key}={new.get(key)}; "
        f"give it another label, or move {RESULTS} away"
    )
