"""Seats: who sits at the board in one game, a program or one of Playout's own players, asked the same questions."""

import re
import shlex
import threading
import time
from contextlib import ExitStack, closing
from dataclasses import dataclass

from playout.errors import InputError, short
from playout.gtp.engine import Engine
from playout.gtp.status import written
from playout.match.contestants import Contestant, Program
from playout.match.process import EngineError, Process, Stopped
from playout.play import Analysis
from playout.problems.go import PLAYERS, Go
from playout.random import GOLDEN, WORD, mix
from playout.result import MAX_SEED
from playout.stop import interrupts

SCORE = re.compile(r"([BW])\+(\d{1,5}(?:\.\d{1,3})?)(?:\s.*)?|0(?:\.0*)?|draw|jigo", re.IGNORECASE)


@dataclass(frozen=True)
class Rules:
    """What all games of a match have in common."""

    size: int
    komi: float
    ko: str
    max_moves: int
    patience: float

    def game(self) -> Go:
        return Go(self.size, komi=self.komi, ko=self.ko)


class ProgramSeat:
    """A program that speaks GTP: a fresh process. Whatever it is asked may raise EngineError."""

    def __init__(self, program: Program, colour: int, rules: Rules, stopped: threading.Event) -> None:
        self.colour = colour
        with ExitStack() as stack:
            self.process = stack.enter_context(Process(list(program.words), rules.patience, stopped))
            for command in (f"boardsize {rules.size}", "clear_board", f"komi {rules.komi:g}"):
                self.process.ask(command)
            stack.pop_all()

    def play(self, colour: int, move: str) -> None:
        """Take notice of a move."""
        self.process.ask(f"play {PLAYERS[colour]} {move}")

    def choose(self) -> str:
        """Make a move and return it: a vertex, ``"pass"`` or ``"resign"``."""
        return self.process.ask(f"genmove {PLAYERS[self.colour]}")

    def score(self) -> str | None:
        """Return the result of the game as it sees it, such as ``"B+3.5"``; None if that is not what it answers."""
        return tidy_score(self.process.ask("final_score"))

    def close(self) -> None:
        self.process.close()


class OwnSeat:
    """One of Playout's own players: the engine of ``playout gtp``, in this process."""

    def __init__(self, player: Contestant, colour: int, rules: Rules, stopped: threading.Event, seed: int) -> None:
        self.colour, self.stopped = colour, stopped
        self.engine = Engine(player.settings(size=rules.size, komi=rules.komi, ko=rules.ko, seed=seed))

    def play(self, colour: int, move: str) -> None:
        self.engine.history.play(PLAYERS[colour], move)

    def choose(self) -> str:
        with interrupts() as interrupted:  # a move of a search that was cut short is none
            move = self.engine.genmove(PLAYERS[self.colour], time.monotonic(), on_event=self._look_up)
            if interrupted.is_set() or self.stopped.is_set():
                raise Stopped
        return move

    def _look_up(self, _: Analysis) -> None:
        if self.stopped.is_set():
            raise Stopped

    def score(self) -> str | None:
        return written(self.engine.judge().score().margin)

    def close(self) -> None:
        self.engine.close()


Seat = ProgramSeat | OwnSeat


def take_seat(who: Contestant | Program, colour: int, rules: Rules, stopped: threading.Event, seed: int) -> Seat:
    """Return a seat; raise EngineError if its program does not start."""
    if isinstance(who, Program):
        return ProgramSeat(who, colour, rules, stopped)
    return OwnSeat(who, colour, rules, stopped, seed)


def try_out(who: Contestant | Program, rules: Rules, stopped: threading.Event, needs: str) -> None:
    """Raise InputError if it cannot take a seat, or a program says that it does not know the command it needs."""
    try:
        with closing(take_seat(who, 0, rules, stopped, 0)) as seat:
            if isinstance(seat, ProgramSeat) and seat.process.ask(f"known_command {needs}").lower() == "false":
                raise EngineError(f"does not know {needs!r}")
    except EngineError as error:
        assert isinstance(who, Program)
        raise InputError(f"{shlex.join(who.words)!r} {error}") from None


def judged(judge: Program, moves: list[str], rules: Rules, stopped: threading.Event) -> str:
    """Return what another program says the result is."""
    with closing(ProgramSeat(judge, 0, rules, stopped)) as seat:
        for number, move in enumerate(moves):
            seat.play(number % 2, move)
        said = seat.process.ask("final_score")
        score = tidy_score(said)
        if score is None:
            raise EngineError(f"answered 'final_score' with {short(said)}")
        return score


def tidy_score(said: str) -> str | None:
    """Return a score that a program has said as ``"B+3.5"``, or ``"0"`` of a draw; None if it is something else."""
    found = SCORE.fullmatch(said.strip())
    if found is None:
        return None
    margin = 0.0 if found[1] is None else float(found[2])
    return written(margin if (found[1] or "B").upper() == "B" else -margin)


def seed_of(seed: int, number: int, side: int) -> int:
    """Return the seed of a player's random numbers in one game of a match."""
    state = 0
    for coordinate in (seed, number, side):
        state = mix(((state ^ coordinate) + GOLDEN) & WORD)
    return state & MAX_SEED
