"""Choice: which move an analysis comes to; when to pass, and which stones to capture before.

Two passes end the game, and what is on the board then counts, unless the players agree on dead stones. So

- a pass is answered by a pass if that wins: as the board is or, where players agree on dead stones, without them; and
  if all is lost: it is clear which stones live, that loses with and without the dead ones, and so says a short search;
- where players agree, a pass that loses is an answer too once it is clear which stones live, for then all is over;
  before that, stones that may yet live are looked after first;
- the first pass needs more: it is clear which stones live, that wins with all stones as they are, and a short search of
  what the opponent could still do agrees;
- else it plays on, but never fills an eye of its own, and where only the opponent's dead stones stand between the board
  and a win it captures them.
"""

import time
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from playout.gtp.board import PASS, is_eye
from playout.gtp.status import Status
from playout.play import Analysis
from playout.problems.go import PLAYERS

if TYPE_CHECKING:
    from playout.gtp.engine import Engine

SURE = 0.95  # of winning: worth a look whether the game is over
WORSE = 0.2  # by so much less to win a move is a mistake
FEW = 6  # moves that are compared by short searches


class Choice:
    """The choice of one move.

    Parameters
    ----------
    engine
        Whose game.
    colour
        Whose move.
    cleanup
        Whether to pass only once no stone of the opponent is dead.
    deadline
        When the clock wants the answer, by ``time.monotonic``.
    """

    def __init__(self, engine: "Engine", colour: str, cleanup: bool, deadline: float) -> None:
        self._engine = engine
        self._history = engine.history
        self._cleanup = cleanup
        self.deadline = deadline
        self._colour = colour
        self._opponent = PLAYERS[1 - PLAYERS.index(colour)]
        self._is_answer = self._history.has_passed(self._opponent) and not self._history.finished

    @cached_property
    def _status(self) -> Status:
        return self._engine.judge(self.deadline)

    def _wins(self, margin: float) -> bool:
        """Whether what Black is ahead by is a win."""
        return margin > 0 if self._colour == PLAYERS[0] else margin < 0

    def _loses(self, margin: float) -> bool:
        return margin != 0 and not self._wins(margin)

    def _wins_agreed(self) -> bool:
        return self._status.is_clear and self._wins(self._status.score().margin)

    def may_pass_at_once(self) -> bool:
        """Whether no search is needed to pass."""
        if self._cleanup:
            return not self._status.dead_of(self._opponent)
        if not self._is_answer:
            return False
        return self._wins_agreed() if self._engine.settings.agree else self._wins(self._history.score())

    def of(self, analysis: Analysis) -> str:
        """Return the move that an analysis comes to."""
        if self._must_capture():
            return self._capture(analysis)
        if self._is_answer and self._is_lost(analysis):
            return PASS
        if analysis.move != PASS and not self._is_own_eye(analysis.move):
            done = not self._is_answer and (analysis.value or 0.0) >= SURE
            return PASS if done and self._can_pass() else str(analysis.move)
        if analysis.move == PASS and self._is_answer and not self._is_open():  # nothing else is any better
            return PASS
        return PASS if self._can_pass() else self._instead_of_pass(analysis)

    def _is_open(self) -> bool:
        """Whether players who agree on dead stones could not do so yet: what a search knows of two passes is wrong."""
        return self._engine.settings.agree and not self._status.is_clear

    def _can_pass(self) -> bool:
        """Whether to pass first: the game is won as the board is, and the opponent can do nothing about it."""
        if self._cleanup or not self._wins(self._history.score()) or not self._wins_agreed():
            return False
        return self._engine.value_after(self._colour, PASS, self.deadline) >= SURE

    def _is_lost(self, analysis: Analysis) -> bool:
        """Whether there is nothing left to play for."""
        if (analysis.value or 0.0) > 1 - SURE or not self._loses(self._history.score()):
            return False
        if not self._status.is_clear or not self._loses(self._status.score().margin):
            return False
        return self._engine.value_after(self._colour, str(analysis.move), self.deadline) <= 1 - SURE

    def _must_capture(self) -> bool:
        """Whether only dead stones of the opponent stand between the board and a win."""
        if not self._cleanup and (not self._is_answer or self._wins(self._history.score())):
            return False
        has_dead = bool(self._status.dead_of(self._opponent))
        return has_dead and (self._cleanup or self._wins(self._status.score().margin))

    def _capture(self, analysis: Analysis) -> str:
        """The best move next to a dead stone, unless that is a mistake."""
        game, dead = self._status.game, self._status.dead_of(self._opponent)
        liberties = {point for stone in dead for point in game.neighbours(stone)}
        near = [move for move in self._sensible(analysis) if game.encode([move])[0] in liberties]
        best, value = self._best(near)
        return best if value >= (analysis.value or 0.0) - WORSE else self._instead_of_pass(analysis)

    def _instead_of_pass(self, analysis: Analysis) -> str:
        """The best move that is not a pass; a pass if all others are mistakes."""
        best, value = self._best(self._sensible(analysis))
        if self._is_answer and self._is_open():
            return best
        return PASS if self._engine.value_after(self._colour, PASS, self.deadline) - value > WORSE else best

    def _best(self, moves: Sequence[str]) -> tuple[str, float]:
        """The best of the first few moves by short searches, and its chance to win; without moves a pass, and less."""
        values: dict[str, float] = {}
        for move in moves[:FEW]:
            if not values or time.monotonic() < self.deadline:
                values[move] = self._engine.value_after(self._colour, move, self.deadline)
        return max(values.items(), key=lambda pair: pair[1], default=(PASS, -1.0))

    def _sensible(self, analysis: Analysis) -> list[str]:
        """The moves that neither pass nor fill an eye, the best first."""
        return [one.move for one in analysis.moves if one.move != PASS and not self._is_own_eye(one.move)]

    def _is_own_eye(self, move: str) -> bool:
        game = self._history.game
        return is_eye(self._history.cells(), game.width, game.encode([move])[0], PLAYERS.index(self._colour) + 1)
