"""The command line: ``playout solve | check | verify | show | plot | bench | problems | experiment | slurm``."""

import io
import itertools
import json as json_module
import os
import re
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from cyclopts import App, CycloptsError, Group, Parameter, Token
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

import playout
from playout import bench as benchmark
from playout import cluster as clusters
from playout import problems, terminal
from playout import search as searches
from playout.checkpoint import load as load_checkpoint
from playout.cluster import slurm
from playout.errors import ClusterError, InputError, check_integer, whole_number
from playout.experiment import plan as plans
from playout.experiment import report as reports
from playout.experiment import results, runner
from playout.own import Missing
from playout.parallel import MAX_THREADS, STRATEGIES, Parallel, make, processors
from playout.picture import has_picture, to_html, to_svg
from playout.progress import Budget
from playout.result import Result, check_writable, load, shown, write_whole
from playout.solve import Task, run
from playout.stop import StopSignals

Drawing = TypeVar("Drawing")

HELP = """Find good sequences of decisions by Monte Carlo search.

Try it: *playout solve samegame:1 --seconds 30*

Exit status: 0 done; 1 a result is wrong (verify); 2 the command cannot be used as it is; 3 the cluster failed; 130, 138
or 143 stopped by Ctrl-C, SIGUSR1 or SIGTERM, with the best so far printed and saved all the same.
"""

app = App(name="playout", help=HELP, help_format="markdown", version=playout.__version__)
app.register_install_completion_command(help="Install completion for your shell (bash, zsh or fish).")


def _strictly_whole(_: type, tokens: Sequence[Token]) -> int:
    """Convert a word to a whole number: 2.6 is a mistake, not 3."""
    return whole_number("it", tokens[0].value)


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

BUDGET = Group("Budget (at least one)", sort_key=1)
SEARCH = Group("Search", sort_key=2)
PARALLEL = Group("Parallel", sort_key=3)
CLUSTER = Group("Cluster", sort_key=4)
OUTPUT = Group("Output", sort_key=5)


SLURM_SAYS = {
    "threads": "--cpus-per-task of slurm is the number of threads",
    "resume": "it resumes if there is a checkpoint",
    **dict.fromkeys(("cluster", "workers", "scheduler"), "the search has the processes of the job"),
}


