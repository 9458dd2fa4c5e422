"""SameGame: boards, where they come from, their text format, and replaying a sequence of moves."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import resources
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playout import _core
from playout.data import read_text, split_lines
from playout.errors import InputError, check_choice, check_integer, short, whole_number
from playout.problems import same_game_picture
from playout.problems.same_game_rules import Cell, cells_of, group, without
from playout.random import uniforms

if TYPE_CHECKING:
    from rich.console import RenderableType

LEFTOVER = {
    "none": _core.Leftover.none,
    "total": _core.Leftover.total,
    "per_colour": _core.Leftover.per_colour,
}
MAX_SIDE, MAX_COLOURS, MAX_BYTES = 20, 9, 1 << 20
MOVE_BASE = 32  # the engine's move is column * 32 + row


@dataclass(frozen=True)
class SameGame:
    """A SameGame board and how it is to be searched.

    A move removes a group of n >= 2 orthogonally connected cells of one colour and scores (n - 2)^2. Cells fall, empty
    columns close to the left, clearing the board scores 1000 more, and no moves left ends the game.

    Parameters
    ----------
    rows
        The board: rows of colours 0 to 8, top row first, leftmost column first; at most 20 x 20.
    tabu
        The colour that the selective policy avoids: its moves are left out, except those of size two once more than ten
        moves have been played, and unless nothing else is legal. ``"dominant"`` is the colour with most cells (the
        lowest of equals), the papers' choice; ``"none"`` leaves nothing out; or a colour. ``"auto"`` tries every colour
        of the board and gives most of the playouts to those that do best: what to take unless you know better.
    leftover_penalty
        Points off for the cells left at the end: ``"none"``, ``"total"`` ((n - 2)^2 for n cells) or ``"per_colour"``
        (the sum of (n - 2)^2 over the colours left).

    Notes
    -----
    A move is written ``(column, row)``: the leftmost, then lowest cell of the group before the move, column 0 at the
    left and row 0 at the bottom.
    """

    rows: tuple[tuple[int, ...], ...]
    tabu: str | int = "dominant"
    leftover_penalty: str = "none"
    name: str | None = field(default=None, init=False, compare=False)  # what rebuilds the board, if anything does

    def __post_init__(self) -> None:
        try:
            rows = [list(row) for row in self.rows]
        except TypeError:
            raise InputError(f"rows is {short(self.rows)}; a board is rows of colours 0 to 8") from None
        object.__setattr__(self, "rows", tuple(tuple(map(_colour, row)) for row in rows))
        check_rows(self.rows)
        if isinstance(self.tabu, str):
            if self.tabu not in ("auto", "dominant", "none"):
                raise InputError(
                    f"tabu is {short(self.tabu)}; allowed are auto, dominant, none or a colour from 0 to 8"
                )
        else:
            object.__setattr__(self, "tabu", check_integer("tabu", self.tabu, 0, MAX_COLOURS - 1))
        check_choice("leftover_penalty", self.leftover_penalty, LEFTOVER)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the engine out of pickles and copies; it is made again when it is wanted."""
        return {key: value for key, value in vars(self).items() if key != "_engine"}

    # Making boards

    @classmethod
    def standard(cls, number: int, **options: Any) -> "SameGame":
        """Return board 1 to 20 of the standard test suite (15 x 15, five colours)."""
        text = (resources.files("playout.problems") / "data" / "samegame.txt").read_text()
        boards = parse_boards(text, "the standard boards")
        if isinstance(number, bool) or not hasattr(number, "__index__") or int(number) not in boards:
            raise InputError(f"there is no standard board {short(number)}; allowed are 1 to {len(boards)}")
        return cls(boards[int(number)], **options)._named(f"samegame:{int(number)}")

    @classmethod
    def random(cls, width: int = 15, height: int = 15, colours: int = 5, seed: int = 0, **options: Any) -> "SameGame":
        """Return a board of uniformly random colours; the same arguments give the same board everywhere."""
        width = check_integer("width", width, 1, MAX_SIDE)
        height = check_integer("height", height, 1, MAX_SIDE)
        colours = check_integer("colours", colours, 1, MAX_COLOURS)
        seed = check_integer("seed", seed, 0, 2**64 - 1)
        numbers = uniforms(seed, width, height, colours)
        rows = tuple(tuple(int(u * colours) for u in islice(numbers, width)) for _ in range(height))
        shape = {"width": (width, 15), "height": (height, 15), "colours": (colours, 5)}
        changed = [f",{key}={value}" for key, (value, usual) in shape.items() if value != usual]
        return cls(rows, **options)._named(f"samegame:random:{seed}" + "".join(changed))

    @classmethod
    def parse(cls, text: str, **options: Any) -> "SameGame":
        """Return the board written in a text: rows of digits, or of numbers with spaces between."""
        return cls(_only_board(parse_boards(text, "the board"), "the text"), **options)

    @classmethod
    def load(cls, path: str | Path, board: int | None = None, **options: Any) -> "SameGame":
        """Return a board from a text file; ``board`` says which one if the file has several."""
        boards = parse_boards(read_text(path, "a file of boards", MAX_BYTES), str(path))
        if board is None:
            return cls(_only_board(boards, str(path)), **options)
        if check_integer("board", board, 0, 2**63) not in boards:
            raise InputError(f"{path} has no board {board}; it has {', '.join(map(str, boards))}")
        return cls(boards[board], **options)

    @classmethod
    def parse_name(cls, which: str, options: Mapping[str, str]) -> "SameGame":
        """Return the board that ``samegame:WHICH,OPTION=VALUE...`` names."""
        given = dict(options)
        kept: dict[str, Any] = {}
        if "tabu" in given:
            tabu = given.pop("tabu")
            kept["tabu"] = whole_number("tabu", tabu) if tabu[:1].isdecimal() else tabu
        if "leftover_penalty" in given:
            kept["leftover_penalty"] = given.pop("leftover_penalty")
        if which.lstrip("-").isdigit():
            _no_more(given)
            return cls.standard(whole_number("the number of a standard board", which), **kept)
        kind, _, seed = which.partition(":")
        if kind == "random":
            shape = {key: whole_number(key, given.pop(key)) for key in ("width", "height", "colours") if key in given}
            _no_more(given)
            return cls.random(**shape, seed=whole_number("the seed of samegame:random:SEED", seed), **kept)
        board = whole_number("board", given.pop("board")) if "board" in given else None
        _no_more(given)
        return cls.load(which, board, **kept)

    # As a problem

    @property
    def width(self) -> int:
        return len(self.rows[0])

    @property
    def height(self) -> int:
        return len(self.rows)

    @property
    def temperature(self) -> float:
        return 1.0

    @property
    def tabu_colour(self) -> int | None:
        """The colour that the selective policy avoids, or None; with "auto" the first of those it tries."""
        if self.tabu == "none":
            return None
        return self._colours()[0] if self.tabu in ("auto", "dominant") else int(self.tabu)

    def _colours(self) -> list[int]:
        """The colours of the board, those with most cells first, the lowest of equals first."""
        count = Counter(colour for row in self.rows for colour in row)
        return sorted(count, key=lambda colour: (-count[colour], colour))

    def variants(self) -> list["SameGame"]:
        if self.tabu != "auto":
            return [self]
        return [self.with_options(tabu=colour) for colour in self._colours()]

    @cached_property
    def _engine(self) -> _core.Problem:
        tabu = self.tabu_colour
        return _core.same_game(
            width=self.width,
            height=self.height,
            cells=[colour + 1 for row in reversed(self.rows) for colour in row],
            tabu=0 if tabu is None else tabu + 1,
            leftover=LEFTOVER[self.leftover_penalty],
        )

    def engine(self) -> _core.Problem:
        return self._engine

    def decode(self, moves: Sequence[int]) -> list[Cell]:
        return [divmod(move, MOVE_BASE) for move in moves]

    def encode(self, moves: Sequence[Any]) -> list[int]:
        return [column * MOVE_BASE + row for column, row in map(_cell, moves)]

    def to_json(self) -> str | dict[str, Any]:
        if self.name is None:
            return {
                "kind": "samegame",
                "rows": [list(row) for row in self.rows],
                "tabu": self.tabu,
                "leftover_penalty": self.leftover_penalty,
            }
        tabu = f",tabu={self.tabu}" if self.tabu != "dominant" else ""
        penalty = f",leftover_penalty={self.leftover_penalty}" if self.leftover_penalty != "none" else ""
        return self.name + tabu + penalty

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "SameGame":
        rows = data.get("rows")
        if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
            raise InputError("'problem' has no rows of colours")
        tabu, penalty = data.get("tabu", "dominant"), data.get("leftover_penalty", "none")
        if not isinstance(penalty, str):
            raise InputError(f"leftover_penalty is {penalty!r}; allowed are {', '.join(LEFTOVER)}")
        return cls(tuple(map(tuple, rows)), tabu, penalty)

    # The rules, in plain Python

    def replay(self, moves: Sequence[Any]) -> tuple[float, dict[str, Any]]:
        """Play a sequence by the plain rules.

        Returns
        -------
        tuple
            The score, and ``cleared`` (is the board empty), ``left`` (how many cells are not) and ``finished`` (is no
            move left).

        Raises
        ------
        InputError
            If a move is not legal, with its number.
        """
        *_, (columns, score) = self.positions(moves)
        left = [colour for column in columns for colour in column]
        if not left:
            score += 1000
        elif self.leftover_penalty == "total":
            score -= (len(left) - 2) ** 2
        elif self.leftover_penalty == "per_colour":
            score -= sum((n - 2) ** 2 for n in Counter(left).values())
        finished = all(len(group(columns, cell)) < 2 for cell in cells_of(columns))
        return float(score), {"cleared": not left, "left": len(left), "finished": finished}

    def positions(self, moves: Sequence[Any]) -> Iterator[tuple[list[list[int]], int]]:
        """Yield the columns (bottom first) and the points so far: at the start and after each move."""
        columns, score = [list(column) for column in zip(*reversed(self.rows), strict=True)], 0
        yield columns, score
        for number, move in enumerate(moves, 1):
            cells = group(columns, _cell(move))
            if len(cells) < 2:
                raise InputError(f"move {number}, {list(_cell(move))}, is not legal there: no group of two or more")
            if min(cells) != _cell(move):
                raise InputError(f"move {number}, {list(_cell(move))}, should name its group as {list(min(cells))}")
            columns = without(columns, cells)
            score += (len(cells) - 2) ** 2
            yield columns, score

    # Showing itself

    def __str__(self) -> str:
        return "\n".join("".join(map(str, row)) for row in self.rows)

    def describe(self) -> str:
        """The board in a few words."""
        name = self.to_json()
        if isinstance(name, str):
            return name
        return f"samegame {self.width} x {self.height}"

    def draw(self, moves: Sequence[Any] = (), step: int | None = None) -> "RenderableType":
        from playout.problems import same_game_drawing  # rich takes longer to import than all the rest

        return same_game_drawing.draw(self, moves, step)

    def to_html(self, moves: Sequence[Any] = ()) -> str:
        return same_game_picture.to_html(self, moves)

    def to_svg(self, moves: Sequence[Any], title: str) -> str:
        return same_game_picture.to_svg(self, moves, title)

    def to_page(self, moves: Sequence[Any], title: str, about: str) -> str:
        return same_game_picture.to_page(self, moves, title, about)

    def _repr_html_(self) -> str:
        return self.to_html()

    def with_options(self, tabu: str | int | None = None, leftover_penalty: str | None = None) -> "SameGame":
        """Return the same board with another tabu colour or leftover penalty."""
        tabu = self.tabu if tabu is None else tabu
        penalty = self.leftover_penalty if leftover_penalty is None else leftover_penalty
        return SameGame(self.rows, tabu, penalty)._named(self.name)

    def _named(self, name: str | None) -> "SameGame":
        object.__setattr__(self, "name", name)
        return self


