"""
The C++ engine of Playout. Private: use the names in the playout package.
"""

from collections.abc import Sequence
import enum
from typing import Final, overload


class PolicyFull(MemoryError):
    pass

def exp(x: float) -> float:
    """The engine's exponential: the same bits on every machine."""

def exp_factor(x: float) -> float:
    """exp(x) as a factor of a probability: NaN where abs(x) > 340."""

def uniforms(seed: int, island: int, job: int, playout: int, count: int) -> list[float]:
    """
    The first numbers, uniform on [0, 1), that a playout of a search draws.
    """

class HashPolicy:
    """Weights by 64-bit move code."""

    def __init__(self) -> None: ...

    def find(self, code: int) -> int:
        """The entry of a code; 0 if it is unknown."""

    def find_or_insert(self, code: int, weight: float, value: float) -> int: ...

    def weight(self, entry: int) -> float: ...

    def value(self, entry: int) -> float: ...

    def clear(self) -> None: ...

    def copy(self) -> HashPolicy: ...

    def __len__(self) -> int: ...

    max_entries: Final[int] = ...
    """(arg: object, /) -> int"""

class Problem:
    """A problem inside the engine."""

    @property
    def improves(self) -> bool:
        """Whether it has a local search."""

    @property
    def has_preferences(self) -> bool:
        """
        Whether it says which moves are likely to be good, by priors or a bias.
        """

    @property
    def is_game(self) -> bool:
        """Whether it is a game for two players."""

def improve(problem: Problem, moves: Sequence[int]) -> list[int]:
    """The sequence after the problem's local search."""

class Position:
    """A state of a problem, to be played by hand."""

    def __init__(self, problem: Problem) -> None: ...

    def moves(self, all: bool = False, fresh: bool = False) -> list[tuple[int, int, float]]:
        """
        (move, code, bias) of each legal move, of those the selective policy leaves unless `all`; kept from move to move, or found from scratch if `fresh`.
        """

    def play(self, move: int) -> None: ...

    def score(self) -> float: ...

    def player(self) -> int:
        """Whose turn it is, in a game: 0 or 1."""

    def key(self) -> int:
        """What names the state of a game in a transposition table."""

    def rollout(self, seed: int) -> tuple[list[int], float]:
        """Random moves to the end: the moves, and the score then."""

    def rollouts(self, seed: int, count: int) -> int:
        """
        Plays that many random games from here and counts those that player 0 wins.
        """

    def ownership(self, seed: int, count: int) -> list[float]:
        """
        Plays that many random games of Go from here: of each point, 1 if it was always Black's, -1 if White's.
        """

    def features(self) -> list[tuple[int, list[int]]]:
        """
        (move, features) of each legal move of a Go position: numbers of go_features() in order.
        """

    def state(self) -> bytes:
        """The bytes of the state of a user's problem."""

    def cell(self, column: int, row: int) -> int: ...

class Leftover(enum.Enum):
    none = 0

    total = 1

    per_colour = 2

def same_game(width: int, height: int, cells: Sequence[int], tabu: int, leftover: Leftover, tall: bool = False) -> Problem:
    """
    A SameGame board: colours 1 to 9 row by row from the bottom, the tabu colour or 0. With `tall` the columns are 128-bit words even where 64 bits do.
    """

def tsptw(distances: Sequence[float], ready: Sequence[float], due: Sequence[float], makespan: bool = False, urgent: bool = False, avoid_late: bool = False) -> Problem:
    """A TSPTW instance, the distances row by row; node 0 is the depot."""

class ProblemError(ValueError):
    pass

class CompiledFailure(ProblemError):
    pass

def compiled_problem(*, init: int, find: int, play: int, step: int, score: int, player: int, has_bias: bool, data: int, state_bytes: int, max_moves: int, max_length: int, owner: object, python_score: object | None = None, improve: object | None = None) -> Problem:
    """
    A user's problem: addresses of functions that Numba compiled, player's is 0 unless it is a game, and of the constants they are given.
    """

