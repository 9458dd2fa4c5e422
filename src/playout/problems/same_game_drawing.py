"""How a SameGame board and a sequence of moves look in a terminal and in a notebook."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.text import Text

from playout.errors import InputError

if TYPE_CHECKING:
    from playout.problems.same_game import Cell, SameGame

# Okabe and Ito's palette, which colour-blind people can tell apart, and three more for the rare boards with nine.
COLOURS = ("#e69f00", "#56b4e9", "#009e73", "#f0e442", "#cc79a7", "#0072b2", "#d55e00", "#bbbbbb", "#9467bd")


def removal(game: "SameGame", moves: Sequence[Any]) -> dict["Cell", int]:
    """Say by which move, counted from 1, each cell of the initial board is removed."""
    from playout.problems.same_game import group

    where = [[(c, row) for row in range(game.height)] for c in range(game.width)]
    removed: dict[Cell, int] = {}
    for number, ((columns, _), move) in enumerate(zip(game.positions(moves), moves, strict=False), 1):
        cells = group(columns, tuple(move))
        removed |= {where[column][row]: number for column, row in cells}
        where = [
            [origin for row, origin in enumerate(column) if (c, row) not in cells] for c, column in enumerate(where)
        ]
        where = [column for column in where if column]
    return removed


def draw(game: "SameGame", moves: Sequence[Any], step: int | None) -> RenderableType:
    """Draw the initial board, each cell with the move that removes it, and the moves; or the board after a step."""
    if step is not None:
        return _after(game, moves, step)
    if not moves:
        return _grid(game, lambda cell, colour: str(colour))
    removed = removal(game, moves)
    numbered = _grid(game, lambda cell, colour: str(removed.get(cell, "·")))
    return Group(
        Text("Each cell has its colour and the number of the move that removes it (· stays).", style="dim"),
        numbered,
        Text(),
        _move_list(game, moves),
        Text(_ending(game, moves), style="bold"),
    )


def _grid(game: "SameGame", label: Any) -> Text:
    text = Text(no_wrap=True)
    for line, row in enumerate(game.rows):
        height = game.height - 1 - line
        text.append(f"{height:>2} ", style="dim")
        for column, colour in enumerate(row):
            text.append(f"{label((column, height), colour):>3} ", style=f"black on {COLOURS[colour]}")
        text.append("\n")
    text.append("   " + "".join(f"{column:>3} " for column in range(game.width)), style="dim")
    return text


def _move_list(game: "SameGame", moves: Sequence[Any]) -> RenderableType:
    from playout.problems.same_game import group

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


def _ending(game: "SameGame", moves: Sequence[Any]) -> str:
    score, detail = game.replay(moves)
    *_, (_, points) = game.positions(moves)
    what = "board cleared" if detail["cleared"] else f"{detail['left']} cells left"
    return f"{what} {score - points:+,.0f}: {score:,.0f}"


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
                text.append(" · ", style="dim")
        text.append("\n")
    text.append("   " + "".join(f"{column:>2} " for column in range(game.width)), style="dim")
    return text


def to_html(game: "SameGame", moves: Sequence[Any] = ()) -> str:
    """Return the initial board as a table, each cell with its colour and the move that removes it."""
    removed = removal(game, moves)
    lines = []
    for line, row in enumerate(game.rows):
        cells = (
            f'<td style="background:{COLOURS[colour]};color:#000;text-align:center;width:1.9em;padding:1px">'
            f"{escape(str(removed.get((column, game.height - 1 - line), '·') if moves else colour))}</td>"
            for column, colour in enumerate(row)
        )
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f'<table style="border-collapse:collapse;font-size:80%">{"".join(lines)}</table>'
