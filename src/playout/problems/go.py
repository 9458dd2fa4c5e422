"""Go: boards, rules, vertices as in the Go Text Protocol, and the score with dead stones."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from playout import _core
from playout.errors import InputError, check_choice, check_integer, check_number, short, whole_number
from playout.problems import go_picture

if TYPE_CHECKING:
    from rich.console import RenderableType

KO = {"simple": _core.Ko.simple, "positional": _core.Ko.positional, "situational": _core.Ko.situational}
PLAYERS = ("black", "white")
PLAYOUTS = ("light", "heavy")
MAX_SIDE, MAX_KOMI = 25, 10_000
MAX_SEED = 2**64 - 1
LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"  # of the columns; there is no I
# Where handicap stones go, each as column and row: 0 near the left or the bottom, 1 in the middle, 2 at the other side.
HANDICAP = {
    2: "00 22",
    3: "00 22 02",
    4: "00 22 02 20",
    5: "00 22 02 20 11",
    6: "00 22 02 20 01 21",
    7: "00 22 02 20 01 21 11",
    8: "00 22 02 20 01 21 10 12",
    9: "00 22 02 20 01 21 10 12 11",
}


@dataclass(frozen=True)
class Score:
    """The area of both, and what Black is ahead by when komi is taken off."""

    black: int
    white: int
    margin: float


@dataclass(frozen=True)
class Go:
    """Go, by area: two passes in a row end the game, and an empty region belongs to the colour that alone surrounds it.

    Parameters
    ----------
    width, height
        Of the board, 1 to 25; without a height it is square.
    komi
        Points for White.
    ko
        ``"simple"``: a ko may not be retaken at once. ``"positional"``: no move may repeat an earlier position of the
        board. ``"situational"``: the same, if the same player is to move in both.
    suicide
        Whether a move may take off the player's own stones. One that takes off a single stone changes nothing: the
        positional rule never allows it.
    handicap
        Black stones at the fixed places of the Go Text Protocol: 2 to 9 on odd boards of 9 and more, 2 to 4 on others
        from 7 on. White moves first then.
    black, white
        Vertices of stones that are there at the start.
    first
        Who moves first, ``"black"`` or ``"white"``; without it White after handicap stones, else Black.
    playouts
        ``"light"``: random moves. ``"heavy"``: answers to the last moves first (captures, escapes, shapes), and priors
        in the tree; fewer playouts, and much better ones.

    Notes
    -----
    A move is a vertex such as ``"D4"``, the column (without I) and the row from the bottom, or ``"pass"``.
    """

    width: int = 19
    height: int = None  # type: ignore[assignment]  # the width
    komi: float = 7.5
    ko: str = "positional"
    suicide: bool = False
    handicap: int = 0
    black: tuple[str, ...] = ()
    white: tuple[str, ...] = ()
    first: str | None = None
    playouts: str = "light"

    def __post_init__(self) -> None:
        height = self.width if self.height is None else self.height
        self._set("width", check_integer("width", self.width, 1, MAX_SIDE))
        self._set("height", check_integer("height", height, 1, MAX_SIDE))
        self._set("komi", check_number("komi", self.komi, -MAX_KOMI, MAX_KOMI))
        check_choice("ko", self.ko, KO)
        check_choice("playouts", self.playouts, PLAYOUTS)
        if not isinstance(self.suicide, bool):
            raise InputError(f"suicide is {short(self.suicide)}; allowed are True and False")
        self._set("handicap", self._checked_handicap())
        if self.first is not None:
            check_choice("first", self.first, PLAYERS)
        for field in PLAYERS:
            self._set(field, self._vertices(field, getattr(self, field)))
        if self.handicap and (self.black or self.white):
            raise InputError(f"handicap is {self.handicap}; it does not go with stones of black or white")
        self._check_stones()

    def _set(self, field: str, value: Any) -> None:
        object.__setattr__(self, field, value)

    def _checked_handicap(self) -> int:
        side, most = self.width, self.most_handicap()
        whole = not isinstance(self.handicap, bool) and hasattr(self.handicap, "__index__")
        if not whole or (self.handicap != 0 and not 2 <= self.handicap <= most):
            allowed = f"0 and 2 to {most} on {side} x {side}" if most else "0, and more on square boards from 7 on"
            raise InputError(f"handicap is {short(self.handicap)}; allowed are {allowed}")
        return int(self.handicap)

    def _vertices(self, field: str, value: Any) -> tuple[str, ...]:
        if isinstance(value, str) or not isinstance(value, Collection):
            raise InputError(f"{field} is {short(value)}; allowed are vertices such as ('D4', 'E5')")
        points = [self._point(vertex, f"a stone of {field}") for vertex in value]
        return tuple(self.decode(sorted(points)))

    def _check_stones(self) -> None:
        stones = [*self.black, *self.white]
        twice = [vertex for vertex, count in Counter(stones).items() if count > 1]
        if twice:
            raise InputError(f"there are two stones on {twice[0]}; a point has room for one")
        cells, seen = self._start(), set[int]()
        for point, colour in enumerate(cells):
            if colour and point not in seen:
                chain, around = self.region(cells, point)
                seen |= chain
                if 0 not in around:
                    vertex = self.decode([point])[0]
                    raise InputError(f"the {PLAYERS[colour - 1]} stone on {vertex} has no liberty; all stones need one")

    def _start(self) -> list[int]:
        """Whose stone is on each point before the first move: 0 none, 1 Black's, 2 White's."""
        cells = [0] * (self.width * self.height)
        for colour, stones in enumerate((self.black, self.white), 1):
            for point in self.encode(stones):
                cells[point] = colour
        return cells

    def __getstate__(self) -> dict[str, Any]:
        """Leave the engine out of pickles and copies; it is made again when it is wanted."""
        return {key: value for key, value in vars(self).items() if key != "_engine"}

    @classmethod
    def parse_name(cls, which: str, options: Mapping[str, str]) -> "Go":
        """Return the game that ``go:WIDTHxHEIGHT,OPTION=VALUE...`` names."""
        width, times, height = which.partition("x")
        kept: dict[str, Any] = {"width": whole_number("the width of go:WIDTH", width)}
        if times:
            kept["height"] = whole_number("the height of go:WIDTHxHEIGHT", height)
        for key, text in options.items():
            if key == "komi":
                kept[key] = _number(key, text)
            elif key in ("ko", "playouts"):
                kept[key] = text
            elif key == "suicide":
                kept[key] = check_choice(key, text, ("yes", "no")) == "yes"
            elif key == "handicap":
                kept[key] = whole_number(key, text)
            else:
                raise InputError(f"unknown option {key!r}; 'playout problems' lists what each problem takes")
        return cls(**kept)

    # As a problem

    @property
    def players(self) -> tuple[str, str]:
        """Who plays, the player who is 0 in the engine first."""
        return PLAYERS

    @property
    def temperature(self) -> float:
        return 1.0

    def variants(self) -> list["Go"]:
        return [self]

    def most_handicap(self) -> int:
        """The most handicap stones that the board has fixed places for; 0 if there are none."""
        side = self.width if self.width == self.height else 0
        return 0 if side < 7 else 9 if side % 2 and side > 7 else 4

    def handicap_stones(self) -> list[str]:
        """The vertices of the handicap stones."""
        edge = 3 if self.width >= 13 else 2
        lines = {"0": edge, "1": self.width // 2, "2": self.width - 1 - edge}
        places = HANDICAP[self.handicap].split() if self.handicap else []
        return self.decode([lines[place[1]] * self.width + lines[place[0]] for place in places])

    def starter(self) -> str:
        """Who moves first: ``first``, or who that is where it is None."""
        return PLAYERS[self.handicap > 0] if self.first is None else self.first

    @cached_property
    def _engine(self) -> _core.Problem:
        return _core.go(
            width=self.width,
            height=self.height,
            komi=self.komi,
            ko=KO[self.ko],
            suicide=self.suicide,
            black=self.encode(self.black or self.handicap_stones()),
            white=self.encode(self.white),
            first=PLAYERS.index(self.starter()),
            heavy=self.playouts == "heavy",
        )

    def engine(self) -> _core.Problem:
        return self._engine

    def decode(self, moves: Sequence[int]) -> list[str]:
        last = self.width * self.height
        return ["pass" if m == last else f"{LETTERS[m % self.width]}{m // self.width + 1}" for m in moves]

    def encode(self, moves: Sequence[Any]) -> list[int]:
        return [self._move(move) for move in moves]

    def _move(self, move: Any) -> int:
        if isinstance(move, str) and move.lower() == "pass":
            return self.width * self.height
        return self._point(move, "a move", ", or 'pass'")

    def _point(self, vertex: Any, name: str, other: str = "") -> int:
        found = re.fullmatch(r"([A-HJ-Z])([1-9][0-9]?)", vertex.upper()) if isinstance(vertex, str) else None
        if found:
            column, row = LETTERS.index(found[1]), int(found[2]) - 1
            if column < self.width and row < self.height:
                return row * self.width + column
        most = f"{LETTERS[self.width - 1]}{self.height}"
        raise InputError(f"{name} is {short(vertex)}; allowed are vertices from 'A1' to {most!r}, without I{other}")

    def to_json(self) -> str | dict[str, Any]:
        usual = Go(self.width, self.height)
        changed = {key: getattr(self, key) for key in vars(usual) if getattr(self, key) != getattr(usual, key)}
        if changed.keys() & {"black", "white", "first"}:
            changed |= {key: list(changed[key]) for key in PLAYERS if key in changed}
            return {"kind": "go", "width": self.width, "height": self.height, **changed}
        words = {True: "yes", False: "no"}
        options = (f",{key}={words[value] if key == 'suicide' else value}" for key, value in changed.items())
        size = f"{self.width}" if self.width == self.height else f"{self.width}x{self.height}"
        return f"go:{size}" + "".join(options)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Go":
        if "width" not in data:
            raise InputError("'problem' has no width of a Go board")
        return cls(**{key: data[key] for key in cls.__dataclass_fields__ if key in data})

    # The rules

    def replay(self, moves: Sequence[Any]) -> tuple[float, dict[str, Any]]:
        """Play a sequence.

        Returns
        -------
        tuple
            The score, what Black is ahead by when komi is taken off and all stones live; and ``finished``, ``winner``
            (``"black"``, ``"white"`` or, before the end and after a draw, None) and ``next``, who is to move.

        Raises
        ------
        InputError
            If a move is not legal, with its number.
        """
        *_, position = self.positions(moves)
        score, finished = position.score(), not position.moves()
        winner = PLAYERS[score < 0] if finished and score != 0 else None
        return score, {"finished": finished, "winner": winner, "next": PLAYERS[position.player()]}

    def positions(self, moves: Sequence[Any]) -> Iterator[_core.Position]:
        """Yield the position at the start and after each move: always the same object."""
        position = _core.Position(self._engine)
        yield position
        for number, move in enumerate(moves, 1):
            point = self._move(move)
            try:
                position.play(point)
            except ValueError:
                if not position.moves():
                    why = "two passes have ended the game"
                elif self._cells(position)[point]:
                    why = "there is a stone"
                else:
                    why = "ko" if self.suicide else "ko or suicide"
                raise InputError(f"move {number}, {self.decode([point])[0]}, is not legal there: {why}") from None
            yield position

    def _cells(self, position: _core.Position) -> list[int]:
        return [position.cell(column, row) for row in range(self.height) for column in range(self.width)]

    def cells(self, moves: Sequence[Any] = ()) -> list[int]:
        """Whose stone is on each point after the moves, row by row from the bottom: 0 none, 1 Black's, 2 White's."""
        *_, position = self.positions(moves)
        return self._cells(position)

    def score(self, moves: Sequence[Any], dead: Collection[str] = ()) -> Score:
        """Count the area after the moves, with dead chains taken off: a vertex of each is enough."""
        cells = self.cells(moves)
        chains = []
        for vertex in dead:
            point = self._point(vertex, "a dead stone")
            if cells[point] == 0:
                raise InputError(f"a dead stone is {short(vertex)}; there is no stone")
            chains.append(self.region(cells, point)[0])
        for point in set().union(*chains):
            cells[point] = 0
        area = [0, 0, 0]
        for point, colour in enumerate(cells):
            around = {colour} if colour else self.region(cells, point)[1]
            area[around.pop() if len(around) == 1 else 0] += 1
        return Score(area[1], area[2], area[1] - area[2] - self.komi)

    def ownership(self, moves: Sequence[Any] = (), *, playouts: int = 200, seed: int = 0) -> list[float]:
        """Whose each point is at the end of playouts after the moves, row by row from the bottom.

        Returns
        -------
        list of float
            From 1, always Black's, to -1, always White's. A game that is over is played on.
        """
        playouts = check_integer("playouts", playouts, 1, 1_000_000)
        *_, position = self.positions(moves)
        return position.ownership(check_integer("seed", seed, 0, MAX_SEED), playouts)

    def neighbours(self, point: int) -> Iterator[int]:
        row, column = divmod(point, self.width)
        for r, c in ((row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column)):
            if 0 <= r < self.height and 0 <= c < self.width:
                yield r * self.width + c

    def region(self, cells: Sequence[int], point: int) -> tuple[set[int], set[int]]:
        """Return the connected points of one colour, and the colours around them."""
        region, around, todo = {point}, set(), [point]
        while todo:
            for other in self.neighbours(todo.pop()):
                if cells[other] != cells[point]:
                    around.add(cells[other])
                elif other not in region:
                    region.add(other)
                    todo.append(other)
        return region, around

    # Showing itself

    def describe(self) -> str:
        """The game in a few words."""
        name = self.to_json()
        return name if isinstance(name, str) else f"go {self.width} x {self.height} with stones"

    def draw(self, moves: Sequence[Any] = (), step: int | None = None) -> "RenderableType":
        return go_picture.draw(self, moves, step)

    def to_html(self, moves: Sequence[Any] = ()) -> str:
        return go_picture.to_html(self, moves)

    def to_svg(self, moves: Sequence[Any], title: str) -> str:
        """Return a picture of the board after the moves, with their numbers on the stones."""
        return go_picture.to_svg([(self, moves)], title)

    def to_page(self, moves: Sequence[Any], title: str, about: str) -> str:
        """Return a page, complete in itself, that replays the moves step by step."""
        return go_picture.to_page([(self, moves)], title, about)

    def _repr_html_(self) -> str:
        return self.to_html()


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{name} is {short(text)}; a number such as 7.5 is needed") from None