def python_problem(methods: object, *, is_game: bool, has_bias: bool, state_bytes: int, max_moves: int, max_length: int, improve: object | None = None) -> Problem:
    """
    A user's problem in plain Python: an object with init, find, play, step, score and player of a memoryview.
    """

def library_problem(entry: int, argument: str, owner: object) -> tuple[Problem, str, float, int, int]:
    """
    A user's problem in a library, by the address of its entry point; with name, temperature, max_moves and max_length.
    """

def mnk(width: int, height: int, k: int) -> Problem:
    """An m,n,k game; a move is row * width + column, row 0 at the bottom."""

def connect_four(width: int = 7, height: int = 6) -> Problem:
    """Connect Four; a move is a column from 0."""

def hex(side: int) -> Problem:
    """Hex; a move is row * side + column, row 0 at the top."""

class Ko(enum.Enum):
    simple = 0

    positional = 1

    situational = 2

def go(width: int, height: int, komi: float, ko: Ko, suicide: bool = False, black: Sequence[int] = [], white: Sequence[int] = [], first: int = 0, heavy: bool = False) -> Problem:
    """
    Go. A point is row * width + column from the bottom left, a pass is width * height; black and white are the points of stones that are there at the start, and first is 0 where Black moves first; heavy is how rollouts are played.
    """

def go_features() -> list[str]:
    """The names of the features of moves in Go, by their numbers."""

class GoCounter:
    """What there is on a small board; for tests."""

    def __init__(self, width: int, height: int, suicide: bool) -> None: ...

    def count_legal(self) -> int:
        """Colourings in which every chain has a liberty."""

    def graph(self) -> list[list[int]]:
        """For each position that can be reached, which others one move leads to."""

    def count_games(self) -> int:
        """Games that repeat no position, of any length."""

class BiasUse(enum.Enum):
    none = 0

    factor = 1

    initial = 2

class Search:
    """A search under way: a value that can be copied and moved on."""

    def advance(self, playouts: int) -> None:
        """
        Plays at most that many playouts; returns early when the best improves.
        """

    def start_from(self, sequence: Sequence[int], times: int) -> None:
        """
        Makes a sequence the best so far and adapts the top policy to it that many times.
        """

    def copy(self) -> Search: ...

    def serialise(self) -> bytes:
        """
        The state of the search as bytes: all it needs to go on, but its problem and settings.
        """

    def deserialise(self, bytes: bytes) -> None:
        """
        Takes the state of a search of the same problem and settings; ValueError if it is damaged.
        """

    @property
    def playouts(self) -> int: ...

    @property
    def score(self) -> float: ...

    @property
    def moves(self) -> list[int]: ...

    def level_moves(self, level: int) -> list[int]:
        """The best sequence a level of NRPA has found since it began."""

    def level_policy(self, level: int) -> HashPolicy:
        """A copy of the policy of a level of NRPA."""

def adapt(policy: HashPolicy, steps: Sequence[tuple[Sequence[int], Sequence[float], int]], alpha: float, temperature: float, bias_use: BiasUse) -> None:
    """
    Teaches a policy a sequence of steps, each (codes, biases, index of the move played).
    """

def probabilities(policy: HashPolicy, codes: Sequence[int], biases: Sequence[float], temperature: float, bias_use: BiasUse) -> list[float]:
    """
    The probabilities with which a playout draws moves of these codes and biases.
    """

def nrpa(problem: Problem, level: int, iterations: int, alpha: float, temperature: float, bias_use: BiasUse, playouts_per_call: int, repetitions: int, seed: int, job: int = 0, wide_level: int = 0, width: int = 1, local: bool = False, exchange_best: bool = False, improve: bool = False) -> Search:
    """
    NRPA and GNRPA; with a wide level, its calls are made `width` at a time; with `improve`, the problem's local search improves the best sequences.
    """

