"""Problems that travel to other nodes, as JSON that is read and never unpickled.

A built-in problem travels as its instance. One of a user's own travels as the text of the file that its class is in and
the attributes of the object; or, if it was loaded by a name such as ``./file.py:problem``, as the text of that file, in
which it is made again. One in a library travels as the path of the library, which must be there.

The code of a user's problem is run on the node: whoever can send one can do there what its user can. What arrives must
be what was sent, to its methods and constants; else it is an error, not another search.
"""

import copy
import hashlib
import json
import sys
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FunctionType, MemberDescriptorType
from typing import Any

from playout import own, problems
from playout.cluster import modules, values
from playout.cluster.modules import Source
from playout.errors import InputError, short
from playout.library import LibraryProblem
from playout.problem import Problem, check_complete, digest, is_compiled, methods_digest
from playout.problems import BuiltIn

KEPT = 8  # problems that a process keeps, for the next piece of work on one of them
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"

_lock = threading.RLock()
_unpacked: OrderedDict[str, BuiltIn] = OrderedDict()


def pack(problem: BuiltIn) -> dict[str, Any]:
    """Return what :func:`unpack` makes the problem of, in another process or on another node.

    Raises
    ------
    InputError
        If it cannot travel, with what to do.
    """
    if isinstance(problem, LibraryProblem):
        return _pack_library(problem)
    if isinstance(problem, Problem):
        return _pack_own(problem)
    if isinstance(problem, own.Missing):
        raise InputError(problem.needed())
    if isinstance(problem, (type, own.Own)) or not hasattr(problem, "to_json"):
        raise InputError(f"problem is {short(problem)}; allowed are problems such as SameGame.standard(1)")
    data = problem.to_json()
    problems.from_json(data)
    return {"kind": "built-in", "problem": data}


def unpack(data: Any) -> BuiltIn:
    """Return the problem that was packed; the last few are kept.

    Raises
    ------
    InputError
        If it cannot be made here, or is not the one that was packed.
    """
    try:
        key = hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
    except (TypeError, ValueError, RecursionError):
        raise InputError("a problem that was sent is not JSON") from None
    with _lock:
        if key not in _unpacked:
            _unpacked[key] = _unpack(data)
            if len(_unpacked) > KEPT:
                _unpacked.popitem(last=False)
        _unpacked.move_to_end(key)
        return _unpacked[key]


def _unpack(data: Any) -> BuiltIn:
    kind = data.get("kind") if isinstance(data, dict) else None
    if kind == "library":
        return _unpack_library(data)
    if kind == "own":
        return _unpack_own(data)
    problem = problems.from_json(data.get("problem")) if kind == "built-in" else None
    if problem is None or isinstance(problem, own.Own):
        raise InputError("a problem that was sent is of no kind that there is")
    return problem


# Libraries


def _pack_library(problem: LibraryProblem) -> dict[str, Any]:
    found = _file_digest(problem.file)
    if found is None:
        raise InputError(f"cannot read {str(problem.file)!r}, the library of a problem that is to be sent")
    return {
        "kind": "library",
        "path": str(problem.file),
        "argument": problem.argument,
        "sha256": found,
        "fingerprint": problem.fingerprint(),
    }


def _unpack_library(data: Mapping[str, Any]) -> LibraryProblem:
    path, found = _text(data, "path"), None
    if Path(path).is_absolute():
        found = _file_digest(Path(path))
    if found is None or found != _text(data, "sha256"):
        what = "is not there" if found is None else "is another file"
        raise InputError(
            f"the library {short(path)} {what} on this node; it must be at that path on every node, on a shared file "
            "system or copied"
        )
    problem = LibraryProblem(path, _text(data, "argument"))
    if problem.fingerprint() != _text(data, "fingerprint"):
        raise InputError(f"the problem on this node is another: {short(path)} names it {short(problem.name)}")
    return problem


