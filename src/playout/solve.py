"""solve() and watch(): run a search within a budget, from the thread that called."""

import json
import math
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from playout import _core
from playout import checkpoint as checkpoints
from playout import cluster as clusters
from playout import parallel as strategies
from playout import search as searches
from playout.check import check_quickly
from playout.cluster import MPI, Cluster
from playout.compile import explained
from playout.errors import InputError, check_integer, short
from playout.own import Own, check_not_loading
from playout.parallel import MAX_THREADS, Parallel
from playout.problems import BuiltIn, is_game, same_score
from playout.progress import CHECKPOINT_SECONDS, MAX_PLAYOUTS, START_ADAPTATIONS, WAKE_SECONDS, Budget, Moment, Progress
from playout.result import MAX_SEED, History, Result, check_writable, provenance
from playout.result import from_json as result_from_json
from playout.search import GNRPA, Search
from playout.stop import SIGNALS, interrupts
from playout.uct import UCT

OUTPUT_SECONDS = 1.0  # between two versions of the result of a search under way


def solve(
    problem: BuiltIn,
    search: Search | None = None,
    *,
    seconds: float | None = None,
    playouts: int | None = None,
    target: float | None = None,
    threads: int = 1,
    parallel: Parallel | None = None,
    cluster: Cluster | None = None,
    seed: int = 0,
    start: Result | Sequence[Any] | None = None,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    output: str | Path | None = None,
    on_event: Callable[[Progress], object] | None = None,
) -> Result:
    """Search a problem for its best sequence of moves.

    Parameters
    ----------
    problem
        What to search, such as ``SameGame.standard(1)``.
    search
        How; ``GNRPA()`` if None.
    seconds, playouts, target
        The budget: the search ends after that many seconds, or after that many playouts, or once a score of at least
        ``target`` is found, whichever comes first. At least one is required. ``playouts`` is the total over all jobs.
    threads
        How many threads do the work. They never change the result of a strategy, but for ``Tree``.
    parallel
        How they work together: ``Root``, ``Leaf``, ``Node``, ``Hybrid`` or ``Tree``. If None, one search with one
        thread; with more the strategy that measurement shows best, and the Result says which.
    cluster
        Where: ``Local``, ``MPI`` or ``Dask``; this process alone, if None. The searches of ``Root`` or ``Hybrid`` are
        then islands, each with ``threads`` threads; if ``parallel`` is None there is one for every worker.
    seed
        Of the random numbers, 0 to 2**64 - 1. Same problem, search, strategy, ``playouts`` and seed give the same score
        and moves, bit for bit, on any x86-64 machine and any number of threads. A budget of seconds cannot promise
        that, nor can a target with a strategy: who reaches it first is a matter of luck.
    start
        A whole sequence of moves, or an earlier Result: it becomes the top level's best so far, and the policy is
        adapted to it ten times before the search begins.
    checkpoint
        A file to keep the search in, written at the beginning, every 30 seconds and at the end. If it cannot be
        written, a warning says so and the search goes on.
    resume
        Go on from the checkpoint, with the same problem, search, strategy and seed, on any number of threads. The
        budget is that of the whole search, what was spent before included. Without this, a checkpoint that exists is an
        error. Once the budget is spent there is a file CHECKPOINT.DONE, too.
    output
        A file to save the result in, from the first on whenever a better one is found, and at the end.
    on_event
        Called with a :class:`Progress` about ten times a second, and at the end. An exception in it ends the search and
        reaches the caller.

    Returns
    -------
    Result
        Ctrl-C ends the search early: the best so far is returned, with ``interrupted`` set. A second Ctrl-C raises
        KeyboardInterrupt. (In Python's main thread, and unless the program handles SIGINT itself, as asyncio does.) On
        a cluster SIGTERM and SIGUSR1 do the same, where the program leaves them as they are.

    Raises
    ------
    InputError
        A ValueError that names the value and what is allowed.
    """
    threads = check_integer("threads", threads, 1, MAX_THREADS)  # by all ranks of a job, before any waits for another
    if clusters.is_helper(cluster):
        return _told(clusters.help_out(), problem)
    with clusters.opened(cluster, threads) as nodes:
        budget = Budget(seconds, playouts, target)
        task = Task.begin(problem, search, threads, parallel, seed, start, checkpoint, resume, output, cluster, nodes)
        return run(task, budget, on_event)


