"""How a board game and a sequence of moves look in a terminal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.text import Text

from playout.errors import InputError

if TYPE_CHECKING:
    from playout.problems.board_game import BoardGame


def draw(game: "BoardGame", moves: Sequence[Any], step: int | None) -> RenderableType:
    """Draw the board after the moves, or after a step of them: the last stone in brackets, and who won or is next."""
    if step is not None and not 0 <= step <= len(moves):
        raise InputError(f"step is {step}; allowed are whole numbers from 0 to {len(moves)}")
    played = list(moves if step is None else moves[:step])
    position, last = game.position(played), game.last_cell(played)
    letters = [name[0].upper() for name in game.players]
    text = Text(no_wrap=True)
    names = Text("    " + " ".join(game.column_names()) + "\n", style="dim")
    if game.rows_go_down:
        text.append(names)
    rows = range(game.height) if game.rows_go_down else reversed(range(game.height))
    for place, row in enumerate(rows):
        text.append(" " * place * game.is_slanted + f"{row + 1:>2} ", style="dim")
        for column in range(game.width):
            stone = position.cell(column, row)
            text.append("[" if (column, row) == last else "]" if (column - 1, row) == last else " ")
            text.append(*((letters[stone - 1], f"bold {game.colours[stone - 1]}") if stone else (".", "dim")))
        text.append("]\n" if (game.width - 1, row) == last else "\n")
    if not game.rows_go_down:
        text.append(names)
    text.append(ending(game, played))
    return text


def ending(game: "BoardGame", moves: Sequence[Any]) -> str:
    """Say who won, or whose turn it is."""
    _, detail = game.replay(moves)
    after = f"after {len(moves)} moves"
    if not detail["finished"]:
        return f"{after}: {game.players[game.position(moves).player()]} to move"
    return f"{after}: {'a draw' if detail['winner'] is None else detail['winner'] + ' wins'}"
