"""m,n,k games, and tic-tac-toe among them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from playout import _core
from playout.errors import InputError, check_integer
from playout.problems.board_game import BoardGame, numbers_of

MAX_SIDE = 19


@dataclass(frozen=True)
class MNK(BoardGame):
    """An m,n,k game: who first has k in a row, across, up or diagonally, wins; a full board is a draw.

    Parameters
    ----------
    m, n
        Columns and rows of the board, from 1 to 19.
    k
        How many in a row win, from 1 to 19; more also win.

    Notes
    -----
    A move is written as column and row, ``"a1"`` at the lower left.
    """

    m: int
    n: int
    k: int

    players: ClassVar[tuple[str, str]] = ("X", "O")
    colours: ClassVar[tuple[str, str]] = ("#d55e00", "#0072b2")

    def __post_init__(self) -> None:
        for name in ("m", "n", "k"):
            object.__setattr__(self, name, check_integer(name, getattr(self, name), 1, MAX_SIDE))
        object.__setattr__(self, "width", self.m)
        object.__setattr__(self, "height", self.n)

    def _make(self) -> _core.Problem:
        return _core.mnk(self.m, self.n, self.k)

    def to_json(self) -> str:
        return "tictactoe" if self == TicTacToe() else f"mnk:{self.m}x{self.n}x{self.k}"

    @classmethod
    def parse_name(cls, which: str, options: Mapping[str, str]) -> "MNK":
        """Return the game that ``mnk:WHICH`` names."""
        return cls(*numbers_of("mnk:15x15x5", which, options))


def TicTacToe() -> MNK:  # noqa: N802 (it stands for a class)
    """Tic-tac-toe: the m,n,k game 3,3,3."""
    return MNK(3, 3, 3)


def parse_tic_tac_toe(which: str, options: Mapping[str, str]) -> MNK:
    """Return the game that ``tictactoe`` names."""
    if which or options:
        raise InputError("there is one tictactoe, without options; mnk:WxHxK is any other")
    return TicTacToe()
