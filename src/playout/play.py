"""Player and Analysis: a game of two players, and what tree search says of its moves."""

import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cmp_to_key
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any

from playout import _core, problems
from playout.check import check_quickly
from playout.cluster.ranks import RanksHere, RanksInTurns
from playout.compile import explained
from playout.errors import InputError, check_integer, check_positive, short
from playout.own import check_not_loading
from playout.parallel import MAX_THREADS, Leaf, Root, Tree
from playout.problems import BuiltIn
from playout.progress import WAKE_SECONDS
from playout.result import MAX_SEED
from playout.share import Broadcast, Share, Sharing, Treesplit, check_share
from playout.stop import interrupts
from playout.uct import DECISIONS, UCT, width_of

if TYPE_CHECKING:
    from playout.cluster.job import RanksOfJob

MAX_VISITS = 2**31 - 1  # of a state


@dataclass(frozen=True)
class MoveAnalysis:
    """What a search knows of one move.

    Attributes
    ----------
    move
        As the game writes it.
    visits
        Simulations that began with it.
    value
        The share of them that the player to move won, a draw being half a win; None of a move never tried.
    amaf_visits, amaf_value
        The same for the simulations in which it was made at any time, where RAVE counts them.
    proven
        ``"win"``, ``"draw"`` or ``"loss"`` for the player to move, if that is certain.
    votes
        Where several ranks search together: how many of them have tried it most themselves, in this thinking.
    """

    move: Any
    visits: int
    value: float | None
    amaf_visits: int = 0
    amaf_value: float | None = None
    proven: str | None = None
    votes: int = 0


@dataclass(frozen=True, repr=False)
class Analysis:
    """What a search says of the moves of a state.

    Attributes
    ----------
    move
        The decision; None once the game is over.
    value
        The chance to win of the player to move: the mean of the decision, or 0, 0.5 or 1 where that is certain. A draw
        is half a win. None where nothing was searched.
    proven
        ``"win"``, ``"draw"`` or ``"loss"`` for the player to move, if that is certain.
    player
        The name of the player to move.
    moves
        A :class:`MoveAnalysis` of every legal move, the best decision first.
    principal_variation
        The decision, and the moves that both sides would decide for after it.
    playouts, seconds
        Of this thinking.
    simulations
        All that began in this state, those of earlier thinking included.
    nodes
        States in the tree.
    memory, most_memory
        Bytes that the tree uses, and that it may use.
    full
        Whether nothing more can be added to it.
    interrupted
        Whether Ctrl-C or ``stop()`` ended the thinking.
    ranks
        How many ranks have searched; visits, playouts, nodes and memory are those of all of them.
    """

    move: Any
    value: float | None
    proven: str | None
    player: str
    moves: tuple[MoveAnalysis, ...]
    principal_variation: tuple[Any, ...]
    playouts: int
    seconds: float
    simulations: int
    nodes: int
    memory: int
    most_memory: int
    full: bool
    interrupted: bool = False
    ranks: int = 1

    @property
    def disagreement(self) -> float:
        """The share of the ranks that would have decided otherwise by their own simulations: 0, all agree; never 1."""
        if self.ranks == 1 or not self.moves or self.proven:
            return 0.0
        voted = sum(one.votes for one in self.moves)
        return 1 - max(self.moves[0].votes, 1) / voted if voted else 0.0

    @property
    def visits(self) -> MappingProxyType[Any, int]:
        """Simulations of every legal move."""
        return MappingProxyType({one.move: one.visits for one in self.moves})

    @property
    def playouts_per_second(self) -> float:
        return self.playouts / self.seconds if self.seconds > 0 else 0.0

    @property
    def capacity(self) -> int:
        """About how many states the memory holds, if they are as large as those there are."""
        return self.nodes * self.most_memory // max(self.memory, 1)

    def top(self, count: int) -> tuple[MoveAnalysis, ...]:
        """The best moves, the decision first."""
        return self.moves[: check_integer("count", count, 0, 1 << 30)]

    def __repr__(self) -> str:
        return f"<Analysis {self.summary()}>"

    def summary(self) -> str:
        """Return the analysis in one line."""
        said = f"{self.player}: {self.move}" if self.moves else "the game is over"
        if self.value is not None:
            said += f", {self.value:.1%}" + (f" (a proven {self.proven})" if self.proven else "")
        if self.ranks > 1 and self.moves:
            voted = any(one.votes for one in self.moves)
            said += f", the choice of {self.moves[0].votes} of" if voted else ","
            said += f" {self.ranks} ranks"
        return (
            f"{said}; {self.playouts:,} playouts, {self.playouts_per_second:,.0f} a second, {self.nodes:,} states, "
            f"{self.memory / 2**20:,.0f} of {self.most_memory / 2**20:,.0f} MB"
        )

    def __str__(self) -> str:
        lines = [self.summary()]
        if self.principal_variation:
            lines.append(" ".join(map(str, self.principal_variation)))
        for one in self.top(10):
            value = "-" if one.value is None else f"{one.value:.1%}"
            lines.append(f"  {one.move!s:>8}  {one.visits:>12,}  {value:>6}  {one.proven or ''}".rstrip())
        return "\n".join(lines)