def _told(outcome: bytes, problem: BuiltIn) -> Result:
    """Return the result of a search that another process drove."""
    return result_from_json(json.loads(outcome), problem)


def run(task: "Task", budget: Budget, on_event: Callable[[Progress], object] | None) -> Result:
    """Do what :func:`solve` does once its arguments are checked."""
    with interrupts(SIGNALS[:1] if task.cluster is None else SIGNALS) as interrupted:
        for progress in _watch(task, budget, interrupted):
            if on_event is not None:
                on_event(progress)
            if progress.result is not None:
                if task.nodes is not None:
                    task.nodes.outcome = json.dumps(progress.result.to_json()).encode()
                return progress.result
    raise AssertionError("a watched search always ends with its result")


def watch(
    problem: BuiltIn,
    search: Search | None = None,
    *,
    seconds: float | None = None,
    playouts: int | None = None,
    target: float | None = None,
    threads: int = 1,
    parallel: Parallel | None = None,
    cluster: Cluster | None = None,
    seed: int = 0,
    start: Result | Sequence[Any] | None = None,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    output: str | Path | None = None,
) -> Iterator[Progress]:
    """Search a problem and yield a :class:`Progress` about ten times a second.

    Takes what :func:`solve` takes but for ``on_event``. The last Progress has the Result. Leaving the loop early ends
    the search. Ctrl-C while the loop waits for the next Progress ends it too, and that Progress is the last.
    """
    threads = check_integer("threads", threads, 1, MAX_THREADS)
    if isinstance(cluster, MPI):
        raise InputError("watch does not go with MPI(); use solve, with on_event")
    budget = Budget(seconds, playouts, target)
    with ExitStack() as stack:
        nodes = stack.enter_context(clusters.opened(cluster, threads))
        task = Task.begin(problem, search, threads, parallel, seed, start, checkpoint, resume, output, cluster, nodes)
        return _closing(_watch(task, budget), stack.pop_all())


def _closing(search: Iterator[Progress], stack: ExitStack) -> Iterator[Progress]:
    with stack:
        yield from search


