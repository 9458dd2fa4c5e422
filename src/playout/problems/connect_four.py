"""Connect Four."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from playout import _core
from playout.errors import InputError, check_integer
from playout.problems.board_game import BoardGame, numbers_of

MAX_SIDE, MAX_BITS = 20, 64


@dataclass(frozen=True)
class ConnectFour(BoardGame):
    """Connect Four: stones fall to the bottom of a column; who first has four in a row, in any direction, wins.

    Parameters
    ----------
    width, height
        Columns and rows of the board, from 1 to 20, with width * (height + 1) at most 64.

    Notes
    -----
    A move is a column: whole numbers from 1 at the left.
    """

    width: int = 7
    height: int = 6

    players: ClassVar[tuple[str, str]] = ("red", "yellow")
    colours: ClassVar[tuple[str, str]] = ("#d62728", "#e6b800")

    def __post_init__(self) -> None:
        for name in ("width", "height"):
            object.__setattr__(self, name, check_integer(name, getattr(self, name), 1, MAX_SIDE))
        if self.width * (self.height + 1) > MAX_BITS:
            raise InputError(
                f"the board is {self.width} x {self.height}; width * (height + 1) may be {MAX_BITS} at most"
            )

    def _make(self) -> _core.Problem:
        return _core.connect_four(self.width, self.height)

    def _written(self, move: int) -> int:
        return move + 1

    def _number(self, move: Any) -> int:
        return check_integer("a move, which is a column,", move, 1, self.width) - 1

    def last_cell(self, moves: Sequence[Any]) -> tuple[int, int] | None:
        numbers = self.encode(moves)
        return (numbers[-1], numbers.count(numbers[-1]) - 1) if numbers else None

    def column_names(self) -> Sequence[str]:
        return [str((column + 1) % 10) for column in range(self.width)]

    def to_json(self) -> str:
        return f"connectfour:{self.width}x{self.height}"

    @classmethod
    def parse_name(cls, which: str, options: Mapping[str, str]) -> "ConnectFour":
        """Return the game that ``connectfour`` or ``connectfour:WHICH`` names."""
        return cls(*numbers_of("connectfour:7x6", which or "7x6", options))
