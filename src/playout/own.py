"""Problems of users' own: what they have in common, and loading them by name.

A result of one does not bring its problem along: a file that came from somewhere must not decide what code is run.
:class:`Missing` stands for the problem until its user names it.
"""

import importlib
import importlib.util
import sys
import threading
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from playout import _core
from playout.errors import InputError, check_integer

if TYPE_CHECKING:
    from rich.console import RenderableType

T = TypeVar("T")

LIBRARIES = (".so", ".dylib", ".dll")


class Own(ABC):
    """What the problems of users have in common, as :class:`playout.problems.BuiltIn` asks it."""

    temperature: float = 1.0

    def variants(self) -> Sequence[Any]:
        return [self]

    def decode(self, moves: Sequence[int]) -> list[int]:
        return list(moves)

    def encode(self, moves: Sequence[Any]) -> list[int]:
        return [check_integer("a move", move, -(2**63), 2**63 - 1) for move in moves]

    def to_json(self) -> dict[str, Any]:
        return {"kind": "user", "name": self.describe(), "digest": self.fingerprint()}

    @abstractmethod
    def describe(self) -> str:
        """Where the problem is found, or what it is called."""

    @abstractmethod
    def fingerprint(self) -> str:
        """What tells it from others: that of a result must be the same."""

    @abstractmethod
    def engine(self) -> _core.Problem:
        """The problem inside the C++ engine."""

    @abstractmethod
    def replay(self, moves: Sequence[Any]) -> tuple[float, dict[str, Any]]:
        """Score and detail of a sequence."""

    def draw(self, moves: Sequence[Any], step: int | None = None) -> "RenderableType":
        """The sequence for a terminal: its moves. A user's own ``draw(moves)`` has no step (playout.problems.draw)."""
        return ", ".join(map(str, moves[:step])) or "no moves"

    def to_html(self, moves: Sequence[Any] = ()) -> str:
        return f"<pre>{escape(self.describe())}: {escape(', '.join(map(str, moves)))}</pre>"


class Missing(Own):
    """A problem that a result names and nobody has given."""

    def __init__(self, name: str, digest: str) -> None:
        self.name, self.digest = name, digest

    def describe(self) -> str:
        return self.name

    def fingerprint(self) -> str:
        return self.digest

    def engine(self) -> _core.Problem:
        raise InputError(self.needed())

    def replay(self, moves: Sequence[Any]) -> tuple[float, dict[str, Any]]:
        raise InputError(self.needed())

    def needed(self) -> str:
        return (
            f"this is a result of {self.name}, a problem of somebody's own; name the problem to run its code: "
            f"--problem {self.name}, or load(file, problem=...)"
        )


def from_json(data: Mapping[str, Any]) -> Missing:
    """Return what stands for the problem of a result."""
    name, digest = data.get("name"), data.get("digest")
    if not isinstance(name, str) or not isinstance(digest, str) or not name.isprintable() or len(name) > 4096:
        raise InputError("'problem' has no name and digest")
    return Missing(name, digest)


def can_be_own(name: str) -> bool:
    """Whether a name can be that of a user's problem: of a module, a file or a library."""
    where, colon, attribute = name.rpartition(":")
    library = name.partition(":")[0].endswith(LIBRARIES)
    return library or name.endswith(".py") or bool(colon and where and attribute.isidentifier())


def load_own(name: str, options: Mapping[str, str]) -> Any:
    """Return the problem that ``module:attribute``, ``file.py:attribute`` or ``library.so:argument`` names."""
    where, _, attribute = name.rpartition(":") if ":" in name else (name, "", "problem")
    compiled = _compiled(options)
    library, _, argument = name.partition(":")
    if library.endswith(LIBRARIES):
        from playout.library import load_problem

        if compiled is not None:
            raise InputError("compiled is an option of problems in Python; a library is compiled already")
        return load_problem(library, argument)
    module = _from_file(Path(where)) if where.endswith(".py") or "/" in where else _from_module(where)
    problem = take(module, attribute, where)
    object.__setattr__(problem, "_playout_name", name)
    object.__setattr__(problem, "_playout_file", getattr(module, "__file__", None))
    if compiled is not None:
        object.__setattr__(problem, "compiled", compiled)
    return problem


def take(module: Any, attribute: str, where: str) -> Any:
    """Return the problem that an attribute of a module is, or makes."""
    problem = getattr(module, attribute, None)
    if callable(problem) and not isinstance(problem, Own):  # a class, or a function that makes one
        problem = run(f"{where}:{attribute} cannot be made", problem)
    if not isinstance(problem, Own):
        there = [key for key, value in vars(module).items() if isinstance(value, Own)]
        said = f"it has {', '.join(there)}" if there else "it has none: write problem = YourClass(...) in it"
        raise InputError(f"{attribute!r} in {where} is not a playout.Problem; {said}")
    return problem


def _compiled(options: Mapping[str, str]) -> bool | None:
    words = {"yes": True, "no": False}
    for key, value in options.items():
        if key != "compiled" or value not in words:
            raise InputError(
                f"{key}={value} is no option of a problem of your own; there is compiled=yes and compiled=no"
            )
    return words.get(options.get("compiled", ""))


def _from_module(name: str) -> Any:
    search_in(Path.cwd())
    try:
        found = importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        found = False
    if not found:
        raise InputError(f"there is no module {name!r} here; a file is named with its ending, as ./{name}.py:problem")
    return run(f"cannot import {name}", lambda: importlib.import_module(name))


def _from_file(path: Path) -> Any:
    if not path.is_file():
        raise InputError(f"cannot read {str(path)!r}: there is no such file")
    search_in(path.resolve().parent)
    before = sys.modules.get(path.stem)
    if before is not None and getattr(before, "__file__", None) == str(path.resolve()):
        return before
    spec = importlib.util.spec_from_file_location(path.stem, path.resolve())
    if spec is None or spec.loader is None:
        raise InputError(f"{str(path)!r} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    if before is None:
        sys.modules[path.stem] = module  # as an import would: pickles and dataclasses look there
    loader = spec.loader
    try:
        run(f"cannot load {path}", lambda: loader.exec_module(module))
    except InputError:
        if before is None:
            del sys.modules[path.stem]
        raise
    return module


def search_in(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def run(what: str, call: Callable[[], T]) -> T:
    """Call a user's code; an exception is one line, with where it was raised."""
    try:
        return call()
    except InputError:
        raise
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        raise InputError(f"{what}: {type(error).__name__}: {error} ({last.filename}, line {last.lineno})") from error


_thread = threading.local()


@contextmanager
def loading(file: str) -> Iterator[None]:
    """While inside, this thread runs a file for the problem in it: it must not begin a search."""
    before = getattr(_thread, "file", None)
    _thread.file = file
    try:
        yield
    finally:
        _thread.file = before


def is_loading() -> bool:
    """Whether this thread runs a file for the problem in it."""
    return getattr(_thread, "file", None) is not None


def check_not_loading() -> None:
    """Raise if a file that is run for its problem begins a search."""
    if is_loading():
        raise InputError(
            f"{_thread.file} calls solve() when it is imported; put the call under if __name__ == '__main__':"
        )
