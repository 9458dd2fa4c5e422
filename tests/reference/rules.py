"""Problems as the plain tree search sees them: moves with a number, a code and a bias, and how a playout goes."""

import copy
from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple

from tests.reference import go_features
from tests.reference.go import PlainGo
from tests.reference.go_heavy import HeavyGo
from tests.reference.stream import Stream


class Move(NamedTuple):
    move: int
    code: Any
    bias: float = 0.0


class Board:
    """A game of tests/reference/games.py: a move is its own code, and the game has its own random playouts."""

    is_game = True
    has_bias = False
    first_play_counts = False

    def is_allowed(self, state: Any, move: Move) -> bool:
        return True

    def __init__(self, game: Any) -> None:
        game.score = cache(game.score)
        game.moves = cache(game.moves)
        self.initial, self.player, self.key = game.initial, game.player, game.key
        self.score, self.game = game.score, game

    def moves(self, state: Any) -> list[Move]:
        return [Move(move, move) for move in self.game.moves(state)]

    def play(self, state: Any, move: Move) -> Any:
        return self.game.play(state, move.move)

    def playout(self, state: Any, stream: Stream) -> tuple[list, float]:
        game = copy.copy(self.game)
        game.moves = lambda state: list(self.game.moves(state))  # a playout takes its moves out of the list
        return game.rollout(state, stream)  # type: ignore[no-any-return]


class GoBoard:
    """Go: a state is the moves so far. The moves of a node are those that the board allows; the history may not."""

    is_game = True
    has_bias = False
    first_play_counts = True

    kind = PlainGo

    def __init__(self, *size: Any, **settings: Any) -> None:
        self.size, self.settings = size, settings

    @cache  # noqa: B019, for a test
    def at(self, state: tuple[int, ...]) -> PlainGo:
        if not state:
            return self.kind(*self.size, **self.settings)
        board = copy.deepcopy(self.at(state[:-1]))
        board.play(state[-1])
        return board

    def initial(self) -> tuple[int, ...]:
        return ()

    def player(self, state: tuple[int, ...]) -> int:
        return self.at(state).player

    def key(self, state: tuple[int, ...]) -> Any:
        board = self.at(state)
        return board.board, board.player, board.ko_point, board.passes

    def moves(self, state: tuple[int, ...]) -> list[Move]:
        board = self.at(state)
        points = [point for point in range(board.last) if board.fits(point, board.suicide)]
        return [] if board.passes == 2 else [Move(move, move) for move in (*points, board.last)]

    def is_allowed(self, state: tuple[int, ...], move: Move) -> bool:
        return move.move in self.at(state).moves()

    def play(self, state: tuple[int, ...], move: Move) -> tuple[int, ...]:
        return (*state, move.move)

    def score(self, state: tuple[int, ...]) -> float:
        return self.at(state).score()

    def playout(self, state: tuple[int, ...], stream: Stream) -> tuple[list, float]:
        board = copy.deepcopy(self.at(state))
        first = board.player
        moves, score = board.rollout(stream.state, state)
        return [((first + i) % 2, move) for i, move in enumerate(moves)], score


class HeavyGoBoard(GoBoard):
    """Go with heavy playouts, and with priors."""

    kind = HeavyGo

    def priors(self, state: tuple[int, ...], moves: list[Move]) -> list[tuple[float, float]]:
        board = self.at(state)
        before, last = [None if move == board.last else move for move in (board.last, board.last, *state)[-2:]]
        return go_features.priors([go_features.features(board, move.move, last, before) for move in moves])


class Puzzle:
    """A problem whose moves have codes, such as PlainSameGame: a playout plays uniformly random moves."""

    is_game = False
    has_bias = True
    first_play_counts = False

    def is_allowed(self, state: Any, move: Move) -> bool:
        return True

    def __init__(self, plain: Any) -> None:
        self.initial, self.moves, self.play, self.score = plain.initial, plain.moves, plain.play, plain.score

    def player(self, state: Any) -> int:
        return 0

    def playout(self, state: Any, stream: Stream) -> tuple[list, float]:
        plays = []
        while moves := self.moves(state):
            move = moves[int(stream.uniform() * len(moves))]
            plays.append((self.player(state), move.code))
            state = self.play(state, move)
        return plays, self.score(state)


class Own(Puzzle):
    """A user's problem, played with its own methods on a namespace with the fields of its State."""

    def __init__(self, problem: Any) -> None:
        self.problem, self.is_game = problem, hasattr(problem, "player")
        self.has_bias = hasattr(problem, "bias")

    def initial(self) -> Any:
        lengths = {name: kind[1] if isinstance(kind, tuple) else None for name, kind in self.problem.State.items()}
        state = SimpleNamespace(**{name: [0] * n if n else 0 for name, n in lengths.items()})
        self.problem.init(state)
        return state

    def player(self, state: Any) -> int:
        return int(self.problem.player(state)) if self.is_game else 0

    def key(self, state: Any) -> Any:
        return repr(state)

    def moves(self, state: Any) -> list[Move]:
        out = [0] * self.problem.max_moves
        moves = out[: self.problem.moves(state, out)]
        code = getattr(self.problem, "code", lambda state, move: move)
        bias = getattr(self.problem, "bias", lambda state, move: 0.0)
        return [Move(move, code(state, move), bias(state, move)) for move in moves]

    def play(self, state: Any, move: Move) -> Any:
        state = copy.deepcopy(state)
        self.problem.play(state, move.move)
        return state

    def score(self, state: Any) -> float:
        return float(self.problem.score(state))
