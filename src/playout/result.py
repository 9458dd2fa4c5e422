"""Results: what a search found, and the file it is kept in."""

import json
import os
import platform
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from playout import parallel, problems, search
from playout.errors import InputError, check_integer, check_number, short
from playout.own import Own
from playout.version import VERSION

FORMAT = "playout-result/1"
MAX_BYTES = 1 << 28
MAX_SEED = 2**64 - 1

History = tuple[tuple[float, int, float], ...]


@dataclass(frozen=True)
class Island:
    """One of the searches of a cluster, at one moment.

    Attributes
    ----------
    number
        Counted from 0.
    score, playouts
        Its best score, None before the first chunk came back, and its playouts so far.
    seconds, playouts_per_second
        How long it was searched, and how fast in its last chunk.
    seen
        When its last chunk came back, in seconds since the search began.
    nodes
        Where its chunks ran, as ``host:process``, each once, the present one last; the last 20.
    lost
        How many of its chunks were lost with their nodes, and done again.
    family
        The island whose policy it goes on with: its own number, unless it took over another's.
    history
        ``(seconds, playouts, score)`` at each improvement; the playouts are the island's own.
    """

    number: int
    score: float | None
    playouts: int
    seconds: float
    playouts_per_second: float
    seen: float
    nodes: tuple[str, ...]
    lost: int
    family: int
    history: History = field(repr=False)

    def to_json(self) -> dict[str, Any]:
        """Return what is known of it as JSON's own types."""
        return {**asdict(self), "nodes": list(self.nodes), "history": [list(entry) for entry in self.history]}


