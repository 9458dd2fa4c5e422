"""The plan of an experiment: what ``run.toml`` says, checked, and the runs it stands for."""

import math
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from playout import parallel, problems, search
from playout.errors import InputError, check_choice, check_integer, short
from playout.progress import MAX_PLAYOUTS, Budget
from playout.result import MAX_SEED

PLAN = "run.toml"
HOME = "experiments"
NO_STRATEGY = "none"
MAX_BYTES = 1 << 20
MAX_RUNS = 1_000_000
KEYS = ("title", "problems", "seeds", "threads", "at", "search", "parallel", "budget")
BUDGET_KEYS = ("seconds", "playouts", "target")


@dataclass(frozen=True)
class Run:
    """What tells one run from all others; the search, the strategy and the budget by their labels."""

    seed: int
    problem: str
    budget: str
    search: str
    parallel: str

    def __str__(self) -> str:
        strategy = "" if self.parallel == NO_STRATEGY else f", {self.parallel}"
        return f"{self.problem}, {self.search}{strategy}, {self.budget}, seed {self.seed}"


@dataclass(frozen=True)
class Plan:
    """An experiment: the product of its problems, budgets, searches, strategies and seeds.

    Attributes
    ----------
    folder
        Where ``run.toml`` is, and ``results.csv`` will be.
    problems, budgets, searches, strategies
        By name or label, in the order of ``run.toml``. The strategy None is one sequential search.
    seeds
        Of the random numbers.
    threads
        Of each run.
    at
        Numbers of playouts after which the report shows the best so far, too.
    """

    folder: Path
    title: str
    problems: dict[str, Any]  # None where nothing is to be run
    budgets: dict[str, Budget]
    searches: dict[str, search.Search]
    strategies: dict[str, Any]
    seeds: tuple[int, ...]
    threads: int
    at: tuple[int, ...]

    def runs(self) -> list[Run]:
        """Return all runs, interleaved: a whole grid for each seed, so that a slow hour hits all entries alike."""
        return [Run(*key) for key in product(self.seeds, self.problems, self.budgets, self.searches, self.strategies)]

    def covers(self, run: Run) -> bool:
        """Return whether the run is part of the grid, whatever its seed."""
        return (
            run.problem in self.problems
            and run.budget in self.budgets
            and run.search in self.searches
            and run.parallel in self.strategies
        )


def find(name: str) -> Path:
    """Return the folder of an experiment: ``experiments/NAME`` below the current directory, or a path to it."""
    for folder in (Path(HOME, name), Path(name)):
        if (folder / PLAN).is_file():
            return folder
    there = ", ".join(folder.name for folder in folders()) or "none"
    raise InputError(
        f"there is no experiment {short(name)}: no {PLAN} in {short(f'{HOME}/{name}')} nor in {short(name)}; "
        f"in {HOME!r} there is {there}"
    )


def folders() -> list[Path]:
    """Return the experiments below the current directory."""
    return sorted(file.parent for file in Path(HOME).glob(f"*/{PLAN}"))


def load_plan(folder: Path, seeds: int | None = None, to_run: bool = True) -> Plan:
    """Read ``run.toml``; seeds replaces how many there are.

    Who only looks at results need not have the problems, which may be somebody's code or files.
    """
    file = folder / PLAN
    with inside(str(file)):
        data = _read(file)
        _check_keys(data, KEYS)
        plan = Plan(
            folder=folder,
            title=check_text("title", data.get("title")),
            problems=_problems(data.get("problems"), to_run),
            budgets=_by_label(data, "budget", _budget),
            searches=_by_label(data, "search", _search),
            strategies=_by_label(data, "parallel", _strategy) if "parallel" in data else {NO_STRATEGY: None},
            seeds=_seeds(data.get("seeds"), seeds),
            threads=check_integer("threads", data.get("threads", 1), 1, parallel.MAX_THREADS),
            at=check_at(data.get("at", [])),
        )
        _check_size(plan)
        if to_run:
            _check_pairs(plan)
        return plan


