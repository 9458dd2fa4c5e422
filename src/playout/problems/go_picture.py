"""How a Go board looks, in a terminal and in a notebook."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from playout.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from playout.problems.go import Go

CELL = 22


def draw(game: "Go", moves: Sequence[Any], step: int | None) -> "RenderableType":
    """Draw the board after the moves, or after the first of them; the last stone is between brackets."""
    from rich.text import Text  # rich takes longer to import than all the rest

    if step is not None and not 0 <= step <= len(moves):
        raise InputError(f"step is {step}; the game has moves 1 to {len(moves)}, and 0 is the start")
    shown = moves if step is None else moves[:step]
    cells, last = game.cells(shown), _last(game, shown)
    text = Text(f"{_said(game, shown)}\n", style="bold", no_wrap=True, overflow="ignore")
    letters = "   " + "".join(f" {vertex[0]}" for vertex in game.decode(range(game.width)))
    text.append(f"{letters}\n", style="not bold dim")
    for row in reversed(range(game.height)):
        text.append(f"{row + 1:>3}", style="not bold dim")
        for column in range(game.width):
            point = row * game.width + column
            before = "(" if point == last else ")" if column > 0 and point == last + 1 else " "
            text.append(before + ".XO"[cells[point]], style="bold" if cells[point] else "not bold dim")
        text.append(")" if last == row * game.width + game.width - 1 else " ")
        text.append(f"{row + 1:<3}\n", style="not bold dim")
    text.append(letters, style="not bold dim")
    return text


def to_html(game: "Go", moves: Sequence[Any]) -> str:
    """Return the board after the moves as a picture, the last stone with a mark."""
    cells, last = game.cells(moves), _last(game, moves)
    right, bottom = CELL * game.width, CELL * game.height
    size = f"{right + 2 * CELL} {bottom + 2 * CELL}"
    lines = [f"M{_x(c)} {_y(game, 0)}V{_y(game, game.height - 1)}" for c in range(game.width)]
    lines += [f"M{_x(0)} {_y(game, r)}H{_x(game.width - 1)}" for r in range(game.height)]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{right + 2 * CELL}" role="img" '
        f'font-family="system-ui, sans-serif" font-size="10" text-anchor="middle">',
        f"<title>{game.describe()}: {_said(game, moves)}</title>",
        f'<rect width="{right + 2 * CELL}" height="{bottom + 2 * CELL}" fill="#e8c47c"/>',
        f'<path d="{"".join(lines)}" stroke="#000" stroke-width=".7"/>',
    ]
    for column, vertex in enumerate(game.decode(range(game.width))):
        parts.append(f'<text x="{_x(column)}" y="{bottom + CELL + 14}">{vertex[0]}</text>')
    parts += [f'<text x="10" y="{_y(game, row) + 4}">{row + 1}</text>' for row in range(game.height)]
    for point, colour in enumerate(cells):
        row, column = divmod(point, game.width)
        place = f'cx="{_x(column)}" cy="{_y(game, row)}"'
        if colour:
            fill = ("#000", "#fff")[colour - 1]
            parts.append(f'<circle {place} r="{CELL * 0.46:g}" fill="{fill}" stroke="#000" stroke-width=".7"/>')
        if point == last:
            parts.append(f'<circle {place} r="{CELL * 0.2:g}" fill="none" stroke="#d55e00" stroke-width="2"/>')
    return "".join([*parts, "</svg>"])


def _x(column: int) -> int:
    return CELL * column + CELL * 3 // 2


def _y(game: "Go", row: int) -> int:
    return CELL * (game.height - 1 - row) + CELL * 3 // 2


def _last(game: "Go", moves: Sequence[Any]) -> int:
    """The point of the last move, or -2."""
    last = game.encode(moves[-1:])
    return last[0] if last and last[0] < game.width * game.height else -2


def _said(game: "Go", moves: Sequence[Any]) -> str:
    score, detail = game.replay(moves)
    if not detail["finished"]:
        last = f", {game.decode(game.encode(moves[-1:]))[0]} the last" if moves else ""
        return f"{len(moves)} moves{last}; {detail['next']} is next"
    won = f"{detail['winner']} wins by {abs(score):g}" if detail["winner"] else "a draw"
    return f"{len(moves)} moves; {won}"