@dataclass(frozen=True, repr=False)
class Result:
    """What a search found.

    Attributes
    ----------
    problem, search, parallel, seed
        What was searched, and how. ``parallel`` is the strategy, or None for one search on one thread.
    score
        Of the best sequence; larger is better.
    moves
        The best sequence, in the problem's own notation.
    detail
        What else the problem says of it, such as whether a SameGame board was cleared.
    playouts, seconds
        How long the search went on.
    interrupted
        Whether it was ended before its budget was.
    history
        ``(seconds, playouts, score)`` at each improvement.
    provenance
        Version, processor, threads and ranks; of a search on a cluster its settings.
    islands
        Of a search on a cluster, each of its searches; else empty.
    """

    problem: problems.BuiltIn
    search: search.Search
    parallel: parallel.Parallel | None
    seed: int
    score: float
    moves: tuple[Any, ...]
    detail: dict[str, Any]
    playouts: int
    seconds: float
    interrupted: bool
    history: History
    provenance: dict[str, Any]
    islands: tuple[Island, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON's own types."""
        data = {
            "format": FORMAT,
            "problem": self.problem.to_json(),
            "search": search.to_json(self.search),
            "parallel": parallel.to_json(self.parallel),
            "seed": self.seed,
            "score": self.score,
            "moves": [list(move) if isinstance(move, tuple) else move for move in self.moves],
            "detail": self.detail,
            "playouts": self.playouts,
            "seconds": self.seconds,
            "interrupted": self.interrupted,
            "history": [list(entry) for entry in self.history],
            "provenance": self.provenance,
        }
        return {**data, "islands": [island.to_json() for island in self.islands]} if self.islands else data

    def save(self, path: str | Path) -> None:
        """Write the result as JSON, to a temporary name first, so that no half-written file is ever seen."""
        write_whole(Path(path), json.dumps(self.to_json()) + "\n")

    def verify(self) -> float:
        """Replay the moves by the plain rules, without the engine, and return the score.

        Raises
        ------
        InputError
            If a move is not legal, the game goes on after the last, or ``detail`` is not what comes out.
        """
        score, detail = self.problem.replay(self.moves)
        if not detail.get("finished", True):
            raise InputError(f"the game goes on after the last of the {len(self.moves)} moves")
        if detail != self.detail:
            raise InputError(f"the moves end with {short(detail)}, the result says {short(self.detail)}")
        return score

    def __repr__(self) -> str:
        return f"<Result {self.summary()}>"

    def summary(self) -> str:
        """Return the result in one line."""
        strategy = "" if self.parallel is None else f"{parallel.describe(self.parallel)}, "
        early = ", interrupted" if self.interrupted else ""
        return (
            f"{self.problem.describe()}: score {shown(self.score)} in {len(self.moves)} moves; "
            f"{search.short_name(self.search)}, {strategy}"
            f"seed {self.seed}, {self.playouts:,} playouts in {self.seconds:,.1f} s{early}"
        )

    def plot(self, ax: Any = None, x: str | None = None) -> Any:
        """Plot the best score over seconds and playouts; see :func:`playout.plot.plot`. Needs matplotlib."""
        from playout.plot import plot

        return plot(self, ax, x)

    def _repr_html_(self) -> str:
        try:
            board = self.problem.to_html(self.moves)
        except InputError as error:  # a file may say anything
            board = f"<p>{escape(str(error))}</p>"
        return (
            f"<div><p><b>{escape(self.summary())}</b></p>"
            f'<div style="display:flex;flex-wrap:wrap;gap:1em;align-items:center">{board}{self._curve()}</div></div>'
        )

    def _curve(self) -> str:
        """Return the history as a small picture: the best score over the playouts."""
        width, height, margin = 320, 200, 36
        scores = [score for _, _, score in self.history] or [self.score]
        low, high = min(scores), max(scores)

        def place(playouts: float, score: float) -> tuple[float, float]:
            x = margin + (width - margin - 8) * playouts / max(self.playouts, 1)
            return x, height - 24 - (height - 40) * ((score - low) / (high - low) if high > low else 0.5)

        path, last = "", 0.0
        for _, playouts, score in self.history:
            x, y = place(playouts, score)
            path += f"M{x:.1f} {y:.1f}" if not path else f"H{x:.1f}V{y:.1f}"
            last = y
        path += f"H{width - 8}"
        label = 'font-size="11" fill="currentColor"'
        return (
            f'<svg width="{width}" height="{height}" role="img" aria-label="Best score over playouts">'
            f'<path d="{path}" fill="none" stroke="#0072b2" stroke-width="2"/>'
            f'<text x="{width - 8}" y="{last - 5:.1f}" text-anchor="end" {label}>{shown(high)}</text>'
            f'<text x="2" y="{height - 24}" {label}>{shown(low)}</text>'
            f'<text x="{width - 8}" y="{height - 6}" text-anchor="end" {label}>{self.playouts:,} playouts</text></svg>'
        )


def shown(score: float) -> str:
    """Return a score as people read it; minus zero is zero."""
    return f"{score + 0.0:,.10g}"


def load(path: str | Path, problem: problems.BuiltIn | None = None) -> Result:
    """Read a result that :meth:`Result.save` or ``playout solve --output`` wrote.

    The file is taken as it is: ``playout verify`` checks that the moves are worth the score.

    Parameters
    ----------
    path
        The file.
    problem
        The problem, where it is one of your own: a file says which one it was, but never decides what code is run.
        Without it the result can be looked at, but not verified or drawn.

    Raises
    ------
    InputError
        If the file cannot be read or is not a result, with what is wrong in it.
    """
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(MAX_BYTES)
        data = json.loads(text, parse_constant=_no_constant)
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{str(path)!r} is not a result: it is not JSON, or not whole") from None
    try:
        return from_json(data, problem)
    except InputError as error:
        raise InputError(f"{str(path)!r} is not a result: {error}") from None


def from_json(data: Any, given: problems.BuiltIn | None = None) -> Result:
    """Rebuild a result from what :meth:`Result.to_json` gave; the data may come from anywhere."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError(f"'format' should be {FORMAT!r}")
    problem = problems.from_json(data.get("problem"))
    if given is not None:
        if not (given.to_json() == problem.to_json() or _is_same_own(given, problem)):
            raise InputError(f"it is of {problem.describe()}, not of the problem given, or with other constants")
        problem = given
    moves = _sequence(data, "moves")
    return Result(
        problem=problem,
        search=search.from_json(data.get("search")),
        parallel=parallel.from_json(data.get("parallel")),
        seed=_integer(data, "seed", MAX_SEED),
        score=check_number("'score'", data.get("score")),
        moves=tuple(problem.decode(problem.encode(moves))),
        detail=_mapping(data, "detail"),
        playouts=_integer(data, "playouts", 2**63),
        seconds=check_number("'seconds'", data.get("seconds"), 0.0),
        interrupted=_boolean(data, "interrupted"),
        history=history_from_json(data.get("history")),
        provenance=_mapping(data, "provenance"),
        islands=tuple(map(_island, _sequence(data, "islands"))) if "islands" in data else (),
    )


def _island(data: Any) -> Island:
    if not isinstance(data, dict):
        raise InputError("'islands' is not a list of objects")
    score = data.get("score")
    return Island(
        number=_integer(data, "number", 2**31),
        score=None if score is None else check_number("'score'", score),
        playouts=_integer(data, "playouts", 2**63),
        seconds=check_number("'seconds'", data.get("seconds"), 0.0),
        playouts_per_second=check_number("'playouts_per_second'", data.get("playouts_per_second"), 0.0),
        seen=check_number("'seen'", data.get("seen"), 0.0),
        nodes=tuple(map(str, _sequence(data, "nodes"))),
        lost=_integer(data, "lost", 2**31),
        family=_integer(data, "family", 2**31),
        history=history_from_json(data.get("history")),
    )


def _is_same_own(given: Any, problem: Any) -> bool:
    """Whether they are problems of users, wherever each was found, with the same constants."""
    return isinstance(given, Own) and isinstance(problem, Own) and given.fingerprint() == problem.fingerprint()


def write_whole(path: Path, text: str) -> None:
    """Write a text, whole or not at all: see :func:`write_whole_bytes`."""
    write_whole_bytes(path, text.encode())


def write_whole_bytes(path: Path, content: bytes, old: str | None = None) -> None:
    """Write a file under a temporary name beside it, then rename: readers see the old file or the new one.

    A link is followed; what is no plain file, such as a pipe or /dev/null, is written to as it is. With a name for the
    old file, that stays under it.
    """
    if _is_special(path):
        with os.fdopen(_open_special(path), "wb") as file:
            file.write(content)
        return
    path = path.resolve()
    handle, temporary = _temporary_beside(path)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        if old is not None:
            _keep(path, path.with_name(old))
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _keep(path: Path, name: Path) -> None:
    """Give a file that is about to be replaced a second name; where there are no hard links, it is lost."""
    link = path.with_name(f".{path.name}.link")
    with suppress(OSError):
        link.unlink(missing_ok=True)
        os.link(path, link)
        os.replace(link, name)


def check_writable(path: Path) -> None:
    """Raise now, not after hours of search, if a file could not be written there."""
    try:
        if path.is_dir():
            raise InputError(f"cannot write {str(path)!r}: it is a folder")
        if _is_special(path):
            os.close(_open_special(path))
            return
        handle, temporary = _temporary_beside(path.resolve())
        os.close(handle)
        os.unlink(temporary)
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror}") from None
    except (ValueError, RuntimeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{str(path)!r} cannot be the name of a file") from None


def _is_special(path: Path) -> bool:
    return path.exists() and not path.is_file()


def _open_special(path: Path) -> int:
    """Open a pipe or a device; a pipe that nobody reads is an error, not a reason to wait for ever."""
    handle = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    os.set_blocking(handle, True)
    return handle


def _temporary_beside(path: Path) -> tuple[int, str]:
    return tempfile.mkstemp(dir=path.parent, prefix=".playout-", suffix=".tmp")


def provenance(threads: int, ranks: int = 1) -> dict[str, Any]:
    """Return what a reader of a result needs to know of how it was made."""
    return {"version": VERSION, "cpu": cpu_name(), "threads": threads, "ranks": ranks}


def cpu_name() -> str:
    """Return the processor's name as the system gives it."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _integer(data: dict[str, Any], name: str, most: int) -> int:
    return check_integer(repr(name), data.get(name), 0, most)


def _boolean(data: dict[str, Any], name: str) -> bool:
    if not isinstance(data.get(name), bool):
        raise InputError(f"{name!r} is neither true nor false")
    return bool(data[name])


def _sequence(data: dict[str, Any], name: str) -> Sequence[Any]:
    if not isinstance(data.get(name), list):
        raise InputError(f"{name!r} is not a list")
    value: Sequence[Any] = data[name]
    return value


def _mapping(data: dict[str, Any], name: str) -> dict[str, Any]:
    if not isinstance(data.get(name), dict):
        raise InputError(f"{name!r} is not an object")
    value: dict[str, Any] = data[name]
    return value


def history_from_json(data: Any) -> History:
    """Rebuild a history from lists; the data may come from anywhere."""
    if not isinstance(data, list):
        raise InputError("'history' is not a list")
    return tuple(map(_history, data))


def _history(entry: Any) -> tuple[float, int, float]:
    if not isinstance(entry, list) or len(entry) != 3:
        raise InputError("'history' is not a list of [seconds, playouts, score]")
    seconds, playouts, score = entry
    return (
        check_number("a time in 'history'", seconds, 0.0),
        check_integer("a number of playouts in 'history'", playouts, 0, 2**63),
        check_number("a score in 'history'", score),
    )
