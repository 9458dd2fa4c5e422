"""How a SameGame board and a sequence of moves look in a terminal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.columns import Columns
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

from playout.errors import InputError
from playout.problems.same_game_picture import COLOURS, ending, removal
from playout.problems.same_game_rules import Cell, group

if TYPE_CHECKING:
    from playout.problems.same_game import SameGame


def draw(game: "SameGame", moves: Sequence[Any], step: int | None) -> RenderableType:
    """Draw the initial board, each cell with the move that removes it, and the moves; or the board after a step."""
    if step is not None:
        return _after(game, moves, step)
    if not moves:
        return _grid(game, {(c, r): str(colour) for c, r, colour in _cells(game)})
    return Group(
        Text("Each cell has its colour and the number of the move that removes it (. stays).", style="dim"),
        _Numbered(game, removal(game, moves)),
        Text(),
        _move_list(game, moves),
        Text(ending(game, moves), style="bold"),
    )


class _Numbered:
    """The board with the moves' numbers; where there is no colour, the board with its colours comes first."""

    def __init__(self, game: "SameGame", removed: dict[Cell, int]) -> None:
        self.game, self.removed = game, removed

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if console.no_color or console.color_system in (None, "standard"):
            yield _grid(self.game, {(c, r): str(colour) for c, r, colour in _cells(self.game)})
            yield Text()
        yield _grid(self.game, {(c, r): str(self.removed.get((c, r), ".")) for c, r, _ in _cells(self.game)})


def _cells(game: "SameGame") -> list[tuple[int, int, int]]:
    """Return column, row and colour of every cell."""
    return [
        (column, game.height - 1 - line, colour)
        for line, row in enumerate(game.rows)
        for column, colour in enumerate(row)
    ]


def _grid(game: "SameGame", labels: dict[Cell, str]) -> Text:
    gap = " " if game.width <= 19 else ""  # so that 20 columns fit into 80 characters
    text = Text(no_wrap=True, overflow="ignore")
    for line, row in enumerate(game.rows):
        height = game.height - 1 - line
        text.append(f"{height:>2} ", style="dim")
        for column, colour in enumerate(row):
            text.append(f"{labels[column, height]:>3}{gap}", style=f"black on {COLOURS[colour]}")
        text.append("\n")
    text.append("   " + "".join(f"{column:>3}{gap}" for column in range(game.width)), style="dim")
    return text


def _move_list(game: "SameGame", moves: Sequence[Any]) -> RenderableType:
    lines = []
    positions = list(game.positions(moves))
    for number, move in enumerate(moves, 1):
        columns, before = positions[number - 1]
        column, row = move
        text = Text(f"{number:>3}. ")
        text.append(f"{column:>2},{row:<2}", style=f"black on {COLOURS[columns[column][row]]}")
        text.append(f" {len(group(columns, (column, row))):>3} cells {positions[number][1] - before:>+5}")
        lines.append(text)
    return Columns(lines, column_first=True, padding=(0, 3))


def _after(game: "SameGame", moves: Sequence[Any], step: int) -> RenderableType:
    if not 0 <= step <= len(moves):
        raise InputError(f"step is {step}; the result has moves 1 to {len(moves)}, and 0 is the initial board")
    columns, score = list(game.positions(moves[:step]))[-1]
    text = Text(f"After {step} of {len(moves)} moves, {score:,} points\n", style="bold")
    for row in reversed(range(game.height)):
        text.append(f"{row:>2} ", style="dim")
        for column in range(game.width):
            if column < len(columns) and row < len(columns[column]):
                colour = columns[column][row]
                text.append(f" {colour} ", style=f"black on {COLOURS[colour]}")
            else:
                text.append(" . ", style="dim")
        text.append("\n")
    text.append("   " + "".join(f"{column:>2} " for column in range(game.width)), style="dim")
    return text
