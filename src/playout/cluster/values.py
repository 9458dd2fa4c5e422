"""The attributes of problems as JSON, and back: numbers, texts, arrays, and lists, tuples and dicts of them.

What JSON has is itself. All else is an object with one key that says what it is: ``{"tuple": [1, 2]}``,
``{"array": ["<f8", [2, 3], "..."]}``. What comes back has the same types and the same bits.
"""

import base64
import math
import re
from typing import Any

import numpy as np

from playout.errors import InputError, short

KINDS = "biuf"  # of NumPy's types: true or false, whole numbers, numbers
MAX_BYTES = 8  # of a number: what is longer differs from machine to machine
MAX_DEPTH = 50
TYPES: dict[str, type] = {"bool": bool, "int": int, "float": float}
TYPES |= {f"numpy.{np.dtype(code).name}": np.dtype(code).type for code in "?bhilBHILefd"}
ALLOWED = "numbers, texts, arrays of numbers, and lists, tuples and dicts of them with texts as keys"


def to_json(value: Any, name: str, depth: int = 0) -> Any:
    """Return a value as JSON has it; the name is for the message that it cannot be."""
    kind = type(value)  # exactly: what is derived from it may be more than the value
    if depth > MAX_DEPTH:
        raise InputError(f"{name} has lists in lists in lists: {MAX_DEPTH} deep at most")
    if value is None or kind in (bool, str) or (kind is float and math.isfinite(value)):
        return value
    if kind is int:
        return value if value.bit_length() < 64 else {"int": hex(value)}
    if kind is float:
        return {"float": str(value)}
    if kind in (list, tuple):
        items = [to_json(one, name, depth + 1) for one in value]
        return items if kind is list else {"tuple": items}
    if kind is dict and all(type(key) is str for key in value):
        return {"dict": [[key, to_json(one, name, depth + 1)] for key, one in value.items()]}
    return _of_numpy(value, name)


def _of_numpy(value: Any, name: str) -> Any:
    if isinstance(value, np.dtype) and _can_travel(value):
        return {"dtype": value.str}
    if isinstance(value, np.generic) and _can_travel(value.dtype):
        return {"scalar": [value.dtype.str, _text(value.tobytes())]}
    if type(value) is np.ndarray and _can_travel(value.dtype):
        return {"array": [value.dtype.str, list(value.shape), _text(value.tobytes())]}
    for known, one in TYPES.items():
        if value is one:
            return {"type": known}
    raise InputError(
        f"{name} is {short(value)}, which cannot be sent to other nodes; what can is {ALLOWED}. Or make the problem in "
        "its file and name it, as ./file.py:problem: it is then made there again"
    )


def from_json(data: Any, depth: int = 0) -> Any:
    """Return what :func:`to_json` was given; the data may come from anywhere."""
    if depth > MAX_DEPTH:
        raise InputError("a value has lists in lists in lists")
    if data is None or type(data) in (bool, int, float, str):
        return data
    if type(data) is list:
        return [from_json(one, depth + 1) for one in data]
    if type(data) is dict and len(data) == 1:
        (kind, inside), *_ = data.items()
        try:
            return _read(kind, inside, depth)
        except (TypeError, ValueError, KeyError, OverflowError, MemoryError) as error:
            if isinstance(error, InputError):
                raise
    raise InputError(f"a value is {short(data)}, which cannot be read")


def _read(kind: str, data: Any, depth: int) -> Any:
    """Return a value that JSON has no word for; raise whatever if it is none."""
    if kind == "int":
        return int(data, 16)
    if kind == "float":
        return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[data]
    if kind == "tuple" and type(data) is list:
        return tuple(from_json(one, depth + 1) for one in data)
    if kind == "dict" and type(data) is list and all(type(key) is str for key, _ in data):
        return {key: from_json(one, depth + 1) for key, one in data}
    if kind == "type":
        return TYPES[data]
    if kind == "dtype":
        return _dtype(data)
    if kind == "scalar":
        dtype, text = data
        return np.frombuffer(_bytes(text), _dtype(dtype)).reshape(())[()]
    if kind == "array":
        dtype, shape, text = data
        return np.frombuffer(_bytes(text), _dtype(dtype)).reshape(_shape(shape)).copy()
    raise InputError(f"a value is of the kind {short(kind)}, which there is not")


def _can_travel(dtype: "np.dtype[Any]") -> bool:
    return dtype.kind in KINDS and dtype.itemsize <= MAX_BYTES


def _dtype(text: str) -> "np.dtype[Any]":
    if not re.fullmatch("[|]b1|[<>|][iuf][1248]", text):
        raise InputError(f"an array is of the type {short(text)}; allowed are numbers")
    return np.dtype(text)


def _shape(data: Any) -> tuple[int, ...]:
    if type(data) is not list or not all(type(size) is int and size >= 0 for size in data):
        raise InputError(f"an array has the shape {short(data)}; allowed are whole numbers")
    return tuple(data)


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def _bytes(text: Any) -> bytes:
    return base64.b64decode(text, validate=True)
