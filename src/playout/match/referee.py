"""The referee: has one game played, checks every move by Playout's own rules, and says who has won and why."""

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from playout import _core
from playout.errors import InputError, short
from playout.gtp.status import written
from playout.match.contestants import Contestant, Program
from playout.match.process import EngineError
from playout.match.result import DISPUTED, MatchGame
from playout.match.seats import Rules, Seat, judged, seed_of, take_seat
from playout.problems.go import PLAYERS


@dataclass(frozen=True)
class Fixture:
    """A game to be played: who has which colour, and how it begins."""

    number: int
    players: tuple[Contestant | Program, Contestant | Program]  # Black, then White
    names: tuple[str, str]
    opening: tuple[str, ...]
    seed: int


@dataclass(frozen=True)
class _Ending:
    result: str
    reason: str


class _FailedError(Exception):
    def __init__(self, colour: int, what: str) -> None:
        self.colour, self.what = colour, what


def play_game(fixture: Fixture, rules: Rules, judge: Program | None, stopped: threading.Event) -> MatchGame:
    """Have a game played; what a player does wrong is in what is returned, and only Stopped is raised."""
    return _Game(fixture, rules, judge, stopped).run()


class _Game:
    def __init__(self, fixture: Fixture, rules: Rules, judge: Program | None, stopped: threading.Event) -> None:
        self.fixture, self.rules, self.judge, self.stopped = fixture, rules, judge, stopped
        self.game = rules.game()
        self.position = _core.Position(self.game.engine())
        self.moves: list[str] = []
        self.seats: list[Seat] = []
        self.thought = [0.0, 0.0]

    def run(self) -> MatchGame:
        begin = time.monotonic()
        with ExitStack() as stack:
            try:
                self._sit_down(stack)
                ending = self._play_on()
            except _FailedError as failure:
                loser, winner = PLAYERS[failure.colour], PLAYERS[1 - failure.colour]
                ending = _Ending(f"{winner[0].upper()}+F", f"{loser} {failure.what}")
        return MatchGame(
            self.fixture.number,
            *self.fixture.names,
            self.fixture.opening,
            tuple(self.moves),
            ending.result,
            ending.reason,
            round(time.monotonic() - begin, 3),
            *(round(seconds, 3) for seconds in self.thought),
        )

    def _sit_down(self, stack: ExitStack) -> None:
        for colour, who in enumerate(self.fixture.players):
            seed = seed_of(self.fixture.seed, self.fixture.number, colour)
            with self._blamed(colour):
                seat = take_seat(who, colour, self.rules, self.stopped, seed)
            self.seats.append(seat)
            stack.callback(seat.close)
        for move in self.fixture.opening:
            self._make(move, told=(0, 1))

    def _play_on(self) -> _Ending:
        while len(self.moves) < self.rules.max_moves:
            colour = len(self.moves) % 2
            with self._blamed(colour):
                move = self._chosen(colour)
            if move == "resign":
                return _Ending(f"{'WB'[colour]}+R", f"{PLAYERS[colour]} resigned")
            self._make(move, told=(1 - colour,))
            if not self.position.moves(all=True):
                return self._scored(both_passed=True)
        return self._scored(both_passed=False)

    def _chosen(self, colour: int) -> str:
        """Return a player's move; raise EngineError if it is none."""
        begin = time.monotonic()
        try:
            said = self.seats[colour].choose()
        finally:
            self.thought[colour] += time.monotonic() - begin
        if said.lower() == "resign":
            return "resign"
        try:
            (move,) = self.game.decode(self.game.encode([said]))
        except InputError:
            raise EngineError(f"answered 'genmove' with {short(said)}") from None
        self._check(move)
        return move

    def _check(self, move: str) -> None:
        (number,) = self.game.encode([move])
        if number not in [legal for legal, *_ in self.position.moves(all=True)]:
            try:
                self.game.replay([*self.moves, move])
            except InputError as error:
                raise EngineError(f"played an illegal move: {error}") from None

    def _make(self, move: str, told: tuple[int, ...]) -> None:
        colour = len(self.moves) % 2
        (number,) = self.game.encode([move])
        self.position.play(number)
        self.moves.append(move)
        for other in told:
            with self._blamed(other):
                self.seats[other].play(colour, move)

    @contextmanager
    def _blamed(self, colour: int) -> Iterator[None]:
        try:
            yield
        except EngineError as error:
            raise _FailedError(colour, str(error)) from None

    # Who has won

    def _scored(self, both_passed: bool) -> _Ending:
        after = "both passed" if both_passed else f"{len(self.moves)} moves, the most there may be"
        if self.judge is not None:
            try:
                score = judged(self.judge, self.moves, self.rules, self.stopped)
            except EngineError as error:
                return _Ending("Void", f"{after}; the judge {error}")
            return _Ending(score, f"{after}; the judge's score")
        said = [self._opinion(colour) for colour in (0, 1)]
        if said[0] is not None and said[1] is not None and said[0][0] == said[1][0]:
            return _Ending(said[0], f"{after}; the players agree")
        told = ", ".join(f"{name} says {score or 'nothing'}" for name, score in zip(PLAYERS, said, strict=True))
        if both_passed:
            return _Ending(written(self.game.score(self.moves).margin), f"{DISPUTED}{told}")
        return _Ending("Void", f"{after}; {told}")

    def _opinion(self, colour: int) -> str | None:
        try:
            return self.seats[colour].score()
        except EngineError:  # the game is over; this is no reason to lose it
            return None
