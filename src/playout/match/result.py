"""MatchGame and MatchResult: the games of a match, and what they say."""

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from playout.errors import InputError, check_integer, check_number, short
from playout.match.statistics import SPRT, SPRTState, elo, wilson

MAX_GAMES = 1_000_000
RESULT = re.compile(r"[BW]\+(R|F|\d{1,5}(\.\d{1,3})?)|0|Void")


@dataclass(frozen=True)
class MatchGame:
    """A game of a match.

    Attributes
    ----------
    number
        From 1; the first player of the match is Black in odd games, and games 1 and 2 have the same opening, as have 3
        and 4, and so on.
    black, white
        What the players are called.
    opening
        The moves that were given.
    moves
        All moves, those of the opening included, Black first.
    result
        ``"B+3.5"``, ``"W+R"`` (Black resigned), ``"W+F"`` (Black failed), ``"0"`` (a draw), or ``"Void"`` (nobody could
        say who won).
    reason
        How it came to that, in words.
    seconds
        How long it took.
    black_seconds, white_seconds
        How long the two thought.
    """

    number: int
    black: str
    white: str
    opening: tuple[str, ...]
    moves: tuple[str, ...]
    result: str
    reason: str
    seconds: float
    black_seconds: float
    white_seconds: float

    @property
    def winner(self) -> str | None:
        """``"black"``, ``"white"``, or None of a draw and a void game."""
        return {"B": "black", "W": "white"}.get(self.result[0])

    @property
    def failed(self) -> str | None:
        """The colour that lost because it did not play: ``"black"``, ``"white"`` or None."""
        return {"B+F": "white", "W+F": "black"}.get(self.result)

    @property
    def first(self) -> str:
        """The colour of the match's first player."""
        return "black" if self.number % 2 else "white"

    @property
    def score(self) -> float | None:
        """1, 0.5 or 0, as the match's first player sees it; None of a void game."""
        if self.result == "Void":
            return None
        return 0.5 if self.winner is None else float(self.winner == self.first)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "opening": list(self.opening), "moves": list(self.moves)}

    @classmethod
    def from_json(cls, data: Any) -> "MatchGame":
        """Rebuild a game; the data may come from anywhere."""
        names = [field.name for field in fields(cls)]
        if not isinstance(data, Mapping) or set(data) != set(names):
            raise InputError(f"is not a game with {', '.join(names)}")
        for name in ("black", "white", "result", "reason"):
            if not isinstance(data[name], str):
                raise InputError(f"{name} is {short(data[name])}; a text is needed")
        if not RESULT.fullmatch(data["result"]):
            raise InputError(f"result is {short(data['result'])}; allowed are such as B+3.5, W+R, W+F, 0 and Void")
        seconds = {name: check_number(name, data[name], 0.0) for name in names if name.endswith("seconds")}
        moves = {name: _moves(name, data[name]) for name in ("opening", "moves")}
        return cls(**{**data, **seconds, **moves, "number": check_integer("number", data["number"], 1, MAX_GAMES)})

    def __str__(self) -> str:
        return (
            f"game {self.number}: {self.black} - {self.white}: {self.result}, {len(self.moves)} moves ({self.reason})"
        )


