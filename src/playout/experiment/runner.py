"""Running an experiment: what is missing from ``results.csv``, in threads, a row for each run that ends."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from playout.errors import InputError, check_integer
from playout.experiment.plan import Plan, Run, inside
from playout.experiment.results import ResultsFile, Row, check_settings, commit, machine, make_row
from playout.progress import WAKE_SECONDS
from playout.result import Result
from playout.solve import solve
from playout.stop import interrupt

MAX_WORKERS = 1024


@dataclass(frozen=True)
class Status:
    """An experiment at one moment.

    Attributes
    ----------
    done, total
        Runs of the plan, those of earlier times included.
    done_now, seconds
        Runs that ended since this runner began, and how long ago that was.
    running
        Under way.
    latest
        The row of the run that ended last; None before.
    """

    done: int
    total: int
    done_now: int
    seconds: float
    running: tuple[Run, ...]
    latest: Row | None


def run(
    plan: Plan,
    workers: int = 1,
    on_event: Callable[[Status], object] = lambda status: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Status:
    """Run what is missing from the results of a plan, and append a row for each run that ends.

    Parameters
    ----------
    plan
        What to run.
    workers
        How many runs go on at the same time, each in a thread.
    on_event
        Called with a :class:`Status` about ten times a second, and whenever runs have ended.
    stopped
        Asked as often. Once it is true no run begins, and those under way, which :func:`playout.stop.interrupt` should
        have ended, are dropped: their results are not those of the budget.

    Raises
    ------
    InputError
        If rows of a label have other settings, another runner is at work, or a run cannot be done.
    """
    _check_workers(plan, workers)
    with ResultsFile(plan.folder) as results:
        check_settings(plan, results.rows)
        return _Runner(plan, results, workers).run_all(on_event, stopped)


def _check_workers(plan: Plan, workers: int) -> None:
    check_integer("--workers", workers, 1, MAX_WORKERS)
    timed = [label for label, budget in plan.budgets.items() if budget.seconds is not None]
    if workers > 1 and timed:
        raise InputError(
            f"--workers {workers} with the budget {timed[0]!r}: runs would take time from each other; "
            "use --workers 1, or budgets of playouts"
        )


class _Runner:
    """One call of :func:`run`."""

    def __init__(self, plan: Plan, results: ResultsFile, workers: int) -> None:
        self.plan, self.results, self.workers = plan, results, workers
        done = {row.run for row in results.rows}
        runs = plan.runs()
        missing = [run for run in runs if run not in done]
        self.waiting: Iterator[Run] = iter(missing)
        self.total, self.before = len(runs), len(runs) - len(missing)
        self.under_way: dict[Future[Result], Run] = {}
        self.latest: Row | None = None
        self.done_now = 0
        self.begin = time.monotonic()
        self.made = (commit(), machine())  # when the runs begin; the commit may be another when they end

    def run_all(self, on_event: Callable[[Status], object], stopped: Callable[[], bool]) -> Status:
        with ThreadPoolExecutor(self.workers) as pool:
            try:
                while self._fill(pool, stopped):
                    on_event(self.status())
                    ended, _ = wait(self.under_way, timeout=WAKE_SECONDS, return_when=FIRST_COMPLETED)
                    for future in ended:
                        self._keep(future, stopped)
            finally:
                self._end()
        on_event(self.status())
        return self.status()

    def status(self) -> Status:
        seconds = time.monotonic() - self.begin
        running = tuple(self.under_way.values())
        return Status(self.before + self.done_now, self.total, self.done_now, seconds, running, self.latest)

    def _fill(self, pool: ThreadPoolExecutor, stopped: Callable[[], bool]) -> bool:
        """Begin runs while there is room; false once none is under way."""
        while not stopped() and len(self.under_way) < self.workers:
            run = next(self.waiting, None)
            if run is None:
                break
            self.under_way[pool.submit(_solve, self.plan, run)] = run
        return bool(self.under_way)

    def _keep(self, future: Future[Result], stopped: Callable[[], bool]) -> None:
        """Append the row of a run that has ended, unless it was cut short."""
        run = self.under_way.pop(future)
        with inside(str(run)):
            result = future.result()
            if result.interrupted and not stopped():
                raise InputError("the search ended before its budget did")
        if not result.interrupted:
            self.latest = make_row(self.plan, run, result, *self.made)
            self.results.append(self.latest)
            self.done_now += 1

    def _end(self) -> None:
        """End what is still under way; a search that was just beginning hears it the next time."""
        while any(not future.done() for future in self.under_way):
            interrupt()
            wait(self.under_way, timeout=WAKE_SECONDS)


def _solve(plan: Plan, run: Run) -> Result:
    budget, strategy = plan.budgets[run.budget], plan.strategies[run.parallel]
    return solve(
        plan.problems[run.problem],
        plan.searches[run.search],
        seconds=budget.seconds,
        playouts=budget.playouts,
        target=budget.target,
        threads=plan.threads if strategy is not None else 1,  # no strategy: none that threads would choose either
        parallel=strategy,
        seed=run.seed,
    )
