"""How the trees of several ranks share what they learn: frozen dataclasses of settings.

``parallel`` says how the threads of a rank work together, ``share`` how the ranks do. The algorithms are in
``cpp/cluster``; :class:`playout.Player` takes one of these.
"""

import math
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

from playout import _core
from playout.errors import InputError, check_integer, check_number, short
from playout.search import set_field

MAX_DEPTH = 1000
MAX_BROADCAST = 10.0  # seconds
MAX_RANKS_HERE = 256  # in one process
NEVER = 2**31  # as many simulations


@dataclass(frozen=True)
class Averaged:
    """Every rank searches a tree of its own; the statistics of the first moves are added up now and then.

    Algorithm 6 of "The Parallelization of Monte-Carlo Planning" (Gelly and others, 2008), also called slow-tree
    parallelization. The decision is the most simulated move over all ranks. Ranks may be of unequal speed.

    Parameters
    ----------
    interval
        Seconds between two exchanges (T0), 0.1 if neither this nor ``simulations`` is given; 0: as often as the network
        allows; ``math.inf``: at the end of the thinking only, which is voting.
    depth
        How many moves from the root nodes are shared (K); 0: the root alone.
    min_visits
        Beyond the root, how many simulations a node must have to be shared (N_min): a number of them, or below 1 a
        share of the root's.
    simulations
        Instead of seconds: how many simulations a rank makes between two exchanges. Each then waits for the others, and
        with one thread a rank and a budget of playouts the result is always the same.
    """

    name: ClassVar[str] = "averaged"
    votes: ClassVar[bool] = True  # whether each rank has an opinion of its own
    interval: float | None = None
    depth: int = 0
    min_visits: int | float = 0.05
    simulations: int | None = None

    def __post_init__(self) -> None:
        _check_interval(self, 0.1)
        set_field(self, "depth", check_integer("depth", self.depth, 0, MAX_DEPTH))
        if isinstance(self.min_visits, float) and self.min_visits < 1:
            set_field(self, "min_visits", check_number("min_visits", self.min_visits, 0.0, 1.0))
        else:
            whole = isinstance(self.min_visits, float) and self.min_visits.is_integer()
            count = int(self.min_visits) if whole else self.min_visits
            set_field(self, "min_visits", check_integer("min_visits", count, 0, 2**31 - 1))

    @property
    def in_step(self) -> bool:
        """Whether a rank cannot go on without the others."""
        return self.simulations is not None

    def unseen(self, ranks: int, per_second: float) -> float:
        """Return how many simulations of a move the others may have made that a rank has not heard of."""
        return _unseen(self, ranks, per_second)

    def engine_settings(self) -> _core.SharingSettings:
        out = _engine_settings(self)
        out.depth = self.depth
        if self.min_visits < 1:
            out.min_share = float(self.min_visits)
        else:
            out.min_visits = int(self.min_visits)
        return out


@dataclass(frozen=True)
class Broadcast:
    """Every rank makes the simulations of all ranks its own: all trees are the same, but for what is on its way.

    Algorithm 5 of "The Parallelization of Monte-Carlo Planning" (Gelly and others, 2008). However many ranks there are,
    they are at most 1 / alpha times as fast as one, alpha being the share of a simulation that its update takes: for a
    few ranks with heavy playouts.

    Parameters
    ----------
    interval
        Seconds between two times that simulations are sent (T), at most 10; 0.02 if neither this nor ``simulations`` is
        given; 0: as often as the network allows.
    simulations
        Instead of seconds: how many simulations a rank makes between two exchanges, as of :class:`Averaged`.
    """

    name: ClassVar[str] = "broadcast"
    votes: ClassVar[bool] = True
    interval: float | None = None
    simulations: int | None = None

    def __post_init__(self) -> None:
        _check_interval(self, 0.02)
        if self.interval is not None and self.interval > MAX_BROADCAST:
            raise InputError(
                f"interval is {self.interval:g}; simulations pile up: at most {MAX_BROADCAST:g} s are allowed"
            )

    @property
    def in_step(self) -> bool:
        return self.simulations is not None

    def unseen(self, ranks: int, per_second: float) -> float:
        return _unseen(self, ranks, per_second)

    def engine_settings(self) -> _core.SharingSettings:
        out = _engine_settings(self)
        out.broadcast = True
        return out


