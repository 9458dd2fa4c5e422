"""The states and the constants of users' problems as C sees them, and their methods in plain Python on such states."""

import keyword
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from playout import _core
from playout.errors import InputError, short

if TYPE_CHECKING:
    from playout.problem import Problem

KINDS = {"b": "true or false", "i": "whole numbers", "u": "whole numbers", "f": "numbers"}
MAX_STATE_BYTES = 1 << 24


class Layout:
    """The named fields of a state: a C struct, and a class whose objects have the fields as attributes.

    Parameters
    ----------
    fields
        A type for each name, such as ``"i8"``; for an array the type and its shape, as ``("i8", 32)``.
    """

    def __init__(self, fields: Any) -> None:
        if not isinstance(fields, Mapping) or not fields:
            raise InputError(f"State is {short(fields)}; it is a dict of fields, such as dict(next='i8')")
        self.dtype = np.dtype([(check_name(name), *_type(name, kind)) for name, kind in fields.items()], align=True)
        if self.dtype.itemsize > MAX_STATE_BYTES:
            raise InputError(f"State has {self.dtype.itemsize:,} bytes; at most {MAX_STATE_BYTES:,} are allowed")
        self.fields = [(name, self.dtype[name].shape != (), self.dtype[name].kind) for name in self.dtype.names or ()]
        arrays = {name: _array_property(name) for name, is_array, _ in self.fields if is_array}
        slots = tuple(f"_{name}" if is_array else name for name, is_array, _ in self.fields)
        self.record = type("State", (), {"__slots__": slots, **arrays})

    def load(self, view: Any) -> Any:
        """Return the state in a buffer: its numbers, and its arrays as views of the buffer."""
        row = np.frombuffer(view, self.dtype, 1)
        state = self.record()
        for name, is_array, _ in self.fields:
            setattr(state, f"_{name}" if is_array else name, row[name][0] if is_array else row[name][0].item())
        return state

    def store(self, state: Any, view: Any) -> None:
        """Write the numbers of a state to a buffer; what a field cannot hold is an error."""
        row = np.frombuffer(view, self.dtype, 1)
        for name, is_array, kind in self.fields:
            if is_array:
                continue
            value = getattr(state, name)
            if kind in "iu" and not hasattr(value, "__index__"):
                raise TypeError(f"the field {name!r} of the state is for whole numbers and was given {short(value)}")
            try:
                row[name][0] = value
            except OverflowError:
                held = self.dtype[name].str[1:]
                raise OverflowError(f"the field {name!r} of the state, {held!r}, cannot hold {short(value)}") from None

    def empty(self) -> bytearray:
        return bytearray(self.dtype.itemsize)


def _array_property(name: str) -> property:
    def get(state: Any) -> Any:
        return getattr(state, f"_{name}")

    def refuse(state: Any, value: Any) -> None:
        raise TypeError(f"the field {name!r} of the state is an array and stays where it is; write s.{name}[:] = ...")

    return property(get, refuse)


def constants(values: Mapping[str, Any]) -> NDArray[Any]:
    """Return the numbers and arrays among some values as a C struct, in the order of their names."""
    found = {name: array for name in sorted(values) if (array := _constant(name, values[name])) is not None}
    fields = [(name, array.dtype, array.shape) if array.shape else (name, array.dtype) for name, array in found.items()]
    record = np.zeros((), np.dtype(fields or [("nothing", np.dtype("i8"))], align=True))
    for name, array in found.items():
        record[name] = array
    return record


def _constant(name: str, value: Any) -> NDArray[Any] | None:
    if isinstance(value, (bool, int, float, np.generic, np.ndarray)) or (isinstance(value, (list, tuple)) and value):
        try:
            array = np.asarray(value)
        except ValueError:  # rows of different lengths
            return None
        if isinstance(value, int) and array.dtype.kind not in KINDS:
            raise InputError(f"{name} is {short(value)}; compiled code knows whole numbers from -2**63 to 2**63 - 1")
        if array.dtype.kind in KINDS and array.size:
            check_name(name)
            return np.ascontiguousarray(array, array.dtype.newbyteorder("=")).reshape(array.shape)
    return None


def check_name(name: Any) -> str:
    """Return the name of a field; raise unless it can be one."""
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        raise InputError(f"{short(name)} cannot be the name of a field; it must be as a variable's, without _ in front")
    return name


def _type(name: str, kind: Any) -> tuple[np.dtype[Any], tuple[int, ...]]:
    try:
        base, shape = kind if isinstance(kind, tuple) else (kind, ())
        dtype = np.dtype((np.dtype(base), shape))
        shape = dtype.shape
    except (TypeError, ValueError):
        raise InputError(f"the field {name!r} of State is {short(kind)}; write 'i8', 'f8', or ('i8', 32)") from None
    if dtype.base.kind not in KINDS or dtype.base.itemsize > 8 or 0 in shape:
        raise InputError(f"the field {name!r} of State is {short(kind)}; allowed are numbers and arrays of numbers")
    return dtype.base.newbyteorder("="), shape


class PlainRules:
    """A problem's methods in plain Python, on states that are buffers: what the engine calls where nothing is compiled.

    Also what replays results, and what compiled methods are held against.
    """

    def __init__(self, problem: "Problem") -> None:
        self.problem: Any = problem
        self.layout = Layout(problem.State)
        self.has_code = hasattr(problem, "code")
        self.has_bias = hasattr(problem, "bias")

    def init(self, view: Any) -> None:
        state = self.layout.load(view)
        self.problem.init(state)
        self.layout.store(state, view)

    def find(self, view: Any) -> tuple[list[int], list[int], list[float]]:
        """Return the legal moves, their codes and their biases."""
        state = self.layout.load(view)
        out = np.zeros(self.problem.max_moves, np.int64)
        moves = out[: _count(self.problem.moves(state, out), len(out))].tolist()
        codes = [self.problem.code(state, move) for move in moves] if self.has_code else moves
        biases = [float(self.problem.bias(state, move)) for move in moves] if self.has_bias else [0.0] * len(moves)
        self.layout.store(state, view)  # nothing should have changed; if it has, it has in compiled code too
        return moves, [_code(code) for code in codes], biases

    def play(self, view: Any, move: int) -> None:
        state = self.layout.load(view)
        self.problem.play(state, move)
        self.layout.store(state, view)

    def step(self, view: Any, move: int) -> tuple[list[int], list[int], list[float]]:
        self.play(view, move)
        return self.find(view)

    def score(self, view: Any) -> float:
        return float(self.problem.score(self.layout.load(view)))

    def player(self, view: Any) -> int:
        state = self.layout.load(view)
        player = self.problem.player(state)
        self.layout.store(state, view)  # as in find
        if player not in (0, 1):
            raise _core.ProblemError(f"player returned {short(player)}; allowed are 0 and 1")
        return int(player)


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
