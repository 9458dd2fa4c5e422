"""Plain Go, slow and simple: the rules, and the engine's rollout with the same draws.

A position is a tuple of colours (0 empty, 1 black, 2 white), point = row * width + column. Chains are found by filling,
except in a rollout, where they are lists in the order that cpp/problems/go/board.h defines.
"""

from dataclasses import dataclass, field
from functools import cache

from tests.reference.stream import Stream


@cache
def neighbours(width: int, height: int, point: int) -> list[int]:
    row, column = divmod(point, width)
    around = [(row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column)]
    return [r * width + c for r, c in around if 0 <= r < height and 0 <= c < width]


@dataclass
class PlainGo:
    width: int
    height: int
    komi: float = 7.5
    ko: str = "positional"
    suicide: bool = False
    black: tuple[int, ...] = ()
    white: tuple[int, ...] = ()
    player: int = 0
    board: tuple[int, ...] = ()
    ko_point: int | None = None
    passes: int = 0
    history: set = field(default_factory=set)

    def __post_init__(self):
        size = self.width * self.height
        stones = {**dict.fromkeys(self.black, 1), **dict.fromkeys(self.white, 2)}
        self.board = tuple(stones.get(point, 0) for point in range(size))
        self.remember()

    @property
    def last(self) -> int:
        """The pass."""
        return self.width * self.height

    def neighbours(self, point: int) -> list[int]:
        """Below, left, right, above."""
        return neighbours(self.width, self.height, point)

    def corners(self, point: int) -> list[int | None]:
        row, column = divmod(point, self.width)
        around = [(row + r, column + c) for r in (-1, 1) for c in (-1, 1)]
        inside = [0 <= r < self.height and 0 <= c < self.width for r, c in around]
        return [r * self.width + c if is_in else None for (r, c), is_in in zip(around, inside, strict=True)]

    def fill(self, board, point: int) -> tuple[set[int], set[int]]:
        """The points of the same colour that are connected with a point, and the colours around them."""
        region, border, todo = {point}, set(), [point]
        while todo:
            for other in self.neighbours(todo.pop()):
                if board[other] != board[point]:
                    border.add(board[other])
                elif other not in region:
                    region.add(other)
                    todo.append(other)
        return region, border

    def after(self, point: int, player: int) -> tuple[tuple[int, ...], set[int], bool]:
        """The board after a stone, the stones it captured, and whether it was suicide."""
        board = list(self.board)
        board[point] = player + 1
        captured = set()
        for other in self.neighbours(point):
            if board[other] == 2 - player:
                region, border = self.fill(board, other)
                captured |= region if 0 not in border else set()
        for other in captured:
            board[other] = 0
        region, border = self.fill(board, point)
        suicide = 0 not in border
        for other in region if suicide else ():
            board[other] = 0
        return tuple(board), captured, suicide

    def situation(self, board, player: int):
        return (board, player) if self.ko == "situational" else board

    def remember(self):
        self.history.add(self.situation(self.board, self.player))

    def fits(self, point: int, suicide: bool) -> bool:
        if self.board[point] != 0 or point == self.ko_point:
            return False
        if suicide or any(self.board[other] == 0 for other in self.neighbours(point)):
            return True
        return not self.after(point, self.player)[2]

    def is_legal(self, point: int) -> bool:
        if not self.fits(point, self.suicide):
            return False
        board = self.after(point, self.player)[0]
        return self.ko == "simple" or self.situation(board, 1 - self.player) not in self.history

    def moves(self) -> list[int]:
        if self.passes == 2:
            return []
        return [point for point in range(self.last) if self.is_legal(point)] + [self.last]

    def play(self, move: int) -> set[int]:
        """Play a move; the stones it captured."""
        captured: set[int] = set()
        self.passes = self.passes + 1 if move == self.last else 0
        self.ko_point = None
        if move != self.last:
            before = self.board
            self.board, captured, _ = self.after(move, self.player)
            if len(captured) == 1 and self.after(min(captured), 1 - self.player)[0] == before:
                self.ko_point = min(captured)
        self.player = 1 - self.player
        self.remember()
        return captured

    def score(self) -> float:
        margin = 0
        for point, colour in enumerate(self.board):
            owners = {colour} if colour else self.fill(self.board, point)[1]
            margin += (owners == {1}) - (owners == {2})
        return margin - self.komi

    def is_eye(self, point: int) -> bool:
        if any(self.board[other] != self.player + 1 for other in self.neighbours(point)):
            return False
        corners = self.corners(point)
        hostile = sum(corner is not None and self.board[corner] == 2 - self.player for corner in corners)
        return hostile + (None in corners) < 2

    def answer(self, last: list[int], stream: Stream) -> int | None:
        """What a playout answers to the last moves, instead of a random one."""
        return None

    def turns_down(self, point: int, stream: Stream) -> bool:
        """Whether a playout does not play what it has drawn."""
        return False

    def rollout(self, seed: int, played: list[int] = ()) -> tuple[list[int], float]:
        """Random moves to the end, after the moves played since the start; changes the position."""
        if self.passes == 2:
            return [], self.score()
        empties, chains = list(range(self.last)), {}
        colours = dict.fromkeys(range(self.last), 0)

        def put(point, player):
            take_out(empties, point)
            colours[point] = player + 1
            chains[point] = [point]
            for other in self.neighbours(point):
                if colours[other] == player + 1 and chains[other] is not chains[point]:
                    big, small = chains[other], chains[point]
                    if len(big) < len(small):
                        big, small = small, big
                    chain = [big[0], *small[1:], small[0], *big[1:]]
                    chains.update(dict.fromkeys(chain, chain))
            captured = False
            for other in self.neighbours(point):
                captured |= colours[other] == 2 - player and take_off(other)
            if not captured:
                take_off(point)

        def take_off(point):
            chain = chains[point]
            if any(colours[other] == 0 for stone in chain for other in self.neighbours(stone)):
                return False
            for stone in chain:
                colours[stone] = 0
                empties.append(stone)
            return True

        for colour, stones in enumerate((self.black, self.white)):
            for stone in stones:
                put(stone, colour)
        player = self.player ^ len(played) % 2
        for move in played:
            if move != self.last:
                put(move, player)
            player = 1 - player
        assert tuple(colours.values()) == self.board

        stream, moves = Stream(seed), []
        while self.passes < 2 and len(moves) < 3 * self.last:
            move = self.answer([*played, *moves][-2:], stream)
            n = len(empties) if move is None else 0
            move = self.last if move is None else move
            while n > 0:
                i = stream.below(n)
                point = empties[i]
                if self.fits(point, suicide=False) and not self.is_eye(point) and not self.turns_down(point, stream):
                    move = point
                    break
                n -= 1
                empties[i], empties[n] = empties[n], empties[i]
            moves.append(move)
            if move != self.last:
                put(move, self.player)
            self.play(move)
            assert tuple(colours.values()) == self.board
        margin = 0
        for point, colour in enumerate(self.board):
            around = {self.board[other] for other in self.neighbours(point)} if colour == 0 else {colour}
            margin += (around == {1}) - (around == {2})
        return moves, margin - self.komi


def take_out(points: list[int], point: int) -> None:
    """Remove a point from a list; the last comes in its place."""
    i = points.index(point)
    points[i] = points[-1]
    points.pop()
