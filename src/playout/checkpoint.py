"""Checkpoints: a search under way, kept in a file that it can go on from.

The file is an envelope (playout.envelope): a line of JSON that says what is searched and how, and the state of the
engine's jobs. It is written to a temporary name and renamed, so that there is always a whole one, and the one before it
stays as FILE.previous.
"""

import os
import warnings
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from playout import parallel
from playout.envelope import DamagedError, seal, shown, unseal
from playout.errors import InputError, check_integer, check_number
from playout.result import History, history_from_json, write_whole_bytes

FORMAT = "playout-checkpoint/4"
BEFORE_LOCAL = "playout-checkpoint/3"  # the same, but for the searches with local policies
BEGINNING = b'{"format": "playout-checkpoint/'
MAX_BYTES = 1 << 34


@dataclass(frozen=True)
class Checkpoint:
    """A search under way.

    ``what`` is the problem, search, strategy, seed and number of jobs as JSON's own types; ``seconds`` and ``history``
    are as in a Result; ``state`` is the engine's. Of a search on a cluster, ``islands`` says what is known of each, and
    ``state`` is cut into as many parts as ``lengths`` has.
    """

    file: Path
    what: dict[str, Any]
    seconds: float
    history: History
    state: bytes
    islands: tuple[dict[str, Any], ...] = ()
    lengths: tuple[int, ...] = ()

    def save(self) -> None:
        """Write the checkpoint, whole or not at all, and keep the one before."""
        header = {
            "what": self.what,
            "seconds": self.seconds,
            "history": [list(entry) for entry in self.history],
            "islands": list(self.islands),
            "lengths": list(self.lengths),
        }
        write_whole_bytes(self.file, seal(FORMAT, header, self.state), old=previous(self.file).name)

    def parts(self) -> list[bytes]:
        """Return the parts of the state."""
        ends = accumulate(self.lengths, initial=0)
        return [self.state[begin:end] for begin, end in pairwise(ends)]

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
        return _read(file, file)
    except OSError as error:
        raise InputError(f"cannot resume from {str(file)!r}: {error.strerror}") from None
    except InputError as error:
        before = _before(file) if isinstance(error, DamagedError) else None
        if before is None:
            raise InputError(f"cannot resume from {str(file)!r}: {error}") from None
        message = f"cannot resume from {str(file)!r}: {error}; resuming from the one before, {str(previous(file))!r}"
        warnings.warn(message, RuntimeWarning, stacklevel=2)
        return before


def _before(file: Path) -> Checkpoint | None:
    with suppress(OSError, InputError):
        return _read(previous(file), file)
    return None


def previous(file: Path) -> Path:
    """Return where the checkpoint before that one is kept."""
    return file.resolve().with_name(f"{file.resolve().name}.previous")


def _read(file: Path, named: Path) -> Checkpoint:
    with open(file, "rb") as stream:
        if stream.read(len(BEGINNING)) != BEGINNING:
            raise DamagedError("it is not a checkpoint of Playout")
        if os.fstat(stream.fileno()).st_size > MAX_BYTES:
            raise InputError(f"it is larger than a checkpoint can be ({MAX_BYTES:,} bytes)")
        content = BEGINNING + stream.read()
    older = content.startswith(b'{"format": "' + BEFORE_LOCAL.encode() + b'"')
    header, state = unseal(BEFORE_LOCAL if older else FORMAT, content)
    try:
        what = dict(header["what"])
        seconds = check_number("'seconds'", header["seconds"], 0.0)
        history = history_from_json(header["history"])
        islands = tuple(map(dict, header["islands"]))
        lengths = tuple(check_integer("a length", length, 0, len(state)) for length in header["lengths"])
    except (ValueError, TypeError, KeyError):
        raise DamagedError("it is damaged: it does not say what it is of") from None
    if not state or (lengths and sum(lengths) != len(state)) or len(lengths) != len(islands) + bool(islands):
        raise DamagedError("it is damaged: its content is not what was written")
    if older:
        what["strategy"] = _strategy_of_today(what.get("strategy"))
    return Checkpoint(named, what, seconds, history, state, islands, lengths)


def _strategy_of_today(strategy: Any) -> Any:
    """Return the strategy of an older checkpoint, with the settings that have come since."""
    if isinstance(strategy, dict) and strategy.get("policy") == "local":
        raise InputError("its local policies are of an older kind, which began with their caller's best; begin afresh")
    return parallel.to_json(parallel.from_json(strategy))


def _difference(key: str, kept: Any, wanted: Any) -> str:
    """Say in what they differ, of things with settings in the first setting that does."""
    if isinstance(kept, dict) and isinstance(wanted, dict):
        for name in wanted:
            if kept.get(name) != wanted[name]:
                was, now = shown(kept.get(name)), shown(wanted[name])
                return f"its {key} has {name} {was}, this search's has {name} {now}"
    return f"its {key} is {shown(kept)}, this search's is {shown(wanted)}"
