"""Checkpoints: a search under way, kept in a file that it can go on from.

The file is a line of JSON that says what is searched and how, the state of the engine's jobs, and a SHA-256 of both. It
is written to a temporary name and renamed, so that there is always a whole one.
"""

import hashlib
import json
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from playout.errors import InputError, check_number
from playout.result import History, history_from_json, write_whole_bytes

FORMAT = "playout-checkpoint/1"
MAX_BYTES = 1 << 34
MAX_HEADER_BYTES = 1 << 28
DIGEST_BYTES = 32


@dataclass(frozen=True)
class Checkpoint:
    """A search under way.

    ``what`` is the problem, search, strategy, seed and number of jobs as JSON's own types; ``seconds`` and ``history``
    are as in a Result; ``state`` is the engine's.
    """

    what: dict[str, Any]
    seconds: float
    history: History
    state: bytes

    def save(self, path: Path) -> None:
        """Write the checkpoint, whole or not at all."""
        header = {
            "format": FORMAT,
            "version": version("playout"),
            "what": self.what,
            "seconds": self.seconds,
            "history": [list(entry) for entry in self.history],
        }
        content = json.dumps(header).encode() + b"\n" + self.state
        write_whole_bytes(path, content + hashlib.sha256(content).digest())


def load(path: Path, what: dict[str, Any]) -> Checkpoint:
    """Read a checkpoint of what is to be searched; the file may come from anywhere.

    Raises
    ------
    InputError
        If it cannot be read, is damaged, or is of something else.
    """
    try:
        with open(path, "rb") as file:
            content = file.read(MAX_BYTES)
    except OSError as error:
        raise InputError(f"cannot resume from {str(path)!r}: {error.strerror}") from None
    except ValueError:
        raise InputError(f"{str(path)!r} cannot be the name of a file") from None
    try:
        return _parse(content, what)
    except InputError as error:
        raise InputError(f"cannot resume from {str(path)!r}: {error}") from None


def _parse(content: bytes, what: dict[str, Any]) -> Checkpoint:
    end = content.find(b"\n", 0, MAX_HEADER_BYTES)
    if not content.startswith(b'{"format": "playout-checkpoint/'):
        raise InputError("it is not a checkpoint of Playout")
    content, digest = content[:-DIGEST_BYTES], content[-DIGEST_BYTES:]
    if end < 0 or end >= len(content) or hashlib.sha256(content).digest() != digest:
        raise InputError("it is damaged: its content is not what was written")
    try:
        header = json.loads(content[:end])
        found = {"format": header["format"], "version": header["version"], **header["what"]}
        seconds = check_number("'seconds'", header["seconds"], 0.0)
        history = history_from_json(header["history"])
    except (ValueError, TypeError, KeyError, RecursionError):
        raise InputError("it is damaged: it does not say what it is of") from None
    wanted = {"format": FORMAT, "version": version("playout"), **what}
    for key, value in wanted.items():
        if found.get(key) != value:
            raise InputError(f"its {key} is {_shown(found.get(key))}, this search's is {_shown(value)}")
    return Checkpoint(what, seconds, history, content[end + 1 :])


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 200 else f"{text[:197]}..."
