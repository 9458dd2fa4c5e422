"""Problem: what a user subclasses to have a problem of their own searched."""

import hashlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from playout import _core
from playout.errors import InputError, check_integer, check_positive, short
from playout.layout import Layout, constants

if TYPE_CHECKING:
    from rich.console import RenderableType

REQUIRED = ("init", "moves", "play", "score")
OPTIONAL = ("code", "bias", "player")
MAX_MOVES, MAX_LENGTH = 1 << 20, 1 << 30

Method = TypeVar("Method", bound=Callable[..., Any])


def python(method: Method) -> Method:
    """Mark the ``score`` of a problem as one that only Python can compute: a simulation, a model, another program.

    The other methods are compiled; the score of a finished playout is computed by the thread that called ``solve``,
    one at a time, while the other threads play on or wait.
    """
    method.in_python = True  # type: ignore[attr-defined]
    return method


class Problem:
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
        ``("f8", (3, 4))``. Set it in ``__init__`` if a shape depends on the problem. All is 0 at first.
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
        Fill the state that a playout starts from.
    moves(s, out)
        Fill ``out`` with the legal moves, whole numbers, each once; return how many. 0 ends the playout.
    play(s, move)
        Play one of them.
    score(s)
        What a finished playout is worth; larger is better. Marked with ``@po.python`` it need not be compiled.
    code(s, move), optional
        A whole number that says what the move *is*: moves with equal codes share what the search learns. The move
        itself by default, which is right only if the same number means the same thing everywhere.
    bias(s, move), optional
        How much ``GNRPA`` prefers the move before it has learned anything: its odds are multiplied by exp(bias).
    player(s), optional
        Whose turn it is, 0 or 1, in a game.
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

    def draw(self, moves: Sequence[int]) -> "RenderableType":
        """The sequence for a terminal; a subclass may do better."""
        return ", ".join(map(str, moves)) or "no moves"

    # What the rest of the package asks of a problem (playout.problems.BuiltIn).

    def engine(self) -> _core.Problem:
        check_complete(self)
        data = self.constants()
        compiled = self.is_compiled()
        key = (compiled, self.digest())
        kept = vars(self).get("_playout_engine")
        if kept is None or kept[0] != key:
            kept = (key, self._compile(data) if compiled else self._interpret())
            object.__setattr__(self, "_playout_engine", kept)  # a user's dataclass may be frozen
        engine: _core.Problem = kept[1]
        return engine

    def _compile(self, data: NDArray[Any]) -> _core.Problem:
        from playout.compile import compile_methods

        layout = Layout(self.State)
        functions = compile_methods(type(self), data.dtype, layout.dtype)
        rules = PlainRules(self, layout)
        return _core.compiled_problem(
            **{name: getattr(functions.get(name), "address", 0) for name in ("init", "find", "play", "step", "score")},
            has_bias=hasattr(self, "bias"),
            data=data.ctypes.data,
            state_bytes=layout.dtype.itemsize,
            max_moves=self.max_moves,
            max_length=self.max_length,
            owner=(functions, data),
            python_score=rules.score if has_python_score(self) else None,
        )

    def _interpret(self) -> _core.Problem:
        layout = Layout(self.State)
        return _core.python_problem(
            PlainRules(self, layout),
            state_bytes=layout.dtype.itemsize,
            max_moves=self.max_moves,
            max_length=self.max_length,
        )

    def constants(self) -> NDArray[Any]:
        """The numbers and arrays of the problem as a C struct."""
        values: dict[str, Any] = {}
        for kind in reversed(type(self).__mro__):
            values |= {} if kind is object else vars(kind)
        values |= vars(self)
        return constants({name: value for name, value in values.items() if name[:1] != "_" and name not in NO_CONSTANTS})

    def digest(self) -> str:
        """A fingerprint of the state's layout and the constants: what makes two problems of a class differ."""
        data = self.constants()
        text = f"{Layout(self.State).dtype.descr} {data.dtype.descr} {self.max_moves} {self.max_length}"
        return hashlib.sha256(text.encode() + data.tobytes()).hexdigest()[:16]

    def is_compiled(self) -> bool:
        if self.compiled is False:
            return False
        from playout.compile import has_numba

        if has_numba():
            return True
        if self.compiled:
            raise InputError("compiled is True, but Numba is not installed; pip install 'playout[numba]' brings it")
        warnings.warn(
            f"{type(self).__name__} runs in plain Python, which is slow: pip install 'playout[numba]' brings Numba "
            "(compiled = False says that you know)",
            RuntimeWarning,
            stacklevel=2,
        )
        return False

    def variants(self) -> "Sequence[Problem]":
        return [self]

    def decode(self, moves: Sequence[int]) -> list[int]:
        return list(moves)

    def encode(self, moves: Sequence[Any]) -> list[int]:
        return [check_integer("a move", move, -(2**63), 2**63 - 1) for move in moves]

    def replay(self, moves: Sequence[Any]) -> tuple[float, dict[str, Any]]:
        check_complete(self)
        rules = PlainRules(self, Layout(self.State))
        state = rules.layout.empty()
        rules.init(state)
        for number, move in enumerate(moves, 1):
            if move not in rules.find(state)[0]:
                raise InputError(f"move {number}, {short(move)}, is not legal there")
            rules.play(state, move)
        return rules.score(state), {"finished": not rules.find(state)[0]}

    def to_json(self) -> dict[str, Any]:
        return {"kind": "user", "name": self.describe(), "digest": self.digest()}

    def describe(self) -> str:
        return str(vars(self).get("_playout_name", f"{type(self).__module__}:{type(self).__qualname__}"))

    def to_html(self, moves: Sequence[Any] = ()) -> str:
        from html import escape

        return f"<pre>{escape(self.describe())}: {escape(', '.join(map(str, moves)))}</pre>"

    def __getstate__(self) -> dict[str, Any]:
        """Leave the engine out of pickles and copies; it is made again when it is wanted."""
        return {key: value for key, value in vars(self).items() if key != "_playout_engine"}


