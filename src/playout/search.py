"""The searches: frozen dataclasses of settings.

Each says what it does and where it comes from; the algorithms themselves are in ``cpp/search``.
"""

from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Any, ClassVar, Protocol

from playout import _core
from playout.errors import InputError, check_bool, check_choice, check_integer, check_number
from playout.problems import BuiltIn
from playout.uct import UCT

MAX_LEVEL = 20
MAX_COUNT = 2**31 - 1
RATES = (1e-6, 1e6)  # of alpha and the temperature: wider than anyone needs, and no weight ever leaves the doubles


@dataclass(frozen=True)
class Wide:
    """A level whose calls are made several at once; see :class:`playout.parallel.Node`."""

    level: int
    width: int
    policy: str
    exchange_best: bool = False


@dataclass(frozen=True)
class Together:
    """A tree that all threads search; see :class:`playout.parallel.Tree`."""

    virtual_loss: int
    in_flight: bool


class Search(Protocol):
    """What every search offers: its settings, and a search under way of a problem."""

    def begin(self, problem: BuiltIn, seed: int, job: int = 0, wide: Wide | Together | None = None) -> _core.Search:
        """Begin; jobs of the same seed draw different random numbers."""


@dataclass(frozen=True)
class NRPA:
    """Nested Rollout Policy Adaptation (Rosin, IJCAI 2011).

    A call of level l > 0 makes ``iterations`` calls of level l - 1, each with its current policy, and adapts the policy
    to the best sequence so far after each. A call of level 0 is a playout that draws a move of weight w with
    probability proportional to exp(w). When the top level ends and budget is left it starts afresh; the best of all is
    kept.

    Parameters
    ----------
    level
        How many levels are nested, 0 to 20. A whole search of level L plays ``iterations ** L`` playouts.
    iterations
        Calls of the level below by each call of a level (N in the papers).
    alpha
        The learning rate of Adapt, 1e-6 to 1e6.
    playouts_per_call
        Stabilised NRPA: a call of level 1 is the best of this many playouts of its caller's policy, not adapted
        (Cazenave, Sevestre and Toulemont, "Stabilized Nested Rollout Policy Adaptation", 2021). None: off.
    repetitions
        Limited repetitions: a level ends once its best sequence has been found again more than this many times
        (Cazenave, "Generalized Nested Rollout Policy Adaptation with Limited Repetitions", 2024). None: off.
    improve
        Whether the problem's own local search improves the best sequence of a level before the policy is adapted to it.
        A problem that has none is an error.
    """

    name: ClassVar[str] = "NRPA"
    level: int = 4
    iterations: int = 100
    alpha: float = 1.0
    playouts_per_call: int | None = None
    repetitions: int | None = None
    improve: bool = False

    def __post_init__(self) -> None:
        _check_nested(self)

    def begin(self, problem: BuiltIn, seed: int, job: int = 0, wide: Wide | Together | None = None) -> _core.Search:
        return _begin_nested(self, problem, seed, job, wide, 1.0, _core.BiasUse.none)


@dataclass(frozen=True)
class GNRPA:
    """Generalized Nested Rollout Policy Adaptation (Cazenave, 2020): NRPA with a temperature and a bias.

    A playout draws a move of weight w and bias b with probability proportional to exp(w / t + b); Adapt changes weights
    by (alpha / t) (d - p), d being 1 for the move of the best sequence and 0 for the others. With temperature 1 and no
    bias this is :class:`NRPA`.

    Parameters
    ----------
    level
        How many levels are nested, 0 to 20. A whole search of level L plays ``iterations ** L`` playouts.
    iterations
        Calls of the level below by each call of a level (N in the papers).
    alpha
        The learning rate of Adapt, 1e-6 to 1e6.
    temperature
        t above, 1e-6 to 1e6; None takes the problem's own (1.0 for SameGame, 1.4 for TSPTW).
    bias
        Whether the problem's bias is used.
    initial
        Where weights start: ``"zero"``, or ``"bias"``: at t times the bias of the move, which then is left out of the
        exponent. Equivalent by section 4.2 of the paper where the bias of a code never changes.
    playouts_per_call, repetitions, improve
        As in :class:`NRPA`.
    """

    name: ClassVar[str] = "GNRPA"
    level: int = 4
    iterations: int = 100
    alpha: float = 1.0
    temperature: float | None = None
    bias: bool = True
    initial: str = "zero"
    playouts_per_call: int | None = None
    repetitions: int | None = None
    improve: bool = False

    def __post_init__(self) -> None:
        _check_nested(self)
        if self.temperature is not None:
            set_field(self, "temperature", check_number("temperature", self.temperature, *RATES))
        check_bool("bias", self.bias)
        check_choice("initial", self.initial, ("zero", "bias"))
        if self.initial == "bias" and not self.bias:
            raise InputError("initial is 'bias' while bias is False; weights cannot start at a bias that is not used")

    def begin(self, problem: BuiltIn, seed: int, job: int = 0, wide: Wide | Together | None = None) -> _core.Search:
        temperature = problem.temperature if self.temperature is None else self.temperature
        use = _core.BiasUse.factor if self.bias else _core.BiasUse.none
        if self.initial == "bias":
            use = _core.BiasUse.initial
        return _begin_nested(self, problem, seed, job, wide, temperature, use)


