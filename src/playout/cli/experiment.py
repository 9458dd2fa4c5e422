"""``playout experiment run | report | list``: grids of searches."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from playout import terminal
from playout.cli.common import app, note, print_parts, strictly_whole
from playout.errors import InputError, whole_number
from playout.experiment import plan as plans
from playout.experiment import report as reports
from playout.experiment import results, runner
from playout.stop import StopSignals

EXPERIMENT_HELP = """Run a grid of searches, keep what comes out, and compare the means.

An experiment is a folder *experiments/NAME* with a file *run.toml*:

    title = "What the level does to the score"
    problems = ["samegame:1", "samegame:16"]
    seeds = 20

    [[search]]
    name = "gnrpa"
    level = 2

    [[search]]
    name = "gnrpa"
    level = 3

    [[budget]]
    playouts = 200_000

*playout experiment run NAME* then runs every search on every problem with every seed.
"""

experiment = App(name="experiment", help=EXPERIMENT_HELP)
app.command(experiment)


@experiment.command(name="run")
def experiment_run(
    name: str,
    /,
    *,
    workers: Annotated[int, Parameter(converter=strictly_whole)] = 1,
    seeds: Annotated[int | None, Parameter(converter=strictly_whole)] = None,
) -> int:
    """Run what is missing from an experiment, and print the means.

    Each run that ends is a row of *results.csv* at once, so that the command can be stopped at any moment and goes on
    when it is given again. Runs are interleaved: a whole grid with the first seed, then with the second.

    **Examples**

    - *playout experiment run nested-settings*: what is in *experiments/nested-settings/run.toml*
    - *playout experiment run nested-settings --seeds 2*: try it with two seeds
    - *playout experiment run nested-settings --workers 4*: four runs at a time

    Parameters
    ----------
    name
        A folder below *experiments*, or a path to a folder that has a *run.toml*.
    workers
        Runs that go on at the same time. With a budget of seconds only 1: they would take time from each other.
    seeds
        How many seeds, instead of what *run.toml* says; more than it says extend the experiment.
    """
    plan = plans.load_plan(plans.find(name), seeds)
    with StopSignals() as signals, terminal.experiment_view(terminal.plain_console(stderr=True)) as show_status:
        status = runner.run(plan, workers, show_status, signals.repeat)
    if signals.received and status.done < status.total:
        note(f"stopped; {status.done:,} of {status.total:,} runs are done and kept; the same command goes on")
        return 128 + signals.received
    _print_report(plan, plan.at)
    return 0


@experiment.command(name="report")
def experiment_report(
    name: str,
    /,
    *,
    at: str | None = None,
    markdown: Annotated[bool, Parameter(negative="")] = False,
    write: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Print the mean scores of an experiment with 95 % confidence intervals.

    A table for each budget: a row for each search and strategy, a column for each problem. Intervals are Student's t
    over the seeds; n is the number of runs in each cell.

    Parameters
    ----------
    name
        A folder below *experiments*, or a path to a folder that has a *run.toml*.
    at
        Add tables of the best score after so many playouts, as 10000,100000, instead of what *run.toml* says. Runs that
        ended before are not counted.
    markdown
        Print Markdown.
    write
        Put the Markdown into the experiment's *README.md*, between the lines *<!-- report: begin -->* and
        *<!-- report: end -->*.
    """
    plan = plans.load_plan(plans.find(name), to_run=False)
    numbers = plan.at if at is None else plans.check_at([whole_number("--at", word) for word in at.split(",")])
    if write:
        print(f"wrote {reports.write_readme(plan.folder, _markdown_report(plan, numbers))}")
    elif markdown:
        print(_markdown_report(plan, numbers))
    else:
        _print_report(plan, numbers)
    return 0


@experiment.command(name="list")
def experiment_list() -> int:
    """List the experiments in the folder *experiments*, and how many of their runs are done."""
    folders = plans.folders()
    if not folders:
        raise InputError(f"there is no {plans.HOME}/NAME/{plans.PLAN} below this folder")
    table = Table("experiment", "runs done", "what it is about")
    table.columns[0].no_wrap = True
    table.columns[1].justify = "right"
    for folder in folders:
        table.add_row(Text(folder.name), *map(Text, _done_and_title(folder)))
    print_parts(table)
    return 0


def _rows(plan: plans.Plan) -> list[results.Row]:
    rows = results.read(plan.folder)
    results.check_settings(plan, rows)
    return rows


def _print_report(plan: plans.Plan, at: Sequence[int]) -> None:
    rows = _rows(plan)
    strangers = sum(not plan.covers(row.run) for row in rows)
    if strangers:
        note(f"{strangers:,} rows of {plan.folder / results.RESULTS} belong to nothing that run.toml has now")
    shown: list[RenderableType] = [Text(plan.title, style="bold")]
    shown += [terminal.report_table(table, terminal.plain_console().width) for table in reports.tables(plan, rows, at)]
    print_parts(*shown, Text(reports.source(plan, rows)))


def _markdown_report(plan: plans.Plan, at: Sequence[int]) -> str:
    rows = _rows(plan)
    return reports.to_markdown(reports.tables(plan, rows, at), reports.source(plan, rows))


def _done_and_title(folder: Path) -> tuple[str, str]:
    """Return how many runs are done and the title; of an experiment that cannot be read, what is wrong."""
    try:
        plan = plans.load_plan(folder, to_run=False)
        done = {row.run for row in _rows(plan)}
    except InputError as error:
        return "-", str(error)
    runs = plan.runs()
    return f"{sum(run in done for run in runs):,} of {len(runs):,}", plan.title
