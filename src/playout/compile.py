"""Compiling the methods of a user's problem with Numba, and hearing of exceptions inside them.

Each method becomes a C function of pointers: to the constants, to the state, and what else it takes. Numba keeps the
machine code on disk beside the user's file, so that the next run does not compile. Array bounds are checked. An
exception in a C function has nowhere to go: Numba hands it to ``sys.unraisablehook`` and the function returns 0. So
that hook is taken over while a search runs (:class:`Failures`), and the search raises what came there.
"""

import ast
import hashlib
import importlib
import importlib.util
import inspect
import sys
import textwrap
import threading
import traceback
from collections.abc import Sequence
from types import FunctionType, ModuleType, TracebackType
from typing import TYPE_CHECKING, Any

from playout.errors import InputError
from playout.problem import OPTIONAL, REQUIRED, Problem

if TYPE_CHECKING:
    import numpy as np

_compiled: dict[Any, dict[str, Any]] = {}
_lock = threading.RLock()


def has_numba() -> bool:
    return importlib.util.find_spec("numba") is not None


def _numba() -> Any:
    """Return Numba, which is optional, and slow to import."""
    numba = importlib.import_module("numba")
    if not hasattr(numba.types.boolean, "bitwidth"):  # Numba asks for it where a record has an array of them
        numba.types.boolean.bitwidth = 8
    return numba


def compile_methods(kind: type[Problem], data: "np.dtype[Any]", state: "np.dtype[Any]") -> dict[str, Any]:
    """Return the C functions of a class for constants and a state of these types: what ``CompiledRules`` calls.

    ``find`` is the user's ``moves`` with the ``code`` and ``bias`` of each, ``step`` is ``play`` and ``find``.
    """
    with _lock:
        key = (kind, str(data), str(state))
        if key not in _compiled:
            _compiled[key] = _compile_all(kind, data, state)
        return _compiled[key]


def _compile_all(kind: type[Problem], data: "np.dtype[Any]", state: "np.dtype[Any]") -> dict[str, Any]:
    numba = _numba()
    types = numba.types
    record = (numba.from_dtype(data), numba.from_dtype(state))
    lists = (types.CPointer(types.int64), types.CPointer(types.int64), types.CPointer(types.float64), types.int64)
    methods = {name: getattr(kind, name) for name in (*REQUIRED, *OPTIONAL) if hasattr(kind, name)}
    signatures = {
        "init": types.void(*record),
        "play": types.void(*record, types.int64),
        "score": types.float64(*record),
        "player": types.int64(*record),
        "find": types.int64(*record, *lists),
        "step": types.int64(*record, types.int64, *lists),
    }
    if getattr(methods["score"], "in_python", False):
        del methods["score"]
    for name, method in methods.items():
        check_uses(kind, name, method, data.names or ())
    methods = {name: _copy(kind, name, method) for name, method in methods.items()}
    whole = {**methods, **_steps(kind, methods)}
    functions: dict[str, Any] = {}
    for name, signature in signatures.items():
        if name in whole:
            try:
                functions[name] = _compile(whole[name], signature)
            except Exception as error:  # Numba raises of all kinds
                raise InputError(_explain(kind, name, error)) from error
    return functions


def _compile(method: Any, signature: Any) -> Any:
    numba = _numba()
    try:
        return numba.cfunc(signature, cache=True, boundscheck=True)(method)
    except numba.core.errors.NumbaError:
        raise
    except Exception:  # a class typed into an interpreter has no file to keep it beside; what is kept may be damaged
        return numba.cfunc(signature, boundscheck=True)(method)


def _copy(kind: type[Problem], name: str, method: Any) -> Any:
    """Return a method as a function of this module.

    Numba imports a function's module when it reads machine code from disk. That of a user may have no name that can be
    imported: a script, a file that was loaded by its path.
    """
    if not isinstance(method, FunctionType):
        return method
    code = method.__code__
    copy = FunctionType(code, method.__globals__, method.__name__, method.__defaults__, method.__closure__)
    copy.__module__ = __name__
    copy.__qualname__ = f"{kind.__qualname__}.{name}_{_digest(method)}"
    return copy


FIND = """
    found = carray(out, most)
    count = moves(self, s, found)
    for i in range(count):
        codes[i] = {code}
        biases[i] = {bias}
    return count
"""
STEPS = f"""
def find(self, s, out, codes, biases, most):{FIND}
def step(self, s, move, out, codes, biases, most):
    play(self, s, move){FIND}"""


def _steps(kind: type[Problem], methods: dict[str, Any]) -> dict[str, Any]:
    """Return ``find`` and ``step`` as Python functions: one call a step, into which Numba compiles the methods.

    Numba keeps machine code by file and name of a function. These have the user's file, and a name that changes with
    the methods they call, wherever those were inherited from, and with what those use.
    """
    numba = _numba()
    source = STEPS.format(
        code="code(self, s, found[i])" if "code" in methods else "found[i]",
        bias="bias(self, s, found[i])" if "bias" in methods else "0.0",
    )
    used: dict[str, Any] = {name: methods[name] for name in ("moves", "play", "code", "bias") if name in methods}
    names = {name: numba.njit(boundscheck=True)(method) for name, method in used.items()}
    space: dict[str, Any] = {"carray": numba.carray, "__name__": __name__, **names}
    exec(compile(source, methods["moves"].__code__.co_filename, "exec"), space)
    for name in ("find", "step"):
        space[name].__qualname__ = f"{kind.__qualname__}.{name}_{_digest(*used.values())}"
    return {"find": space["find"], "step": space["step"]}


