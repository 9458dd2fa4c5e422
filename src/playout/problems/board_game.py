"""What the built-in games for two players have in common."""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

from playout import _core
from playout.errors import InputError, short, whole_number

if TYPE_CHECKING:
    from rich.console import RenderableType

LETTERS = "abcdefghijklmnopqrstuvwxyz"


class BoardGame:
    """A game on a board of cells, player 0 to move first; a game is a frozen dataclass on top of this.

    The score of a sequence of moves is 1 if player 0 has won, -1 if player 1 has, and else 0.

    A move is written as the cell's column, a letter from the left, and its row, a number from 1: ``"b2"``. A game whose
    moves are something else has its own ``_written`` and ``_number``.
    """

    temperature: ClassVar[float] = 1.0
    players: ClassVar[tuple[str, str]]  # their names; the first letters are shown on the board
    colours: ClassVar[tuple[str, str]]  # of the stones
    rows_go_down: ClassVar[bool] = False  # whether row 1 is the highest, rather than the lowest
    is_slanted: ClassVar[bool] = False  # whether each row is shown half a cell to the right of the one above

    width: int  # columns of the board
    height: int  # rows

    def _make(self) -> _core.Problem:
        raise NotImplementedError

    def to_json(self) -> str | dict[str, Any]:
        raise NotImplementedError

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Any:
        raise InputError(f"'problem' is {short(data)}; a game is named by a string")

    @cached_property
    def _engine(self) -> _core.Problem:
        return self._make()

    def __getstate__(self) -> dict[str, Any]:
        """Leave the engine out of pickles and copies; it is made again when it is wanted."""
        return {key: value for key, value in vars(self).items() if key != "_engine"}

    def engine(self) -> _core.Problem:
        return self._engine

    def variants(self) -> Sequence[Any]:
        return [self]

    # Moves

    def decode(self, moves: Sequence[int]) -> list[Any]:
        return [self._written(move) for move in moves]

    def encode(self, moves: Sequence[Any]) -> list[int]:
        return [self._number(move) for move in moves]

    def _written(self, move: int) -> Any:
        row, column = divmod(move, self.width)
        return f"{LETTERS[column]}{row + 1}"

    def _number(self, move: Any) -> int:
        found = re.fullmatch("([a-z])([1-9][0-9]?)", move.lower()) if isinstance(move, str) else None
        column, row = (LETTERS.index(found[1]), int(found[2]) - 1) if found else (self.width, 0)
        if column >= self.width or row >= self.height:
            raise InputError(f"there is no move {short(move)}; moves are a1 to {LETTERS[self.width - 1]}{self.height}")
        return row * self.width + column

    # The rules

    def replay(self, moves: Sequence[Any]) -> tuple[float, dict[str, Any]]:
        """Play a sequence of moves.

        Returns
        -------
        tuple
            The score, and ``finished`` (is the game over) and ``winner`` (the name of who has won, or None).

        Raises
        ------
        InputError
            If a move is not legal, with its number.
        """
        position = self.position(moves)
        score = position.score()
        winner = None if score == 0 else self.players[score < 0]
        return score, {"finished": not position.moves(), "winner": winner}

    def position(self, moves: Sequence[Any] = ()) -> _core.Position:
        """Return the engine's position after some moves."""
        position = _core.Position(self.engine())
        for count, (move, number) in enumerate(zip(moves, self.encode(moves), strict=True), 1):
            try:
                position.play(number)
            except ValueError:
                why = "is not legal there" if position.moves() else "comes after the end of the game"
                raise InputError(f"move {count}, {short(move)}, {why}") from None
        return position

    # Showing itself

    def describe(self) -> str:
        """The game in a few words."""
        return str(self.to_json())

    def draw(self, moves: Sequence[Any] = (), step: int | None = None) -> "RenderableType":
        """Return the board after the moves, or after the first of them, for a terminal; the last one is in brackets."""
        from playout.problems import board_game_drawing  # rich takes longer to import than all the rest

        return board_game_drawing.draw(self, moves, step)

    def to_html(self, moves: Sequence[Any] = ()) -> str:
        """Return the board after the moves as an SVG picture; the last one has a ring."""
        position, last = self.position(moves), self.last_cell(moves)
        size, across = 24, self.width + (self.height - 1) / 2 * self.is_slanted
        parts = []
        for row in range(self.height):
            down = row if self.rows_go_down else self.height - 1 - row
            for column in range(self.width):
                x, y = (column + down / 2 * self.is_slanted) * size, down * size
                stone = position.cell(column, row)
                fill = self.colours[stone - 1] if stone else "none"
                ring = "#000" if (column, row) == last else "none"
                parts.append(f'<rect x="{x:g}" y="{y}" width="{size}" height="{size}" fill="none" stroke="#999"/>')
                if stone:
                    parts.append(
                        f'<circle cx="{x + size / 2:g}" cy="{y + size / 2:g}" r="{size / 3:g}" fill="{fill}"'
                        f' stroke="{ring}" stroke-width="3"><title>{escape(self.players[stone - 1])}</title></circle>'
                    )
        box = f'viewBox="-1 -1 {across * size + 2:g} {self.height * size + 2}"'
        shape = f'width="{across * size + 2:g}" height="{self.height * size + 2}"'
        return f'<svg xmlns="http://www.w3.org/2000/svg" {box} {shape}>{"".join(parts)}</svg>'

    def last_cell(self, moves: Sequence[Any]) -> tuple[int, int] | None:
        """Column and row of the last move's stone, from 0; None if there is none."""
        if not moves:
            return None
        row, column = divmod(self._number(moves[-1]), self.width)
        return column, row

    def column_names(self) -> Sequence[str]:
        return LETTERS[: self.width]

    def _repr_html_(self) -> str:
        return self.to_html()


def numbers_of(form: str, which: str, options: Mapping[str, str]) -> list[int]:
    """Return the whole numbers of a name that should look like the form, such as ``mnk:15x15x5``; it has no options."""
    if options:
        raise InputError(f"unknown option {next(iter(options))!r}; 'playout problems' lists what each problem takes")
    words = which.split("x")
    if len(words) != form.count("x", form.index(":")) + 1:
        raise InputError(f"{short(which)} is not which game; write it as in {form}")
    return [whole_number(f"a number of {form}", word) for word in words]