@app.command(name="solve")
def solve_command(
    problem: str,
    /,
    *,
    seconds: Annotated[float | None, Parameter(group=BUDGET)] = None,
    playouts: Annotated[int | None, Parameter(group=BUDGET, converter=_strictly_whole)] = None,
    target: Annotated[float | None, Parameter(group=BUDGET)] = None,
    search: Annotated[Literal["gnrpa", "nrpa", "nmcs", "uct"], Parameter(group=SEARCH)] = "gnrpa",
    level: Annotated[int | None, Parameter(group=SEARCH, converter=_strictly_whole)] = None,
    iterations: Annotated[int | None, Parameter(group=SEARCH, converter=_strictly_whole)] = None,
    alpha: Annotated[float | None, Parameter(group=SEARCH)] = None,
    temperature: Annotated[float | None, Parameter(group=SEARCH)] = None,
    bias: Annotated[bool | None, Parameter(group=SEARCH)] = None,
    initial: Annotated[Literal["zero", "bias"] | None, Parameter(group=SEARCH)] = None,
    playouts_per_call: Annotated[int | None, Parameter(group=SEARCH, converter=_strictly_whole)] = None,
    repetitions: Annotated[int | None, Parameter(group=SEARCH, converter=_strictly_whole)] = None,
    improve: Annotated[bool | None, Parameter(group=SEARCH)] = None,
    bandit: Annotated[Literal["ucb1", "ucbtuned1", "ucbtuned2", "rave"] | None, Parameter(group=SEARCH)] = None,
    exploration: Annotated[float | None, Parameter(group=SEARCH)] = None,
    memory: Annotated[int | None, Parameter(group=SEARCH, converter=_strictly_whole)] = None,
    seed: Annotated[int, Parameter(group=SEARCH, converter=_strictly_whole)] = 0,
    start: Annotated[Path | None, Parameter(group=SEARCH)] = None,
    threads: Annotated[int | None, Parameter(group=PARALLEL, converter=_strictly_whole)] = None,
    parallel: Annotated[Literal["root", "leaf", "node", "hybrid", "tree"] | None, Parameter(group=PARALLEL)] = None,
    jobs: Annotated[int | None, Parameter(group=PARALLEL, converter=_strictly_whole)] = None,
    width: Annotated[int | None, Parameter(group=PARALLEL, converter=_strictly_whole)] = None,
    parallel_level: Annotated[int | None, Parameter(group=PARALLEL, converter=_strictly_whole)] = None,
    policy: Annotated[Literal["shared", "local"] | None, Parameter(group=PARALLEL)] = None,
    cluster: Annotated[Literal["local", "mpi", "dask"] | None, Parameter(group=CLUSTER)] = None,
    workers: Annotated[int | None, Parameter(group=CLUSTER, converter=_strictly_whole)] = None,
    scheduler: Annotated[str | None, Parameter(group=CLUSTER)] = None,
    exchange: Annotated[float | None, Parameter(group=CLUSTER)] = None,
    chunk: Annotated[float | None, Parameter(group=CLUSTER)] = None,
    checkpoint: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
    resume: Annotated[bool, Parameter(group=OUTPUT, negative="")] = False,
    output: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
    json: Annotated[bool, Parameter(group=OUTPUT, negative="")] = False,
    quiet: Annotated[bool, Parameter(group=OUTPUT, negative="")] = False,
) -> int:
    """Search a problem for its best sequence of moves.

    **Examples**

    - *playout solve samegame:1 --seconds 60*: a standard board for a minute, watched as it goes
    - *playout solve samegame:1 --playouts 1000000 --parallel root --jobs 4 --seed 7*: the same result on any machine
    - *playout solve samegame:1 --level 5 --seconds 3600 --checkpoint run.ckpt*: with *--resume* it goes on from there
    - *playout solve samegame:board.txt --seconds 60*: a board of your own
    - *playout solve ./file.py:problem --seconds 60*: a problem of your own, made with playout.Problem
    - *playout solve samegame:1 --seconds 60 --start run.json*: go on from an earlier result
    - *mpiexec -n 4 playout solve samegame:1 --seconds 60 --threads 2*: on four machines, or four parts of one
    - *playout problems* lists what can be searched

    Parameters
    ----------
    problem
        What to search: samegame:1, samegame:random:7, samegame:board.txt, tsptw:rc_204.1, tsptw:random:7,
        tsptw:tour.txt; options after commas, as samegame:1,tabu=2.
        A problem of your own: ./file.py:name, module:name, or a library, ./libgame.so:argument.
    seconds
        Stop after this time.
    playouts
        Stop after this many playouts in all. With the same seed, jobs and width the result is the same on any machine.
    target
        Stop once a score of at least this is found.
    search
        The algorithm: nested rollout policy adaptation with (gnrpa) or without (nrpa) temperature and bias, nested
        Monte Carlo search (nmcs), or tree search (uct).
    level
        Levels of nesting; higher searches longer before it starts afresh, and better (4; nmcs 3).
    iterations
        Calls of the level below by each call of a level (100).
    alpha
        Learning rate (1.0).
    temperature
        Higher explores more (the problem's own; 1.0 for SameGame, 1.4 for TSPTW).
    bias
        Whether playouts prefer moves as the problem suggests (yes).
    initial
        Whether weights start at zero or at the bias (zero).
    playouts_per_call
        Stabilised search: level 1 is the best of this many playouts of an unadapted policy (off).
    repetitions
        Leave a level once its best sequence was found again more than this many times (off).
    improve
        Whether the problem's local search improves the best sequences before they are learned (yes, where it has one).
    bandit
        Of uct: how a move in the tree is chosen (ucb1).
    exploration
        Of uct: higher explores more, and 1 is the bandit as it was published (1.0; rave 0.0).
    memory
        Of uct: how many MB the tree may take (1024).
    seed
        Of the random numbers.
    start
        A saved result to begin with.
    threads
        How many threads do the work (as many as this process may use). Given a strategy, they only change the time. On
        a cluster: of each island (of a rank its part of the processors, in Slurm what it says, else 1).
    parallel
        How they work together. root: independent searches; leaf: one search that plays several playouts at once; node:
        one that makes several calls of --parallel-level at once; hybrid: several such searches; tree: all threads
        search one tree of uct, and the result varies from run to run. If not given, what measurement shows best for so
        many threads; what that is, is said when the search begins.
    jobs
        Of root and hybrid: how many searches (as many as threads; of a resumed search as before). On a cluster these
        are the islands (as many as workers).
    width
        Of leaf, node and hybrid: how many calls at once, at most --iterations (as many as threads; resumed, as before).
    parallel_level
        Of node and hybrid: the level that makes them, 1 to --level (hybrid 1).
    policy
        Of leaf, node and hybrid: whether they share a policy or have copies that learn on their own (shared).
    cluster
        What launches work elsewhere. local: processes of this machine; mpi: the ranks that mpiexec or srun started,
        found by itself; dask: the workers of a Dask cluster. Islands are handed out to them, some seconds at a time.
    workers
        Of a local cluster: how many processes (as many as there are processors for).
    scheduler
        Of a Dask cluster: its address, as tcp://host:8786, or the file it wrote.
    exchange
        Every so many seconds, islands that lag far behind go on from a better one's policy (never).
    chunk
        How many seconds an island is searched before it is handed out again (5).
    checkpoint
        Keep the search in this file, from the beginning, every 30 seconds and at the end, so that it can be resumed.
        The one before the last is FILE.previous. There is a file FILE.DONE once the budget is spent.
    resume
        Go on from the checkpoint, with the rest of its budget or more. Say what is searched as before; a strategy that
        is not given is the checkpoint's.
    output
        Save the result here, as JSON: the first that is found, each time a better one is, and at the end. (On a cluster
        there is a file in any case: CHECKPOINT.json, or one that is named after the problem.)
    json
        Print the result as JSON on standard output, and nothing else there.
    quiet
        Show no progress.
    """
    where = _cluster(cluster, {"workers": workers, "scheduler": scheduler, "exchange": exchange, "chunk": chunk})
    if where is not None and threads is None:
        threads = 1 if parallel == "root" or where.name != "mpi" else clusters.threads_of_a_rank()
    threads = processors() if threads is None else check_integer("threads", threads, 1, MAX_THREADS)
    if clusters.is_helper(where):  # from here on a mistake of rank 0's must reach the others: it is inside what follows
        return _help_out()
    given = {
        "level": level,
        "iterations": iterations,
        "alpha": alpha,
        "temperature": temperature,
        "bias": bias,
        "initial": initial,
        "playouts_per_call": playouts_per_call,
        "repetitions": repetitions,
        "improve": improve,
        "bandit": bandit,
        "exploration": exploration,
        "memory": memory,
    }
    settings = {key: value for key, value in given.items() if value is not None}
    wanted = {"jobs": jobs, "width": width, "level": parallel_level, "policy": policy}
    given_settings = {key: value for key, value in wanted.items() if value is not None}
    console = terminal.plain_console(stderr=True)
    with StopSignals() as signals, clusters.opened(where, threads) as nodes:
        chosen = _search(search, settings)
        budget = Budget(seconds, playouts, target)
        built = problems.problem(problem, for_command_line=True)
        if improve is None and hasattr(chosen, "improve") and problems.improves(built):
            chosen = _search(search, {**settings, "improve": True})
        first = None if start is None else load(start)
        if where is not None and output is None:
            output = _output_beside(checkpoint, problem)
        before = load_checkpoint(checkpoint).strategy() if checkpoint is not None and resume else None
        slots = None if nodes is None else max(1, nodes.slots())
        strategy = _strategy(chosen, parallel, threads, given_settings, before, slots)
        task = Task.begin(built, chosen, threads, strategy, seed, first, checkpoint, resume, output, where, nodes)
        with terminal.view(console, task, budget, quiet) as show_progress:
            result = run(task, budget, on_event=lambda progress: signals.repeat() or show_progress(progress))
            saved = None if output is None else _save(result, output)
        _print_result(result, saved, checkpoint, json)
    if result.interrupted and where is not None and not signals.received:
        return 3  # a rank was told to end, or had no memory left
    return 128 + signals.received if signals.received and result.interrupted else 0


