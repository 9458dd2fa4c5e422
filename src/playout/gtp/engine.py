"""Engine: follows a game of Go as the commands of the Go Text Protocol tell it, and finds moves in time."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

from playout import parallel as parallels
from playout import search as searches
from playout import share as shares
from playout.clock import Clock
from playout.errors import InputError, check_choice, check_integer, check_number, check_positive
from playout.gtp import status
from playout.gtp.board import PASS
from playout.gtp.choice import Choice
from playout.gtp.history import History
from playout.parallel import MAX_THREADS, Leaf, Root, Tree, processors
from playout.play import MAX_VISITS, Analysis, Player
from playout.problems.go import MAX_SIDE, PLAYERS, PLAYOUTS, Go
from playout.result import MAX_SEED
from playout.sgf import load_sgf
from playout.share import Share, Treesplit, check_share
from playout.uct import RAVE, UCT

SEARCH = UCT(bandit=RAVE(), expand_after=4)
LEAST_SIDE = 1
SECONDS = 5.0  # a move, if nothing says how long
LEAST_SECONDS = 0.01
LEAST_PLAYOUTS = 30  # of a move without any time
HOPELESS_MOVES = 5  # in a row, before it resigns
HOPELESS_VISITS = 100  # of a search whose value counts for that
CHECK_PLAYOUTS = 500  # of a short search
CHECK_MEMORY = 16  # MB of its tree
CHECK_SHARE = 0.15  # of the time for a move that is kept for checks, and no more than:
CHECK_SECONDS = 0.5
SURE_SHARE = 0.8  # of the time for a move, where all ranks agree on it
DOUBT_SHARE = 1.2  # of that time, more where all disagree
RESIGN = "resign"


def usual_search(playouts: int | None, memory: int = SEARCH.memory) -> UCT:
    """Return the search of an engine: playouts that were asked for are all played, time ends once a move is decided."""
    return replace(SEARCH, memory=memory, early_stop=playouts is None)


@dataclass(frozen=True)
class Settings:
    """How an engine plays.

    Parameters
    ----------
    size, komi
        Of the first game; the commands ``boardsize`` and ``komi`` change them.
    playouts
        Of a move, all of them played. The clock may end it earlier.
    seconds
        For a move; the clock may give it less.
    threads
        That search the tree; as many as this process may use if None.
    ponder
        Whether to think while the opponent does.
    memory
        MB that the tree may take, unless a search is given.
    seed
        Of the first game's random numbers; each game after it has the next.
    policy
        ``"light"`` or ``"heavy"``: what a playout beyond the tree is.
    resign
        The chance to win below which the game is hopeless, 0 to 0.5; it is given up after five such moves in a row. 0:
        never.
    agree
        Whether players agree on dead stones after two passes. If not, whatever is on the board counts as alive.
    ko
        The rule of ko, as of :class:`playout.Go`.
    search
        A :class:`playout.UCT`, as it is; if None, RAVE.
    parallel
        How threads work together, as of :class:`playout.Player`.
    share, ranks
        How ranks share what they learn, and how many there are in this process, as of :class:`playout.Player`.
    """

    size: int = 19
    komi: float = 7.5
    playouts: int | None = None
    seconds: float | None = None
    threads: int | None = None
    ponder: bool = False
    memory: int = SEARCH.memory
    seed: int = 0
    policy: str = "heavy"
    resign: float = 0.1
    agree: bool = False
    ko: str = "positional"
    search: UCT | None = None
    parallel: Tree | Leaf | Root | None = None
    share: Share | None = None
    ranks: int | None = None

    def __post_init__(self) -> None:
        check_integer("size", self.size, LEAST_SIDE, MAX_SIDE)
        check_choice("policy", self.policy, PLAYOUTS)
        check_number("resign", self.resign, 0.0, 0.5)
        check_integer("seed", self.seed, 0, MAX_SEED)
        if self.playouts is not None:
            check_integer("playouts", self.playouts, 1, MAX_VISITS)
        if self.seconds is not None:
            check_positive("seconds", self.seconds)
        if self.threads is not None:
            check_integer("threads", self.threads, 1, MAX_THREADS)
        if self.share is not None:
            check_share(self.share, self.ranks)
        self.tree()
        self.game(self.size, self.komi)

    def tree(self) -> UCT:
        """Return the search for a move."""
        return usual_search(self.playouts, self.memory) if self.search is None else self.search

    def to_json(self) -> dict[str, Any]:
        """Return all that must be the same on the ranks of a job: threads need not."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        plain.update(threads=None, search=searches.to_json(self.tree()), parallel=parallels.to_json(self.parallel))
        return {**plain, "share": None if self.share is None else shares.to_json(self.share)}

    def game(self, size: int, komi: float) -> Go:
        return Go(size, komi=komi, ko=self.ko, playouts=self.policy)