def _file_digest(path: Path) -> str | None:
    """Return a fingerprint of a plain file; None if it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None
    except (OSError, ValueError):
        return None


# Problems in Python


def _pack_own(problem: Problem) -> dict[str, Any]:
    check_complete(problem)
    where: dict[str, Any]
    if vars(problem).get("_playout_file") is not None:
        source, attribute = _named(problem)
        where = {"attribute": attribute}
    else:
        source = _source(type(problem))
        name = type(problem).__name__
        found = [(key, values.to_json(value, f"{name}.{key}")) for key, value in _attributes(problem)]
        where = {"class": type(problem).__qualname__, "values": [list(pair) for pair in found]}
    return {
        "kind": "own",
        "name": problem.describe(),
        "module": source.module,
        "file": source.file,
        "source": source.text,
        "sha256": source.digest,
        **where,
        "compiled": problem.compiled,
        "fingerprint": digest(problem),
        "methods": methods_digest(type(problem)) if is_compiled(problem) else None,
        "python": VERSION,
    }


def _named(problem: Problem) -> tuple[Source, str]:
    """Return the module that a problem was loaded from by name, and what it is called there."""
    name, file = vars(problem)["_playout_name"], Path(vars(problem)["_playout_file"]).absolute()
    where, _, attribute = name.rpartition(":") if ":" in name else (name, "", "problem")
    is_file = where.endswith(".py") or "/" in where
    return Source.read(file.stem if is_file else where, file), attribute


def _source(kind: type) -> Source:
    """Return the module that a class is in."""
    name = f"{kind.__module__}.{kind.__qualname__}"
    if "<locals>" in kind.__qualname__:
        raise InputError(f"{name} cannot be sent to other nodes: it is inside a function; put it at a file's top level")
    space = next((space for space in _spaces(kind) if _find(space, kind.__qualname__) is kind), None)
    if space is None:
        raise InputError(f"{name} cannot be sent to other nodes: it is not in its module by that name")
    if not isinstance(space.get("__file__"), str):
        raise InputError(f"{name} cannot be sent to other nodes: it has no file; put the class in one and import it")
    file = Path(space["__file__"]).absolute()
    module = kind.__module__
    if module == "__main__":
        module = getattr(space.get("__spec__"), "name", file.stem)
    return Source.read(module, file)


def _spaces(kind: type) -> Iterator[Mapping[str, Any]]:
    """Yield the namespaces that a class can be in: that of its module, and those of its methods."""
    yield getattr(sys.modules.get(kind.__module__), "__dict__", {})
    for method in vars(kind).values():
        if isinstance(method, FunctionType) and method.__globals__.get("__name__") == kind.__module__:
            yield method.__globals__


def _find(space: Mapping[str, Any], name: str) -> Any:
    """Return what a name with dots stands for; None for nothing."""
    first, *rest = name.split(".")
    found = space.get(first)
    for part in rest:
        found = vars(found).get(part) if isinstance(found, type) else None
    return found


def _attributes(problem: Problem) -> Iterator[tuple[str, Any]]:
    """Yield what an object is made of, whether in its dict or in slots."""
    for name, value in vars(problem).items():
        if not name.startswith("_playout_") and name != "compiled":
            yield name, value
    slots = {name for kind in type(problem).__mro__ for name, one in vars(kind).items() if _is_slot(one)}
    for name in sorted(slots):
        if hasattr(problem, name):
            yield name, getattr(problem, name)


def _is_slot(member: Any) -> bool:
    return isinstance(member, MemberDescriptorType)


def _unpack_own(data: Mapping[str, Any]) -> Problem:
    name = _text(data, "name")
    source = Source(_text(data, "module"), _text(data, "file"), _text(data, "source"))
    if source.digest != _text(data, "sha256"):
        raise InputError(f"{name} did not arrive as it was sent: the text of {source.file} is another")
    module = modules.load(source)
    problem = own.run(f"cannot make {name}", lambda: _make(data, module))
    object.__setattr__(problem, "_playout_name", name)
    own.run(f"cannot make {name}", lambda: _check_same(problem, data))
    return problem


def _make(data: Mapping[str, Any], module: Any) -> Problem:
    name = _text(data, "name")
    if "attribute" in data:
        problem = copy.copy(own.take(module, _text(data, "attribute"), name))
        if not isinstance(problem, Problem):
            raise InputError(f"{name} is not a playout.Problem")
        object.__setattr__(problem, "_playout_file", module.__file__)
    else:
        kind = _find(vars(module), _text(data, "class"))
        if not isinstance(kind, type) or not issubclass(kind, Problem):
            raise InputError(f"{name} is not at the top level of {module.__file__}; no class under an if can be sent")
        problem = object.__new__(kind)
        for key, value in _pairs(data.get("values")):
            object.__setattr__(problem, key, values.from_json(value))
    compiled = data.get("compiled")
    if compiled is not None and not isinstance(compiled, bool):
        raise InputError(f"'compiled' of {name} is {short(compiled)}; allowed are true, false and null")
    if problem.compiled is not compiled:
        object.__setattr__(problem, "compiled", compiled)
    return problem


def _pairs(data: Any) -> Iterator[tuple[str, Any]]:
    for pair in data if isinstance(data, list) else [None]:
        if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str) or pair[0].startswith("__"):
            raise InputError("the attributes of a problem are not names and values")
        yield pair[0], pair[1]


def _check_same(problem: Problem, data: Mapping[str, Any]) -> None:
    """Raise unless a problem is the one that was sent, as far as it can be known."""
    check_complete(problem)
    name, other = problem.describe(), "the problem on this node is another"
    if digest(problem) != _text(data, "fingerprint"):
        raise InputError(f"{other}: {name} has other constants; what is made by name must not be changed afterwards")
    if data.get("methods") is None or methods_digest(type(problem)) == _text(data, "methods"):
        return
    if data.get("python") != VERSION:
        raise InputError(f"{other}: {name} comes from Python {short(data.get('python'))}, here is {VERSION}")
    raise InputError(f"{other}: the methods of {name}, or what they use from other files, are not the same")


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    if not isinstance(value, str) or not (value.isprintable() or key in ("source", "argument")):
        raise InputError(f"{key!r} of a problem that was sent is {short(value)}; a text is needed")
    return value
