"""The built-in games in plain Python, with the engine's moves, in the engine's order, and its random games.

A state is a tuple: one number per cell (0 empty, 1 player 0, 2 player 1), row by row; moves(state) is empty at the end.
"""

from typing import Any

State = tuple[int, ...]


class Game:
    """A board where players take turns to fill cells; ``won`` says whether a player has."""

    width: int
    height: int

    def initial(self) -> State:
        return (0,) * (self.width * self.height)

    def player(self, state: State) -> int:
        return sum(cell != 0 for cell in state) % 2

    def key(self, state: State) -> Any:
        return state

    def moves(self, state: State) -> list[int]:
        return [] if self.score(state) else [cell for cell, stone in enumerate(state) if stone == 0]

    def play(self, state: State, move: int) -> State:
        return (*state[:move], 1 + self.player(state), *state[move + 1 :])

    def score(self, state: State) -> float:
        return 1.0 if self.won(state, 0) else -1.0 if self.won(state, 1) else 0.0

    def won(self, state: State, player: int) -> bool:
        raise NotImplementedError

    def rollout(self, state: State, stream: Any) -> tuple[list[tuple[int, int]], float]:
        """Play random moves to the end: a cell is drawn from a list, and the last of the list takes its place."""
        left, played = self.moves(state), []
        while left and not self.score(state):
            i = stream.below(len(left))
            played.append((self.player(state), left[i]))
            state = self.play(state, left[i])
            left[i] = left[-1]
            left.pop()
        return played, self.score(state)


def has_line(state: State, width: int, height: int, k: int, stone: int) -> bool:
    """Whether there are k of these stones in a row, at any place, in any of four directions."""
    for x in range(width):
        for y in range(height):
            for dx, dy in ((1, 0), (0, 1), (1, 1), (1, -1)):
                if not (x + dx * (k - 1) < width and 0 <= y + dy * (k - 1) < height):
                    continue
                if all(state[(y + dy * i) * width + x + dx * i] == stone for i in range(k)):
                    return True
    return False


class Mnk(Game):
    def __init__(self, m: int, n: int, k: int) -> None:
        self.width, self.height, self.k = m, n, k

    def won(self, state: State, player: int) -> bool:
        return has_line(state, self.width, self.height, self.k, player + 1)


class TicTacToe(Mnk):
    def __init__(self) -> None:
        super().__init__(3, 3, 3)


class ConnectFour(Game):
    """A move is a column; row 0 is the bottom."""

    def __init__(self, width: int = 7, height: int = 6) -> None:
        self.width, self.height = width, height

    def moves(self, state: State) -> list[int]:
        top = (self.height - 1) * self.width
        return [] if self.score(state) else [column for column in range(self.width) if state[top + column] == 0]

    def play(self, state: State, move: int) -> State:
        return super().play(state, next(cell for cell in range(move, len(state), self.width) if state[cell] == 0))

    def won(self, state: State, player: int) -> bool:
        return has_line(state, self.width, self.height, 4, player + 1)

    def rollout(self, state: State, stream: Any) -> tuple[list[tuple[int, int]], float]:
        """Play random moves to the end: a column is drawn from a list; once full, the last takes its place."""
        columns, played = self.moves(state), []
        while columns and not self.score(state):
            i = stream.below(len(columns))
            played.append((self.player(state), columns[i]))
            state = self.play(state, columns[i])
            if state[(self.height - 1) * self.width + columns[i]]:
                columns[i] = columns[-1]
                columns.pop()
        return played, self.score(state)


class Hex(Game):
    """Row 0 is the top; player 0 connects it to the bottom, player 1 the left to the right."""

    def __init__(self, side: int) -> None:
        self.width = self.height = self.side = side

    def won(self, state: State, player: int) -> bool:
        side = self.side
        edge = [(0, i) if player == 0 else (i, 0) for i in range(side)]
        found = {cell for cell in edge if state[cell[0] * side + cell[1]] == player + 1}
        todo = list(found)
        while todo:
            row, column = todo.pop()
            for r, c in ((0, 1), (0, -1), (1, 0), (-1, 0), (1, -1), (-1, 1)):
                cell = (row + r, column + c)
                inside = 0 <= cell[0] < side and 0 <= cell[1] < side
                if inside and cell not in found and state[cell[0] * side + cell[1]] == player + 1:
                    found.add(cell)
                    todo.append(cell)
        return any(cell[player] == side - 1 for cell in found)

    def rollout(self, state: State, stream: Any) -> tuple[list[tuple[int, int]], float]:
        """Fill the board, also after the decision, which the rest cannot change."""
        left, played = self.moves(state), []
        while left:
            i = stream.below(len(left))
            played.append((self.player(state), left[i]))
            state = self.play(state, left[i])
            left[i] = left[-1]
            left.pop()
        return played, self.score(state)
