"""Problems in shared libraries: tables of C functions, as ``playout.h`` declares them."""

import ctypes
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from playout import _core
from playout.errors import InputError, check_number, short
from playout.own import Own

ENTRY = "playout_problem"
TEMPERATURES = (1e-6, 1e6)


def get_include() -> str:
    """Return the folder that ``playout.h`` is in: ``cc -shared -fPIC -I$(playout include) game.c -o libgame.so``."""
    return str(Path(__file__).parent / "include")


def load_problem(path: str | Path, argument: str = "") -> "LibraryProblem":
    """Load a problem from a shared library, written in C, C++, Rust, Zig: whatever can export a C function.

    The library exports ``playout_problem``, which ``playout.h`` in :func:`get_include` explains. Its code runs in this
    process: load what you trust.

    Parameters
    ----------
    path
        The library.
    argument
        Handed to ``playout_problem``: the name of an instance, a file, whatever the library makes of it.

    Raises
    ------
    InputError
        If it is no library, has no such function, or a table of another version.
    """
    return LibraryProblem(path, argument)


class LibraryProblem(Own):
    """A problem whose rules are C functions of a library; see :func:`load_problem`."""

    def __init__(self, path: str | Path, argument: str = "") -> None:
        if not isinstance(path, (str, Path)) or not _is_text(argument) or not _is_text(str(path)):
            raise InputError(f"load_problem takes a file and a text, not {short(path)} and {short(argument)}")
        self.path, self.argument = Path(path), argument
        if not self.path.is_file():
            raise InputError(f"cannot load {str(path)!r}: there is no such file")
        self.file = self.path.resolve()
        try:
            library = ctypes.CDLL(str(self.file))
        except OSError as error:
            raise InputError(f"cannot load {str(path)!r}: {str(error)[:300]}") from None
        entry = getattr(library, ENTRY, None)
        if entry is None:
            raise InputError(f"cannot load {str(path)!r}: it does not export {ENTRY}(), which playout.h declares")
        address = ctypes.cast(entry, ctypes.c_void_p).value or 0
        try:
            self._engine, name, temperature, self.max_moves, self.max_length = _core.library_problem(
                address, argument, library
            )
            self.temperature = check_number("its temperature", temperature, *TEMPERATURES)
        except UnicodeDecodeError:
            raise InputError(f"cannot load {str(path)!r}: its name is not UTF-8") from None
        except (_core.ProblemError, InputError) as error:
            raise InputError(f"cannot load {str(path)!r}: {error}") from None
        self.name = name or self.path.name

    def __reduce__(self) -> tuple[Any, ...]:
        """Load the library again in another process."""
        return LibraryProblem, (self.path, self.argument)

    def engine(self) -> _core.Problem:
        return self._engine

    def replay(self, moves: Sequence[Any]) -> tuple[float, dict[str, Any]]:
        """Score and detail of a sequence, by the library's own functions."""
        game = _core.Position(self._engine)
        for number, move in enumerate(self.encode(moves), 1):
            if all(move != legal for legal, _, _ in game.moves()):
                raise InputError(f"move {number}, {move}, is not legal there")
            game.play(move)
        return game.score(), {"finished": not game.moves()}

    def describe(self) -> str:
        return f"{self.path}:{self.argument}" if self.argument else str(self.path)

    def fingerprint(self) -> str:
        return hashlib.sha256(f"{self.name} {self.argument}".encode()).hexdigest()[:16]


def _is_text(value: Any) -> bool:
    """Whether C can be given it."""
    if not isinstance(value, str) or "\0" in value:
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