@dataclass(frozen=True)
class Task:
    """What is searched and how, checked, with its searches begun or read from a checkpoint."""

    problem: BuiltIn
    search: Search
    parallel: Parallel | None
    seed: int
    chosen: bool  # whether the strategy was, for want of one
    jobs: strategies.Jobs
    threads: int
    file: Path | None
    output: "Output | None" = None
    cluster: Cluster | None = None
    nodes: Any = None
    elastic: bool = False  # whether an idle node of the cluster may begin one more search
    start: tuple[int, ...] | None = None
    kept: checkpoints.Checkpoint | None = None
    seconds: float = 0.0  # spent before
    history: History = ()
    state: bytes = b""

    @staticmethod
    def begin(
        problem: BuiltIn,
        search: Search | None,
        threads: int,
        parallel: Parallel | None,
        seed: int,
        start: Result | Sequence[Any] | None,
        checkpoint: str | Path | None,
        resume: bool,
        output: str | Path | None = None,
        cluster: Cluster | None = None,
        nodes: Any = None,
    ) -> "Task":
        check_not_loading()
        threads = check_integer("threads", threads, 1, MAX_THREADS)
        seed = check_integer("seed", seed, 0, MAX_SEED)
        search = GNRPA() if search is None else search
        if isinstance(search, type) or not hasattr(search, "begin"):
            raise InputError(f"search is {short(search)}; allowed are GNRPA(), NRPA(), NMCS() and UCT()")
        if isinstance(problem, type) or not hasattr(problem, "engine"):
            raise InputError(f"problem is {short(problem)}; allowed are problems such as SameGame.standard(1)")
        findings = check_quickly(problem, getattr(search, "improve", False))
        if is_game(problem):
            raise InputError(
                f"{problem.describe()} is a game for two players: it is played with playout.Player, not solved"
            )
        for finding in findings:
            warnings.warn(f"{problem.describe()}: {finding}", RuntimeWarning, stacklevel=3)
        file = _checkpoint_file(checkpoint, resume)
        kept = checkpoints.load(file) if file is not None and resume else None
        chosen = parallel is None and kept is None
        if start is not None and resume:
            raise InputError("start does not go with resume: the checkpoint has a best sequence of its own")
        if kept is not None and bool(kept.islands) != (cluster is not None):
            where = "on a cluster; say which: --cluster local, mpi or dask" if cluster is None else "on one machine"
            raise InputError(f"cannot resume from {str(file)!r}: it is of a search {where}")
        elastic = parallel is None
        if parallel is None and kept is not None:
            parallel = kept.strategy()
        elif parallel is None:
            slots = 1 if nodes is None else nodes.slots()
            parallel = strategies.choose(search, threads) if cluster is None else _islands(search, threads, slots)
        elif isinstance(parallel, type) or not hasattr(parallel, "wide"):
            raise InputError(f"parallel is {short(parallel)}; allowed are Root(), Leaf(), Node(), Hybrid() and Tree()")
        if cluster is not None and not isinstance(parallel, (strategies.Root, strategies.Hybrid)):
            raise InputError("a cluster searches several islands: parallel can be Root() or Hybrid()")
        if cluster is not None and isinstance(search, UCT):
            raise InputError("the trees of uct do not travel; on a cluster use gnrpa, nrpa or nmcs")
        if cluster is not None and isinstance(parallel, strategies.Root) and threads > 1 and kept is None:
            raise InputError("the searches of Root() have one thread each; use Hybrid(), or threads=1 and more workers")
        try:
            with explained(problem):
                jobs = strategies.begin(problem, search, parallel, threads, seed)
        except MemoryError:
            raise InputError("out of memory: use fewer jobs, a smaller width or a lower level") from None
        task = Task(problem, search, parallel, seed, chosen, jobs, threads, file)
        task = replace(task, cluster=cluster, nodes=nodes, elastic=elastic, output=_output_file(output, file))
        if kept is not None:
            kept.check(task.what())
            return replace(task, seconds=kept.seconds, history=kept.history, state=kept.state, kept=kept)
        if start is not None:
            with explained(problem):
                return replace(task, start=_start_from(jobs.searches, problem, start))
        return task

    def what(self) -> dict[str, Any]:
        """What a checkpoint must agree in."""
        return {
            "problem": self.problem.to_json(),
            "search": searches.to_json(self.search),
            "strategy": strategies.to_json(self.parallel),
            "seed": self.seed,
            "number of jobs": len(self.jobs.searches),
        }

    def run(self, budget: Budget) -> _core.Run:
        try:
            run = _core.Run(
                self.jobs.searches,
                budget.playouts or MAX_PLAYOUTS,
                math.inf if budget.target is None else budget.target,
                threads=self.jobs.threads,
                crews=self.jobs.crews,
                keep=self.jobs.keep,
                state=self.state,
                problem=self.jobs.engine,
            )
        except _core.CompiledFailure:
            raise
        except ValueError as error:
            raise InputError(f"cannot resume from {str(self.file)!r}: {error}") from None
        except _core.NoThreads as error:
            raise InputError(f"cannot start so many threads: {error}") from None
        except MemoryError:
            raise InputError("out of memory: use fewer jobs, a smaller width or a lower level") from None
        if self.state:
            self.check_best(run)
        return run

    def check_best(self, run: _core.Run) -> None:
        """Raise now, not after hours, if what a checkpoint calls its best is not."""
        now = run.progress()
        try:
            score = now.score if now.playouts == 0 else self.problem.replay(self.problem.decode(now.moves))[0]
            sound = same_score(self.problem, score, now.score)
        except InputError:
            sound = False
        if not sound:
            run.stop()
            raise InputError(f"cannot resume from {str(self.file)!r}: its best sequence is not worth its score")

    def save(self, run: _core.Run, at_the_end: bool = False) -> None:
        """Write the checkpoint, if there is to be one; what a failed search left is not worth the one before."""
        if self.file is None or run.failed:
            return
        now = self.whole(run.progress())
        with self.warning_of_files(at_the_end):
            checkpoints.Checkpoint(self.file, self.what(), now.seconds, now.history, run.serialise()).save()

    @contextmanager
    def warning_of_files(self, at_the_end: bool) -> Iterator[None]:
        """Where the checkpoint cannot be written, say so and no more."""
        try:
            yield
        except (OSError, MemoryError) as error:
            reason = getattr(error, "strerror", None) or "out of memory"
            message = f"could not write the checkpoint {str(self.file)!r}: {reason}"
            message += "" if at_the_end else "; the search goes on"
            warnings.warn(message, RuntimeWarning, stacklevel=4)

    def mark(self, done: bool) -> None:
        """Write the file that says that the search is done, or remove it."""
        if self.file is None:
            return
        marker = self.file.with_name(f"{self.file.name}.DONE")
        with self.warning_of_files(at_the_end=True):
            if done:
                marker.touch()
            else:
                marker.unlink(missing_ok=True)

    def keep_best(self, now: Callable[[], Moment], at_the_end: bool = False) -> None:
        """Write the result so far, if there is to be a file of it and it has become better."""
        if self.output is not None and (self.output.is_due() or at_the_end):
            moment = now()
            if moment.score > self.output.score:
                self.output.write(self.result(moment, early=True, on_the_way=True))

    def result(self, now: Moment, early: bool, on_the_way: bool = False) -> Result:
        """Return the result at a moment; ``early`` if the budget was not spent, ``on_the_way`` if it goes on."""
        ranks = len({node for island in now.islands for node in island.nodes[-1:]}) or 1
        made = provenance(self.jobs.threads if self.cluster is None else self.threads, ranks)
        return Result(
            problem=self.problem,
            search=self.search,
            parallel=self.parallel,
            seed=self.seed,
            score=now.score,
            moves=now.moves,
            detail=_detail(self, now, on_the_way),
            playouts=now.playouts,
            seconds=now.seconds,
            interrupted=early,
            history=now.history,
            provenance=made if self.cluster is None else {**made, "cluster": clusters.to_json(self.cluster)},
            islands=now.islands,
        )

    def whole(self, now: _core.Progress) -> "Moment":
        """A run's progress with what went before it."""
        before = self.history[-1][2] if self.history else -math.inf
        history = [
            (self.seconds + seconds, playouts, score) for seconds, playouts, score in now.history if score > before
        ]
        return Moment(
            seconds=self.seconds + now.seconds,
            playouts=now.playouts,
            score=now.score,
            moves=tuple(self.problem.decode(now.moves)),
            history=(*self.history, *history),
        )


