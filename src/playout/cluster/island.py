"""Islands: the searches of a cluster, as the driver keeps them between two chunks."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from playout.cluster.chunk import MAX_JOB, moves_from_json
from playout.errors import check_integer, check_number
from playout.progress import MAX_PLAYOUTS
from playout.result import Island, history_from_json

FIRST_CHUNK_SECONDS = 0.5  # so that there is something to see soon; each chunk is twice as long as the one before


@dataclass
class State:
    """An island: what it found, and the bytes its search goes on from."""

    number: int
    variant: int
    job: int  # whose random numbers it draws
    family: int  # the island that its policy comes from
    state: bytes = b""
    start: tuple[int, ...] | None = None
    offset: int = 0  # its playouts are the engine's and these
    playouts: int = 0
    score: float = -math.inf
    moves: tuple[int, ...] = ()
    line: float = -math.inf  # the best since it last took over from another
    history: list[tuple[float, int, float]] = field(default_factory=list)
    nodes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    rate: float = 0.0
    seen: float = 0.0
    chunk: float = FIRST_CHUNK_SECONDS
    lost: int = 0
    losses: int = 0  # in a row
    moved: float = 0.0  # when it last took over, or began
    version: int = 0  # counts the replies
    not_before: float = 0.0  # it rests until then: its last chunks were lost

    def view(self) -> Island:
        return Island(
            number=self.number,
            score=None if self.score == -math.inf else self.score,
            playouts=self.playouts,
            seconds=self.seconds,
            playouts_per_second=self.rate,
            seen=self.seen,
            nodes=tuple(self.nodes),
            lost=self.lost,
            family=self.family,
            history=tuple(self.history),
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "variant": self.variant,
            "job": self.job,
            "family": self.family,
            "start": self.start,
            "offset": self.offset,
            "playouts": self.playouts,
            "score": None if self.score == -math.inf else self.score,
            "line": None if self.line == -math.inf else self.line,
            "moves": self.moves,
            "history": self.history,
            "nodes": self.nodes,
            "seconds": self.seconds,
            "seen": self.seen,
            "lost": self.lost,
        }

    @staticmethod
    def from_json(number: int, data: dict[str, Any], state: bytes) -> "State":
        start = data["start"]
        return State(
            number=number,
            variant=check_integer("variant", data["variant"], 0, MAX_JOB),
            job=check_integer("job", data["job"], 0, MAX_JOB),
            family=check_integer("family", data["family"], 0, MAX_JOB),
            state=state,
            start=None if start is None else moves_from_json(start),
            offset=check_integer("offset", data["offset"], -MAX_PLAYOUTS, MAX_PLAYOUTS),
            playouts=check_integer("playouts", data["playouts"], 0, MAX_PLAYOUTS),
            score=-math.inf if data["score"] is None else check_number("score", data["score"]),
            line=-math.inf if data["line"] is None else check_number("line", data["line"]),
            moves=moves_from_json(data["moves"]),
            history=list(history_from_json(data["history"])),
            nodes=[str(node) for node in data["nodes"]],
            seconds=check_number("seconds", data["seconds"], 0.0),
            seen=check_number("seen", data["seen"], 0.0),
            lost=check_integer("lost", data["lost"], 0, MAX_JOB),
        )


def leader_for(island: State, islands: Sequence[State]) -> State | None:
    """Return the island whose search one that lags behind takes over, if it lags and there is one.

    Those lag that are in the last quarter, and below the median. They take over from the best, but no search may be
    carried on by more than half of the islands, so that they do not all become one: then from the next best.
    """
    lines = sorted(other.line for other in islands)
    last = lines[: max(1, len(lines) // 4)][-1]
    if island.line > last or island.line >= lines[len(lines) // 2]:
        return None
    families = Counter(other.family for other in islands)
    better = [
        other
        for other in islands
        if other.line > island.line and other.family != island.family and families[other.family] < len(islands) // 2
    ]
    return max(better, key=lambda other: other.line, default=None)