@app.command(name="slurm", usage="Usage: playout slurm [OPTIONS] solve PROBLEM [OPTIONS of solve]")
def slurm_command(
    *command: Annotated[str, Parameter(allow_leading_hyphen=True)],
    nodes: Annotated[int, Parameter(converter=_strictly_whole)] = 1,
    tasks_per_node: Annotated[int, Parameter(converter=_strictly_whole)] = 1,
    cpus_per_task: Annotated[int, Parameter(converter=_strictly_whole)] = 1,
    time: str = "01:00:00",
    partition: str | None = None,
    account: str | None = None,
    job_name: str | None = None,
    launcher: Literal["srun", "mpiexec"] = "srun",
) -> int:
    """Print a job script for Slurm that runs a search in as many turns as it needs.

    **Examples**

    - *playout slurm --nodes 4 --cpus-per-task 32 solve samegame:1 --seconds 86400 > job.sh*: then *sbatch job.sh*
    - *playout slurm --time 04:00:00 --partition long solve samegame:1 --seconds 86400 | sbatch*: six turns and a bit

    Before the time limit the search saves itself, and the job queues again and goes on. It ends when the budget is
    used. A result and a checkpoint are kept in any case: *samegame-1.json*, *samegame-1.ckpt*.

    Parameters
    ----------
    command
        A solve command, as it would be typed: solve PROBLEM --seconds 86400 and so on.
    nodes
        How many machines.
    tasks_per_node
        Processes on each machine. One that has all processors as threads is usual.
    cpus_per_task
        Processors of each process, and the threads of its search.
    time
        The limit of one turn, as 04:00:00 or 2-00:00:00.
    partition
        Where the job queues.
    account
        Who pays.
    job_name
        Of the job and its files (made from the problem and the seed). Jobs of the same name run one after the other.
    launcher
        What starts the processes: srun, or the mpiexec of an MPI that does not know Slurm.
    """
    job = slurm.Job(nodes, tasks_per_node, cpus_per_task, time, partition, account, job_name, launcher)
    print(slurm.script(command[1:], job, _check_solve(command, job)), end="")
    return 0


