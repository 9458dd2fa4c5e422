"""How several threads search together: frozen dataclasses of settings.

Each says what it does and where it comes from; the algorithms themselves are in ``cpp/parallel``. Jobs and width
belong to the algorithm and change the result. How many threads do the work is an argument of ``solve``, and changes
nothing but the time it takes.
"""

import math
import os
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Protocol, cast

from playout import _core
from playout.errors import InputError, check_bool, check_choice, check_integer
from playout.problems import BuiltIn
from playout.search import MAX_LEVEL, Search, Together, Wide, check_known, set_field

MAX_JOBS = 1000
MAX_WIDTH = 1000
MAX_CALLS = 10_000  # jobs times width: a few hundred MB
MAX_THREADS = 1024


class Parallel(Protocol):
    """What every strategy offers besides its settings."""

    @property
    def jobs(self) -> int:
        """How many independent searches."""

    @property
    def wide(self) -> Wide | Together | None:
        """How several threads work on each search, if they do."""


@dataclass(frozen=True)
class Root:
    """Root parallelization: independent searches with random numbers of their own; the best is the result.

    Section 3.1 of "Distributed Nested Rollout Policy Adaptation for SameGame" (Negrevergne and Cazenave, 2017). Goes
    with every search.

    Parameters
    ----------
    jobs
        How many searches (K); they may outnumber the threads. A budget of playouts is shared among them.
    """

    name: ClassVar[str] = "root"
    jobs: int

    def __post_init__(self) -> None:
        _check(self)

    @property
    def wide(self) -> Wide | None:
        return None


@dataclass(frozen=True)
class Leaf:
    """Leaf parallelization: one search that plays several playouts at once.

    Of UCT: they begin where a simulation leaves the tree; a budget is rounded up to a multiple of the width.

    Of NRPA and GNRPA: :class:`Node` at level 1. With the stabilised setting (``playouts_per_call``), whose level 1
    adapts nothing, the playouts of a call are spread over the threads whatever the width, and the result is that of the
    search without a strategy. (But for ``repetitions``, which are then counted after all of them.)

    Parameters
    ----------
    width
        How many playouts share a policy (M), at most the search's iterations.
    policy, exchange_best
        As in :class:`Node`.
    """

    name: ClassVar[str] = "leaf"
    width: int
    policy: str = "shared"
    exchange_best: bool = False

    def __post_init__(self) -> None:
        _check(self)

    @property
    def jobs(self) -> int:
        return 1

    @property
    def wide(self) -> Wide | None:
        return Wide(1, self.width, self.policy, self.exchange_best)


@dataclass(frozen=True)
class Node:
    """Node parallelization: one search of NRPA or GNRPA that makes several calls of one level at once.

    Section 3.2 of "Distributed Nested Rollout Policy Adaptation for SameGame", Algorithms 4 and 5.

    Parameters
    ----------
    level
        The level that makes them (L), 1 to the search's own; level 1 is :class:`Leaf`.
    width
        How many calls at once (M), at most the search's iterations.
    policy
        ``"shared"``: M calls of level L - 1 on the policy of level L, then one Adapt to the best so far with alpha
        times the number of calls. ``"local"``: M workers begin with nothing but a copy of the policy that the call was
        given, make N / M iterations each, and the best one's sequence is the result. With M = 1 both are the search
        without a strategy.
    exchange_best
        Of local policies: whether the workers wait for each other after each iteration, and all of them take the best
        sequence so far and adapt to it.
    """

    name: ClassVar[str] = "node"
    level: int
    width: int
    policy: str = "shared"
    exchange_best: bool = False

    def __post_init__(self) -> None:
        _check(self)

    @property
    def jobs(self) -> int:
        return 1

    @property
    def wide(self) -> Wide | None:
        return Wide(self.level, self.width, self.policy, self.exchange_best)