def _digest(*methods: Any) -> str:
    """Return what changes when the methods do, or functions and constants of the file's or of others that they use."""
    seen: list[int] = []
    return hashlib.sha256(repr([_describe(method, seen) for method in methods]).encode()).hexdigest()[:16]


def _describe(value: Any, seen: list[int]) -> Any:
    value = getattr(value, "py_func", value)  # of a function of Numba's, Python's
    if isinstance(value, (bool, int, float, complex, str, bytes)):
        return value
    if isinstance(value, (tuple, list)):
        return [_describe(one, seen) for one in value]
    if type(value).__module__ == "numpy" and hasattr(value, "tobytes"):
        return str(value.dtype), value.shape, value.tobytes()
    if not isinstance(value, FunctionType) or id(value) in seen:
        return type(value).__name__
    seen.append(id(value))
    names = _names(value.__code__)
    used = [value.__globals__[name] for name in names if name in value.__globals__]
    used += [getattr(one, name) for one in used if isinstance(one, ModuleType) for name in names if name in vars(one)]
    used += [cell.cell_contents for cell in value.__closure__ or ()]
    return _bytecode(value.__code__), [_describe(one, seen) for one in used]


def _bytecode(code: Any) -> Any:
    return code.co_code, code.co_names, [_bytecode(c) if hasattr(c, "co_code") else c for c in code.co_consts]


def _names(code: Any) -> list[str]:
    inside = [name for c in code.co_consts if hasattr(c, "co_code") for name in _names(c)]
    return sorted({*code.co_names, *inside})


def check_uses(kind: type[Problem], name: str, method: Any, constants: Sequence[str]) -> None:
    """Raise if a method uses what compiled code cannot: another method, or an attribute that is no number or array."""
    for node in ast.walk(syntax(method)):
        if not isinstance(node, ast.Attribute) or not _is_self(node.value, method) or node.attr in constants:
            continue
        where = f"{kind.__name__}.{name} uses self.{node.attr} ({place(method, node.lineno)})"
        if callable(getattr(kind, node.attr, None)):
            raise InputError(
                f"{where}; compiled methods cannot call each other: write what they share as a function with "
                "numba.njit, or set compiled = False"
            )
        raise InputError(
            f"{where}; compiled methods can use numbers, arrays and lists of numbers, which that is not; "
            "compiled = False runs it in plain Python"
        )


def syntax(method: Any) -> ast.AST:
    """Return the syntax tree of a method; an empty one where its source is not at hand."""
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(method)))
    except (OSError, TypeError, SyntaxError):
        return ast.Module([], [])


def place(method: Any, line: int) -> str:
    """Return where a line of a method's own stands."""
    code = method.__code__
    return f"{code.co_filename}, line {code.co_firstlineno + line - 1}"


def _is_self(node: ast.AST, method: Any) -> bool:
    return isinstance(node, ast.Name) and node.id == method.__code__.co_varnames[0]


def _explain(kind: type[Problem], name: str, error: Exception) -> str:
    """Return what Numba says in one line: its first sentence that is not about Numba, and where."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    noise = ("Failed in", "During", "- Res", "There are", "Use of", "---", "...", "<source", "File", "Enable", "This")
    said = [line for line in lines if not line.startswith(noise)]
    where = next((line for line in lines if line.startswith("File ")), "")
    where = where.removeprefix('File "').replace('", line', ", line").rstrip(":")
    return (
        f"{kind.__name__}.{name} cannot be compiled: {' '.join(said[:2])[:300]}"
        + (f" ({where})" if where else "")
        + "; compiled = False runs it in plain Python"
    )


class Failures:
    """While inside, exceptions in compiled methods are kept instead of printed; the first is ``error``."""

    _inside: list["Failures"]
    _before: Any

    def __init__(self, problem: Any) -> None:
        self.problem = problem
        self.error: BaseException | None = None

    def __enter__(self) -> "Failures":
        if not isinstance(self.problem, Problem):
            return self
        with _lock:
            if not Failures._inside:
                Failures._before = sys.unraisablehook
                sys.unraisablehook = _note
            Failures._inside.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        if not isinstance(self.problem, Problem):
            return
        with _lock:
            Failures._inside.remove(self)
            if not Failures._inside and sys.unraisablehook is _note:
                sys.unraisablehook = Failures._before

    def raise_error(self) -> None:
        """Raise if there was one."""
        if self.error is not None:
            raise InputError(
                f"{type(self.error).__name__} in a compiled method of {type(self.problem).__name__}: "
                f"{self.error}{_line(self.error.__traceback__)}; with compiled = False the traceback says where"
            ) from self.error


Failures._inside = []


def _note(unraisable: Any) -> None:
    if "numba" not in repr(unraisable.object):
        Failures._before(unraisable)
        return
    for failures in Failures._inside:
        if failures.error is None:
            failures.error = unraisable.exc_value or unraisable.exc_type()


def _line(where: TracebackType | None) -> str:
    """Return the user's own line, where Numba knows it: that of a raise or an assert."""
    own = [frame for frame in traceback.extract_tb(where) if frame.name in (*REQUIRED, *OPTIONAL)]
    return f" ({own[-1].filename}, line {own[-1].lineno})" if own else ""
