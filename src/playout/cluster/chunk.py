"""Chunks: some seconds of an island's search, done wherever there is time.

A request is an envelope: what is searched and how, how far, and the state to go on from. So is the reply: the best so
far and the state after it. Nothing else is needed and nothing is kept in between, so that a chunk that is lost is done
again, by whoever is there, with the same outcome. (The random numbers of a playout follow from its index.)
"""

import math
import os
import platform
import traceback
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from playout import _core, envelope, version
from playout import search as searches
from playout.cluster import travel
from playout.compile import explained
from playout.errors import InputError, check_integer, check_number, check_positive
from playout.parallel import MAX_THREADS, tasks_at_once
from playout.problems import BuiltIn
from playout.progress import MAX_PLAYOUTS
from playout.result import MAX_SEED, History, history_from_json
from playout.search import Search, Wide

REQUEST, REPLY = "playout-chunk/1", "playout-reply/1"
MAX_JOB = 2**31 - 1
MAX_STATE_BYTES = 1 << 32
LOOK_UP_SECONDS = 0.05  # how often a chunk looks whether it is to end

_stopped: set[str] = set()  # the searches whose chunks are to end at once
stop_when: list[Callable[[], bool]] = []  # other reasons to


def stop(name: str) -> None:
    """End the chunks of a search that are under way in this process."""
    _stopped.add(name)


