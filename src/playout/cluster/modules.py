"""The modules of users' problems on other nodes: found there, or written there from the text that came along.

Only a module with the same text will do. It is looked for by its name, then at its path; else the text is written to
the user's cache, so that what Numba compiles is kept beside it, as on the node that it came from.
"""

import atexit
import functools
import hashlib
import importlib
import importlib.util
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import TypeVar

from playout import own
from playout.errors import InputError
from playout.result import write_whole_bytes

MAX_BYTES = 1 << 24

T = TypeVar("T")


@dataclass(frozen=True)
class Source:
    """A module: its name, the file it is in, and the file's text. Those of the same name and text are the same."""

    module: str
    file: str = field(compare=False)
    text: str

    def __post_init__(self) -> None:
        if not self.module.isprintable() or not self.module or len(self.module) > 1000:
            raise InputError("the module of a problem has no name")
        if not self.file.isprintable() or not Path(self.file).is_absolute() or Path(self.file).name in ("", ".."):
            raise InputError("the module of a problem has no file")
        if len(self.text) > MAX_BYTES:
            raise InputError(f"{self.file} is larger than a file of Python can be ({MAX_BYTES:,} bytes)")

    @staticmethod
    def read(module: str, file: Path) -> "Source":
        try:
            return Source(module, str(file), file.read_bytes().decode())
        except OSError as error:
            raise InputError(f"cannot read {str(file)!r}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise InputError(f"cannot send {str(file)!r} to other nodes: it is not a text in UTF-8") from None

    @functools.cached_property
    def content(self) -> bytes:
        try:
            return self.text.encode()
        except UnicodeEncodeError:
            raise InputError(f"the text of {self.file} is not Unicode") from None

    @functools.cached_property
    def digest(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    def is_in(self, file: Path) -> bool:
        try:
            about = file.stat()
            same_size = stat.S_ISREG(about.st_mode) and about.st_size == len(self.content)
            return same_size and file.read_bytes() == self.content
        except (OSError, ValueError):
            return False


_loaded: dict[Source, ModuleType] = {}


def load(source: Source) -> ModuleType:
    """Return the module of that text, once in a process; the code in it is run."""
    if source not in _loaded:
        importlib.invalidate_caches()
        _loaded[source] = _by_name(source) or _at_its_path(source) or _execute(source, _shipped(source))
    return _loaded[source]


def _by_name(source: Source) -> ModuleType | None:
    if source.module == "__main__" or not all(part.isidentifier() for part in source.module.split(".")):
        return None
    try:
        spec = _run(source.module, lambda: importlib.util.find_spec(source.module))
    except InputError:  # in a package that it is in
        return None
    if spec is None or spec.origin is None or not source.is_in(Path(spec.origin)):
        return None
    before = sys.modules.get(source.module)
    if before is None:
        return _execute_as(source, spec)
    changed = any(module is before and known.text != source.text for known, module in _loaded.items())
    return None if changed else before


def _at_its_path(source: Source) -> ModuleType | None:
    file = Path(source.file)
    if not source.is_in(file):
        return None
    own.search_in(_root(source.module, file))
    return _by_name(source) or _execute(source, file)


def _root(module: str, file: Path) -> Path:
    """Return the folder that a module is imported from, which is above its packages."""
    parts = file.parts[:-1] if file.name == "__init__.py" else (*file.parts[:-1], file.stem)
    names = tuple(module.split("."))
    return Path(*parts[: -len(names)]) if parts[-len(names) :] == names else file.parent


def _execute(source: Source, file: Path) -> ModuleType:
    """Load a file as a module of a name that nobody else has."""
    name = source.module.rpartition(".")[2]
    name = name if _is_free(name) else f"{name}_{source.digest[:16]}"
    return _execute_as(source, ModuleSpec(name, None, origin=str(file)))


def _execute_as(source: Source, spec: ModuleSpec) -> ModuleType:
    """Load a module as an import does, but from the text itself: what Python keeps of a file may be of another."""
    spec.loader = loader = _Loader(spec.name, str(spec.origin))
    spec.has_location, loader.content = True, source.content
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # dataclasses and pickles look there
    try:
        _run(str(spec.origin), lambda: loader.exec_module(module))
    except BaseException:
        sys.modules.pop(spec.name, None)
        raise
    package, _, name = spec.name.rpartition(".")
    if package:
        setattr(sys.modules[package], name, module)
    return module


class _Loader(SourceFileLoader):
    content: bytes

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.content, self.path)


def _is_free(name: str) -> bool:
    try:
        return name not in sys.modules and importlib.util.find_spec(name) is None
    except (ImportError, ValueError):
        return False


def _run(file: str, call: Callable[[], T]) -> T:
    """Run the code of a module; whatever it does, one line says so."""
    try:
        with own.loading(file):
            return own.run(f"cannot load {file}", call)
    except SystemExit:
        guard = "if __name__ == '__main__':"
        raise InputError(f"{file} ends the program when it is imported; put that under {guard}") from None
    except InputError as error:
        if isinstance(error.__cause__, ImportError):
            raise InputError(f"{error}; only the problem's own file is sent: what it imports must be there") from error
        raise


def _shipped(source: Source) -> Path:
    """Write the text where only this user can; where the home has no room for it, for as long as the process lives."""
    try:
        return _write(source, _private(_cache() / "playout" / "shipped" / source.digest))
    except (OSError, RuntimeError):
        return _write(source, _private(_temporary() / "shipped" / source.digest))


def _cache() -> Path:
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return given if given.is_absolute() else Path.home() / ".cache"


@functools.cache
def _temporary() -> Path:
    folder = tempfile.mkdtemp(prefix="playout-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _private(folder: Path) -> Path:
    """Make a folder, and the one it is in, that nobody else can write to."""
    folder.parent.parent.mkdir(parents=True, exist_ok=True)
    for one in (folder.parent, folder):
        one.mkdir(mode=0o700, exist_ok=True)
        about = one.lstat()
        if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.geteuid() or about.st_mode & 0o022:
            raise PermissionError(f"others can write to {one}")
    return folder


def _write(source: Source, folder: Path) -> Path:
    file = folder / Path(source.file).name
    if not os.path.lexists(file):
        write_whole_bytes(file, source.content)
    if file.is_symlink() or not source.is_in(file):
        raise InputError(f"{file} is not the file that was written there; remove it")
    return file
