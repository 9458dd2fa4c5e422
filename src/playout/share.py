"""How the trees of several ranks share what they learn: frozen dataclasses of settings.

``parallel`` says how the threads of a rank work together, ``share`` how the ranks do. The algorithms are in
``cpp/cluster``; :class:`playout.Player` takes one of these.
"""

import math
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

from playout import _core
from playout.errors import InputError, check_integer, check_number, check_positive, short
from playout.search import set_field

MAX_DEPTH = 1000
MAX_BROADCAST = 10.0  # seconds
MAX_RANKS_HERE = 256  # in one process


@dataclass(frozen=True)
class Averaged:
    """Every rank searches a tree of its own; the statistics of the first moves are added up now and then.

    Algorithm 6 of "The Parallelization of Monte-Carlo Planning" (Gelly and others, 2008), also called slow-tree
    parallelization. The decision is the most simulated move over all ranks. Ranks may be of unequal speed.

    Parameters
    ----------
    interval
        Seconds between two exchanges (T0), 0.1 if neither this nor ``simulations`` is given; ``math.inf``: at the end
        of the thinking only, which is voting.
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
        given.
    simulations
        Instead of seconds: how many simulations a rank makes between two exchanges, as of :class:`Averaged`.
    """

    name: ClassVar[str] = "broadcast"
    interval: float | None = None
    simulations: int | None = None

    def __post_init__(self) -> None:
        _check_interval(self, 0.02)
        if self.interval is not None and self.interval > MAX_BROADCAST:
            raise InputError(
                f"interval is {self.interval:g}; simulations pile up: at most {MAX_BROADCAST:g} s are allowed"
            )

    def engine_settings(self) -> _core.SharingSettings:
        out = _engine_settings(self)
        out.broadcast = True
        return out


@dataclass(frozen=True)
class Sharing:
    """What sharing has cost a rank so far: rank 0, of :attr:`playout.Player.sharing`.

    Attributes
    ----------
    exchanges
        How often it has told the others what it had learned.
    nodes
        States that are shared; of broadcast, all.
    told, heard
        Statistics of moves that it has told and heard; of broadcast, simulations.
    lost
        Of these, what could not be used: of a position left behind, or of states that it does not have.
    seconds
        Processor time that the searching thread has spent on it.
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
        names = [field.name for field in fields(cls)]
        return cls(**{name: getattr(report if hasattr(report, name) else traffic, name) for name in names})


Share = Averaged | Broadcast
SHARES: dict[str, type[Averaged] | type[Broadcast]] = {"averaged": Averaged, "broadcast": Broadcast}


def check_share(share: Any, ranks: Any) -> None:
    """Raise unless this is a way to share, for so many ranks in this process (None: those of an MPI job)."""
    if not isinstance(share, Share):
        raise InputError(f"share is {short(share)}; allowed are Averaged() and Broadcast()")
    if ranks is None:
        return
    if ranks == 1:
        raise InputError("ranks is 1; there must be two at least to share anything")
    check_integer("ranks", ranks, 2, MAX_RANKS_HERE)


def to_json(share: Any) -> dict[str, Any]:
    """Return the name and the settings of a way to share."""
    data = {"name": share.name, **asdict(share)}
    if share.interval == math.inf:
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


def _check_interval(share: Any, usual: float) -> None:
    if share.simulations is not None:
        if share.interval is not None:
            raise InputError("give interval or simulations, not both")
        set_field(share, "simulations", check_integer("simulations", share.simulations, 1, 2**31 - 1))
    elif share.interval is None:
        set_field(share, "interval", usual)
    elif share.interval != math.inf:
        set_field(share, "interval", check_positive("interval", share.interval))


def _engine_settings(share: Any) -> _core.SharingSettings:
    out = _core.SharingSettings()
    out.interval = math.inf if share.interval is None else share.interval
    out.simulations = share.simulations or 0
    return out