def nmcs(problem: Problem, level: int, seed: int, job: int = 0) -> Search: ...

class NoThreads(RuntimeError):
    pass

class Progress:
    """A run at one moment."""

    @property
    def seconds(self) -> float: ...

    @property
    def playouts(self) -> int: ...

    @property
    def score(self) -> float: ...

    @property
    def moves(self) -> list[int]: ...

    @property
    def history(self) -> list[tuple[float, int, float]]: ...

class Portfolio:
    """How many playouts each of several jobs gets."""

    def __init__(self, jobs: int, keep: int, playouts: int) -> None: ...

    def quotas(self) -> list[int]:
        """How many playouts each job may have played by the end of this round."""

    def begin_round(self, scores: Sequence[float]) -> bool:
        """
        Once all have: raises the quotas, given the jobs' scores; false if all playouts are given.
        """

    def serialise(self) -> bytes: ...

    def deserialise(self, state: bytes) -> None: ...

class Run:
    """Searches on threads of their own."""

    def __init__(self, searches: Sequence[Search], playouts: int, target: float, threads: int = 1, crews: int = 1, keep: int = 0, state: bytes = ..., problem: Problem | None = None) -> None:
        """
        Starts copies of the searches; it ends after that many playouts in all, or at that score. The best `keep` get most of the playouts, 0: all get the same. Goes on from a state that `serialise` gave. The problem is needed where it asks Python: whoever waits for the run then does what it asks.
        """

    def wait(self, seconds: float) -> bool:
        """
        Waits at most that long for the end; true once the run is over. Raises what the search raised.
        """

    def serialise(self) -> bytes:
        """The state of all jobs as bytes; the run goes on."""

    @property
    def failed(self) -> bool:
        """Whether a search raised something: its state is then of no use."""

    def stop(self) -> None:
        """
        Ends the run and waits for its threads. Signals are heard; if a handler raises, nobody waits any longer.
        """

    def progress(self) -> Progress: ...

class Traffic:
    """What has gone through a port."""

    @property
    def messages_sent(self) -> int: ...

    @property
    def bytes_sent(self) -> int: ...

    @property
    def batches_sent(self) -> int: ...

    @property
    def messages_received(self) -> int: ...

    @property
    def bytes_received(self) -> int: ...

    @property
    def batches_received(self) -> int: ...

    @property
    def idle_seconds(self) -> float: ...

class Port:
    """Where the messages of one rank go out and come in."""

    def __init__(self, rank: int, ranks: int) -> None: ...

    @property
    def rank(self) -> int: ...

    @property
    def ranks(self) -> int: ...

    def send(self, to: int, kind: int, bytes: bytes) -> None: ...

    def receive(self) -> tuple[int, int, bytes] | None:
        """
        The next message, as who sent it, its kind and its bytes; None if there is none.
        """

    def take(self, to: int) -> bytes:
        """All that waits for a rank, for whoever moves it there."""

    def deliver(self, rank: int, batch: bytes) -> None:
        """
        Takes in what another rank's port gave; raises ValueError if it is no such thing.
        """

    def add_idle(self, seconds: float) -> None: ...

    @property
    def traffic(self) -> Traffic: ...

class Network:
    """Ranks in this process, and what connects them."""

    def __init__(self, ranks: int, delay: float = 0.0, bandwidth: float = float('inf'), seed: int | None = None) -> None: ...

    def port(self, rank: int) -> Port: ...

    def check(self) -> None:
        """Raises what ended the thread that moves messages, if something has."""

    def deliver(self) -> int:
        """
        With a seed: has every link carry what waits there, in an order of its own; returns how many batches did.
        """