@dataclass(frozen=True)
class Request:
    """What a chunk is to do: search one variant of a problem as one job, until one of its limits is reached.

    ``name`` is that of the whole search, ``playouts`` counts from the job's beginning. ``start`` is a sequence to begin
    with, where there is no state to go on from.
    """

    name: str
    problem: dict[str, Any]
    variant: int
    search: Search
    wide: Wide | None
    seed: int
    job: int
    start: tuple[int, ...] | None
    adaptations: int
    playouts: int
    target: float | None
    seconds: float
    threads: int
    state: bytes = field(repr=False)

    def to_bytes(self) -> bytes:
        header = {
            "name": self.name,
            "problem": self.problem,
            "variant": self.variant,
            "search": searches.to_json(self.search),
            "wide": None if self.wide is None else asdict(self.wide),
            "seed": self.seed,
            "job": self.job,
            "start": self.start,
            "adaptations": self.adaptations,
            "playouts": self.playouts,
            "target": self.target,
            "seconds": self.seconds,
            "threads": self.threads,
        }
        return envelope.seal(REQUEST, header, zlib.compress(self.state, 1))

    @staticmethod
    def from_bytes(request: bytes) -> "Request":
        header, state = envelope.unseal(REQUEST, request)
        try:
            wide, start, target = header["wide"], header["start"], header["target"]
            return Request(
                name=str(header["name"]),
                problem=header["problem"],
                variant=check_integer("variant", header["variant"], 0, MAX_JOB),
                search=searches.from_json(header["search"]),
                wide=None if wide is None else _wide_from_json(wide),
                seed=check_integer("seed", header["seed"], 0, MAX_SEED),
                job=check_integer("job", header["job"], 0, MAX_JOB),
                start=None if start is None else moves_from_json(start),
                adaptations=check_integer("adaptations", header["adaptations"], 0, 1000),
                playouts=check_integer("playouts", header["playouts"], 1, MAX_PLAYOUTS),
                target=None if target is None else check_number("target", target),
                seconds=check_positive("seconds", header["seconds"]),
                threads=check_integer("threads", header["threads"], 1, MAX_THREADS),
                state=_expanded(state),
            )
        except (KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InputError(f"it is not a chunk: {error!r}") from None


def _wide_from_json(wide: dict[str, Any]) -> Wide:
    return Wide(int(wide["level"]), int(wide["width"]), str(wide["policy"]), bool(wide["exchange_best"]))


@dataclass(frozen=True)
class Reply:
    """What a chunk found: the job's best so far, and the state to go on from.

    ``seconds`` and ``history`` are those of the chunk alone; in the history are seconds since it began, and playouts
    since the job did. ``node`` is where it ran. ``stopped`` says that the node was asked to end. Where there
    is an ``error`` nothing else counts; ``kind`` is then ``"node"`` for a node that cannot do it, as one with another
    version of Playout, ``"input"`` for a mistake of the user's, ``"memory"``, or ``"failure"``.
    """

    node: str
    playouts: int = 0
    score: float = 0.0
    moves: tuple[int, ...] = ()
    history: History = ()
    seconds: float = 0.0
    stopped: bool = False
    kind: str = ""
    error: str = ""
    state: bytes = field(default=b"", repr=False)

    def to_bytes(self) -> bytes:
        header = {key: value for key, value in asdict(self).items() if key != "state"}
        return envelope.seal(REPLY, header, zlib.compress(self.state, 1))

    @staticmethod
    def from_bytes(reply: bytes) -> "Reply":
        header, state = envelope.unseal(REPLY, reply, any_version=True)
        try:
            if header["version"] != version.VERSION:
                there, here = envelope.shown(header["version"]), envelope.shown(version.VERSION)
                error = f"Playout is version {there} there, and {here} here; all nodes need the same"
                return Reply(str(header["node"]), kind="node", error=error)
            return Reply(
                node=str(header["node"]),
                playouts=check_integer("playouts", header["playouts"], 0, MAX_PLAYOUTS),
                score=check_number("score", header["score"]),
                moves=moves_from_json(header["moves"]),
                history=history_from_json(header["history"]),
                seconds=check_number("seconds", header["seconds"], 0.0),
                stopped=bool(header["stopped"]),
                kind=str(header["kind"]),
                error=str(header["error"]),
                state=_expanded(state),
            )
        except (KeyError, TypeError) as error:
            raise InputError(f"it is not the reply to a chunk: {error!r}") from None


def moves_from_json(data: Any) -> tuple[int, ...]:
    """Rebuild moves from a list; the data may come from anywhere."""
    if not isinstance(data, list):
        raise InputError("moves are a list")
    return tuple(check_integer("a move", move, -(2**63), 2**63 - 1) for move in data)


def _expanded(packed: bytes) -> bytes:
    """Return a state that was made small for its way: half the bytes, in a thousandth of a second."""
    expander = zlib.decompressobj()
    try:
        state = expander.decompress(packed, MAX_STATE_BYTES)
    except zlib.error as error:
        raise InputError(f"its state is damaged: {error}") from None
    if not expander.eof or expander.unused_data:
        raise InputError("its state is damaged, or larger than one can be")
    return state


def work(request: bytes) -> bytes:
    """Do a chunk; what goes wrong in it is in the reply."""
    try:
        asked = Request.from_bytes(request)
        problem = travel.unpack(asked.problem)
    except InputError as error:
        return Reply(node(), kind="node", error=str(error)).to_bytes()
    try:
        reply = _work(asked, problem)
    except InputError as error:
        reply = Reply(node(), kind="input", error=str(error))
    except MemoryError as full:
        reply = Reply(node(), kind="memory", error=str(full) or "out of memory")
    except Exception:
        reply = Reply(node(), kind="failure", error=traceback.format_exc())
    return reply.to_bytes()


def node() -> str:
    """Return the name of this process among those of the cluster."""
    return f"{platform.node() or 'unknown'}:{os.getpid()}"


def _work(request: Request, whole: BuiltIn) -> Reply:
    variants = whole.variants()
    if request.variant >= len(variants):
        raise InputError(f"the problem has {len(variants)} variants, and no number {request.variant}")
    problem = variants[request.variant]
    with explained(problem):
        try:
            run = _begin(request, problem)
            stopped = _wait(run, request)
        except (_core.ProblemError, _core.NoThreads) as error:
            if isinstance(error, _core.CompiledFailure):
                raise
            raise InputError(f"{problem.describe()}: {error}") from None
    now, state = run.progress(), run.serialise()
    return Reply(
        node=node(),
        playouts=now.playouts,
        score=now.score,
        moves=tuple(now.moves),
        history=tuple(now.history),
        seconds=now.seconds,
        stopped=stopped,
        state=state,
    )


def _begin(request: Request, problem: BuiltIn) -> _core.Run:
    search = request.search.begin(problem, request.seed, request.job, request.wide)
    try:
        if request.start is not None and not request.state:
            search.start_from(list(request.start), request.adaptations)
        return _core.Run(
            [search],
            request.playouts,
            math.inf if request.target is None else request.target,
            threads=min(request.threads, tasks_at_once(request.search, request.wide)),
            state=request.state,
            problem=problem.engine(),
        )
    except _core.ProblemError:
        raise
    except ValueError as error:  # a state or a start of something else
        raise InputError(f"{problem.describe()}: {error}") from None


def _wait(run: _core.Run, request: Request) -> bool:
    """Wait for the end of a chunk; true if it was asked to end before."""
    try:
        while True:
            left = request.seconds - run.progress().seconds
            stopped = request.name in _stopped or any(reason() for reason in stop_when)
            if left <= 0 or stopped or run.wait(min(left, LOOK_UP_SECONDS)):
                break
    finally:
        run.stop()
    run.wait(0.0)  # raises what was raised in the meantime
    return stopped
