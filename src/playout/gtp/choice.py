"""Choice: which move an analysis comes to; when to pass, and which stones to capture before.

Two passes end the game, and what is on the board then counts, unless the players agree on dead stones. So

- a pass is answered by a pass if that wins: as the board is or, where players agree on dead stones, without them;
- the first pass needs more: it is clear which stones live, that wins with all stones as they are, and a short search of
  what the opponent could still do agrees;
- else it plays on, but never fills an eye of its own, and where only the opponent's dead stones stand between the board
  and a win it captures them.
"""

from functools import cached_property
from typing import TYPE_CHECKING

from playout.gtp.board import PASS, is_eye
from playout.gtp.status import Status
from playout.play import Analysis, MoveAnalysis
from playout.problems.go import PLAYERS

if TYPE_CHECKING:
    from playout.gtp.engine import Engine

SURE = 0.95  # of winning: worth a look whether the game is over
WORSE = 0.2  # by so much less to win a move is a mistake


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
        self._deadline = deadline
        self._colour = colour
        self._opponent = PLAYERS[1 - PLAYERS.index(colour)]
        self._is_answer = self._history.has_passed(self._opponent) and not self._history.finished

    @cached_property
    def _status(self) -> Status:
        return self._engine.judge(self._deadline)

    def _wins(self, margin: float) -> bool:
        """Whether what Black is ahead by is a win."""
        return margin > 0 if self._colour == PLAYERS[0] else margin < 0

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
        if analysis.move != PASS:
            done = not self._is_answer and (analysis.value or 0.0) >= SURE
            return PASS if done and self._can_pass() else str(analysis.move)
        if self._is_answer or self._can_pass():  # after a pass its value is known: nothing else is any better
            return PASS
        return self._instead_of_pass(analysis)

    def _can_pass(self) -> bool:
        """Whether to pass first: the game is won as the board is, and the opponent can do nothing about it."""
        if self._cleanup or not self._wins(self._history.score()) or not self._wins_agreed():
            return False
        return self._engine.value_after_pass(self._colour, self._deadline) >= SURE

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
        near = [one for one in self._sensible(analysis) if game.encode([one.move])[0] in liberties]
        good = [one for one in near if one.value is not None and one.value >= (analysis.value or 0.0) - WORSE]
        return str(good[0].move) if good else self._instead_of_pass(analysis)

    def _instead_of_pass(self, analysis: Analysis) -> str:
        """The best move that is not a pass; a pass if all others are mistakes."""
        others = self._sensible(analysis)
        passing = next((one.value for one in analysis.moves if one.move == PASS), None)
        if not others or (passing or 0.0) - (others[0].value or 0.0) > WORSE:
            return PASS
        return str(others[0].move)

    def _sensible(self, analysis: Analysis) -> list[MoveAnalysis]:
        """The moves that were tried and neither pass nor fill an eye, the best first."""
        cells, game = self._history.cells(), self._history.game
        number = PLAYERS.index(self._colour) + 1
        return [
            one
            for one in analysis.moves
            if one.move != PASS and one.visits and not is_eye(cells, game.width, game.encode([one.move])[0], number)
        ]