def _checkpoint_file(path: str | Path | None, resume: bool) -> Path | None:
    if path is None:
        if resume:
            raise InputError("nothing to resume from: give the file too, by checkpoint (--checkpoint FILE)")
        return None
    if not isinstance(path, (str, Path)):
        raise InputError(f"checkpoint is {short(path)}; a file is needed")
    file = Path(path)
    check_writable(file)
    if file.exists() and not file.is_file():
        raise InputError(f"{str(path)!r} cannot be a checkpoint: it is not a plain file")
    if file.exists() and not resume:
        raise InputError(f"the checkpoint {str(path)!r} exists; resume from it, or remove it first")
    return file


class Output:
    """The file with the result of a search under way."""

    def __init__(self, file: Path) -> None:
        self.file, self.score, self.at = file, -math.inf, -math.inf

    def is_due(self) -> bool:
        return time.monotonic() >= self.at + OUTPUT_SECONDS

    def write(self, result: Result) -> None:
        self.at = time.monotonic()
        try:
            result.save(self.file)
            self.score = result.score
        except OSError as error:
            self.at += 60 * OUTPUT_SECONDS
            warnings.warn(f"could not write {str(self.file)!r}: {error.strerror}", RuntimeWarning, stacklevel=2)


def _output_file(path: str | Path | None, checkpoint: Path | None) -> Output | None:
    if path is None:
        return None
    if not isinstance(path, (str, Path)):
        raise InputError(f"output is {short(path)}; a file is needed")
    check_writable(Path(path))
    if checkpoint is not None and Path(path).resolve() == checkpoint.resolve():
        raise InputError("output and checkpoint are the same file; they need one each")
    return Output(Path(path))


