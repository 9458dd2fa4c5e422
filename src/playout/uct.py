"""UCT and its bandits: frozen dataclasses of settings. The algorithm itself is ``cpp/search/uct.h``."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

from playout import _core
from playout.errors import InputError, check_bool, check_choice, check_integer, check_number, short

MAX_MEMORY = 16_384  # MB
MAX_EXPLORATION = 1000.0
DECISIONS = {
    "visits": _core.Decision.visits,
    "value": _core.Decision.value,
    "lower_bound": _core.Decision.lower_bound,
}


def _check_exploration(bandit: Any) -> None:
    _set(bandit, "exploration", check_number("exploration", bandit.exploration, 0.0, MAX_EXPLORATION))


def _set(settings: object, name: str, value: object) -> None:
    object.__setattr__(settings, name, value)


@dataclass(frozen=True)
class UCB1:
    """The bandit of UCT: mean + c sqrt(2 log N / n) for n of N simulations.

    Parameters
    ----------
    exploration
        c, 0 to 1000; 1 is UCB1 as it was published. UCT-Treesplit's formula with its constant C is this with 2 C.
    """

    name: ClassVar[str] = "UCB1"
    kind: ClassVar[_core.Bandit] = _core.Bandit.ucb1
    exploration: float = 1.0

    def __post_init__(self) -> None:
        _check_exploration(self)


@dataclass(frozen=True)
class UCBTuned1:
    """UCB-Tuned.1: mean + c sqrt(V log N / n), V = max(0.001, mean (1 - mean)): a sure thing is explored less.

    Parameters
    ----------
    exploration
        c, 0 to 1000; 1 as published.
    """

    name: ClassVar[str] = "UCBTuned1"
    kind: ClassVar[_core.Bandit] = _core.Bandit.tuned1
    exploration: float = 1.0

    def __post_init__(self) -> None:
        _check_exploration(self)


@dataclass(frozen=True)
class UCBTuned2:
    """UCB-Tuned.2: mean + c (sqrt(V log N / n) + log N / n), V as in :class:`UCBTuned1`.

    Parameters
    ----------
    exploration
        c, 0 to 1000; 1 as published.
    """

    name: ClassVar[str] = "UCBTuned2"
    kind: ClassVar[_core.Bandit] = _core.Bandit.tuned2
    exploration: float = 1.0

    def __post_init__(self) -> None:
        _check_exploration(self)


@dataclass(frozen=True)
class RAVE:
    """AMAF-guided exploration: (1 - b) mean + b amaf, b = a / (a + n + n a / k) for a simulations behind the AMAF mean.

    AMAF ("all moves as first") counts a simulation for a move if its player made that move at this point or later, in
    the tree or in the playout. What is learned quickly and roughly that way gives way to the move's own mean.

    Parameters
    ----------
    k
        How long AMAF counts: at n = k / 3 simulations and many of AMAF, b is three quarters.
    prior
        Simulations that every move starts with, half of them won, more or less as the game's own priors say.
    exploration
        c of an exploration term as UCB1's, 0 to 1000. Next to none is best: the prior and AMAF explore.
    """

    name: ClassVar[str] = "RAVE"
    kind: ClassVar[_core.Bandit] = _core.Bandit.rave
    k: float = 3000.0
    prior: float = 10.0
    exploration: float = 0.0

    def __post_init__(self) -> None:
        _check_exploration(self)
        _set(self, "k", check_number("k", self.k, 1e-3, 1e9))
        _set(self, "prior", check_number("prior", self.prior, 0.0, 1e6))


@dataclass(frozen=True)
class Widening:
    """Progressive widening: after n simulations of a state only its K(n) most promising moves are considered.

    K(n) is the number of k with t(k) <= n, where t(1) = 0 and t(k + 1) = t(k) + first * growth ** (k - 1). The most
    promising moves are those with the best priors (Go with heavy playouts has them) or the greatest bias. Where the
    problem has neither, they are those with the best AMAF means so far, which ``RAVE`` counts. Of equals one is random.

    Parameters
    ----------
    first
        Simulations until the second move is considered.
    growth
        By how much longer each further move takes, 1 to 1000.
    """

    name: ClassVar[str] = "Widening"
    first: float = 40.0
    growth: float = 1.8

    def __post_init__(self) -> None:
        _set(self, "first", check_number("first", self.first, 1.0, 1e9))
        _set(self, "growth", check_number("growth", self.growth, 1.0, 1000.0))


Bandit = UCB1 | UCBTuned1 | UCBTuned2 | RAVE
BANDITS: dict[str, type[UCB1] | type[UCBTuned1] | type[UCBTuned2] | type[RAVE]] = {
    "ucb1": UCB1,
    "ucbtuned1": UCBTuned1,
    "ucbtuned2": UCBTuned2,
    "rave": RAVE,
}


@dataclass(frozen=True)
class UCT:
    """Tree search with a bandit at every state (Kocsis and Szepesvari, ECML 2006), for games and for puzzles.

    Of a puzzle it reports the best sequence seen; scores are scaled to 0 to 1 by the least and the greatest so far when
    a move is selected. Of a game, :class:`playout.Player` asks it for moves.

    Parameters
    ----------
    bandit
        ``UCB1()``, ``UCBTuned1()``, ``UCBTuned2()`` or ``RAVE()``.
    first_play
        First-play urgency: what a move that was never tried is worth, against means of 0 to 1. None: more than any, so
        that all are tried first. (``RAVE`` has its prior instead.)
    widening
        A :class:`Widening`, or None: all moves are considered from the start.
    expand_after
        Simulations of a move before the state after it is added to the tree.
    graph
        Whether states that are reached in several ways are one node. For games only. A superko rule is minded on the
        way; what a solver has proven of a state by one way is taken for proven by another.
    solver
        Whether proven wins, draws and losses are passed on. A solved game is answered at once.
    memory
        How large the tree may grow, in MB, 1 to 16,384 (all trees together, where there are several). Once it is full
        nothing is added and the search goes on.
    decision
        Of a game, the move to play: the most simulated (``"visits"``), the one with the best mean (``"value"``), or
        with the best lower bound of it (``"lower_bound"``). What is proven comes first.
    early_stop
        Whether thinking ends once the most simulated move cannot be overtaken in the time that is left. (A proof could
        still have changed the decision then.)
    """

    name: ClassVar[str] = "UCT"
    bandit: Bandit = UCB1()
    first_play: float | None = None
    widening: Widening | None = None
    expand_after: int = 1
    graph: bool = False
    solver: bool = True
    memory: int = 1024
    decision: str = "visits"
    early_stop: bool = True

    def __post_init__(self) -> None:
        _set(self, "bandit", _bandit(self.bandit))
        if self.first_play is not None:
            _set(self, "first_play", check_number("first_play", self.first_play, -1e6, 1e6))
        if isinstance(self.widening, Mapping):  # as a result has it
            _set(self, "widening", _part("widening", self.widening, Widening))
        if self.widening is not None and not isinstance(self.widening, Widening):
            raise InputError(f"widening is {short(self.widening)}; allowed are None and Widening()")
        _set(self, "expand_after", check_integer("expand_after", self.expand_after, 1, 1_000_000))
        _set(self, "memory", check_integer("memory", self.memory, 1, MAX_MEMORY))
        for name in ("graph", "solver", "early_stop"):
            check_bool(name, getattr(self, name))
        check_choice("decision", self.decision, DECISIONS)

    def begin(self, problem: Any, seed: int, job: int = 0, wide: Any = None) -> _core.Search:
        """Begin the search of a puzzle."""
        if self.graph:
            raise InputError("graph is True; puzzles are searched as trees: their scores depend on the way")
        return _core.uct(problem.engine(), self.engine_settings(problem, wide), seed, job, width_of(wide))

    def shared_by(self, jobs: int) -> "UCT":
        """Return the search of one of so many jobs: they share the memory."""
        if self.memory < jobs:
            raise InputError(f"memory is {self.memory} MB for {jobs:,} trees; each needs 1 at least")
        return replace(self, memory=self.memory // jobs)

    def engine_settings(self, problem: Any, wide: Any = None) -> _core.UctSettings:
        """Return the settings as the engine has them; ``wide`` is how the threads of a tree work together."""
        if self.widening is not None and not isinstance(self.bandit, RAVE) and not problem.engine().has_preferences:
            raise InputError(
                f"widening opens the most promising moves first, but {problem.describe()} has no priors that say which "
                f"these are, and {self.bandit.name} counts no AMAF values; leave widening out, or take RAVE()"
            )
        out = _core.UctSettings()
        out.bandit = self.bandit.kind
        out.exploration = self.bandit.exploration
        if isinstance(self.bandit, RAVE):
            out.rave_k, out.even_prior = self.bandit.k, self.bandit.prior
        out.first_play = math.inf if self.first_play is None else self.first_play
        if self.widening is not None:
            out.widening = True
            out.widening_first, out.widening_growth = self.widening.first, self.widening.growth
        out.expand_after, out.graph, out.solver = self.expand_after, self.graph, self.solver
        out.early_stop = self.early_stop and self.decision == "visits"
        out.memory = self.memory << 20
        if hasattr(wide, "virtual_loss"):
            out.virtual_loss, out.in_flight = wide.virtual_loss, wide.in_flight
        return out


def width_of(wide: Any) -> int:
    """Return how many playouts begin where a simulation leaves the tree; 0 for the one that is usual."""
    if wide is None or hasattr(wide, "virtual_loss"):
        return 0
    if wide.level != 1 or wide.policy != "shared":
        raise InputError("uct has neither levels nor policies; of the strategies root, leaf and tree go with it")
    return int(wide.width)


def _bandit(given: Any) -> Bandit:
    """Return a bandit; it may come as its name, from a command line, or with its settings, from a file."""
    if isinstance(given, Bandit):
        return given
    if isinstance(given, str):
        return BANDITS[check_choice("bandit", given, BANDITS)]()
    if isinstance(given, Mapping) and isinstance(given.get("name"), str):
        return _part("bandit", given, BANDITS[check_choice("bandit", given["name"].lower(), BANDITS)])  # type: ignore[no-any-return]
    raise InputError(f"bandit is {short(given)}; allowed are UCB1(), UCBTuned1(), UCBTuned2() and RAVE()")


def _part(what: str, given: Mapping[str, Any], kind: Any) -> Any:
    known = [field.name for field in fields(kind)]
    for key in given:
        if key != "name" and key not in known:
            raise InputError(f"{what} has no setting {key!r}; it has {', '.join(known)}")
    return kind(**{key: value for key, value in given.items() if key != "name"})