@contextmanager
def inside(where: str) -> Iterator[None]:
    """Put in front of an error's message where it was found."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def check_text(name: str, value: Any) -> str:
    """Return a text that fits into a table; raise for anything else."""
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise InputError(f"{name} is {short(value)}; a text of one line is needed")
    return value


def check_at(value: Any) -> tuple[int, ...]:
    """Return numbers of playouts, in order, each once."""
    if not isinstance(value, list):
        raise InputError(f"at is {short(value)}; a list of numbers of playouts is needed")
    return tuple(sorted({check_integer("a number of playouts in at", number, 1, MAX_PLAYOUTS) for number in value}))


def budget_label(budget: Budget, separator: str = "") -> str:
    """Return a budget in words, such as "200000 playouts"; with a separator, large numbers have it."""
    parts = []
    if budget.playouts is not None:
        parts.append(f"{budget.playouts:{separator}} playouts")
    if budget.seconds is not None:
        parts.append(f"{budget.seconds:{separator}.12g} seconds")
    if budget.target is not None:
        parts.append(f"score {budget.target:{separator}.12g}")
    return " or ".join(parts)


def _read(file: Path) -> dict[str, Any]:
    try:
        with open(file, "rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}") from None
    if len(content) > MAX_BYTES:
        raise InputError(f"is larger than {MAX_BYTES:,} bytes")
    try:
        return tomllib.loads(content.decode())
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not TOML: {' '.join(str(error).split())}") from None


def _check_keys(table: dict[str, Any], allowed: tuple[str, ...]) -> None:
    for key in table:
        if key not in allowed:
            raise InputError(f"unknown key {short(key)}; allowed are {', '.join(allowed)}")


def _problems(names: Any, build: bool) -> dict[str, Any]:
    if not isinstance(names, list) or not names:
        raise InputError(f"problems is {short(names)}; a list such as ['samegame:1'] is needed")
    found: dict[str, Any] = {}
    for name in names:
        if check_text("a problem", name) in found:
            raise InputError(f"problem {short(name)} is there twice")
        found[name] = problems.problem(name) if build else None
    return found


def _by_label(data: dict[str, Any], key: str, build: Callable[[dict[str, Any]], tuple[str, Any]]) -> dict[str, Any]:
    """Return what the tables of that key stand for, by label."""
    tables = data.get(key)
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise InputError(f"{key} is {short(tables)}; at least one table [[{key}]] is needed")
    found: dict[str, Any] = {}
    for number, table in enumerate(tables, 1):
        with inside(f"{key} {number}"):
            label, built = build(table)
            if label in found:
                raise InputError(f"{label!r} is there twice; labels tell the rows of the results apart")
            found[label] = built
    return found


def _search(table: dict[str, Any]) -> tuple[str, Any]:
    name, settings = _name_and_settings(table, "gnrpa")
    built = search.make(name, settings)
    return _label(table, getattr(built, "name", name), settings), built


def _strategy(table: dict[str, Any]) -> tuple[str, Any]:
    name, settings = _name_and_settings(table, "leaf")
    if name == NO_STRATEGY:
        for key in settings:
            raise InputError(f"unknown key {short(key)}; none has no settings")
        return _label(table, name, {}), None
    check_choice("parallel", name, (NO_STRATEGY, *parallel.STRATEGIES))
    return _label(table, name, settings), parallel.make(name, settings)


def _name_and_settings(table: dict[str, Any], example: str) -> tuple[str, dict[str, Any]]:
    if not isinstance(table.get("name"), str):
        raise InputError(f"name is {short(table.get('name'))}; a name such as {example!r} is needed")
    return table["name"], {key: value for key, value in table.items() if key not in ("name", "label")}


def _label(table: dict[str, Any], name: str, settings: dict[str, Any]) -> str:
    """Return the label given, or the name with the settings given."""
    default = ", ".join([name, *(f"{key}={value}" for key, value in settings.items())])
    return check_text("label", table.get("label", default))


def _budget(table: dict[str, Any]) -> tuple[str, Budget]:
    _check_keys(table, BUDGET_KEYS)
    budget = Budget(*(table.get(key) for key in BUDGET_KEYS))
    return budget_label(budget), budget


def _seeds(value: Any, count: int | None) -> tuple[int, ...]:
    """Return the seeds: so many from 0 on, or those listed; count takes another number of them."""
    if not isinstance(value, list):
        number = check_integer("seeds", value, 1, MAX_RUNS)
        return tuple(range(number if count is None else check_integer("--seeds", count, 1, MAX_RUNS)))
    listed = tuple(check_integer("a seed", seed, 0, MAX_SEED) for seed in value)
    if not listed or len(set(listed)) < len(listed):
        raise InputError(f"seeds is {short(value)}; a number, or a list of seeds that differ, is needed")
    return listed if count is None else listed[: check_integer("--seeds of a list", count, 1, len(listed))]


def _check_pairs(plan: Plan) -> None:
    """Raise now, not after hours, if a strategy does not go with a search."""
    first = next(iter(plan.problems.values()))
    for (name, one), (label, strategy) in product(plan.searches.items(), plan.strategies.items()):
        with inside(f"{name} with {label}"):
            parallel.begin(first, one, strategy, plan.threads, seed=0)


def _check_size(plan: Plan) -> None:
    parts = (plan.seeds, plan.problems, plan.budgets, plan.searches, plan.strategies)
    size = math.prod(len(part) for part in parts)
    if size > MAX_RUNS:
        raise InputError(f"the grid has {size:,} runs; at most {MAX_RUNS:,} are allowed")