def _islands(search: Any, threads: int, slots: int) -> Parallel:
    """Return the strategy for a cluster with that many slots of so many threads: what the paper found best."""
    jobs = min(max(1, slots), strategies.MAX_JOBS)
    if threads == 1 or getattr(search, "level", 0) == 0 or not hasattr(search, "iterations"):
        return strategies.Root(jobs)
    return strategies.Hybrid(jobs, min(max(4, threads), search.iterations, strategies.MAX_CALLS // jobs))


def _start_from(jobs: Sequence[_core.Search], problem: BuiltIn, start: Result | Sequence[Any]) -> tuple[int, ...]:
    """Let all searches begin with a sequence; return it as the engine has it."""
    try:
        moves = problem.encode(start.moves if isinstance(start, Result) else start)
        for job in jobs:
            job.start_from(moves, START_ADAPTATIONS)
        return tuple(moves)
    except TypeError:
        raise InputError(f"start is {short(start)}; allowed are a Result or a sequence of moves") from None
    except _core.CompiledFailure:
        raise
    except ValueError as error:
        raise InputError(f"start cannot be played: {error}") from None


def _watch(task: Task, budget: Budget, interrupted: threading.Event | None = None) -> Iterator[Progress]:
    """Run a search; where nobody else listens to Ctrl-C, listen while waiting."""
    task.mark(done=False)
    search = _watch_here(task, budget, interrupted)
    if task.cluster is not None:
        from playout.cluster.driver import watch as watch_cluster

        search = watch_cluster(task, budget, interrupted)
    for progress in search:
        if progress.result is not None:
            if task.output is not None:
                task.output.write(progress.result)
            task.mark(done=not progress.result.interrupted)
        yield progress


def _watch_here(task: Task, budget: Budget, interrupted: threading.Event | None) -> Iterator[Progress]:
    in_time = budget.seconds is None or task.seconds < budget.seconds
    with explained(task.problem):
        run = task.run(budget if in_time else replace(budget, playouts=1))
        begin = time.monotonic()
        deadline = math.inf if budget.seconds is None else begin + budget.seconds - task.seconds
        save_at = begin + CHECKPOINT_SECONDS
        try:
            if not task.state:
                task.save(run)  # from now on there is one, and nobody else takes the name
            while True:
                with interrupts() if interrupted is None else nullcontext(interrupted) as event:
                    over = _is_over(task.problem, run, deadline, event)
                if over or event.is_set():
                    break
                if time.monotonic() >= save_at:
                    task.save(run)
                    save_at = time.monotonic() + CHECKPOINT_SECONDS
                task.keep_best(lambda: task.whole(run.progress()))
                yield task.whole(run.progress()).progress()
        finally:
            run.stop()
            task.save(run, at_the_end=True)
        _has_ended(task.problem, run, 0.0, event)  # raises what was raised in the meantime
    now = task.whole(run.progress())
    yield now.progress(task.result(now, event.is_set() and not now.has_spent(budget)))


def _is_over(problem: BuiltIn, run: _core.Run, deadline: float, interrupted: threading.Event) -> bool:
    """Wait for the next moment to look up; true once the search should end or has ended."""
    ended = _has_ended(problem, run, max(0.0, min(WAKE_SECONDS, deadline - time.monotonic())), interrupted)
    return ended or interrupted.is_set() or time.monotonic() >= deadline


def _has_ended(problem: BuiltIn, run: _core.Run, seconds: float, interrupted: threading.Event) -> bool:
    """Wait for the end of a search, at most that long, and raise what was raised in it."""
    try:
        return run.wait(seconds)
    except _core.CompiledFailure:
        raise
    except _core.ProblemError as error:
        raise InputError(f"{problem.describe()}: {error}") from None
    except MemoryError as full:  # a PolicyFull says more
        warnings.warn(f"the search ended early: {str(full) or 'out of memory'}", RuntimeWarning, stacklevel=2)
        interrupted.set()
        return True
    except _core.NoThreads as error:
        raise InputError(f"cannot start so many threads: {error}") from None


def _detail(task: Task, now: Moment, on_the_way: bool) -> dict[str, Any]:
    """Replay the best sequence by the plain rules. Where a user's problem then says something else, warn: keep it."""
    if on_the_way and isinstance(task.problem, Own):  # whose score may take long
        return {"finished": True}
    try:
        score, detail = task.problem.replay(now.moves)
    except Exception as error:
        if not isinstance(task.problem, Own):
            raise
        what = f"cannot be replayed in plain Python: {type(error).__name__}: {error}"
        detail = {}
    else:
        if same_score(task.problem, score, now.score):
            return detail
        what = f"is worth {score!r} in plain Python, and was worth {now.score!r} in the search"
    message = f"{task.problem.describe()}: the best sequence {what}; playout.check may say more"
    warnings.warn(message, RuntimeWarning, stacklevel=2)
    return detail
