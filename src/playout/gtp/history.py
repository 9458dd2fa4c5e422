"""The game so far: moves of either colour in any order, taken back or gone on with after the end.

The rules alternate colours and end a game with two passes. Where play does not, a new game begins with the stones that
are there: a History is a list of such parts. The last one is the game in hand, by which legality is judged and which is
searched; what its superko rule has seen begins with it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from playout import _core
from playout.errors import InputError
from playout.gtp.board import PASS
from playout.problems.go import PLAYERS, Go


@dataclass
class _Part:
    game: Go
    moves: list[str] = field(default_factory=list)


class History:
    """A game of Go in hand, and what came before it.

    Parameters
    ----------
    game
        The start: its board, stones and komi.
    moves
        Moves from there.
    """

    def __init__(self, game: Go, moves: Sequence[str] = ()) -> None:
        self._parts = [_Part(game, list(moves))]
        self._position = self._replayed()

    @classmethod
    def after(cls, parts: Sequence[tuple[Go, Sequence[str]]], playouts: str, count: int | None = None) -> "History":
        """Return the history of games that went on from each other, or of their first so many moves."""
        left = sum(len(moves) for _, moves in parts) if count is None else count
        kept: list[_Part] = []
        for game, moves in parts:
            kept.append(_Part(replace(game, playouts=playouts), list(moves[:left])))
            if left < len(moves):
                break
            left -= len(moves)
        history = cls(kept[0].game)
        history._parts = kept
        history._position = history._replayed()
        return history

    @property
    def game(self) -> Go:
        return self._parts[-1].game

    @property
    def moves(self) -> list[str]:
        """The moves since the game in hand began."""
        return list(self._parts[-1].moves)

    @property
    def size(self) -> int:
        return self.game.width

    @property
    def to_move(self) -> str:
        return PLAYERS[self._position.player()]

    @property
    def finished(self) -> bool:
        return self._parts[-1].moves[-2:] == [PASS, PASS]

    @property
    def is_empty(self) -> bool:
        """Whether there is no stone on the board."""
        return not any(self.cells())

    @property
    def count(self) -> int:
        """How many moves were made."""
        return sum(len(part.moves) for part in self._parts)

    def has_passed(self, colour: str) -> bool:
        """Whether the last move was a pass of this colour."""
        return self._parts[-1].moves[-1:] == [PASS] and (self.finished or self.to_move != colour)

    def cells(self) -> list[int]:
        """Whose stone is on each point, row by row from the bottom: 0 none, 1 Black's, 2 White's."""
        return [self._position.cell(column, row) for row in range(self.size) for column in range(self.size)]

    def score(self) -> float:
        """What Black is ahead by on the board, komi taken off, if all stones live."""
        return self._position.score()

    def captured(self) -> tuple[int, int]:
        """How many stones Black has captured, and White."""
        first = self._parts[0].game
        made = [len(first.black or first.handicap_stones()), len(first.white)]
        for part in self._parts:
            mover = _core.Position(part.game.engine()).player()
            for number, move in enumerate(part.moves):
                made[(mover + number) % 2] += move != PASS
        cells = self.cells()
        return made[1] - cells.count(2), made[0] - cells.count(1)

    def play(self, colour: str, vertex: str) -> None:
        """Make a move; raises InputError if it is not legal."""
        if colour != self.to_move or self.finished:
            self._play_afresh(colour, vertex)
            return
        point = self.game.encode([vertex])[0]
        try:
            self._position.play(point)
        except ValueError:
            raise InputError(f"{vertex} is not legal") from None
        self._parts[-1].moves.append(vertex)

    def _play_afresh(self, colour: str, vertex: str) -> None:
        game = self.afresh(colour)
        game.replay([vertex])
        if len(self._parts) > 1 and not self._parts[-1].moves:
            self._parts.pop()
        self._parts.append(_Part(game, [vertex]))
        self._position = self._replayed()

    def undo(self) -> None:
        """Take the last move back; raises InputError if there is none."""
        if not self.count:
            raise InputError("there is no move to take back")
        self._parts[-1].moves.pop()
        if len(self._parts) > 1 and not self._parts[-1].moves:
            self._parts.pop()
        self._position = self._replayed()

    def set_komi(self, komi: float) -> None:
        for part in self._parts:
            part.game = replace(part.game, komi=komi)
        self._position = self._replayed()

    def for_player(self, colour: str) -> tuple[Go, list[str]]:
        """Return a game and moves after which this colour is to move here: the game in hand if it can be."""
        if colour == self.to_move and not self.finished:
            return self.game, self.moves
        return self.afresh(colour), []

    def afresh(self, colour: str) -> Go:
        """Return a game that begins with the stones that are there, and this colour."""
        return replace(self.game, handicap=0, black=self._vertices(1), white=self._vertices(2), first=colour)

    def _vertices(self, number: int) -> tuple[str, ...]:
        return tuple(self.game.decode([point for point, cell in enumerate(self.cells()) if cell == number]))

    def _replayed(self) -> _core.Position:
        *_, position = self.game.positions(self._parts[-1].moves)
        return position
