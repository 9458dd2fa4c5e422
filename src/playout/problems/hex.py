"""Hex."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from playout import _core
from playout.errors import check_integer
from playout.problems.board_game import BoardGame, numbers_of

MAX_SIDE = 19


@dataclass(frozen=True)
class Hex(BoardGame):
    """Hex: red, who begins, connects the top to the bottom, blue the left to the right; one of them always does.

    Parameters
    ----------
    side
        Cells along each side of the board, from 1 to 19.

    Notes
    -----
    A move is written as column and row, ``"a1"`` at the upper left. There is no swap rule.
    """

    side: int = 11

    players: ClassVar[tuple[str, str]] = ("red", "blue")
    colours: ClassVar[tuple[str, str]] = ("#d62728", "#1f77b4")
    rows_go_down: ClassVar[bool] = True
    is_slanted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "side", check_integer("side", self.side, 1, MAX_SIDE))
        object.__setattr__(self, "width", self.side)
        object.__setattr__(self, "height", self.side)

    def _make(self) -> _core.Problem:
        return _core.hex(self.side)

    def to_json(self) -> str:
        return f"hex:{self.side}"

    @classmethod
    def parse_name(cls, which: str, options: Mapping[str, str]) -> "Hex":
        """Return the game that ``hex`` or ``hex:SIDE`` names."""
        return cls(*numbers_of("hex:11", which or "11", options))
