"""The travelling salesman problem with time windows: instances, where they come from, and replaying a tour."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import pairwise
from math import isqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playout import _core, data
from playout.errors import InputError, check_choice, check_integer, check_number, short, whole_number
from playout.problems import tsptw_text
from playout.problems.tsptw_rules import PENALTY, Matrix, Stop, Times, Tour, customer, tour
from playout.problems.tsptw_text import MAX_NODES, MAX_VALUE, check_window, numbers
from playout.random import uniforms

if TYPE_CHECKING:
    from rich.console import RenderableType

OBJECTIVES = ("cost", "makespan")
SIDE = 100  # of the square that random instances lie in
USUAL_N, USUAL_WIDTH = 20, 60


@dataclass(frozen=True)
class TSPTW:
    """A travelling salesman problem with time windows, and how it is to be searched.

    The tour begins at the depot, node 0, when its window opens, visits every customer once and returns to the depot.
    Who arrives before a window opens waits; who arrives after it closes has missed it, and goes on.

    Parameters
    ----------
    distances
        Row i has the travel times from node i to every node, service at i included; 0 to 1e9. The way back may take
        longer than the way there. At most 1,000 nodes.
    ready, due
        When the window of each node opens and closes, the depot's first.
    objective
        What is minimised once no window is missed: ``"cost"``, the sum of the distances with the return, or
        ``"makespan"``, when the depot is reached again.
    urgent
        Whether playouts go on with customers that would be late whichever other is visited first, where there are such.
        Off by default: no gain from it was seen.
    avoid_late
        Whether playouts leave out moves that make a customer late who can still be reached in time, while there are
        others. The paper's playouts do not.

    Notes
    -----
    The score is minus the objective, minus a million for each window that is missed; the return counts, too. A move is
    the number of a customer. See docs/tsptw.md.
    """

    distances: Matrix
    ready: Times
    due: Times
    objective: str = "cost"
    urgent: bool = False
    avoid_late: bool = True
    name: str | None = field(default=None, init=False, compare=False)  # how it is shown
    rebuilds: bool = field(default=False, init=False, compare=False)  # whether the name says all about the instance

    def __post_init__(self) -> None:
        object.__setattr__(self, "ready", _numbers(self.ready, "ready", "a ready time"))
        object.__setattr__(self, "due", _numbers(self.due, "due", "a due time"))
        object.__setattr__(self, "distances", _matrix(self.distances))
        if not 1 <= len(self.distances) <= MAX_NODES:
            raise InputError(f"distances has {len(self.distances)} rows; allowed are 1 to {MAX_NODES:,}")
        for what, length in (
            *((f"row {i} of distances", len(row)) for i, row in enumerate(self.distances)),
            ("ready", len(self.ready)),
            ("due", len(self.due)),
        ):
            if length != self.nodes:
                raise InputError(
                    f"{what} has {numbers(length)}; {self.nodes} are needed, as many as distances has rows"
                )
        for node, (opens, closes) in enumerate(zip(self.ready, self.due, strict=True)):
            check_window(opens, closes, node)
        check_choice("objective", self.objective, OBJECTIVES)
        for option in ("urgent", "avoid_late"):
            if not isinstance(getattr(self, option), bool):
                raise InputError(f"{option} is {short(getattr(self, option))}; allowed are True and False")

    def __getstate__(self) -> dict[str, Any]:
        """Leave the engine, and what else is computed when it is wanted, out of pickles and copies."""
        return {item.name: getattr(self, item.name) for item in fields(self)}

    # Making instances

    @classmethod
    def parse(cls, text: str, **options: Any) -> "TSPTW":
        """Return the instance written in a text: nodes, matrix, windows; see docs/formats.md."""
        return cls(*tsptw_text.parse(text, "the instance"), **options)

    @classmethod
    def load(cls, path: str | Path, **options: Any) -> "TSPTW":
        """Return the instance in a text file; its name is the file's."""
        name = Path(path).name.removesuffix(".txt")
        built = cls(*tsptw_text.parse(data.read_text(path, "an instance", tsptw_text.MAX_BYTES), str(path)), **options)
        return built._named(name if _is_name(name) else None)

    @classmethod
    def random(cls, n: int = USUAL_N, width: int = USUAL_WIDTH, seed: int = 0, **options: Any) -> "TSPTW":
        """Return a random instance that has a feasible tour; the same arguments give the same one everywhere.

        Depot and customers are points of whole coordinates, uniformly in a square of side 100. Distances are rounded up
        to whole numbers: so the triangle inequality stays, and sums are exact. The customers are visited in random
        order, and around each arrival a window of random length, at most ``width``, is opened.

        Parameters
        ----------
        n
            How many customers there are, 1 to 999.
        width
            The longest window, 0 to 1,000,000.
        seed
            Of the random numbers.
        options
            ``objective``, ``urgent`` and ``avoid_late``.
        """
        n = check_integer("n", n, 1, MAX_NODES - 1)
        width = check_integer("width", width, 0, 10**6)
        seed = check_integer("seed", seed, 0, 2**64 - 1)
        instance, _ = _generate(n, width, seed)
        shape = {"n": (n, USUAL_N), "width": (width, USUAL_WIDTH)}
        changed = [f",{key}={value}" for key, (value, usual) in shape.items() if value != usual]
        return cls(*instance, **options)._named(f"random:{seed}" + "".join(changed), rebuilds=True)

    @classmethod
    def parse_name(cls, which: str, options: Mapping[str, str]) -> "TSPTW":
        """Return the instance that ``tsptw:WHICH,OPTION=VALUE...`` names."""
        given = dict(options)
        kept: dict[str, Any] = {key: given.pop(key) for key in ("objective",) if key in given}
        kept |= {key: _yes(key, given.pop(key)) for key in ("urgent", "avoid_late") if key in given}
        kind, _, seed = which.partition(":")
        shape = {}
        if kind == "random":
            shape = {key: whole_number(key, given.pop(key)) for key in ("n", "width") if key in given}
        if given:
            raise InputError(f"unknown option {next(iter(given))!r}; 'playout problems' lists what each problem takes")
        if kind == "random":
            return cls.random(**shape, seed=whole_number("the seed of tsptw:random:SEED", seed), **kept)
        return cls.load(data.find("tsptw", which), **kept)

    def to_text(self) -> str:
        """Return the instance in the standard text format."""
        return tsptw_text.write(self.distances, self.ready, self.due)

    def save(self, path: str | Path) -> None:
        """Write the instance in the standard text format."""
        from playout.result import write_whole  # results know problems, not the other way round

        try:
            write_whole(Path(path), self.to_text())
        except OSError as error:
            raise InputError(f"cannot write {str(path)!r}: {error.strerror}") from None

    # As a problem

    @property
    def nodes(self) -> int:
        """How many places there are, the depot included."""
        return len(self.distances)

    @property
    def temperature(self) -> float:
        return 1.4

    def variants(self) -> list["TSPTW"]:
        return [self]

    @cached_property
    def _engine(self) -> _core.Problem:
        return _core.tsptw(
            distances=[distance for row in self.distances for distance in row],
            ready=list(self.ready),
            due=list(self.due),
            makespan=self.objective == "makespan",
            urgent=self.urgent,
            avoid_late=self.avoid_late,
        )

    def engine(self) -> _core.Problem:
        return self._engine

    def decode(self, moves: Sequence[int]) -> list[int]:
        return list(moves)

    def encode(self, moves: Sequence[Any]) -> list[int]:
        return [customer(move, self.nodes, "a move") for move in moves]

    @cached_property
    def impossible(self) -> str | None:
        """Why every tour misses a window, where that is easily proven; None says nothing."""
        from playout.problems.tsptw_proof import why_impossible  # numpy takes longer to import than all the rest

        return why_impossible(self.distances, self.ready, self.due)

    def tour(self, moves: Sequence[Any]) -> Tour:
        """Return the stops of a sequence of customers; the return is among them once all have been visited."""
        return tour(self.distances, self.ready, self.due, moves)

    def replay(self, moves: Sequence[Any]) -> tuple[float, dict[str, Any]]:
        """Return score and detail of a tour, by the plain rules.

        Detail has ``cost``, ``makespan``, ``violations``, ``missed`` (the windows missed), ``feasible`` and
        ``finished``; ``impossible`` is there only if it is proven that every tour misses a window, and says why. Of a
        sequence that is not finished all is as far as it goes, without the return.

        Raises
        ------
        InputError
            If there is no such customer, or it was visited before, with the number of the move.
        """
        done = self.tour(moves)
        violations = len(done.missed)
        value = done.cost if self.objective == "cost" else done.makespan
        detail: dict[str, Any] = {
            "cost": done.cost,
            "makespan": done.makespan,
            "violations": violations,
            "missed": [_as_json(stop) for stop in done.missed],
            "feasible": done.finished and not violations,
            "finished": done.finished,
        }
        if self.impossible is not None:
            detail["impossible"] = self.impossible
        return -(value + PENALTY * violations), detail

    def to_json(self) -> str | dict[str, Any]:
        if self.rebuilds:
            return f"tsptw:{self.name}{self._options()}"
        return {
            "kind": "tsptw",
            "name": self.name,
            "distances": [list(row) for row in self.distances],
            "ready": list(self.ready),
            "due": list(self.due),
            "objective": self.objective,
            "urgent": self.urgent,
            "avoid_late": self.avoid_late,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "TSPTW":
        arrays = [data.get(key) for key in ("distances", "ready", "due")]
        if not all(isinstance(array, list) for array in arrays):
            raise InputError("'problem' has no distances, ready and due times")
        name = data.get("name")
        if name is not None and not _is_name(name):
            raise InputError(f"the name of 'problem' is {short(name)}; allowed are 1 to 100 printable characters")
        options = {key: data[key] for key in ("objective", "urgent", "avoid_late") if key in data}
        distances, ready, due = arrays
        return cls(distances, ready, due, **options)._named(name)  # type: ignore[arg-type]

    # Showing itself

    def __repr__(self) -> str:
        return f"<TSPTW {self.describe()}>"

    def describe(self) -> str:
        """The instance in a few words."""
        if self.name is None:
            return f"tsptw of {self.nodes} nodes{self._options()}"
        return f"tsptw:{self.name}{self._options()}"

    def draw(self, moves: Sequence[Any] = (), step: int | None = None) -> "RenderableType":
        from playout.problems import tsptw_drawing  # rich takes longer to import than all the rest

        return tsptw_drawing.draw(self, moves, step)

    def to_html(self, moves: Sequence[Any] = ()) -> str:
        from playout.problems import tsptw_picture

        return tsptw_picture.to_html(self, moves)

    def to_svg(self, moves: Sequence[Any], title: str) -> str:
        from playout.problems import tsptw_picture

        return tsptw_picture.to_svg(self, moves, title)

    def to_page(self, moves: Sequence[Any], title: str, about: str) -> str:
        from playout.problems import tsptw_picture

        return tsptw_picture.to_page(self, moves, title, about)

    def _repr_html_(self) -> str:
        return self.to_html()

    def _options(self) -> str:
        objective = f",objective={self.objective}" if self.objective != "cost" else ""
        return objective + (",urgent=yes" if self.urgent else "") + ("" if self.avoid_late else ",avoid_late=no")

    def _named(self, name: str | None, rebuilds: bool = False) -> "TSPTW":
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "rebuilds", rebuilds)
        return self