class Engine:
    """Plays Go: what a command does, without its words.

    Parameters
    ----------
    settings
        A :class:`Settings`.
    note
        Called with what a person may like to know, a line at a time.
    """

    def __init__(self, settings: Settings, note: Callable[[str], object] = lambda line: None) -> None:
        self.settings = settings
        self.note = note
        self.set_clock(Clock())
        self.history = History(settings.game(settings.size, settings.komi))
        self._threads = processors() if settings.threads is None else settings.threads
        self._player: Player | None = None
        self._games = 0
        self._lag = 0.0
        self._doubt = 0.0  # seconds that a move was given beyond what was planned
        self._begin_game()

    def _begin_game(self) -> None:
        if self._player is not None:  # a board that nobody has thought about was no game
            self._games += 1
        self._hopeless = dict.fromkeys(PLAYERS, 0)
        self._is_playing = False  # whether a move was asked for since the game began
        self._in_haste = False  # whether the clock left no time for it: then to end pondering is too long
        self._forget()

    @property
    def seed(self) -> int:
        return (self.settings.seed + self._games) % (MAX_SEED + 1)

    def close(self) -> None:
        self._forget()

    @property
    def has_failed(self) -> bool:
        """Whether ranks have been lost: the game is over for this engine once it has answered."""
        if self.settings.share is None or self.settings.ranks is not None:
            return False
        from playout.cluster import job

        return job.failure()

    def _forget(self) -> None:
        """Give the tree back."""
        if self._player is not None:
            self._player.close()
            self._player = None

    # The game

    def clear(self, size: int | None = None) -> None:
        """Begin a new game, on a board of the same size unless one is given, with the clocks as they were set."""
        self.set_clock(self._clock)
        game = self.settings.game(self.history.size if size is None else size, self.history.game.komi)
        self.history = History(game)
        self._begin_game()

    def load(self, path: str, count: int | None = None) -> None:
        """Go to the position after so many moves of a game in an SGF file; without a number, after all."""
        record = load_sgf(path)
        parts = [*record.earlier, (record.game, record.moves)]
        self._begin(History.after(parts, self.settings.policy, count))

    def _begin(self, history: History) -> None:
        game = history.game
        if game.width != game.height or game.width < LEAST_SIDE:
            raise InputError(
                f"its board is {game.width} x {game.height}; square ones from {LEAST_SIDE} on can be played"
            )
        self.history = history
        self._begin_game()

    def place(self, stones: list[str]) -> None:
        """Put handicap stones on the empty board."""
        self._begin(History(replace(self.history.game, handicap=0, black=tuple(stones), white=(), first="white")))

    def ponder(self) -> None:
        """Make use of the time until the next command: follow the game and, if so set, think on."""
        if self.history.finished or not self._is_playing:
            if self._player is not None:
                self._player.close()
            return
        player = self._follow(self.history.to_move)
        if self.settings.ponder and not self._in_haste:
            player.ponder()

    def _follow(self, colour: str) -> Player:
        """Return a player who is where the game is, with this colour to move, and knows what is known of it."""
        game, moves = self.history.for_player(colour)
        if self._player is None or self._player.game != game:
            self._forget()
            self._player = self._new_player(game, self.settings.tree(), self.settings.share, self.settings.ranks)
        have = list(self._player.moves)
        news = moves[len(have) :]
        if moves[: len(have)] != have or len(news) > 4:
            self._player.reset(moves)
        else:
            for move in news:
                self._player.play(move)
        return self._player

    def _new_player(self, game: Go, search: UCT, share: Share | None = None, ranks: int | None = None) -> Player:
        parallel = self.settings.parallel
        return Player(game, search, threads=self._threads, parallel=parallel, seed=self.seed, share=share, ranks=ranks)

    # Moves

    def genmove(
        self,
        colour: str,
        began: float,
        *,
        cleanup: bool = False,
        on_event: Callable[[Analysis], object] | None = None,
    ) -> str:
        """Find a move and make it.

        Parameters
        ----------
        colour
            Whose move.
        began
            When it was asked for, by ``time.monotonic``: the clock runs from there.
        cleanup
            Whether to capture all dead stones of the opponent before passing.
        on_event
            Called with analyses while it thinks.

        Returns
        -------
        str
            A vertex, ``"pass"`` or ``"resign"``.
        """
        planned = self._plan(colour)
        self._is_playing = True
        self._in_haste = planned is not None and planned <= LEAST_SECONDS
        self._doubt = 0.0
        move = self._find(colour, began, planned, cleanup, on_event, may_resign=not cleanup)
        if move != RESIGN:
            self.history.play(colour, move)
        spent = time.monotonic() - began
        self.clocks[colour] = self.clocks[colour].after(spent)
        if planned is not None:
            self._lag = max(0.8 * self._lag, spent - planned - self._doubt)
        return move

    def suggest(self, colour: str, began: float) -> str:
        """Find a move and leave it at that."""
        return self._find(colour, began, self._plan(colour), False, None, may_resign=False)

    def analyze(
        self, colour: str, interval: float, wait: Callable[[float], bool], show: Callable[[Analysis], object]
    ) -> None:
        """Think, and show an analysis after each interval, until a wait for the interval says that it is enough."""
        player = self._follow(colour)
        player.ponder()
        try:
            while not wait(interval):
                show(player.analysis())
        finally:
            player.close()

    def variation(self, move: str) -> tuple[str, ...]:
        """How the game would go on after a move of the last analysis."""
        return (move,) if self._player is None else self._player.variation(move)

    def judge(self, deadline: float = math.inf) -> status.Status:
        return status.judge(self.history, self.seed, deadline=deadline)

    def _plan(self, colour: str) -> float | None:
        """How many seconds after the beginning the clock wants the answer; None if there is no clock."""
        cells = self.history.cells()
        moves_to_go = max(len(cells) // 6 + 5, cells.count(0) * 3 // 8)
        return self.clocks[colour].budget(moves_to_go, self._lag)

    def _find(
        self,
        colour: str,
        began: float,
        planned: float | None,
        cleanup: bool,
        on_event: Callable[[Analysis], object] | None,
        may_resign: bool,
    ) -> str:
        choice = Choice(self, colour, cleanup, math.inf if planned is None else began + planned)
        if choice.may_pass_at_once():
            return PASS
        sent = self._messages()
        analysis = self._think(colour, began, planned, on_event)
        choice.deadline += self._doubt
        self.note(analysis.summary())
        if isinstance(self.settings.share, Treesplit) and self._player is not None and self._player.sharing is not None:
            sharing, rate = self._player.sharing, (self._messages() - sent) / max(analysis.seconds, 1e-3)
            self.note(f"rank 0: {rate:,.0f} messages a second sent, load {sharing.load:.0%}")
        if may_resign and self._gives_up(colour, analysis):
            return RESIGN
        return choice.of(analysis)

    def _think(
        self, colour: str, began: float, planned: float | None, on_event: Callable[[Analysis], object] | None
    ) -> Analysis:
        player = self._follow(colour)
        limits = [] if self.settings.seconds is None else [self.settings.seconds]
        if planned is not None:
            checks = min(CHECK_SHARE * planned, CHECK_SECONDS)
            limits.append(planned - checks - (time.monotonic() - began))
        if not limits and self.settings.playouts is None:
            limits.append(SECONDS)
        seconds = max(LEAST_SECONDS, min(limits)) if limits else None
        playouts = self.settings.playouts
        if seconds == LEAST_SECONDS:
            playouts = max(player.least_playouts, min(LEAST_PLAYOUTS, playouts or LEAST_PLAYOUTS))
        elif planned is not None and seconds is not None and self._is_divided and playouts is None:
            return self._think_by_doubt(player, colour, began, seconds, on_event)
        return player.think(seconds=seconds, playouts=playouts, on_event=on_event)

    @property
    def _is_divided(self) -> bool:
        """Whether ranks may disagree."""
        return self.settings.share is not None and self.settings.share.votes

    def _think_by_doubt(
        self,
        player: Player,
        colour: str,
        began: float,
        seconds: float,
        on_event: Callable[[Analysis], object] | None,
    ) -> Analysis:
        """Think for most of the time where ranks agree on the move, and for longer the more they disagree."""
        analysis = player.think(seconds=SURE_SHARE * seconds, on_event=on_event)
        limit = self.clocks[colour].limit(self._lag)
        left = math.inf if limit is None else (1 - CHECK_SHARE) * limit - (time.monotonic() - began)
        if self.settings.seconds is not None:
            left = min(left, self.settings.seconds - analysis.seconds)
        more = min(analysis.disagreement * DOUBT_SHARE * seconds, left)
        if more < LEAST_SECONDS or analysis.interrupted or analysis.proven or len(analysis.moves) < 2:
            return analysis
        self.note(f"{analysis.disagreement:.0%} of the ranks disagree: {more:.1f} s more")
        rest = player.think(seconds=more, on_event=on_event)
        self._doubt = max(0.0, SURE_SHARE * seconds + more - seconds)
        return replace(rest, playouts=analysis.playouts + rest.playouts, seconds=analysis.seconds + rest.seconds)

    def _messages(self) -> int:
        """How many messages rank 0 has sent in this game."""
        sharing = None if self._player is None else self._player.sharing
        return 0 if sharing is None else sharing.messages_sent

    def value_after(self, colour: str, move: str, deadline: float) -> float:
        """The chance of this colour to win after a move, by a short search."""
        game, moves = self.history.for_player(colour)
        trees = getattr(self.settings.parallel, "jobs", 1)
        search = replace(self.settings.tree(), memory=max(CHECK_MEMORY, trees), early_stop=False)
        with self._new_player(game, search) as player:
            player.reset([*moves, move])
            seconds = None if deadline == math.inf else max(LEAST_SECONDS, deadline - time.monotonic())
            value = player.think(playouts=max(player.least_playouts, CHECK_PLAYOUTS), seconds=seconds).value
        return 0.0 if value is None else 1.0 - value

    def _gives_up(self, colour: str, analysis: Analysis) -> bool:
        """Whether it has been hopeless for a while."""
        known = analysis.value is not None and analysis.simulations >= HOPELESS_VISITS
        hopeless = known and analysis.value < self.settings.resign  # type: ignore[operator]
        self._hopeless[colour] = self._hopeless[colour] + 1 if hopeless else 0
        return self._hopeless[colour] >= HOPELESS_MOVES

    def set_clock(self, clock: Clock) -> None:
        """Give both players this clock, in each game from now on."""
        self._clock = clock
        self.clocks = dict.fromkeys(PLAYERS, clock)

    def tell_clock(self, colour: str, seconds: float, count: int) -> None:
        self.clocks[colour] = self.clocks[colour].told(seconds, count)
