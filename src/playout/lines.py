"""Text files that whole lines are appended to, by one process at a time: nothing that was written is ever lost."""

import fcntl
import os
import warnings
from pathlib import Path
from typing import Self

from playout.errors import InputError


class LinesFile:
    """A file of lines, locked while inside: a second writer is told, and writes nothing.

    What kind of file it is, a subclass says: how its lines are read, and which line is the first.
    """

    writer = "process"  # what else may be writing it, in a message

    def __init__(self, path: Path) -> None:
        self.path = path
        self.handle = -1

    def read(self, content: bytes) -> None:
        """Take in the whole lines that are there; raise InputError if they are not of this kind."""
        raise NotImplementedError

    def first_line(self) -> str:
        """Return the first line of a file that is empty."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        try:
            self._open()
            self._begin()
        except BaseException as error:
            self.__exit__()
            if isinstance(error, BlockingIOError):
                what = f"another {self.writer} is writing {str(self.path)!r}"
                raise InputError(f"{what}; wait until it has ended") from None
            if isinstance(error, OSError):
                raise InputError(f"cannot write {str(self.path)!r}: {error.strerror}") from None
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self.handle >= 0:
            os.close(self.handle)
        self.handle = -1

    def write(self, line: str) -> None:
        """Add a line in one write that has reached the disk when this returns."""
        try:
            self._write(line)
        except OSError as error:
            raise InputError(f"cannot write {str(self.path)!r}: {error.strerror}") from None

    def _open(self) -> None:
        check_file(self.path)
        self.handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        fcntl.flock(self.handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _begin(self) -> None:
        """Read the lines, drop the one that a killed writer left half-written, and see to the first."""
        content = self.path.read_bytes()
        whole = whole_lines(content)
        is_ours = bool(whole) or self.first_line().encode().startswith(content)
        self.read(whole if is_ours else content + b"\n")  # a line of somebody else's without an end is not half of ours
        if len(whole) < len(content):
            os.ftruncate(self.handle, len(whole))
            warnings.warn(f"dropped the half-written last line of {str(self.path)!r}", RuntimeWarning, stacklevel=3)
        if not whole:
            self._write(self.first_line())

    def _write(self, line: str) -> None:
        """Write a whole line or none."""
        content = line.encode()
        before = os.fstat(self.handle).st_size
        try:
            if os.write(self.handle, content) < len(content):
                raise OSError(0, "No space left on device")
            os.fsync(self.handle)
        except OSError:
            os.ftruncate(self.handle, before)
            raise


def whole_lines(content: bytes) -> bytes:
    """Return what there is up to the end of the last whole line."""
    return content[: content.rfind(b"\n") + 1]


def check_file(path: Path) -> None:
    """Raise if there is something that is no plain file."""
    if path.exists() and not path.is_file():
        raise InputError(f"{str(path)!r} is not a file")