# Random instances


def _generate(n: int, width: int, seed: int) -> tuple[tuple[Matrix, Times, Times], list[int]]:
    """Return a random instance, and the tour that it was made around."""
    draws = uniforms(seed, n, width, 0)

    def draw(most: int) -> int:
        return int(next(draws) * (most + 1))

    points = [(draw(SIDE), draw(SIDE)) for _ in range(n + 1)]
    order = list(range(1, n + 1))
    for i in range(n - 1, 0, -1):
        j = draw(i)
        order[i], order[j] = order[j], order[i]
    distances = tuple(tuple(float(_distance(a, b)) for b in points) for a in points)
    ready, due, time = [0.0] * (n + 1), [0.0] * (n + 1), 0.0
    for here, to in pairwise([0, *order, 0]):
        time += distances[here][to]
        length = draw(width)
        ready[to] = max(0.0, time - draw(length)) if to else 0.0
        due[to] = ready[to] + length if to else time + length
    return (distances, tuple(ready), tuple(due)), order


def _distance(a: tuple[int, int], b: tuple[int, int]) -> int:
    """Return the distance of two points, rounded up, in whole numbers: no library's square root has a say."""
    squared = (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2
    return isqrt(squared - 1) + 1 if squared else 0


# Small conversions with messages


def _matrix(rows: Any) -> Matrix:
    try:
        rows = list(rows)
    except TypeError:
        raise InputError(f"distances is {short(rows)}; rows of numbers are needed") from None
    return tuple(_numbers(row, f"row {number} of distances", "a distance") for number, row in enumerate(rows))


def _numbers(values: Any, what: str, one: str) -> Times:
    try:
        values = list(values)
    except TypeError:
        raise InputError(f"{what} is {short(values)}; a sequence of numbers is needed") from None
    return tuple(check_number(one, value, 0.0, MAX_VALUE) for value in values)


def _as_json(stop: Stop) -> dict[str, Any]:
    return {"customer": stop.customer, "due": stop.due, "arrival": stop.arrival, "late": stop.late}


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and 0 < len(name) <= 100 and name.isprintable()


def _yes(name: str, text: str) -> bool:
    return check_choice(name, text, ("yes", "no")) == "yes"