@dataclass(frozen=True)
class Hybrid:
    """Hybrid parallelization: independent searches, each of which makes several calls of one level at once.

    Section 3.3 of "Distributed Nested Rollout Policy Adaptation for SameGame": :class:`Root` of :class:`Leaf`, or of
    :class:`Node` if a level is given.

    Parameters
    ----------
    jobs
        How many searches (K).
    width, level, policy, exchange_best
        Of each, as in :class:`Node`; level 1 unless given.
    """

    name: ClassVar[str] = "hybrid"
    jobs: int
    width: int
    level: int = 1
    policy: str = "shared"
    exchange_best: bool = False

    def __post_init__(self) -> None:
        _check(self)

    @property
    def wide(self) -> Wide | None:
        return Wide(self.level, self.width, self.policy, self.exchange_best)


@dataclass(frozen=True)
class Tree:
    """Tree parallelization: all threads search one tree of :class:`playout.UCT`, without locks.

    Algorithm 4 of "The Parallelization of Monte-Carlo Planning" (Gelly and others, 2008) is ``Tree(virtual_loss=0)``,
    but for its mutexes. The paper has no virtual loss: there it did not help to make threads search different moves.
    The result depends on which thread was faster, so it differs from run to run. One thread searches as without a
    strategy.

    Parameters
    ----------
    virtual_loss
        How many lost visits a simulation under way counts as, so that the others go elsewhere, 0 to 100. With 1, a
        visit is counted when a move is selected and its reward when that is known.
    in_flight
        Instead of a virtual loss, count simulations under way in the exploration term of the bandit alone.
    """

    name: ClassVar[str] = "tree"
    virtual_loss: int = 1
    in_flight: bool = False

    def __post_init__(self) -> None:
        set_field(self, "virtual_loss", check_integer("virtual_loss", self.virtual_loss, 0, 100))
        check_bool("in_flight", self.in_flight)

    @property
    def jobs(self) -> int:
        return 1

    @property
    def wide(self) -> Together:
        return Together(self.virtual_loss, self.in_flight)


STRATEGIES: dict[str, type[Root] | type[Leaf] | type[Node] | type[Hybrid] | type[Tree]] = {
    "root": Root,
    "leaf": Leaf,
    "node": Node,
    "hybrid": Hybrid,
    "tree": Tree,
}


def make(name: str, settings: dict[str, Any]) -> Parallel:
    """Return the strategy of that name with these settings; a setting it does not have or lacks is an error."""
    check_choice("parallel", name, STRATEGIES)
    check_known(name, settings, STRATEGIES[name])
    return STRATEGIES[name](**settings)


def to_json(parallel: Any) -> dict[str, Any] | None:
    """Return the name and the settings of a strategy; None for none."""
    return None if parallel is None else {"name": parallel.name, **asdict(parallel)}


def from_json(data: Any) -> Parallel | None:
    """Rebuild a strategy from what :func:`to_json` gave; the data may come from anywhere."""
    if data is None:
        return None
    if not isinstance(data, dict) or not isinstance(data.get("name"), str):
        raise InputError("'parallel' is neither null nor a strategy with its settings")
    return make(data["name"], {str(key): value for key, value in data.items() if key != "name"})


def describe(parallel: Any) -> str:
    """Return a strategy in a few words."""
    if parallel is None:
        return "one search"
    settings = ", ".join(f"{key} {value}" for key, value in asdict(parallel).items() if value is not False)
    return f"{parallel.name}, {settings}"