@app.command
def verify(file: Path, /, *, problem: str | None = None) -> int:
    """Replay a saved result move by move and check its score.

    The rules it replays by are plain Python and share nothing with the engine. Exit status 1 if the score is wrong.

    Parameters
    ----------
    file
        What *playout solve --output* wrote.
    problem
        The problem, if it is one of your own, as it was named to *solve*: ./file.py:problem. A file never decides what
        code is run.
    """
    result = _load(file, problem)
    if isinstance(result.problem, Missing):
        raise InputError(result.problem.needed())
    try:
        score = result.verify()
    except InputError as error:
        return _wrong(file, str(error))
    if not problems.same_score(result.problem, score, result.score):
        return _wrong(file, f"the moves score {shown(score)}, the file says {shown(result.score)}")
    print(f"{file}: correct, {len(result.moves)} moves score {shown(score)}")
    return 0


@app.command
def check(problem: str, /, *, playouts: Annotated[int, Parameter(converter=_strictly_whole)] = 100) -> int:
    """Say what is wrong with a problem of your own. Exit status 1 if anything is.

    Parameters
    ----------
    problem
        Where it is: ./file.py:problem, module:problem, ./libmygame.so.
    playouts
        How many random games to play.
    """
    report = playout.check(problems.problem(problem), playouts)
    print(report)
    return 0 if report else 1


@app.command
def include() -> int:
    """Print the folder of playout.h, for compilers: *cc -shared -fPIC -I$(playout include) game.c -o libgame.so*."""
    print(playout.get_include())
    return 0


@app.command
def show(
    file: Path,
    /,
    *,
    step: Annotated[int | None, Parameter(converter=_strictly_whole)] = None,
    svg: Path | None = None,
    html: Path | None = None,
    problem: str | None = None,
) -> int:
    """Draw a saved result: in the terminal, as a picture, or as a page for a browser.

    In the terminal: of SameGame the board, the move that removes each cell, and the moves; of a tour its timetable.

    Parameters
    ----------
    file
        What *playout solve --output* wrote.
    step
        Draw what there is after this many moves instead.
    svg
        Write a picture to this file: the board with its moves numbered, or the map of the tour and its windows.
    html
        Write a page to this file that replays a game, or shows a tour stop by stop. It needs no network.
    problem
        The problem, if it is one of your own and is to draw itself: ./file.py:problem. Else its moves are listed.
    """
    result = _load(file, problem)
    for picture in (svg, html):
        if picture is not None:
            check_writable(picture)
    if svg is None and html is None:
        _print(
            Text(result.summary(), style="bold"),
            _drawn(file, lambda: problems.draw(result.problem, result.moves, step)),
        )
    if svg is not None:
        _write_picture(result, svg, _drawn(file, lambda: to_svg(result)))
    if html is not None:
        _write_picture(result, html, _drawn(file, lambda: to_html(result)))
    return 0