NO_CONSTANTS = {"State", "compiled"}
RESERVED = [name for name in vars(Problem) if name[:1] != "_" and name not in ("draw", *Problem.__annotations__)]


class PlainRules:
    """A problem's methods in plain Python, on states that are buffers: what the engine calls where nothing is compiled.

    Also what replays results, and what compiled methods are held against.
    """

    def __init__(self, problem: Problem, layout: Layout) -> None:
        self.problem = problem
        self.layout = layout
        self.out = np.zeros(problem.max_moves, np.int64)
        self.code = getattr(problem, "code", None)
        self.bias = getattr(problem, "bias", None)

    def init(self, view: Any) -> None:
        state = self.layout.load(view)
        self.problem.init(state)  # type: ignore[attr-defined]
        self.layout.store(state, view)

    def find(self, view: Any) -> tuple[list[int], list[int], list[float]]:
        """Return the legal moves, their codes and their biases."""
        state = self.layout.load(view)
        count = self.problem.moves(state, self.out)  # type: ignore[attr-defined]
        moves = self.out[: _count(count, self.problem.max_moves)].tolist()
        codes = moves if self.code is None else [self.code(state, move) for move in moves]
        biases = [0.0] * len(moves) if self.bias is None else [float(self.bias(state, move)) for move in moves]
        return moves, [_code(code) for code in codes], biases

    def play(self, view: Any, move: int) -> None:
        state = self.layout.load(view)
        self.problem.play(state, move)  # type: ignore[attr-defined]
        self.layout.store(state, view)

    def step(self, view: Any, move: int) -> tuple[list[int], list[int], list[float]]:
        self.play(view, move)
        return self.find(view)

    def score(self, view: Any) -> float:
        return float(self.problem.score(self.layout.load(view)))  # type: ignore[attr-defined]


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


def _count(count: Any, most: int) -> int:
    if isinstance(count, bool) or not hasattr(count, "__index__"):
        raise TypeError(f"moves returned {short(count)}; it should return how many moves it put into out")
    if not 0 <= count <= most:
        raise ValueError(f"moves returned {count}; allowed are 0 to max_moves, {most}")
    return int(count)


def _code(code: Any) -> int:
    if isinstance(code, bool) or not hasattr(code, "__index__"):
        raise TypeError(f"code returned {short(code)}; it should return a whole number")
    if not -(2**63) <= code < 2**63:
        raise OverflowError(f"code returned {short(code)}; allowed are whole numbers from -2**63 to 2**63 - 1")
    return int(code) % 2**64