@dataclass(frozen=True)
class Treesplit:
    """One tree spread over all ranks: each keeps the states that belong to it, and simulations go where those are.

    UCT-Treesplit, "Parallel Monte-Carlo Tree Search for HPC Systems" (Graf and others, 2011). N ranks have the memory
    of N, and there is one tree only: none of the others' simulations is done again. States that many simulations pass
    are on all ranks. It needs a fast network, and a core of each rank for the messages.

    Parameters
    ----------
    duplicate_after
        Simulations that must have passed a state before all ranks have it (N_dup). 0: at once, which with a large
        ``sync_every`` is like averaging whole trees; None: never but the first, which is one tree and many messages.
    sync_every
        How often a move of such a state is visited on a rank before the others are told (N_sync); None: not before the
        end of the thinking.
    overload
        Simulations under way for each thread (O), 1 to 1000: more than one, so that there is something to do while
        others travel, and few, since each knows nothing of the others' results.
    """

    name: ClassVar[str] = "treesplit"
    votes: ClassVar[bool] = False
    in_step: ClassVar[bool] = True
    duplicate_after: int | None = 16
    sync_every: int | None = 100
    overload: float = 3.0

    def __post_init__(self) -> None:
        if self.duplicate_after is not None:
            set_field(self, "duplicate_after", check_integer("duplicate_after", self.duplicate_after, 0, NEVER - 1))
        if self.sync_every is not None:
            set_field(self, "sync_every", check_integer("sync_every", self.sync_every, 1, NEVER - 1))
        set_field(self, "overload", check_number("overload", self.overload, 1.0, 1000.0))

    def unseen(self, ranks: int, per_second: float) -> float:
        return math.inf if self.sync_every is None else ranks * (self.sync_every + self.overload)

    def engine_settings(self) -> _core.SplitSettings:
        out = _core.SplitSettings()
        out.duplicate_after = NEVER if self.duplicate_after is None else self.duplicate_after
        out.sync_every = NEVER if self.sync_every is None else self.sync_every
        out.overload = self.overload
        return out


@dataclass(frozen=True)
class Sharing:
    """What sharing has cost a rank so far: rank 0, of :attr:`playout.Player.sharing`.

    Attributes
    ----------
    exchanges
        How often it has told the others what it had learned; of a split tree, about some state.
    nodes
        States that are shared; of broadcast, all.
    told, heard
        Statistics of moves that it has told and heard; of broadcast, simulations; of a split tree, simulations that
        have gone to other ranks and come from there.
    lost
        Of these, what could not be used: of a position left behind, or of states that it does not have.
    seconds
        Processor time that the searching threads have spent on it; of a split tree, on states that all ranks have.
    load
        Of a split tree, the share of the time that its threads had something to do; otherwise 1.
    messages_sent, messages_received, bytes_sent, bytes_received, batches_sent, batches_received
        What went over the network; what piles up while one batch is on its way goes with the next.
    idle_seconds
        How long whoever moves the batches had nothing to do.
    """

    exchanges: int
    nodes: int
    told: int
    heard: int
    lost: int
    seconds: float
    load: float
    messages_sent: int
    messages_received: int
    bytes_sent: int
    bytes_received: int
    batches_sent: int
    batches_received: int
    idle_seconds: float

    @classmethod
    def of(cls, report: _core.SharingReport, traffic: _core.Traffic) -> "Sharing":
        """Put together what the tree and its port have counted."""
        load = 1 - report.idle / report.worked if report.worked > 0 else 1.0
        names = [field.name for field in fields(cls) if field.name != "load"]
        return cls(load=load, **{name: getattr(report if hasattr(report, name) else traffic, name) for name in names})


Share = Averaged | Broadcast | Treesplit
SHARES: dict[str, type[Averaged] | type[Broadcast] | type[Treesplit]] = {
    "averaged": Averaged,
    "broadcast": Broadcast,
    "treesplit": Treesplit,
}


def check_share(share: Any, ranks: Any) -> None:
    """Raise unless this is a way to share, for so many ranks in this process (None: those of an MPI job)."""
    if not isinstance(share, Share):
        raise InputError(f"share is {short(share)}; allowed are Averaged(), Broadcast() and Treesplit()")
    if ranks is None:
        return
    if ranks == 1:
        raise InputError("ranks is 1; there must be two at least to share anything")
    check_integer("ranks", ranks, 2, MAX_RANKS_HERE)


def to_json(share: Any) -> dict[str, Any]:
    """Return the name and the settings of a way to share."""
    data = {"name": share.name, **asdict(share)}
    if data.get("interval") == math.inf:
        data["interval"] = "inf"  # JSON has no number for it
    return data


def from_json(data: Any) -> Share:
    """Rebuild a way to share from what :func:`to_json` gave."""
    if not isinstance(data, dict) or data.get("name") not in SHARES:
        raise InputError("'share' is no way to share with its settings")
    settings = {str(key): value for key, value in data.items() if key != "name"}
    if settings.get("interval") == "inf":
        settings["interval"] = math.inf
    try:
        return SHARES[data["name"]](**settings)
    except TypeError:
        raise InputError("'share' has settings that there are not") from None


def _unseen(share: Any, ranks: int, per_second: float) -> float:
    return float(ranks * (share.simulations or 0) + per_second * (share.interval or 0.0))


def _check_interval(share: Any, usual: float) -> None:
    if share.simulations is not None:
        if share.interval is not None:
            raise InputError("give interval or simulations, not both")
        set_field(share, "simulations", check_integer("simulations", share.simulations, 1, 2**31 - 1))
    elif share.interval is None:
        set_field(share, "interval", usual)
    elif share.interval != math.inf:
        set_field(share, "interval", check_number("interval", share.interval, 0.0))


def _engine_settings(share: Any) -> _core.SharingSettings:
    out = _core.SharingSettings()
    out.interval = math.inf if share.interval is None else share.interval
    out.simulations = share.simulations or 0
    return out