@dataclass(frozen=True, repr=False)
class MatchResult:
    """A match: its games, and what they say of the first player against the other.

    Attributes
    ----------
    one, other
        What the players are called.
    settings
        What was played: players, board, komi, openings, seed, judge.
    total
        How many games were asked for.
    games
        Those that have ended, in order; a :class:`MatchGame` each.
    seconds
        How long this run of the match took.
    interrupted
        Whether it was stopped before its end.
    test
        The sequential test that may end it; None without one.
    """

    one: str
    other: str
    settings: Mapping[str, Any]
    total: int
    games: tuple[MatchGame, ...] = ()
    seconds: float = 0.0
    interrupted: bool = False
    test: SPRT | None = None

    def _count(self, score: float, colour: str | None = None) -> int:
        return sum(game.score == score and colour in (None, game.first) for game in self.games)

    @property
    def wins(self) -> int:
        """Games that the first player won."""
        return self._count(1.0)

    @property
    def losses(self) -> int:
        return self._count(0.0)

    @property
    def draws(self) -> int:
        return self._count(0.5)

    @property
    def voids(self) -> int:
        """Games of which nobody could say who won; they do not count."""
        return len(self.games) - self.counted

    @property
    def counted(self) -> int:
        """Games that are won, lost or drawn."""
        return sum(game.score is not None for game in self.games)

    @property
    def failures(self) -> tuple[int, int]:
        """Games that the first player, and the other, lost because they did not play; they count as lost."""
        failed = [game.failed == game.first for game in self.games if game.failed]
        return sum(failed), len(failed) - sum(failed)

    @property
    def win_rate(self) -> float | None:
        """The share of the games that the first player won, a draw being half a win; None before the first."""
        return (self.wins + self.draws / 2) / self.counted if self.counted else None

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the win rate, Wilson's."""
        return wilson(self.wins + self.draws / 2, self.counted)

    @property
    def elo(self) -> float | None:
        """How much stronger the first player is, in Elo; None before the first game."""
        return None if self.win_rate is None else elo(self.win_rate)

    @property
    def elo_interval(self) -> tuple[float, float]:
        """The 95 % interval of that: of the limits of the win rate."""
        low, high = self.interval
        return elo(low), elo(high)

    @property
    def sprt(self) -> SPRTState | None:
        """What the sequential test says; None without one.

        Only whole pairs count, in the order of their numbers and up to the first that is missing: who plays faster
        changes nothing.
        """
        if self.test is None:
            return None
        games = {game.number: game for game in self.games}
        pairs = []
        number = 1
        while number in games and number + 1 in games:
            scores = games[number].score, games[number + 1].score
            if scores[0] is not None and scores[1] is not None:
                pairs.append((scores[0] + scores[1]) / 2)
            number += 2
        return self.test.state(pairs)

    def to_json(self) -> dict[str, Any]:
        """Return the match as JSON has it; what is infinite is null."""
        test = self.sprt
        return {
            "one": self.one,
            "other": self.other,
            "settings": dict(self.settings),
            "total": self.total,
            "wins": self.wins,
            "losses": self.losses,
            "draws": self.draws,
            "voids": self.voids,
            "failures": list(self.failures),
            "win_rate": self.win_rate,
            "interval": list(self.interval),
            "elo": _finite(self.elo),
            "elo_interval": [_finite(limit) for limit in self.elo_interval],
            "sprt": None if test is None else asdict(test),
            "seconds": self.seconds,
            "interrupted": self.interrupted,
            "games": [game.to_json() for game in self.games],
        }

    def rows(self) -> list[tuple[str, ...]]:
        """Return the first player's table: a header, then all games, those as Black and those as White."""
        header = ("", "games", "won", "lost", "drawn", "win rate", "Elo")
        return [header, self._row("all"), self._row("as Black", "black"), self._row("as White", "white")]

    def _row(self, name: str, colour: str | None = None) -> tuple[str, ...]:
        won, lost, drawn = (self._count(score, colour) for score in (1.0, 0.0, 0.5))
        games = won + lost + drawn
        low, high = wilson(won + drawn / 2, games)
        rate = f"{(won + drawn / 2) / games:.1%} ({100 * low:.1f}-{100 * high:.1f})" if games else "-"
        gain = f"{elo_text((won + drawn / 2) / games)} ({elo_text(low)} to {elo_text(high)})" if games else "-"
        return name, f"{games:,}", f"{won:,}", f"{lost:,}", f"{drawn:,}", rate, gain

    def to_markdown(self) -> str:
        """Return the first player's table as Markdown."""
        header, *rows = self.rows()
        lines = [f"| {' | '.join(header)} |", "|---" + "|---:" * (len(header) - 1) + "|"]
        lines += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
        return "\n".join([*lines, "", f"{self.one} against {self.other}.", *self.notes()])

    def summary(self) -> str:
        """Return the match in one line."""
        counts = f"{self.wins:,} won, {self.losses:,} lost" + (f", {self.draws:,} drawn" if self.draws else "")
        if self.win_rate is None:
            return f"{self.one} against {self.other}: no games"
        low, high = self.interval
        gain = ", ".join(elo_text(limit) for limit in self.interval)
        return (
            f"{self.one} against {self.other}: {counts} of {self.counted:,}, {self.win_rate:.1%} "
            f"({low:.1%} to {high:.1%}), Elo {elo_text(self.win_rate)} ({gain.replace(', ', ' to ')})"
        )

    def notes(self) -> list[str]:
        """Return what else there is to say."""
        notes = ["Intervals are 95 %."]
        for name, is_first in ((self.one, True), (self.other, False)):
            failed = [game for game in self.games if game.failed and (game.failed == game.first) == is_first]
            if failed:
                said = f"{name} failed in {_games(len(failed))}, counted as lost"
                notes.append(f"{said}; game {failed[-1].number}: {failed[-1].reason}")
        if self.voids:
            why = next(game.reason for game in self.games if game.score is None)
            notes.append(f"{_games(self.voids)} without a result do not count: {why}")
        disputed = sum(game.reason.startswith(DISPUTED) for game in self.games)
        if disputed:
            notes.append(f"The players disagree about {_games(disputed)}, scored as the board stood; a judge may help.")
        if self.sprt is not None:
            notes.append(str(self.sprt))
        if self.interrupted:
            notes.append(f"Stopped after {len(self.games):,} of {self.total:,} games.")
        return notes

    def __str__(self) -> str:
        return "\n".join([self.summary(), *self.notes()])

    def __repr__(self) -> str:
        return f"<MatchResult {self.summary()}>"


DISPUTED = "the board as it stands; "  # how the reason of a game begins whose players disagree


def elo_text(chance: float) -> str:
    """Return the Elo difference of a chance as people read it: +35, -120, and so on to infinity."""
    value = elo(chance)
    return f"{value:+.0f}" if math.isfinite(value) else ("+inf" if value > 0 else "-inf")


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _games(count: int) -> str:
    return "1 game" if count == 1 else f"{count:,} games"


def _moves(name: str, given: Any) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(move, str) for move in given):
        raise InputError(f"{name} is {short(given)}; a list of moves is needed")
    return tuple(given)