# The text format


def parse_boards(text: str, source: str) -> dict[int, tuple[tuple[int, ...], ...]]:
    """Read boards: rows top first, a line ``board N`` before each if there are several, ``#`` for comments.

    Raises
    ------
    InputError
        With the source and the line, if a row is not a row.
    """
    blocks: dict[int, list[tuple[int, ...]]] = {}
    number, first = 1, 1
    for count, line in enumerate(split_lines(text), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if words[0] == "board":
            number, first = _heading(words, f"{source}, line {count}"), count
            if number in blocks:
                raise InputError(f"{source}, line {count}: board {number} is there twice")
            blocks[number] = []
            continue
        row = _row(words, f"{source}, line {count}")
        rows = blocks.setdefault(number, [])
        if rows and len(row) != len(rows[0]):
            raise InputError(
                f"{source}, line {count}: this row has {len(row)} cells, the rows above have {len(rows[0])}"
            )
        rows.append(row)
    if not blocks:
        raise InputError(f"{source} has no cells; a board is rows of colours 0 to 8")
    for number, rows in blocks.items():
        check_rows(rows, f"{source}, board {number}" if first > 1 or len(blocks) > 1 else source)
    return {number: tuple(rows) for number, rows in blocks.items()}


def check_rows(rows: Sequence[Sequence[int]], source: str = "the board") -> None:
    """Raise unless the rows are a board: not empty, equally long, at most 20 x 20."""
    if not rows or not rows[0]:
        raise InputError(f"{source} has no cells; a board is rows of colours 0 to 8")
    lengths = [length for length, _ in groupby(map(len, rows))]
    if len(lengths) > 1:
        raise InputError(f"{source} has rows of {lengths[0]} and of {lengths[1]} cells; all must be equally long")
    if len(rows) > MAX_SIDE or lengths[0] > MAX_SIDE:
        raise InputError(f"{source} is {lengths[0]} x {len(rows)}; at most {MAX_SIDE} x {MAX_SIDE} is allowed")


def _heading(words: Sequence[str], where: str) -> int:
    if len(words) != 2:
        raise InputError(f"{where}: {' '.join(words)[:40]!r} should be 'board' and its number")
    return whole_number(f"{where}: the number of the board", words[1])


def _row(words: Sequence[str], where: str) -> tuple[int, ...]:
    cells = list(words[0]) if len(words) == 1 else words
    for cell in cells:
        if cell not in "012345678" or len(cell) != 1:
            raise InputError(f"{where}: {cell[:20]!r} is not a colour; allowed are 0 to {MAX_COLOURS - 1}")
    return tuple(map(int, cells))


def _only_board(boards: Mapping[int, tuple[tuple[int, ...], ...]], source: str) -> tuple[tuple[int, ...], ...]:
    if len(boards) > 1:
        raise InputError(f"{source} has {len(boards)} boards; choose one of {', '.join(map(str, boards))} by board=N")
    return next(iter(boards.values()))


# Small conversions with messages


def _colour(value: Any) -> int:
    return check_integer("a colour", value, 0, MAX_COLOURS - 1)


def _cell(move: Any) -> Cell:
    try:
        column, row = move
    except (TypeError, ValueError):
        raise InputError(f"a SameGame move is [column, row], not {short(move)}") from None
    most = MAX_SIDE - 1
    return check_integer("the column of a move", column, 0, most), check_integer("the row of a move", row, 0, most)


def _no_more(options: Mapping[str, str]) -> None:
    if options:
        raise InputError(f"unknown option {next(iter(options))!r}; 'playout problems' lists what each problem takes")
