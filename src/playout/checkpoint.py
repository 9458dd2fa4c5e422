"""Checkpoints: a search under way, kept in a file that it can go on from.

The file is a line of JSON that says what is searched and how, the state of the engine's jobs, and a SHA-256 of both. It
is written to a temporary name and renamed, so that there is always a whole one.
"""

import hashlib
import json
import os
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from playout import parallel
from playout.errors import InputError, check_number
from playout.result import History, history_from_json, write_whole_bytes

FORMAT = "playout-checkpoint/2"
BEGINNING = b'{"format": "playout-checkpoint/'
MAX_BYTES = 1 << 34
DIGEST_BYTES = 32


@dataclass(frozen=True)
class Checkpoint:
    """A search under way.

    ``what`` is the problem, search, strategy, seed and number of jobs as JSON's own types; ``seconds`` and ``history``
    are as in a Result; ``state`` is the engine's.
    """

    file: Path
    what: dict[str, Any]
    seconds: float
    history: History
    state: bytes

    def save(self) -> None:
        """Write the checkpoint, whole or not at all."""
        header = {
            "format": FORMAT,
            "version": version("playout"),
            "what": self.what,
            "seconds": self.seconds,
            "history": [list(entry) for entry in self.history],
        }
        content = json.dumps(header).encode() + b"\n" + self.state
        write_whole_bytes(self.file, content + hashlib.sha256(content).digest())

    def strategy(self) -> parallel.Parallel | None:
        """Return the strategy it was made with."""
        with_strategy = self.what.get("strategy")
        try:
            return parallel.from_json(with_strategy)
        except InputError as error:
            raise InputError(f"cannot resume from {str(self.file)!r}: {error}") from None

    def check(self, what: dict[str, Any]) -> None:
        """Raise unless it is a checkpoint of that."""
        for key, value in what.items():
            if self.what.get(key) != value:
                raise InputError(
                    f"cannot resume from {str(self.file)!r}: {_difference(key, self.what.get(key), value)}"
                )


def load(file: Path) -> Checkpoint:
    """Read a checkpoint; the file may come from anywhere.

    Raises
    ------
    InputError
        If it cannot be read, is damaged, or was written by another version.
    """
    try:
        with open(file, "rb") as stream:
            if stream.read(len(BEGINNING)) != BEGINNING:
                raise InputError("it is not a checkpoint of Playout")
            if os.fstat(stream.fileno()).st_size > MAX_BYTES:
                raise InputError(f"it is larger than a checkpoint can be ({MAX_BYTES:,} bytes)")
            content = BEGINNING + stream.read()
        return _parse(file, content)
    except OSError as error:
        raise InputError(f"cannot resume from {str(file)!r}: {error.strerror}") from None
    except InputError as error:
        raise InputError(f"cannot resume from {str(file)!r}: {error}") from None


def _parse(file: Path, content: bytes) -> Checkpoint:
    content, digest = content[:-DIGEST_BYTES], content[-DIGEST_BYTES:]
    line, _, state = content.partition(b"\n")
    if hashlib.sha256(content).digest() != digest or not state:
        raise InputError("it is damaged: its content is not what was written")
    try:
        header = json.loads(line)
        made_by = (header["format"], header["version"])
        what = dict(header["what"])
        seconds = check_number("'seconds'", header["seconds"], 0.0)
        history = history_from_json(header["history"])
    except (ValueError, TypeError, KeyError, RecursionError):
        raise InputError("it is damaged: it does not say what it is of") from None
    if made_by != (FORMAT, version("playout")):
        raise InputError(f"it was written by version {_shown(made_by[1])} of Playout, this is {version('playout')}")
    return Checkpoint(file, what, seconds, history, state)


def _difference(key: str, kept: Any, wanted: Any) -> str:
    """Say in what they differ, of things with settings in the first setting that does."""
    if isinstance(kept, dict) and isinstance(wanted, dict):
        for name in wanted:
            if kept.get(name) != wanted[name]:
                was, now = _shown(kept.get(name)), _shown(wanted[name])
                return f"its {key} has {name} {was}, this search's has {name} {now}"
    return f"its {key} is {_shown(kept)}, this search's is {_shown(wanted)}"


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 200 else f"{text[:197]}..."
