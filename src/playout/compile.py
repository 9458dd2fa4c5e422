"""Compiling the methods of a user's problem with Numba, and hearing of exceptions inside them.

Each method becomes a C function of pointers: to the constants, to the state, and what else it takes. Numba keeps the
machine code on disk beside the user's file, so that the next run does not compile. Array bounds are checked. An
exception in a C function has nowhere to go: Numba hands it to ``sys.unraisablehook`` and returns something. So each
function sets a flag at its end; where it is not set the engine stops at once, and says on which thread. What the
exception was comes from the hook (:func:`explained`).
"""

import ast
import dis
import hashlib
import importlib
import importlib.util
import inspect
import sys
import textwrap
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FunctionType, ModuleType, TracebackType
from typing import TYPE_CHECKING, Any

from playout import _core
from playout.errors import InputError
from playout.problem import OPTIONAL, REQUIRED, Problem, methods_digest

if TYPE_CHECKING:
    import numpy as np

_compiled: dict[Any, dict[str, Any]] = {}
_lock = threading.RLock()


def has_numba() -> bool:
    return importlib.util.find_spec("numba") is not None


def _numba() -> Any:
    """Return Numba, which is optional, and slow to import."""
    try:
        numba = importlib.import_module("numba")
    except ImportError as error:
        raise InputError(f"Numba is installed, but cannot be imported: {error}; set compiled = False") from error
    if not hasattr(numba.types.boolean, "bitwidth"):  # Numba asks for it where a record has an array of them
        numba.types.boolean.bitwidth = 8
    return numba


def compile_methods(kind: type[Problem], data: "np.dtype[Any]", state: "np.dtype[Any]") -> dict[str, Any]:
    """Return the C functions of a class for constants and a state of these types: what ``CompiledRules`` calls.

    ``find`` is the user's ``moves`` with the ``code`` and ``bias`` of each, ``step`` is ``play`` and ``find``.
    """
    with _lock:
        key = (kind, str(data), str(state), methods_digest(kind))
        if key not in _compiled:
            _compiled[key] = _compile_all(kind, data, state)
        return _compiled[key]


def _compile_all(kind: type[Problem], data: "np.dtype[Any]", state: "np.dtype[Any]") -> dict[str, Any]:
    numba = _numba()
    types = numba.types
    record = (numba.from_dtype(data), numba.from_dtype(state))
    done = types.CPointer(types.int64)
    lists = (types.CPointer(types.int64), types.CPointer(types.int64), types.CPointer(types.float64), types.int64)
    methods = {name: getattr(kind, name) for name in (*REQUIRED, *OPTIONAL) if hasattr(kind, name)}
    signatures = {
        "init": types.void(*record, done),
        "play": types.void(*record, types.int64, done),
        "score": types.float64(*record, done),
        "player": types.int64(*record, done),
        "find": types.int64(*record, *lists, done),
        "step": types.int64(*record, types.int64, *lists, done),
    }
    if getattr(methods["score"], "in_python", False):
        del methods["score"], signatures["score"]
    for name, method in methods.items():
        check_uses(kind, name, method, data.names or ())
    functions: dict[str, Any] = {}
    with bounds_checked():
        for name, function in _functions(kind, methods).items():
            try:
                functions[name] = _compile(function, signatures[name])
            except Exception as error:  # Numba raises of all kinds
                raise InputError(_explain(kind, name, error)) from error
    return functions


def _compile(function: Any, signature: Any) -> Any:
    numba = _numba()
    if not function.can_be_kept:
        return numba.cfunc(signature, boundscheck=True)(function)
    try:
        return numba.cfunc(signature, cache=True, boundscheck=True)(function)
    except numba.core.errors.NumbaError:
        raise
    except Exception:  # a class typed into an interpreter has no file to keep it beside; what is kept may be damaged
        return numba.cfunc(signature, boundscheck=True)(function)


@contextmanager
def bounds_checked() -> Iterator[None]:
    """While inside, Numba compiles all functions with checked bounds: those that a user's methods call, too."""
    config = _numba().core.config
    before, config.BOUNDSCHECK = config.BOUNDSCHECK, 1
    try:
        yield
    finally:
        config.BOUNDSCHECK = before


FIND = """
    found = carray(out, most)
    count = _moves(self, s, found)
    for i in range(count):
        codes[i] = {code}
        biases[i] = {bias}
    done[0] = 1
    return count
"""
FUNCTIONS = {
    "init": """
def init(self, s, done):
    _init(self, s)
    done[0] = 1
""",
    "play": """
def play(self, s, move, done):
    _play(self, s, move)
    done[0] = 1
""",
    "score": """
def score(self, s, done):
    score = _score(self, s)
    done[0] = 1
    return score
""",
    "player": """
def player(self, s, done):
    player = _player(self, s)
    done[0] = 1
    return player
""",
    "find": f"""
def find(self, s, out, codes, biases, most, done):{FIND}""",
    "step": f"""
def step(self, s, move, out, codes, biases, most, done):
    _play(self, s, move){FIND}""",
}


def _functions(kind: type[Problem], methods: dict[str, Any]) -> dict[str, Any]:
    """Return what is compiled: Python functions that call the user's methods, a whole step in one call.

    Numba keeps machine code by file and name of a function, and imports the function's module when it reads it. A
    user's may have no name that can be imported: a script, a file that was loaded by its path. So these belong to this
    module, have the user's file, and a name that changes with all that the methods are and use.
    """
    numba = _numba()
    digest = Digest()
    for name in sorted(methods):
        digest.add(methods[name])
    space: dict[str, Any] = {"carray": numba.carray, "__name__": __name__}
    space |= {f"_{name}": numba.njit(boundscheck=True)(method) for name, method in methods.items()}
    words = {
        "code": "_code(self, s, found[i])" if "code" in methods else "found[i]",
        "bias": "_bias(self, s, found[i])" if "bias" in methods else "0.0",
    }
    functions = {}
    for name, source in FUNCTIONS.items():
        if name in ("score", "player") and name not in methods:
            continue
        exec(compile(source.format(**words), methods["moves"].__code__.co_filename, "exec"), space)
        function = functions[name] = space[name]
        function.__qualname__ = f"{kind.__qualname__}.{name}_{digest.text()}"
        function.can_be_kept = digest.is_known
    return functions