@app.command
def plot(
    *files: Path,
    output: Path,
    x: Literal["seconds", "playouts"] | None = None,
) -> int:
    """Plot how the score of saved results grew, as PNG or SVG.

    Results of the same problem and search share a colour: thin lines for each, a thick one for their mean, and a band
    for its 95 % confidence interval. Needs matplotlib, the *plot* extra.

    Parameters
    ----------
    files
        What *playout solve --output* wrote.
    output
        The picture to write; its ending says of what kind, .png or .svg.
    x
        Plot over seconds or over playouts; both, side by side, if not given.
    """
    from playout.plot import save_plot

    if not files:
        raise InputError("no results to plot; name at least one file that 'playout solve --output' wrote")
    check_writable(output)
    results = [load(file) for file in files]
    try:
        save_plot(results, output, x)
    except OSError as error:
        raise InputError(f"cannot write {str(output)!r}: {error.strerror}") from None
    print(f"wrote {output}")
    return 0


@app.command
def bench(
    *,
    seconds: float = 2.0,
    threads: Annotated[int | None, Parameter(converter=_strictly_whole)] = None,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Measure this machine: playouts per CPU second on one thread, and how the parallel strategies scale.

    Parameters
    ----------
    seconds
        Time for each measurement.
    threads
        The most threads to measure with (as many as this process may use).
    json
        Print JSON instead of tables.
    """
    tell = None if json else _note
    threads = processors() if threads is None else check_integer("threads", threads, 1, MAX_THREADS)
    rows = benchmark.measure(seconds, tell)
    scaling = benchmark.scaling(threads, seconds, tell)
    if json:
        _print_json({"rates": rows, "scaling": scaling})
        return 0
    table = Table("problem", "search", "playouts per CPU second", title="One thread")
    table.columns[0].no_wrap = True
    table.columns[2].justify = "right"
    for row in rows:
        table.add_row(Text(row["problem"]), Text(row["search"]), f"{row['playouts_per_cpu_second']:,.0f}")
    _print(table, terminal.scaling_table(scaling))
    return 0


@app.command(name="problems")
def problems_command() -> int:
    """List what can be searched, how to name it, and its options."""
    listed = [(kind.title, (*kind.forms, *kind.options)) for kind in problems.KINDS.values()]
    for title, rows in [*listed, problems.OWN]:
        table = Table.grid(padding=(0, 3))
        table.add_column(no_wrap=True)
        for form, meaning in rows:
            table.add_row(Text(f"  {form}"), meaning)
        _print(Text(title, style="bold"), table)
    return 0


@experiment.command(name="run")
def experiment_run(
    name: str,
    /,
    *,
    workers: Annotated[int, Parameter(converter=_strictly_whole)] = 1,
    seeds: Annotated[int | None, Parameter(converter=_strictly_whole)] = None,
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
        _note(f"stopped; {status.done:,} of {status.total:,} runs are done and kept; the same command goes on")
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
    _print(table)
    return 0


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; a user's mistake is one line on standard error and exit status 2."""
    warnings.showwarning = _show_warning
    warnings.simplefilter("always", RuntimeWarning)  # each time a checkpoint cannot be written
    sys.stdout = sys.stdout or io.TextIOWrapper(open(os.devnull, "wb"))  # noqa: SIM115, closed: nobody reads it
    sys.stderr = sys.stderr or io.TextIOWrapper(open(os.devnull, "wb"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without Unicode shows a question mark, not a traceback
    try:
        status = app(arguments, exit_on_error=False, print_error=False, result_action="return_value")
        sys.stdout.flush()
    except CycloptsError as error:
        status = _mistake(" ".join(str(error).split()))
    except InputError as error:
        status = _mistake(str(error))
    except ClusterError as error:
        _note(f"the cluster failed: {error} (with --checkpoint, --resume goes on)")
        status = 3
    except KeyboardInterrupt:
        status = 128 + signal.SIGINT
    except BrokenPipeError:  # whoever read our output has left; there is nobody to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 128 + signal.SIGPIPE
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = _mistake(f"{error.filename or 'standard output'}: {error.strerror}")
    sys.exit(status)


def _cluster(name: str | None, given: dict[str, Any]) -> Any:
    """Return the cluster that was asked for, or that mpiexec or srun have started; None for this process alone."""
    given = {key: value for key, value in given.items() if value is not None}
    ranks = clusters.launched()[1]
    if name is None and ranks > 1:
        name = "mpi"
    if name in ("local", "dask") and ranks > 1:
        raise InputError(f"--cluster {name} is one process, and this was started as {ranks} ranks; leave out mpiexec")
    if name is None:
        for setting in given:
            raise InputError(f"--{setting} without a cluster; say which by --cluster local|mpi|dask")
        return None
    known = [field.name for field in fields(clusters.CLUSTERS[name])]
    for setting in given:
        if setting not in known:
            has = ", ".join(f"--{setting}" for setting in known)
            raise InputError(f"--{setting} does not go with --cluster {name}, which takes {has}")
    return clusters.CLUSTERS[name](**given)


def _help_out() -> int:
    """Be a rank that does what rank 0 says; what there is to say, rank 0 does."""
    with suppress(ClusterError):
        clusters.help_out()
    return 0


def _output_beside(checkpoint: Path | None, problem: str) -> Path:
    """Return where the result of a search on a cluster goes if its user does not say: a night's work is not lost."""
    if checkpoint is not None:
        return checkpoint.with_name(f"{checkpoint.name}.json")
    name = re.sub(r"[^A-Za-z0-9_.]+", "-", problem).strip("-.")[:100] or "result"
    names = (Path(f"{name}{number}.json") for number in itertools.chain([""], (f"-{n}" for n in itertools.count(2))))
    return next(path for path in names if not path.exists())


def _search(name: str, settings: dict[str, Any]) -> Any:
    """Return the search that was asked for; what explores, in uct, is its bandit."""
    if name == "uct" and "exploration" in settings:
        bandit = {"name": settings.get("bandit", "ucb1"), "exploration": settings["exploration"]}
        settings = {**{key: value for key, value in settings.items() if key != "exploration"}, "bandit": bandit}
    return searches.make(name, settings)


def _strategy(
    search: Any, name: str | None, threads: int, given: dict[str, Any], before: Any, slots: int | None = None
) -> Parallel | None:
    """Return the strategy that was asked for; what is not given is as in the one before, or as many as threads."""
    options = {"jobs": "--jobs", "width": "--width", "level": "--parallel-level", "policy": "--policy"}
    if name is None:
        for setting in given:
            raise InputError(
                f"{options[setting]} without a strategy; say which by --parallel root|leaf|node|hybrid|tree"
            )
        return None
    known = [field.name for field in fields(STRATEGIES[name])]
    for setting in given:
        if setting not in known:
            has = ", ".join(options[setting] for setting in known if setting in options) or "no settings here"
            raise InputError(f"{options[setting]} does not go with --parallel {name}, which takes {has}")
    if before is not None and before.name == name:
        return make(name, {**asdict(before), **given})
    if name == "node" and "level" not in given:
        raise InputError("--parallel node needs the level that makes several calls at once: --parallel-level N")
    usual = {"jobs": slots or threads, "width": min(threads, getattr(search, "iterations", threads))}
    return make(name, {**{key: value for key, value in usual.items() if key in known}, **given})


def _check_solve(command: Sequence[str], job: slurm.Job) -> dict[str, Any]:
    """Return the arguments of a solve command for a job script; what is wrong with it is said as solve would."""
    if not command or command[0] != "solve":
        what = f"{command[0]!r} is no option of slurm" if command else "there is no solve command"
        raise InputError(f"{what}; write playout slurm [OPTIONS] solve PROBLEM ...")
    _, bound, _ = app.parse_args(list(command), exit_on_error=False, print_error=False)
    said = dict(bound.arguments)
    for option, instead in SLURM_SAYS.items():
        if option in said:
            raise InputError(f"--{option} is for the job script to say: {instead}")
    Budget(*(said.get(name) for name in ("seconds", "playouts", "target")))
    settings = {field.name for kind in searches.SEARCHES.values() for field in fields(kind)} | {"exploration"}
    chosen = _search(said.get("search", "gnrpa"), {key: said[key] for key in said if key in settings})
    built = problems.problem(said["problem"], for_command_line=True)
    first = load(said["start"]) if "start" in said else None
    where = _cluster("mpi" if job.tasks > 1 else None, {key: said.get(key) for key in ("exchange", "chunk")})
    names = {"jobs": "jobs", "width": "width", "parallel_level": "level", "policy": "policy"}
    wanted = {name: said[option] for option, name in names.items() if option in said}
    slots = job.tasks if job.tasks > 1 else None
    strategy = _strategy(chosen, said.get("parallel"), job.cpus_per_task, wanted, None, slots)
    Task.begin(built, chosen, job.cpus_per_task, strategy, said.get("seed", 0), first, None, False, cluster=where)
    return said


def _load(file: Path, problem: str | None) -> Result:
    return load(file, None if problem is None else problems.problem(problem))


def _save(result: Result, output: Path) -> Path | None:
    """Save the result there; where that fails after all, somewhere else rather than not at all."""
    try:
        result.save(output)
        return output
    except OSError as error:
        problem = f"could not write {str(output)!r}: {error.strerror}"
    try:
        refuge = Path(tempfile.mkdtemp(prefix="playout-")) / output.name
        result.save(refuge)
        _note(f"{problem}; the result is in {str(refuge)!r}")
        return refuge
    except OSError:
        _note(f"{problem}; here is the result:")
        print(json_module.dumps(result.to_json()), file=sys.stderr)
        return None


def _print_result(result: Result, saved: Path | None, checkpoint: Path | None, as_json: bool) -> None:
    if as_json:
        _print_json(result.to_json())
        return
    where = "not saved: --output FILE saves the next one" if saved is None else f"saved in {saved}"
    if checkpoint is not None and checkpoint.exists():
        where += f"; --checkpoint {checkpoint} --resume goes on"
    _print(problems.draw(result.problem, result.moves), Text(result.summary(), style="bold"), Text(where))


def _print(*parts: RenderableType) -> None:
    """Print on standard output, in colour where it can, and never cut off at the right."""
    console = terminal.plain_console()
    with console.capture() as capture:
        for part in parts:
            console.width = terminal.width_for(console, part)
            console.print(part, soft_wrap=isinstance(part, Text), crop=False, highlight=False)
    sys.stdout.write(capture.get())
    sys.stdout.flush()  # here, where a reader who has left is heard of; rich would say 1


def _drawn(file: Path, draw: Callable[[], Drawing]) -> Drawing:
    """Return a drawing; a result whose moves cannot be played has none."""
    try:
        return draw()
    except InputError as error:
        raise InputError(f"cannot draw {str(file)!r}: {error}") from None


def _write_picture(result: Result, path: Path, text: str) -> None:
    try:
        write_whole(path, text)
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror}") from None
    print(f"wrote {path}" + ("" if has_picture(result) else "; the problem has no picture: it lists the moves"))


def _rows(plan: plans.Plan) -> list[results.Row]:
    rows = results.read(plan.folder)
    results.check_settings(plan, rows)
    return rows


def _print_report(plan: plans.Plan, at: Sequence[int]) -> None:
    rows = _rows(plan)
    strangers = sum(not plan.covers(row.run) for row in rows)
    if strangers:
        _note(f"{strangers:,} rows of {plan.folder / results.RESULTS} belong to nothing that run.toml has now")
    shown: list[RenderableType] = [Text(plan.title, style="bold")]
    shown += [terminal.report_table(table, terminal.plain_console().width) for table in reports.tables(plan, rows, at)]
    _print(*shown, Text(reports.source(plan, rows)))


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


def _print_json(value: Any) -> None:
    print(json_module.dumps(value))


def _wrong(file: Path, reason: str) -> int:
    print(f"playout: {file} is wrong: {reason}", file=sys.stderr)
    return 1


def _mistake(message: str) -> int:
    if clusters.launched()[0] == 0:  # all ranks of a job make the same mistake
        _note(message)
    return 2


def _note(message: str) -> None:
    print(f"playout: {message}", file=sys.stderr, flush=True)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    _note(str(message))