class Player:
    """Plays a game of two players: follows the moves, and thinks when asked.

    ::

        player = po.Player(po.ConnectFour(), po.UCT(), threads=2)
        analysis = player.think(seconds=1)
        player.play(analysis.move)

    What the tree knows of the state after a move is kept when the move is played.

    Parameters
    ----------
    game
        Such as ``ConnectFour()``, ``Hex(11)``, ``Go(9)``, or a :class:`playout.Problem` with a ``player`` method.
    search
        A :class:`playout.UCT`; ``UCT()`` if None.
    threads
        How many threads think.
    parallel
        How they work together: :class:`playout.Tree`, :class:`playout.Leaf` or :class:`playout.Root`, whose trees'
        statistics are added up. If None, one thread searches alone, and more search one tree.
    seed
        Of the random numbers. With a number of playouts the same seed gives the same analysis, bit for bit, unless
        several threads search one tree, or ranks share by the clock or have one tree in several processes.
    share
        How several ranks with ``threads`` of their own think together: each with a tree of its own, and they share what
        they learn, :class:`playout.Averaged` or :class:`playout.Broadcast`; or with one tree for all of them,
        :class:`playout.Treesplit`. Budgets of playouts are those of all ranks together, ``memory`` of the search is
        that of each.
    ranks
        How many ranks there are in this process. If None, those of the MPI job that this is a rank of
        (``mpiexec -n 4 python script.py``): all of them run the script, and here the others stay and do what rank 0
        does, until that ends; their processes then end with it. So only rank 0 goes on with the script. In this process
        the ranks of a split tree take turns, unless they have several threads each.

    Notes
    -----
    A player is for one thread at a time; only :meth:`stop` may be called by another.
    """

    def __init__(
        self,
        game: BuiltIn,
        search: UCT | None = None,
        *,
        threads: int = 1,
        parallel: Tree | Leaf | Root | None = None,
        seed: int = 0,
        share: Share | None = None,
        ranks: int | None = None,
    ) -> None:
        check_not_loading()
        self.threads = check_integer("threads", threads, 1, MAX_THREADS)
        self.seed = check_integer("seed", seed, 0, MAX_SEED)
        self.search = UCT() if search is None else search
        if not isinstance(self.search, UCT):
            raise InputError(f"search is {short(search)}; a player needs UCT()")
        if isinstance(share, (Broadcast, Treesplit)):  # ranks find each other's states by their keys
            self.search = replace(self.search, graph=True)
        if isinstance(game, type) or not hasattr(game, "engine"):
            raise InputError(f"game is {short(game)}; allowed are games such as ConnectFour()")
        check_quickly(game, False)
        if not problems.is_game(game):
            raise InputError(f"{game.describe()} is not a game for two players: playout.solve searches it")
        self.parallel = Tree() if parallel is None and self.threads > 1 else parallel
        if self.parallel is not None and not isinstance(self.parallel, (Tree, Leaf, Root)):
            raise InputError(f"parallel is {short(parallel)}; allowed are Tree(), Leaf() and Root()")
        self.game = game
        self._engine = game.engine()
        self._names: tuple[str, str] = getattr(game, "players", ("player 0", "player 1"))
        self._moves: list[int] = []
        self._use = threading.RLock()  # held by the thread that asks something of the engine
        self._lock = threading.Lock()
        self._stopped: threading.Event | None = None  # of the thinking under way
        self._pondering = False
        wide = None if self.parallel is None else self.parallel.wide
        jobs = 1 if self.parallel is None else self.parallel.jobs
        self.search.shared_by(jobs)  # raises if there is too little memory for them
        self.share = share
        self._forest = self._trees(jobs, wide, ranks)

    def _trees(self, jobs: int, wide: Any, ranks: int | None) -> "_core.Forest | RanksHere | RanksInTurns | RanksOfJob":
        """Return what thinks: trees of this process, or of several ranks."""
        settings = self.search.engine_settings(self.game, wide)
        if self.share is None:
            if ranks is not None:
                raise InputError(f"ranks is {short(ranks)}, but nothing says how they share; give share=Averaged()")
            with self._explained():
                return _core.Forest(self._engine, settings, self.seed, jobs, width_of(wide))
        check_share(self.share, ranks)
        if isinstance(self.parallel, Root):
            raise InputError("parallel is Root(), which has several trees; ranks that share have one each")
        if isinstance(self.share, Treesplit) and self.parallel not in (None, Tree()):
            raise InputError(f"parallel is {self.parallel}; the threads of a split tree work together as Tree() says")
        with self._explained():
            if ranks is not None and isinstance(self.share, Treesplit) and self.threads == 1:
                return RanksInTurns(self._engine, settings, self.seed, self.share, ranks)
            if ranks is not None:
                return RanksHere(self._engine, settings, self.seed, width_of(wide), self.share, ranks)
            from playout.cluster.job import RanksOfJob

            return RanksOfJob(self)

    # The game

    @property
    def moves(self) -> tuple[Any, ...]:
        """The moves played."""
        return tuple(self.game.decode(self._moves))

    @property
    def to_move(self) -> str:
        """The name of the player to move."""
        self._end_pondering()
        with self._explained():
            return self._names[self._forest.player()]

    @property
    def finished(self) -> bool:
        """Whether the game is over."""
        return not self.legal_moves()

    @property
    def score(self) -> float | None:
        """The result as the first of the game's players sees it, above 0 for a win; None while the game goes on."""
        if not self.finished:
            return None
        with self._explained():
            return self._forest.score()

    @property
    def winner(self) -> str | None:
        """The name of the player who has won; None of a draw, and while the game goes on."""
        score = self.score
        return None if not score else self._names[score < 0]

    def legal_moves(self) -> list[Any]:
        self._end_pondering()
        with self._explained():
            return self.game.decode(self._forest.legal_moves())

    def play(self, move: Any) -> None:
        """Play a move; what the tree knows of the state after it is kept."""
        (number,) = self.game.encode([move])
        legal = self.legal_moves()
        if not legal:
            raise InputError(f"{short(move)} cannot be played: the game is over")
        if number not in self.game.encode(legal):
            raise InputError(f"{short(move)} is not legal here; {_some(legal)} {'is' if len(legal) == 1 else 'are'}")
        with self._explained():
            self._forest.play(number)
        self._moves.append(number)

    def undo(self) -> None:
        """Take the last move back."""
        if not self._moves:
            raise InputError("there is no move to take back")
        self.reset(self.game.decode(self._moves[:-1]))

    def reset(self, moves: Sequence[Any] = ()) -> None:
        """Go to the state after these moves from the beginning of the game, with an empty tree."""
        self._end_pondering()
        numbers = list(self.game.encode(moves))
        self.game.replay(moves)  # raises where a move is not legal, with its number
        with self._explained():
            self._forest.go_to(numbers)
        self._moves = numbers

    # Thinking

    def think(
        self,
        *,
        seconds: float | None = None,
        playouts: int | None = None,
        on_event: Callable[[Analysis], object] | None = None,
    ) -> Analysis:
        """Search the present state.

        Parameters
        ----------
        seconds, playouts
            The budget: thinking ends at the first that is reached. At least one is required. It ends earlier once the
            result is proven, or the decision cannot change any more (``early_stop`` of the search). A game that is over
            and a single legal move are answered at once.
        on_event
            Called with an :class:`Analysis` about ten times a second. An exception in it ends the thinking.

        Returns
        -------
        Analysis
            Ctrl-C and ``stop()`` end the thinking early, at once: the analysis so far is returned, with ``interrupted``
            set. A second Ctrl-C raises KeyboardInterrupt.
        """
        seconds, playouts = self._budget(seconds, playouts)
        forced = len(self.legal_moves()) < 2
        if forced:
            playouts = self.least_playouts
        with self._thinking() as stopped:
            begin = time.monotonic()
            deadline = math.inf if seconds is None else begin + seconds
            if not self.finished:
                self._begin(playouts)
                while not self._is_over(deadline, stopped):
                    if on_event is not None:
                        on_event(self._analysis(interrupted=False))
            self._forest.stop()
            self._forest.wait(0.0)
            interrupted = stopped.is_set() and not forced
            return self._analysis(interrupted=interrupted)

    def ponder(self) -> None:
        """Think in the background, until the next thing that is asked: what is learned is kept if it is of use.

        A game that is plain Python, or has a score that is, only moves on while the player is asked something.
        """
        self._end_pondering()
        if self.finished or self._pondering:
            return
        with self._explained():
            self._begin(None)
        self._pondering = True

    def analysis(self) -> Analysis:
        """What is known of the present state, also while pondering; nothing is searched for it."""
        with self._explained():
            return self._analysis(interrupted=False)

    def variation(self, move: Any) -> tuple[Any, ...]:
        """The move, and those that both sides would decide for after it, as far as that is known."""
        (number,) = self.game.encode([move])
        with self._explained():
            return tuple(self.game.decode(self._forest.variation(number, DECISIONS[self.search.decision]) or [number]))

    @property
    def sharing(self) -> Sharing | None:
        """What sharing with other ranks has cost so far; None where there are none."""
        return None if isinstance(self._forest, _core.Forest) else self._forest.sharing

    def stop(self) -> None:
        """Ask for the end of the thinking or pondering under way; any thread may call it."""
        with self._lock:
            if self._stopped is not None:
                self._stopped.set()
        self._forest.request_stop()

    def close(self) -> None:
        """End what goes on in the background, and wait for that."""
        self._end_pondering()

    def __enter__(self) -> "Player":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __reduce__(self) -> str:
        raise TypeError("a player is neither copied nor pickled; keep its game and its moves, and reset(moves) another")

    def _repr_html_(self) -> str:
        return self.game.to_html(self.moves)

    def __repr__(self) -> str:
        return f"Player({self.game.describe()}, {self.search}, threads={self.threads}, {len(self._moves)} moves played)"

    # Inside

    def _budget(self, seconds: float | None, playouts: int | None) -> tuple[float | None, int | None]:
        if seconds is None and playouts is None:
            raise InputError("no budget: give seconds or playouts, or both")
        if seconds is not None:
            seconds = check_positive("seconds", seconds)
        if playouts is not None:
            playouts = check_integer("playouts", playouts, 1, MAX_VISITS)
            if playouts < self.least_playouts:
                raise InputError(
                    f"playouts is {playouts}, too few for {self.parallel}, which does {self.least_playouts} at once"
                )
        return seconds, playouts

    @property
    def least_playouts(self) -> int:
        """The least number of playouts that its threads can be asked for."""
        return self._ranks * max(getattr(self.parallel, "jobs", 1), getattr(self.parallel, "width", 1))

    @property
    def _ranks(self) -> int:
        return getattr(self._forest, "ranks", 1)

    def _begin(self, playouts: int | None) -> None:
        """Let the engine begin; however long it may search, no counter of visits overflows."""
        room = MAX_VISITS - self._forest.report().visits
        least = self.least_playouts
        jobs = 1 if self.parallel is None else self.parallel.jobs
        threads = min(self.threads, jobs) if isinstance(self.parallel, Root) else self.threads
        try:
            self._forest.begin(max(least, min(room, MAX_VISITS if playouts is None else playouts)), threads)
        except _core.NoThreads as error:
            raise InputError(f"cannot start so many threads: {error}") from None

    def _is_over(self, deadline: float, stopped: threading.Event) -> bool:
        """Wait for the next moment to look up; true once the thinking should end or has ended."""
        wait = max(0.0, min(WAKE_SECONDS / 10, deadline - time.monotonic()))
        end = time.monotonic() + WAKE_SECONDS
        while True:
            if self._forest.wait(wait) or stopped.is_set() or time.monotonic() >= deadline:
                return True
            if time.monotonic() >= end:
                break
            wait = max(0.0, min(WAKE_SECONDS / 10, deadline - time.monotonic()))
        if deadline == math.inf or not self.search.early_stop or self.search.decision != "visits":
            return False
        playouts, seconds = self._forest.spent
        left = deadline - time.monotonic()
        return self._forest.is_decided(math.ceil(playouts / seconds * left) + 1)

    @contextmanager
    def _thinking(self) -> Iterator[threading.Event]:
        with self._explained(), interrupts() as stopped:
            with self._lock:
                self._stopped = stopped
            try:
                yield stopped
            finally:
                with self._lock:
                    self._stopped = None
                self._forest.stop()

    def _end_pondering(self) -> None:
        if not self._pondering:
            return
        self._pondering = False
        with self._explained():
            self._forest.stop()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Keep other threads away from the engine, and say what a user's game did wrong."""
        if not self._use.acquire(blocking=False):
            raise InputError("another thread is using this player; meanwhile only stop() may be called")
        try:
            with explained(self.game):
                yield
        except _core.ProblemError as error:
            raise InputError(f"{self.game.describe()}: {error}") from None
        except _core.NoRoom as error:
            raise InputError(f"{error}: use more, by memory of UCT(), or fewer jobs") from None
        except MemoryError:
            raise InputError("out of memory: use less of it, by memory of UCT(), or fewer jobs") from None
        finally:
            self._use.release()

    def _analysis(self, interrupted: bool) -> Analysis:
        report = self._forest.report()
        player = report.player
        decision = DECISIONS[self.search.decision]

        def compare(one: _core.ActionReport, other: _core.ActionReport) -> int:
            better, worse = (_core.is_better(*pair, decision, player) for pair in ((one, other), (other, one)))
            return worse - better

        actions = sorted(report.actions, key=cmp_to_key(compare))
        proven = _proven(report.bounds, player)
        playouts, seconds = self._forest.spent if actions else (0, 0.0)
        moves = tuple(
            MoveAnalysis(
                move=move,
                visits=one.visits,
                value=one.wins / one.visits if one.visits else None,
                amaf_visits=one.amaf_visits,
                amaf_value=one.amaf_wins / one.amaf_visits if one.amaf_visits else None,
                proven=_proven(one.bounds, player),
                votes=one.votes,
            )
            for one, move in zip(actions, self.game.decode([one.move for one in actions]), strict=True)
        )
        line: Sequence[int] = ()
        value = None
        if actions:
            line = self._forest.variation(actions[0].move, decision) or [actions[0].move]
            value = moves[0].value
        if proven is not None:
            value = {"win": 1.0, "draw": 0.5, "loss": 0.0}[proven]
        return Analysis(
            move=moves[0].move if moves else None,
            value=value,
            proven=proven,
            player=self._names[player],
            moves=moves,
            principal_variation=tuple(self.game.decode(line)),
            playouts=playouts,
            seconds=seconds,
            simulations=report.visits,
            nodes=report.nodes,
            memory=report.bytes,
            most_memory=report.most_bytes,
            full=report.full,
            interrupted=interrupted,
            ranks=report.ranks,
        )


def _proven(bounds: tuple[int, int], player: int) -> str | None:
    """Return what is certain for a player, given bounds of the half wins of player 0."""
    lower, upper = bounds
    if lower != upper:
        return None
    return ("loss", "draw", "win")[lower if player == 0 else 2 - lower]


def _some(moves: Sequence[Any]) -> str:
    shown = ", ".join(map(str, moves[:10]))
    return shown if len(moves) <= 10 else f"{shown} and {len(moves) - 10} more"
