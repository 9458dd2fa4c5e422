"""``playout solve``: search a problem."""

import itertools
import json as json_module
import re
import sys
import tempfile
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from rich.text import Text

from playout import cluster as clusters
from playout import problems, terminal
from playout import search as searches
from playout.checkpoint import load as load_checkpoint
from playout.cli.common import (
    BUDGET,
    CLUSTER,
    OUTPUT,
    PARALLEL,
    SEARCH,
    app,
    note,
    print_json,
    print_parts,
    strictly_whole,
)
from playout.errors import ClusterError, InputError, check_integer
from playout.parallel import MAX_THREADS, STRATEGIES, Parallel, make, processors
from playout.progress import Budget
from playout.result import Result, load
from playout.solve import Task, run
from playout.stop import StopSignals


@app.command(name="solve")
def solve_command(
    problem: str,
    /,
    *,
    seconds: Annotated[float | None, Parameter(group=BUDGET)] = None,
    playouts: Annotated[int | None, Parameter(group=BUDGET, converter=strictly_whole)] = None,
    target: Annotated[float | None, Parameter(group=BUDGET)] = None,
    search: Annotated[Literal["gnrpa", "nrpa", "nmcs", "uct"], Parameter(group=SEARCH)] = "gnrpa",
    level: Annotated[int | None, Parameter(group=SEARCH, converter=strictly_whole)] = None,
    iterations: Annotated[int | None, Parameter(group=SEARCH, converter=strictly_whole)] = None,
    alpha: Annotated[float | None, Parameter(group=SEARCH)] = None,
    temperature: Annotated[float | None, Parameter(group=SEARCH)] = None,
    bias: Annotated[bool | None, Parameter(group=SEARCH)] = None,
    initial: Annotated[Literal["zero", "bias"] | None, Parameter(group=SEARCH)] = None,
    playouts_per_call: Annotated[int | None, Parameter(group=SEARCH, converter=strictly_whole)] = None,
    repetitions: Annotated[int | None, Parameter(group=SEARCH, converter=strictly_whole)] = None,
    improve: Annotated[bool | None, Parameter(group=SEARCH)] = None,
    bandit: Annotated[Literal["ucb1", "ucbtuned1", "ucbtuned2", "rave"] | None, Parameter(group=SEARCH)] = None,
    exploration: Annotated[float | None, Parameter(group=SEARCH)] = None,
    memory: Annotated[int | None, Parameter(group=SEARCH, converter=strictly_whole)] = None,
    seed: Annotated[int, Parameter(group=SEARCH, converter=strictly_whole)] = 0,
    start: Annotated[Path | None, Parameter(group=SEARCH)] = None,
    threads: Annotated[int | None, Parameter(group=PARALLEL, converter=strictly_whole)] = None,
    parallel: Annotated[Literal["root", "leaf", "node", "hybrid", "tree"] | None, Parameter(group=PARALLEL)] = None,
    jobs: Annotated[int | None, Parameter(group=PARALLEL, converter=strictly_whole)] = None,
    width: Annotated[int | None, Parameter(group=PARALLEL, converter=strictly_whole)] = None,
    parallel_level: Annotated[int | None, Parameter(group=PARALLEL, converter=strictly_whole)] = None,
    policy: Annotated[Literal["shared", "local"] | None, Parameter(group=PARALLEL)] = None,
    exchange_best: Annotated[bool | None, Parameter(group=PARALLEL)] = None,
    cluster: Annotated[Literal["local", "mpi", "dask"] | None, Parameter(group=CLUSTER)] = None,
    workers: Annotated[int | None, Parameter(group=CLUSTER, converter=strictly_whole)] = None,
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
    exchange_best
        Of local policies: whether all take the best sequence so far after each iteration (no).
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
    where = make_cluster(cluster, {"workers": workers, "scheduler": scheduler, "exchange": exchange, "chunk": chunk})
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
    wanted = {
        "jobs": jobs,
        "width": width,
        "level": parallel_level,
        "policy": policy,
        "exchange_best": exchange_best,
    }
    given_settings = {key: value for key, value in wanted.items() if value is not None}
    console = terminal.plain_console(stderr=True)
    with StopSignals() as signals, clusters.opened(where, threads) as nodes:
        chosen = make_search(search, settings)
        budget = Budget(seconds, playouts, target)
        built = problems.problem(problem, for_command_line=True)
        if improve is None and hasattr(chosen, "improve") and problems.improves(built):
            chosen = make_search(search, {**settings, "improve": True})
        first = None if start is None else load(start)
        if where is not None and output is None:
            output = _output_beside(checkpoint, problem)
        before = load_checkpoint(checkpoint).strategy() if checkpoint is not None and resume else None
        slots = None if nodes is None else max(1, nodes.slots())
        strategy = make_strategy(chosen, parallel, threads, given_settings, before, slots)
        task = Task.begin(built, chosen, threads, strategy, seed, first, checkpoint, resume, output, where, nodes)
        with terminal.view(console, task, budget, quiet) as show_progress:
            result = run(task, budget, on_event=lambda progress: signals.repeat() or show_progress(progress))
            saved = None if output is None else _save(result, output)
        _print_result(result, saved, checkpoint, json)
    if result.interrupted and where is not None and not signals.received:
        return 3  # a rank was told to end, or had no memory left
    return 128 + signals.received if signals.received and result.interrupted else 0


def make_cluster(name: str | None, given: dict[str, Any]) -> Any:
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


def make_search(name: str, settings: dict[str, Any]) -> Any:
    """Return the search that was asked for; what explores, in uct, is its bandit."""
    if name == "uct" and "exploration" in settings:
        bandit = {"name": settings.get("bandit", "ucb1"), "exploration": settings["exploration"]}
        settings = {**{key: value for key, value in settings.items() if key != "exploration"}, "bandit": bandit}
    return searches.make(name, settings)


def make_strategy(
    search: Any, name: str | None, threads: int, given: dict[str, Any], before: Any, slots: int | None = None
) -> Parallel | None:
    """Return the strategy that was asked for; what is not given is as in the one before, or as many as threads."""
    options = {
        "jobs": "--jobs",
        "width": "--width",
        "level": "--parallel-level",
        "policy": "--policy",
        "exchange_best": "--exchange-best",
    }
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
        note(f"{problem}; the result is in {str(refuge)!r}")
        return refuge
    except OSError:
        note(f"{problem}; here is the result:")
        print(json_module.dumps(result.to_json()), file=sys.stderr)
        return None


def _print_result(result: Result, saved: Path | None, checkpoint: Path | None, as_json: bool) -> None:
    if as_json:
        print_json(result.to_json())
        return
    where = "not saved: --output FILE saves the next one" if saved is None else f"saved in {saved}"
    if checkpoint is not None and checkpoint.exists():
        where += f"; --checkpoint {checkpoint} --resume goes on"
    print_parts(problems.draw(result.problem, result.moves), Text(result.summary(), style="bold"), Text(where))