class SharingSettings:
    def __init__(self) -> None: ...

    @property
    def broadcast(self) -> bool: ...

    @broadcast.setter
    def broadcast(self, arg: bool, /) -> None: ...

    @property
    def interval(self) -> float: ...

    @interval.setter
    def interval(self, arg: float, /) -> None: ...

    @property
    def simulations(self) -> int: ...

    @simulations.setter
    def simulations(self, arg: int, /) -> None: ...

    @property
    def depth(self) -> int: ...

    @depth.setter
    def depth(self, arg: int, /) -> None: ...

    @property
    def min_visits(self) -> int: ...

    @min_visits.setter
    def min_visits(self, arg: int, /) -> None: ...

    @property
    def min_share(self) -> float: ...

    @min_share.setter
    def min_share(self, arg: float, /) -> None: ...

class SplitSettings:
    def __init__(self) -> None: ...

    @property
    def duplicate_after(self) -> int: ...

    @duplicate_after.setter
    def duplicate_after(self, arg: int, /) -> None: ...

    @property
    def sync_every(self) -> int: ...

    @sync_every.setter
    def sync_every(self, arg: int, /) -> None: ...

    @property
    def overload(self) -> float: ...

    @overload.setter
    def overload(self, arg: float, /) -> None: ...

class SharingReport:
    """What sharing has cost a rank."""

    @property
    def exchanges(self) -> int: ...

    @property
    def nodes(self) -> int: ...

    @property
    def told(self) -> int: ...

    @property
    def heard(self) -> int: ...

    @property
    def lost(self) -> int: ...

    @property
    def seconds(self) -> float: ...

    @property
    def worked(self) -> float: ...

    @property
    def idle(self) -> float: ...

class Changed(ProblemError):
    pass

class NoRoom(MemoryError):
    pass

class Bandit(enum.Enum):
    ucb1 = 0

    tuned1 = 1

    tuned2 = 2

    rave = 3

class Decision(enum.Enum):
    visits = 0

    value = 1

    lower_bound = 2

class UctSettings:
    def __init__(self) -> None: ...

    @property
    def bandit(self) -> Bandit: ...

    @bandit.setter
    def bandit(self, arg: Bandit, /) -> None: ...

    @property
    def exploration(self) -> float: ...

    @exploration.setter
    def exploration(self, arg: float, /) -> None: ...

    @property
    def first_play(self) -> float: ...

    @first_play.setter
    def first_play(self, arg: float, /) -> None: ...

    @property
    def rave_k(self) -> float: ...

    @rave_k.setter
    def rave_k(self, arg: float, /) -> None: ...

    @property
    def even_prior(self) -> float: ...

    @even_prior.setter
    def even_prior(self, arg: float, /) -> None: ...

    @property
    def widening(self) -> bool: ...

    @widening.setter
    def widening(self, arg: bool, /) -> None: ...

    @property
    def widening_first(self) -> float: ...

    @widening_first.setter
    def widening_first(self, arg: float, /) -> None: ...

    @property
    def widening_growth(self) -> float: ...

    @widening_growth.setter
    def widening_growth(self, arg: float, /) -> None: ...

    @property
    def expand_after(self) -> int: ...

    @expand_after.setter
    def expand_after(self, arg: int, /) -> None: ...

    @property
    def graph(self) -> bool: ...

    @graph.setter
    def graph(self, arg: bool, /) -> None: ...

    @property
    def solver(self) -> bool: ...

    @solver.setter
    def solver(self, arg: bool, /) -> None: ...

    @property
    def early_stop(self) -> bool: ...

    @early_stop.setter
    def early_stop(self, arg: bool, /) -> None: ...

    @property
    def memory(self) -> int: ...

    @memory.setter
    def memory(self, arg: int, /) -> None: ...

    @property
    def virtual_loss(self) -> int: ...

    @virtual_loss.setter
    def virtual_loss(self, arg: int, /) -> None: ...

    @property
    def in_flight(self) -> bool: ...

    @in_flight.setter
    def in_flight(self, arg: bool, /) -> None: ...

