"""Running a match: games in threads, a line of the record for each that ends, until a test or their number ends it."""

import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from playout.errors import InputError, check_choice, check_integer, check_positive, short
from playout.match.contestants import Contestant, Program, contestant, titles
from playout.match.openings import openings as all_openings
from playout.match.process import Stopped, split
from playout.match.record import Record
from playout.match.referee import Fixture, play_game
from playout.match.result import MAX_GAMES, MatchGame, MatchResult
from playout.match.seats import Rules, try_out
from playout.match.statistics import SPRT
from playout.problems.go import KO, MAX_SIDE, Go
from playout.progress import WAKE_SECONDS
from playout.result import MAX_SEED
from playout.sgf import GameRecord
from playout.stop import interrupts

MAX_JOBS, MAX_OPENING = 1024, 50
OnEvent = Callable[[MatchResult], object]


def match(
    one: "str | Contestant",
    other: "str | Contestant",
    *,
    games: int = 100,
    size: int = 9,
    komi: float = 7.5,
    ko: str = "positional",
    openings: int = 2,
    seed: int = 0,
    jobs: int = 1,
    judge: str | None = None,
    record: "str | os.PathLike[str] | None" = None,
    sgf: "str | os.PathLike[str] | None" = None,
    patience: float = 60.0,
    max_moves: int | None = None,
    sprt: SPRT | None = None,
    on_event: OnEvent | None = None,
) -> MatchResult:
    """Have two players play games of Go against each other, and say which is the stronger one.

    ::

        result = po.match(po.Contestant(playouts=1000), "gnugo --mode gtp --chinese-rules", games=20,
                          judge="gnugo --mode gtp --chinese-rules --level 10", record="match.jsonl")
        print(result)

    Parameters
    ----------
    one, other
        Each the command line of a program that speaks the Go Text Protocol (no shell is asked), or a
        :class:`playout.Contestant`, one of Playout's own players, which needs no GTP. A program is started for each
        game.
    games
        How many. The first player is Black in the odd ones.
    size, komi, ko
        The board, the points for White and the rule of ko, as of :class:`playout.Go`. Scores are by area.
    openings
        How many random moves a game begins with; the two games of a pair, one with each colour, begin with the same.
    seed
        Of the openings and of Playout's own players.
    jobs
        How many games are played at the same time. Players that think for a time take it from each other.
    judge
        The command line of a program that scores the games that end by passes or take too long. If None, the players
        say who has won (``final_score``), Playout's own by the area without stones that it takes for dead; where they
        disagree after two passes, the board counts as it stands.
    record
        A file that has a line for each game that has ended; the same match goes on from it.
    sgf
        A folder that gets each game as SGF.
    patience
        Seconds that a program has for an answer.
    max_moves
        The longest game; 3 times the points of the board if None.
    sprt
        A :class:`playout.SPRT` that ends the match as soon as it is decided.
    on_event
        Called with the :class:`playout.MatchResult` so far about ten times a second, and whenever games have ended.

    Returns
    -------
    MatchResult
        Ctrl-C ends the match at once: the games that have ended are returned, with ``interrupted`` set.

    Raises
    ------
    InputError
        If a player cannot be used: its program does not start, say. Once games are played, a program that does not
        start, dies, hangs, or plays or answers what it may not has lost the game, and the match goes on.
    """
    rules = _rules(size, komi, ko, max_moves, patience)
    plan = _Plan(
        (contestant(one), contestant(other)),
        rules,
        check_integer("games", games, 1, MAX_GAMES),
        check_integer("openings", openings, 0, MAX_OPENING),
        check_integer("seed", seed, 0, MAX_SEED),
        None if judge is None else Program(tuple(split(judge))),
    )
    check_integer("jobs", jobs, 1, MAX_JOBS)
    if sprt is not None and not isinstance(sprt, SPRT):
        raise InputError(f"sprt is {short(sprt)}; allowed are None and SPRT()")
    with ExitStack() as stack:
        kept = None if record is None else stack.enter_context(Record(Path(record), plan.settings()))
        folder = None if sgf is None else _folder(Path(sgf))
        return _Runner(plan, kept, folder, sprt).run(jobs, on_event or (lambda result: None))


def _rules(size: int, komi: float, ko: str, max_moves: int | None, patience: float) -> Rules:
    check_integer("size", size, 2, MAX_SIDE)
    check_choice("ko", ko, KO)
    most = 3 * size * size if max_moves is None else check_integer("max_moves", max_moves, 1, 1_000_000)
    rules = Rules(size, Go(size, komi=komi).komi, ko, most, check_positive("patience", patience))
    rules.game()
    return rules


