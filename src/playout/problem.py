"""Problem: what a user subclasses to have a problem of their own searched."""

import hashlib
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from playout import _core
from playout.errors import InputError, check_integer, check_positive, short
from playout.own import Own

if TYPE_CHECKING:
    from numpy.typing import NDArray

REQUIRED = ("init", "moves", "play", "score")
OPTIONAL = ("code", "bias", "player")
MAX_MOVES, MAX_LENGTH = 1 << 20, 1 << 30
MAX_ENGINES = 64

Method = TypeVar("Method", bound=Callable[..., Any])


def python(method: Method) -> Method:
    """Mark the ``score`` of a problem as one that only Python can compute: a simulation, a model, another program.

    The other methods are compiled; the score of a finished playout is computed by the thread that called ``solve``,
    one at a time, while the other threads play on or wait.
    """
    method.in_python = True  # type: ignore[attr-defined]
    return method


class Problem(Own):
    """A problem of your own: subclass it, declare the state, and write four methods.

    ::

        class Knapsack(po.Problem):
            State = dict(next="i8", room="f8", value="f8")

            def __init__(self, weights, values, capacity):
                self.weights, self.values, self.capacity = weights, values, float(capacity)
                self.max_moves = 2

            def init(self, s):
                s.next, s.room, s.value = 0, self.capacity, 0.0

            def moves(self, s, out):
                if s.next == len(self.weights):
                    return 0
                out[0], out[1] = 0, 1
                return 2 if self.weights[s.next] <= s.room else 1

            def play(self, s, move):
                if move == 1:
                    s.room -= self.weights[s.next]
                    s.value += self.values[s.next]
                s.next += 1

            def score(self, s):
                return s.value

            def code(self, s, move):
                return 2 * s.next + move

    ``po.check(problem)`` says what is wrong with it, ``po.solve(problem, seconds=10)`` searches it.

    With Numba (the ``numba`` extra) the methods are compiled to C functions, once: they are kept on disk. Without it,
    or with ``compiled = False``, they run in plain Python: slowly, one call at a time, with tracebacks.

    Attributes
    ----------
    State : dict
        The state: the type of each field, such as ``"i8"`` or ``"f8"``; an array has a shape too, ``("i8", 32)`` or
        ``("f8", (3, 4))``. Set it in ``__init__`` if a shape depends on the problem.
    max_moves : int
        The longest list of moves there can be.
    max_length : int
        The longest playout there can be, in moves; one that is longer is taken for one that never ends.
    temperature : float
        That ``GNRPA`` uses unless told otherwise.
    compiled : bool, optional
        True: Numba is needed. False: plain Python. None: compiled if Numba is installed.

    Other attributes that are numbers, arrays or lists of numbers are constants that the methods may use; compiled
    methods see lists as arrays, and nothing else of ``self``. They cannot call each other: what several need, write as
    a function with ``numba.njit``.

    Methods to write
    ----------------
    init(s)
        Fill the state that a playout starts from. All is 0 before; if that is right, leave it out.
    moves(s, out)
        Fill ``out`` with the legal moves, whole numbers, each once; return how many. 0 ends the playout.
    play(s, move)
        Play one of them.
    score(s)
        What a finished playout is worth; larger is better. Marked with ``@po.python`` it need not be compiled. Of a
        finished game, as player 0 sees it: above 0 player 0 has won, 0 is a draw, below 0 player 1 has won.
    code(s, move), optional
        A whole number that says what the move *is*: moves with equal codes share what the search learns. The move
        itself by default, which is right only if the same number means the same thing everywhere.
    bias(s, move), optional
        How much ``GNRPA`` prefers the move before it has learned anything: its odds are multiplied by exp(bias). In a
        game, an opinion about the move before any search, for the player who makes it: 0 is even, above 0 is better.
        ``UCT`` takes 1 / (1 + exp(-bias)) for the chance to win with it.
    player(s), optional
        Whose turn it is, 0 or 1: the problem is then a game for two players, played with ``playout.Player`` and not
        solved.
    improve(moves), optional
        A local search: takes a whole sequence of moves, a list, and returns a better one, or the same. It runs in plain
        Python, on the best sequence of each level before that is learned, if the search has ``improve=True``.
    draw(moves), optional
        A text, or anything rich can print, that shows a sequence of moves.
    """

    State: ClassVar[Mapping[str, Any]]
    max_moves: int
    max_length: int = 10_000
    temperature: float = 1.0
    compiled: bool | None = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in RESERVED:
            if name in vars(cls):
                raise InputError(f"{cls.__name__}.{name}: Playout needs that name itself; choose another")
        for name in (*REQUIRED, *OPTIONAL):
            if name in vars(cls) and not callable(vars(cls)[name]):
                raise InputError(f"{cls.__name__}.{name} is {short(vars(cls)[name])}; a method is needed")
            if name != "score" and getattr(vars(cls).get(name), "in_python", False):
                raise InputError(f"{cls.__name__}.{name} is marked with @po.python; only score can be")

    def init(self, s: Any) -> None:
        """Leave all fields 0."""

    # What the rest of the package asks of a problem (playout.problems.BuiltIn).

    def engine(self) -> _core.Problem:
        check_complete(self)
        compiled = is_compiled(self)
        key = (compiled, digest(self), methods_digest(type(self)) if compiled else "")
        # One for each thread that searches: it does what the engine asks of Python. (Written as a dataclass that is
        # frozen can be written to.)
        engines = vars(self).setdefault("_playout_engines", {})
        kept = engines.get(threading.get_ident())
        if kept is None or kept[0] != key:
            if len(engines) > MAX_ENGINES:
                engines.clear()
            kept = engines[threading.get_ident()] = (key, _engine(self, compiled))
        engine: _core.Problem = kept[1]
        return engine

    def replay(self, moves: Sequence[Any]) -> tuple[float, dict[str, Any]]:
        check_complete(self)
        from playout.layout import PlainRules

        rules = PlainRules(self)
        state = rules.layout.empty()
        rules.init(state)
        for number, move in enumerate(moves, 1):
            if move not in rules.find(state)[0]:
                raise InputError(f"move {number}, {short(move)}, is not legal there")
            rules.play(state, move)
        return rules.score(state), {"finished": not rules.find(state)[0]}

    def describe(self) -> str:
        return str(vars(self).get("_playout_name", f"{_module_name(type(self))}:{type(self).__qualname__}"))

    def fingerprint(self) -> str:
        return digest(self)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the engine out of pickles and copies; it is made again when it is wanted."""
        return {key: value for key, value in vars(self).items() if key != "_playout_engines"}


NO_CONSTANTS = {"State", "compiled"}
RESERVED = [name for name, value in vars(Own).items() if callable(value) and name[:1] != "_" and name != "draw"]


def check_complete(problem: Problem) -> None:
    """Raise unless a problem has all it needs."""
    name = type(problem).__name__
    for method in REQUIRED:
        if not hasattr(problem, method):
            raise InputError(f"{name} has no method {method}; it needs {', '.join(REQUIRED)}")
    for attribute in ("State", "max_moves"):
        if not hasattr(problem, attribute):
            raise InputError(f"{name} has no {attribute}; help(playout.Problem) says what it is")
    check_integer(f"{name}.max_moves", problem.max_moves, 1, MAX_MOVES)
    check_integer(f"{name}.max_length", problem.max_length, 1, MAX_LENGTH)
    check_positive(f"{name}.temperature", problem.temperature)
    for reserved in RESERVED:
        if reserved in vars(problem):
            raise InputError(f"{name} sets self.{reserved}: Playout needs that name itself; choose another")


def has_python_score(problem: Problem) -> bool:
    """Whether only Python can compute the score."""
    return getattr(type(problem).score, "in_python", False)  # type: ignore[attr-defined]


def has_player(problem: Problem) -> bool:
    """Whether it is a game for two players."""
    return hasattr(type(problem), "player")


def _module_name(kind: type) -> str:
    """Return where a class is: its module, or, of a script that is run, the file."""
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    if kind.__module__ != "__main__" or file is None:
        return kind.__module__
    return f"./{Path(file).name}"


def constants_of(problem: Problem) -> "NDArray[Any]":
    """Return the numbers and arrays of a problem and its class as a C struct.

    Where the score is Python's own business, so is what it alone uses.
    """
    from playout.layout import constants

    values: dict[str, Any] = {}
    for kind in reversed(type(problem).__mro__):
        values |= {} if kind is object else vars(kind)
    values |= vars(problem)
    if has_python_score(problem):
        methods = [getattr(type(problem), name, None) for name in (*REQUIRED, *OPTIONAL) if name != "score"]
        used = {name for method in methods if method is not None for name in method.__code__.co_names}
        values = {name: value for name, value in values.items() if name in used}
    return constants({name: value for name, value in values.items() if name[:1] != "_" and name not in NO_CONSTANTS})


def digest(problem: Problem) -> str:
    """Return a fingerprint of the state's layout and the constants: what makes two problems of a class differ."""
    from playout.layout import Layout

    data = constants_of(problem)
    text = f"{type(problem).__qualname__} {Layout(problem.State).dtype.descr} {data.dtype.descr}"
    return hashlib.sha256(text.encode() + data.tobytes()).hexdigest()[:16]