class ActionReport:
    @property
    def move(self) -> int: ...

    @property
    def visits(self) -> int: ...

    @property
    def wins(self) -> float: ...

    @property
    def amaf_visits(self) -> int: ...

    @property
    def amaf_wins(self) -> float: ...

    @property
    def votes(self) -> int: ...

    @property
    def prior_visits(self) -> float: ...

    @property
    def prior_wins(self) -> float: ...

    @property
    def bounds(self) -> tuple[int, int]: ...

class NodeReport:
    @property
    def key(self) -> int: ...

    @property
    def path(self) -> list[int]: ...

    @property
    def visits(self) -> int: ...

    @property
    def actions(self) -> list[ActionReport]: ...

    @property
    def rank(self) -> int: ...

    @property
    def bounds(self) -> tuple[int, int]: ...

class TreeReport:
    """What a player's trees know of the moves of a state."""

    @property
    def actions(self) -> list[ActionReport]: ...

    @property
    def player(self) -> int: ...

    @property
    def visits(self) -> int: ...

    @property
    def nodes(self) -> int: ...

    @property
    def bytes(self) -> int: ...

    @property
    def most_bytes(self) -> int: ...

    @property
    def full(self) -> bool: ...

    @property
    def ranks(self) -> int: ...

    @property
    def playouts(self) -> int: ...

    @property
    def complete(self) -> bool: ...

    @property
    def bounds(self) -> tuple[int, int]: ...

def uct(problem: Problem, settings: UctSettings, seed: int, job: int = 0, width: int = 0) -> Search:
    """A tree search of a puzzle."""

def nodes_of(search: Search) -> list[NodeReport]:
    """All nodes of a tree search."""

def is_better(one: ActionReport, other: ActionReport, decision: Decision, player: int) -> bool:
    """Whether one action of a player is the better decision."""

def log(x: float) -> float: ...

def regret(bandit: Bandit, exploration: float, chances: Sequence[float], steps: Sequence[int], seed: int) -> list[float]:
    """The regret of a bandit after so many steps, for each of a list."""

class Forest:
    """The trees of a player of games, at work or at rest."""

    @overload
    def __init__(self, problem: Problem, settings: UctSettings, seed: int, jobs: int = 1, width: int = 0) -> None: ...

    @overload
    def __init__(self, problem: Problem, settings: UctSettings, seed: int, width: int, port: Port, sharing: SharingSettings) -> None:
        """The tree of one rank of several, which share what they learn."""

    @overload
    def __init__(self, problem: Problem, settings: UctSettings, seed: int, port: Port, split: SplitSettings) -> None:
        """A rank's part of one tree that several have."""

    @overload
    def __init__(self, problem: Problem, settings: UctSettings, seed: int, network: Network, ranks: int, split: SplitSettings) -> None:
        """
        One tree that several ranks have, which take turns in one thread; the network has a seed.
        """

    def finish(self, seconds: float) -> bool:
        """
        After thinking has ended: tells the other ranks everything and waits for what they tell; true once all is in.
        """

    @property
    def sharing(self) -> SharingReport:
        """What sharing has cost so far."""

    def begin(self, playouts: int, threads: int) -> None: ...

    def wait(self, seconds: float) -> bool:
        """
        Waits at most that long for the end of thinking; true once it is over. Raises what was raised.
        """

    def stop(self) -> None: ...

    def request_stop(self) -> None:
        """
        Asks for the end of thinking and does not wait for it; from any thread.
        """

    @property
    def spent(self) -> tuple[int, float]:
        """Playouts and seconds of this thinking, or of the last."""

    def is_decided(self, more: int) -> bool: ...

    def report(self) -> TreeReport: ...

    def variation(self, first: int, decision: Decision) -> list[int]: ...

    def play(self, move: int) -> None: ...

    def go_to(self, moves: Sequence[int]) -> None: ...

    def legal_moves(self) -> list[int]: ...

    def player(self) -> int: ...

    def score(self) -> float: ...

    def nodes(self) -> list[NodeReport]: ...