@dataclass(frozen=True)
class NMCS:
    """Nested Monte Carlo Search (Cazenave, IJCAI 2009).

    A call of level l > 0 plays a game in which every legal move is tried by a call of level l - 1 before the next move
    of the best sequence seen is played. A call of level 0 is a playout of uniformly random moves. When the top level
    ends and budget is left it starts again; the best of all is kept.

    Parameters
    ----------
    level
        How many levels are nested, 0 to 20.
    """

    name: ClassVar[str] = "NMCS"
    level: int = 3

    def __post_init__(self) -> None:
        set_field(self, "level", check_integer("level", self.level, 0, MAX_LEVEL))

    def begin(self, problem: BuiltIn, seed: int, job: int = 0, wide: Wide | Together | None = None) -> _core.Search:
        if wide is not None:
            raise InputError(
                "nmcs has no policy that several calls could share; of the strategies only root goes with it"
            )
        return _core.nmcs(problem.engine(), self.level, seed, job)


SEARCHES: dict[str, type[NRPA] | type[GNRPA] | type[NMCS] | type[UCT]] = {
    "gnrpa": GNRPA,
    "nrpa": NRPA,
    "nmcs": NMCS,
    "uct": UCT,
}


def make(name: str, settings: dict[str, Any]) -> Search:
    """Return the search of that name with these settings; a setting it does not have is an error."""
    check_choice("search", name, SEARCHES)
    check_known(name, settings, SEARCHES[name])
    return SEARCHES[name](**settings)


def check_known(name: str, settings: dict[str, Any], kind: type[Any]) -> None:
    """Raise if a dataclass of that name does not have a setting, or a setting it needs is not there."""
    known = {field.name: field.default for field in fields(kind)}
    for setting in settings:
        if setting not in known:
            raise InputError(f"{name} has no setting {setting!r}; it has {', '.join(known)}")
    lacking = [setting for setting, default in known.items() if default is MISSING and setting not in settings]
    if lacking:
        raise InputError(f"{name} needs {' and '.join(lacking)}")


def to_json(search: Any) -> dict[str, Any]:
    """Return the name and the settings of a search, or of a part of one that has a name."""
    settings = ((field.name, getattr(search, field.name)) for field in fields(search))
    return {"name": search.name, **{key: to_json(value) if is_dataclass(value) else value for key, value in settings}}


def short_name(search: Any) -> str:
    """Return a search's name and the setting that tells most: its level, or its bandit."""
    return (
        f"{search.name} level {search.level}"
        if hasattr(search, "level")
        else f"{search.name} with {search.bandit.name}"
    )


def describe(search: Any, problem: BuiltIn) -> str:
    """Return a search's name and settings as people read them: the temperature is the one that is used."""
    settings = to_json(search)
    name = settings.pop("name")
    if "temperature" in settings and settings["temperature"] is None:
        settings["temperature"] = problem.temperature
    return f"{name}, " + ", ".join(_setting(key, value) for key, value in settings.items() if value is not None)


def _setting(key: str, value: Any) -> str:
    if not isinstance(value, dict):
        return f"{key} {value}"
    inner = ", ".join(_setting(*item) for item in value.items() if item[0] != "name" and item[1] is not None)
    return f"{key} {value['name']} ({inner})"


def from_json(data: Any) -> Search:
    """Rebuild a search from what :func:`to_json` gave; the data may come from anywhere."""
    if not isinstance(data, dict) or not isinstance(data.get("name"), str):
        raise InputError("'search' is not a search with its settings")
    return make(data["name"].lower(), {str(key): value for key, value in data.items() if key != "name"})


def _check_nested(search: NRPA | GNRPA) -> None:
    set_field(search, "level", check_integer("level", search.level, 0, MAX_LEVEL))
    set_field(search, "iterations", check_integer("iterations", search.iterations, 1, MAX_COUNT))
    set_field(search, "alpha", check_number("alpha", search.alpha, *RATES))
    if search.playouts_per_call is not None:
        playouts = check_integer("playouts_per_call", search.playouts_per_call, 1, MAX_COUNT)
        set_field(search, "playouts_per_call", playouts)
    if search.repetitions is not None:
        set_field(search, "repetitions", check_integer("repetitions", search.repetitions, 0, MAX_COUNT))
    check_bool("improve", search.improve)


def _check_wide(search: NRPA | GNRPA, wide: Wide) -> None:
    if search.level == 0:
        raise InputError("a search of level 0 has no level that could make several calls at once; use root")
    check_integer("the parallel level", wide.level, 1, search.level)
    stabilised = wide.level == 1 and search.playouts_per_call is not None
    if stabilised and wide.policy == "local":
        raise InputError("policy is 'local' at level 1, which has no policy with playouts_per_call; use shared")
    if not stabilised:
        check_integer("width", wide.width, 1, search.iterations)


def set_field(settings: object, name: str, value: object) -> None:
    """Set a field of a frozen dataclass while it is made."""
    object.__setattr__(settings, name, value)


def _begin_nested(
    search: NRPA | GNRPA,
    problem: BuiltIn,
    seed: int,
    job: int,
    wide: Wide | Together | None,
    temperature: float,
    use: _core.BiasUse,
) -> _core.Search:
    if isinstance(wide, Together):
        raise InputError(f"{search.name.lower()} has no tree that several threads could search; tree goes with uct")
    if wide is not None:
        _check_wide(search, wide)
    engine = problem.engine()
    if search.improve and not engine.improves:
        raise InputError(f"improve is on, but {problem.describe()} has no local search")
    return _core.nrpa(
        engine,
        level=search.level,
        iterations=search.iterations,
        alpha=search.alpha,
        temperature=temperature,
        bias_use=use,
        playouts_per_call=search.playouts_per_call or 0,
        repetitions=-1 if search.repetitions is None else search.repetitions,
        seed=seed,
        job=job,
        wide_level=0 if wide is None else wide.level,
        width=1 if wide is None else wide.width,
        local=wide is not None and wide.policy == "local",
        exchange_best=wide is not None and wide.exchange_best,
        improve=search.improve,
    )