class Digest:
    """A fingerprint of functions and of all they use, as far as it can be known.

    It is the same wherever the file is, whatever its module is called and whether it is run or imported.
    """

    def __init__(self) -> None:
        self.parts: list[Any] = []
        self.seen: set[int] = set()
        self.is_known = True  # whether what is used is all of kinds that can be written down

    def text(self) -> str:
        return hashlib.sha256(repr(self.parts).encode()).hexdigest()[:16]

    def add(self, value: Any, names: Sequence[str] = ()) -> None:
        """Add a value; of a module or a class what the names say."""
        value = getattr(getattr(value, "_dispatcher", value), "py_func", value)  # of a function of Numba's, Python's
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
            self.parts.append(repr(value))
        elif isinstance(value, (tuple, list)):
            for one in value:
                self.add(one, names)
        elif type(value).__module__ == "numpy" and hasattr(value, "tobytes"):
            self.parts.append((str(value.dtype), value.shape, value.tobytes()))
        elif id(value) not in self.seen:
            self.seen.add(id(value))
            self._add_new(value, names)

    def _add_new(self, value: Any, names: Sequence[str]) -> None:
        if isinstance(value, FunctionType):
            self._add_function(value)
        elif isinstance(value, ModuleType) or (isinstance(value, type) and value.__module__ not in NOT_USERS):
            if value.__name__.partition(".")[0] not in NOT_USERS:
                for name in names:
                    if name in vars(value):
                        self.add(vars(value)[name], names)
                if isinstance(value, type):
                    self.parts.append(repr([item for item in vars(value).items() if _is_part(*item)]))
        elif (getattr(value, "__module__", None) or type(value).__module__).partition(".")[0] in NOT_USERS:
            self.parts.append(getattr(value, "__name__", type(value).__name__))
        else:
            self.is_known = False

    def _add_function(self, function: FunctionType) -> None:
        names = _names(function.__code__)
        self.parts.append(_bytecode(function.__code__))
        self.add([*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()])
        space = function.__globals__
        self.add([space[name] for name in _global_names(function.__code__) if name in space], names)
        self.add([cell.cell_contents for cell in function.__closure__ or ()], names)


NOT_USERS = {"builtins", "math", "cmath", "numpy", "numba", "operator", "functools", "itertools", "llvmlite"}


def _is_part(name: str, value: Any) -> bool:
    """Whether an attribute of a class is part of what the class is: a plain value, and not where it was found."""
    return name not in ("__module__", "__firstlineno__") and isinstance(value, (bool, int, float, complex, str, bytes))


def _bytecode(code: Any) -> Any:
    return code.co_code, code.co_names, [_constant(value) for value in code.co_consts]


def _constant(value: Any) -> Any:
    if isinstance(value, frozenset):
        return sorted(map(repr, value))  # its own order is that of hashes, which differ from process to process
    return _bytecode(value) if hasattr(value, "co_code") else value


def _names(code: Any) -> list[str]:
    return sorted({name for one in _codes(code) for name in one.co_names})


def _global_names(code: Any) -> list[str]:
    """Return the names that are looked up in the module; a field of the state may be called as something else there."""
    loads = ("LOAD_GLOBAL", "LOAD_NAME")
    return sorted({i.argval for one in _codes(code) for i in dis.get_instructions(one) if i.opname in loads})


def _codes(code: Any) -> list[Any]:
    """Return a code object and those of the functions inside it."""
    return [code, *(inner for one in code.co_consts if hasattr(one, "co_code") for inner in _codes(one))]


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


@contextmanager
def explained(problem: Any) -> Iterator[None]:
    """While inside, an exception in a compiled method of the problem is an InputError that says what and where."""
    with _errors_kept():
        try:
            yield
        except _core.CompiledFailure as failure:
            error = _errors.pop(int(str(failure)), None)
            what = "an exception" if error is None else f"{type(error).__name__}: {error}{_line(error.__traceback__)}"
            raise InputError(
                f"{problem.describe()}: a compiled method raises {what}; with compiled = False the traceback says where"
            ) from error


_errors: dict[int, BaseException] = {}  # in compiled methods, by thread
_inside = 0
_hook_before: Any = None


@contextmanager
def _errors_kept() -> Iterator[None]:
    """While anybody is inside, exceptions in compiled methods are kept instead of printed."""
    global _inside, _hook_before
    with _lock:
        _inside += 1
        if _inside == 1:
            _hook_before, sys.unraisablehook = sys.unraisablehook, _keep_error
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _errors.clear()
                if sys.unraisablehook is _keep_error:
                    sys.unraisablehook = _hook_before


def _keep_error(unraisable: Any) -> None:
    if "numba" in repr(unraisable.object):
        _errors[threading.get_ident()] = unraisable.exc_value or unraisable.exc_type()
    else:
        _hook_before(unraisable)


def _line(where: TracebackType | None) -> str:
    """Return the user's own line, where Numba knows it: that of a raise or an assert."""
    own = [frame for frame in traceback.extract_tb(where) if frame.name in (*REQUIRED, *OPTIONAL)]
    return f" ({own[-1].filename}, line {own[-1].lineno})" if own else ""
