"""SameGame as a search sees it, on top of the plain rules of playout.problems.same_game.

A code here is (colour, cells): the engine's 64-bit codes need only be equal where these are.
"""

from dataclasses import dataclass
from typing import NamedTuple

from playout import SameGame
from playout.problems.same_game_rules import cells_of, group, without


class Move(NamedTuple):
    move: int
    code: tuple
    bias: float


@dataclass
class State:
    columns: list
    score: int = 0
    played: int = 0


class PlainSameGame:
    def __init__(self, game: SameGame) -> None:
        self.game, self.tabu = game, game.tabu_colour

    def initial(self) -> State:
        return State([list(column) for column in zip(*reversed(self.game.rows), strict=True)])

    def groups(self, state: State) -> list[set]:
        """All groups of two or more cells, in order of their leftmost, then lowest cell."""
        seen, found = set(), []
        for cell in cells_of(state.columns):
            if cell not in seen:
                cells = group(state.columns, cell)
                seen |= cells
                if len(cells) > 1:
                    found.append(cells)
        return found

    def colour(self, state: State, cells: set) -> int:
        column, row = min(cells)
        return state.columns[column][row]

    def all_moves(self, state: State) -> list[Move]:
        return [self.named(state, cells) for cells in self.groups(state)]

    def moves(self, state: State) -> list[Move]:
        def allowed(cells: set) -> bool:
            return self.colour(state, cells) != self.tabu or (len(cells) == 2 and state.played > 10)

        groups = self.groups(state)
        return [self.named(state, cells) for cells in [g for g in groups if allowed(g)] or groups]

    def named(self, state: State, cells: set) -> Move:
        column, row = min(cells)
        colour = self.colour(state, cells)
        tabu_pair = colour == self.tabu and len(cells) == 2
        bias = float(min(len(cells) - 2 - tabu_pair, 8))
        return Move(column * 32 + row, (colour, frozenset(cells)), bias)

    def play(self, state: State, move: Move) -> State:
        cells = move.code[1]
        points = (len(cells) - 2) ** 2
        return State(without(state.columns, cells), state.score + points, state.played + 1)

    def score(self, state: State) -> float:
        return float(state.score + (0 if state.columns else 1000))