def is_compiled(problem: Problem) -> bool:
    """Whether the problem's methods are compiled; raise where they should be and cannot."""
    from playout.compile import has_numba

    if problem.compiled is False or has_numba():
        return problem.compiled is not False
    if problem.compiled:
        raise InputError("compiled is True, but Numba is not installed; pip install 'playout[numba]' brings it")
    return False


def methods_digest(kind: type[Problem]) -> str:
    """Return a fingerprint of a class's compiled methods and all they use; a score in Python may use what changes."""
    from playout.compile import Digest

    fingerprint = Digest()
    for name in (*REQUIRED, *OPTIONAL):
        method = getattr(kind, name, None)
        fingerprint.add(None if getattr(method, "in_python", False) else method)
    return fingerprint.text()


def _engine(problem: Problem, compiled: bool) -> _core.Problem:
    from playout.layout import PlainRules

    proxy = weakref.proxy(problem)  # it keeps the engine, and may go first
    rules = PlainRules(proxy)
    state = rules.layout.dtype
    sizes = {"state_bytes": state.itemsize, "max_moves": problem.max_moves, "max_length": problem.max_length}
    improve = (lambda moves: proxy.encode(proxy.improve(moves))) if hasattr(problem, "improve") else None
    if not compiled and problem.compiled is None:
        warnings.warn(
            f"{type(problem).__name__} runs in plain Python, which is slow: pip install 'playout[numba]' brings Numba "
            "(compiled = False says that you know)",
            RuntimeWarning,
            stacklevel=3,
        )
    if not compiled:
        return _core.python_problem(
            rules, is_game=has_player(problem), has_bias=rules.has_bias, improve=improve, **sizes
        )
    from playout.compile import compile_methods

    data = constants_of(problem)
    functions = compile_methods(type(problem), data.dtype, state)
    names = ("init", "find", "play", "step", "score", "player")
    return _core.compiled_problem(
        **{name: getattr(functions.get(name), "address", 0) for name in names},
        has_bias=rules.has_bias,
        data=data.ctypes.data,
        owner=(functions, data),
        python_score=rules.score if has_python_score(problem) else None,
        improve=improve,
        **sizes,
    )