def _folder(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {str(path)!r}: {error.strerror}") from None
    return path


@dataclass(frozen=True)
class _Plan:
    """What is to be played."""

    players: tuple[Contestant | Program, Contestant | Program]
    rules: Rules
    games: int
    openings: int
    seed: int
    judge: Program | None

    def settings(self) -> dict[str, Any]:
        """Return what decides the games; more of them, or more patience, is still the same match."""
        rules = {key: getattr(self.rules, key) for key in ("size", "komi", "ko", "max_moves")}
        players = {"one": self.players[0].to_json(), "other": self.players[1].to_json()}
        judge = None if self.judge is None else self.judge.to_json()
        return {**players, **rules, "openings": self.openings, "seed": self.seed, "judge": judge}

    def fixtures(self) -> Iterator[Fixture]:
        names = titles(*self.players)
        pairs = all_openings(self.rules.game(), self.openings, self.seed)
        for pair, opening in enumerate(itertools.islice(pairs, (self.games + 1) // 2)):
            yield Fixture(2 * pair + 1, self.players, names, opening, self.seed)
            if 2 * pair + 2 <= self.games:
                yield Fixture(2 * pair + 2, self.players[::-1], names[::-1], opening, self.seed)

    def try_out(self, stopped: threading.Event) -> None:
        """Raise at once if somebody cannot play at all."""
        for player in self.players:
            try_out(player, self.rules, stopped, "genmove")
        if self.judge is not None:
            try_out(self.judge, self.rules, stopped, "final_score")


class _Runner:
    """One call of :func:`match`."""

    def __init__(self, plan: _Plan, record: Record | None, folder: Path | None, test: SPRT | None) -> None:
        self.plan, self.record, self.folder = plan, record, folder
        known = {} if record is None else record.games
        self.games = {number: game for number, game in known.items() if number <= plan.games}
        self.waiting = (fixture for fixture in plan.fixtures() if fixture.number not in self.games)
        self.under_way: set[Future[MatchGame]] = set()
        self.begin = time.monotonic()
        one, other = titles(*plan.players)
        self.result = MatchResult(one, other, plan.settings(), plan.games, test=test)
        self.stopped = threading.Event()  # what is under way is to be given up

    def run(self, jobs: int, on_event: OnEvent) -> MatchResult:
        for game in self.games.values():
            self._save(game, only_if_missing=True)
        self._count()
        with interrupts() as interrupted:
            if not self._is_decided() and len(self.games) < self.plan.games:
                self._play(jobs, on_event, interrupted)
            missing = len(self.games) < self.plan.games and not self._is_decided()
        self.result = replace(self.result, interrupted=missing, seconds=time.monotonic() - self.begin)
        on_event(self.result)
        return self.result

    def _play(self, jobs: int, on_event: OnEvent, interrupted: threading.Event) -> None:
        with ThreadPoolExecutor(jobs + 1) as pool:
            try:
                trial = pool.submit(self.plan.try_out, self.stopped)
                while not trial.done() and not interrupted.is_set():
                    on_event(self._status())
                    wait([trial], timeout=WAKE_SECONDS)
                while not interrupted.is_set() and self._fill(pool, jobs, trial):
                    on_event(self._status())
                    ended, self.under_way = wait(self.under_way, timeout=WAKE_SECONDS, return_when=FIRST_COMPLETED)
                    for future in ended:
                        self._keep(future, interrupted)
                    if self._is_decided():
                        break
            finally:
                self.stopped.set()
                self._keep_the_rest(interrupted)

    def _keep_the_rest(self, interrupted: threading.Event) -> None:
        """Keep games that have ended while nobody looked."""
        ended, self.under_way = wait(self.under_way)
        for future in ended:
            if future.exception() is None:
                self._keep(future, interrupted)

    def _fill(self, pool: ThreadPoolExecutor, jobs: int, trial: "Future[None]") -> bool:
        """Begin games while there is room; false once none is under way."""
        trial.result()  # raises if somebody cannot play
        while len(self.under_way) < jobs and (fixture := next(self.waiting, None)) is not None:
            self.under_way.add(pool.submit(play_game, fixture, self.plan.rules, self.plan.judge, self.stopped))
        return bool(self.under_way)

    def _keep(self, future: "Future[MatchGame]", interrupted: threading.Event) -> None:
        try:
            game = future.result()
        except Stopped:
            interrupted.set()
            return
        if self.record is not None:
            self.record.append(game)
        self.games[game.number] = game
        self._save(game)
        self._count()

    def _count(self) -> None:
        self.result = replace(self.result, games=tuple(self.games[number] for number in sorted(self.games)))

    def _status(self) -> MatchResult:
        return replace(self.result, seconds=time.monotonic() - self.begin)

    def _is_decided(self) -> bool:
        return self.result.sprt is not None and self.result.sprt.accepted is not None

    def _save(self, game: MatchGame, only_if_missing: bool = False) -> None:
        """Write a game as SGF; one of an earlier run may be there already."""
        if self.folder is None:
            return
        path = self.folder / f"{game.number:05}.sgf"
        if not (only_if_missing and path.exists()):
            try:
                to_sgf(game, self.plan.rules.game()).save(path)
            except OSError as error:
                raise InputError(f"cannot write {str(path)!r}: {error.strerror}") from None


def to_sgf(game: MatchGame, board: Go) -> GameRecord:
    """Return a game of a match as a record, how it ended as the last comment."""
    comments = ("",) * len(game.moves) + (game.reason,)
    return GameRecord(board, game.moves, game.black, game.white, game.result, comments=comments)