def choose(search: Any, threads: int) -> Parallel | None:
    """Return the strategy that measurement shows best for so many threads (experiments/threads).

    Searches of NRPA that play four playouts at a time lose nothing by it and have fewer Adapts to do. There are two of
    them, or one for every two threads: fewer searches that go deeper, as the paper found for many cores.
    """
    if threads == 1:
        return None
    if getattr(search, "level", 0) == 0 or not hasattr(search, "iterations"):
        return Root(threads)
    return Hybrid(max(2, threads // 2), min(4, search.iterations))


def processors() -> int:
    """Return how many processors this process may use: Slurm's word, the affinity, the quota of its control group."""
    slurm = os.environ.get("SLURM_CPUS_PER_TASK", "")
    if slurm.isdecimal() and int(slurm) > 0:
        return min(int(slurm), MAX_THREADS)
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, int(min(count, _quota(), MAX_THREADS)))


def _quota(root: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")) -> float:
    """Return the processors that the control groups of this process leave it; infinity if they set no limit."""
    limits = [math.inf]
    with suppress(OSError):
        for line in own.read_text().splitlines():
            number, controllers, path = line.split(":", 2)
            base = root if number == "0" else root / controllers
            if number == "0" or "cpu" in controllers.split(","):
                folder = base / path.lstrip("/")
                limits += [_limit(folder) for folder in (folder, *folder.parents) if folder.is_relative_to(base)]
    return min(limits)


def _limit(folder: Path) -> float:
    """Return the limit that one control group sets, of version 2 or 1."""
    with suppress(OSError, ValueError, ZeroDivisionError):
        quota, period = (folder / "cpu.max").read_text().split()
        return math.inf if quota == "max" else int(quota) / int(period)
    with suppress(OSError, ValueError, ZeroDivisionError):
        quota, period = ((folder / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
        return math.inf if int(quota) < 0 else int(quota) / int(period)
    return math.inf


@dataclass(frozen=True)
class Jobs:
    """The searches of a run, and how the threads form crews to do them."""

    searches: list[_core.Search]
    engine: _core.Problem  # of the first: what it asks of Python, whoever waits for the run does
    keep: int  # how many of them get most of the playouts
    threads: int  # that have something to do
    crews: int


class Begun:
    """A problem as it was when the search began: a user may change theirs, and its engine with it."""

    def __init__(self, problem: BuiltIn) -> None:
        self._problem, self._engine = problem, problem.engine()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._problem, name)

    def engine(self) -> _core.Problem:
        return self._engine


def begin(problem: BuiltIn, search: Search, parallel: Parallel | None, threads: int, seed: int) -> Jobs:
    """Begin the searches of a problem.

    Where the problem has variants, the jobs take them in turn: at least one each, and twice as many as are kept, so
    that there are some to leave behind.
    """
    keep, wide = (1, None) if parallel is None else (parallel.jobs, parallel.wide)
    variants = [Begun(variant) for variant in problem.variants()]
    count = keep if len(variants) == 1 else len(variants) * math.ceil(2 * keep / len(variants))
    if hasattr(search, "shared_by"):
        search = search.shared_by(count)
    searches = [search.begin(cast(BuiltIn, variants[job % len(variants)]), seed, job, wide) for job in range(count)]
    crews = min(threads, count if wide is None else keep)
    return Jobs(searches, variants[0].engine(), keep, min(threads, crews * tasks_at_once(search, wide)), crews)


def tasks_at_once(search: Any, wide: Wide | Together | None) -> int:
    """Return how many threads one search can keep busy."""
    if wide is None:
        return 1
    if isinstance(wide, Together):
        return MAX_THREADS
    stabilised = wide.level == 1 and getattr(search, "playouts_per_call", None) is not None
    return int(search.playouts_per_call) if stabilised else wide.width  # the engine takes what it can use


def _check(parallel: Any) -> None:
    limits = {"jobs": (1, MAX_JOBS), "width": (1, MAX_WIDTH), "level": (1, MAX_LEVEL)}
    for field in fields(parallel):
        if field.name in limits:
            set_field(
                parallel, field.name, check_integer(field.name, getattr(parallel, field.name), *limits[field.name])
            )
    if parallel.jobs * (1 if parallel.wide is None else parallel.wide.width) > MAX_CALLS:
        raise InputError(f"jobs times width is {parallel.jobs * parallel.width:,}; at most {MAX_CALLS:,} make sense")
    if hasattr(parallel, "policy"):
        check_choice("policy", parallel.policy, ("shared", "local"))
        check_bool("exchange_best", parallel.exchange_best)
        if parallel.exchange_best and parallel.policy != "local":
            raise InputError("exchange_best goes with policy 'local'; with a shared policy all calls know the best one")
