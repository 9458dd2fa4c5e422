"""SameGame as pictures: in a notebook, as SVG with a strip of boards, and the page that replays it."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from playout.problems import replay
from playout.problems.same_game_rules import Cell, Columns, group

if TYPE_CHECKING:
    from playout.problems.same_game import SameGame

# Okabe and Ito's palette, which colour-blind people can tell apart, and three more for the rare boards with nine.
COLOURS = ("#e69f00", "#56b4e9", "#009e73", "#f0e442", "#cc79a7", "#0072b2", "#d55e00", "#bbbbbb", "#9467bd")


# A shape for each colour, in a cell of 10 by 10, so that nobody needs to tell the colours apart.
SHAPES = (
    "M5 2a3 3 0 1 0 .01 0z",  # disc
    "M2.5 2.5h5v5h-5z",  # square
    "M5 2L8.2 7.6H1.8z",  # triangle
    "M5 1.6L8.4 5 5 8.4 1.6 5z",  # diamond
    "M4 2h2v2h2v2h-2v2h-2v-2h-2v-2h2z",  # cross
    "M1.8 2.4H8.2L5 8z",  # triangle, tip down
    "M2 3l1-1 2 2 2-2 1 1-2 2 2 2-1 1-2-2-2 2-1-1 2-2z",  # X
    "M5 1.5a3.5 3.5 0 1 0 .01 0zM5 3.5a1.5 1.5 0 1 1-.01 0z",  # ring
    "M1 9V1l8 8z",  # corner
)
CELL, TOP = 24, 42
STRIP_BOARDS, STRIP_ACROSS, STRIP_CELL, STRIP_GAP = 12, 6, 5, 12


def removal(game: "SameGame", moves: Sequence[Any]) -> dict[Cell, int]:
    """Say by which move, counted from 1, each cell of the initial board is removed."""
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


def ending(game: "SameGame", moves: Sequence[Any]) -> str:
    """Say in a few words how the game ends, and with what score."""
    score, detail = game.replay(moves)
    *_, (_, points) = game.positions(moves)
    what = "board cleared" if detail["cleared"] else f"{detail['left']} cells left"
    return f"{what} {score - points:+,.0f}: {score:,.0f}"


def frames(game: "SameGame", moves: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the board before each move and at the end: columns, the group that goes next, points so far."""
    result = []
    for step, (columns, points) in enumerate(game.positions(moves)):
        cells = sorted(group(columns, tuple(moves[step]))) if step < len(moves) else []
        result.append({"columns": ["".join(map(str, column)) for column in columns], "group": cells, "points": points})
    return result


def to_page(game: "SameGame", moves: Sequence[Any], title: str, about: str) -> str:
    """Return a page, complete in itself, that replays the moves step by step."""
    data = {
        "about": about,
        "width": game.width,
        "height": game.height,
        "colours": list(COLOURS),
        "shapes": list(SHAPES),
        "frames": frames(game, moves),
        "ending": ending(game, moves),
    }
    return replay.page("same_game.js", title, data)


def to_html(game: "SameGame", moves: Sequence[Any] = ()) -> str:
    """Return the initial board as a table, each cell with its colour and the move that removes it."""
    removed = removal(game, moves)
    lines = []
    for line, row in enumerate(game.rows):
        cells = (
            f'<td style="background:{COLOURS[colour]};color:#000;text-align:center;width:1.9em;padding:1px">'
            f"{escape(str(removed.get((column, game.height - 1 - line), '.') if moves else colour))}</td>"
            for column, colour in enumerate(row)
        )
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f'<table style="border-collapse:collapse;font-size:80%">{"".join(lines)}</table>'


def to_svg(game: "SameGame", moves: Sequence[Any], title: str) -> str:
    """Draw the initial board with the moves numbered, and below it boards on the way to the end."""
    boards = [columns for columns, _ in game.positions(moves)]
    chosen = sorted({round(i * len(moves) / (STRIP_BOARDS - 1)) for i in range(STRIP_BOARDS)})
    strip_width = game.width * STRIP_CELL + STRIP_GAP
    strip_height = game.height * STRIP_CELL + 2 * STRIP_GAP
    across = min(STRIP_ACROSS, len(chosen))
    width = max(game.width * CELL + 60, across * strip_width + 20, 320)
    top = TOP + game.height * CELL + 36
    height = top + -(-len(chosen) // across) * strip_height + 10
    heading, _, rest = title.partition("; ")
    name, _, found = heading.rpartition(": ")
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="system-ui, sans-serif" role="img" aria-label="{escape(title)}">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        _defs(),
        f'<text x="10" y="18" font-size="14" font-weight="bold">{escape(found.capitalize())}</text>',
        f'<text x="10" y="32" font-size="9" fill="#555">{escape(rest)}; {escape(name)}</text>',
        _numbered(game, moves),
        f'<text x="10" y="{top - 8}" font-size="12">{escape(ending(game, moves))}</text>',
    ]
    for place, step in enumerate(chosen):
        x, y = 10 + place % across * strip_width, top + place // across * strip_height
        parts.append(_small(game, boards[step], step, x, y))
    return "\n".join([*parts, "</svg>\n"])


def _defs() -> str:
    shapes = (
        f'<g id="c{number}"><rect width="10" height="10" fill="{colour}"/>'
        f'<path d="{shape}" fill="none" stroke="#000" stroke-opacity=".3" stroke-width=".5"/></g>'
        for number, (colour, shape) in enumerate(zip(COLOURS, SHAPES, strict=True))
    )
    return f"<defs>{''.join(shapes)}</defs>"


def _cell(colour: int, x: float, y: float, size: float) -> str:
    return f'<use href="#c{colour}" transform="translate({x:g} {y:g}) scale({size / 10:g})"/>'


def _numbered(game: "SameGame", moves: Sequence[Any]) -> str:
    removed = removal(game, moves)
    parts = []
    for line, row in enumerate(game.rows):
        height = game.height - 1 - line
        y = TOP + line * CELL
        parts.append(f'<text x="26" y="{y + 16}" font-size="9" text-anchor="end" fill="#555">{height}</text>')
        for column, colour in enumerate(row):
            x = 32 + column * CELL
            parts.append(_cell(colour, x + 0.5, y + 0.5, CELL - 1))
            if (column, height) in removed:
                text = f'<text x="{x + CELL / 2}" y="{y + 16}" font-size="11" text-anchor="middle">'
                parts.append(f"{text}{removed[column, height]}</text>")
    for column in range(game.width):
        place = f'x="{32 + column * CELL + CELL / 2}" y="{TOP + game.height * CELL + 11}"'
        parts.append(f'<text {place} font-size="9" text-anchor="middle" fill="#555">{column}</text>')
    return "\n".join(parts)


def _small(game: "SameGame", columns: Columns, step: int, x: float, y: float) -> str:
    label = "start" if step == 0 else f"after {step}"
    bottom = y + 16 + game.height * STRIP_CELL
    cells = (
        _cell(colour, x + c * STRIP_CELL, bottom - (row + 1) * STRIP_CELL, STRIP_CELL)
        for c, column in enumerate(columns)
        for row, colour in enumerate(column)
    )
    frame = (
        f'<rect x="{x}" y="{y + 16}" width="{game.width * STRIP_CELL}" height="{game.height * STRIP_CELL}" '
        'fill="none" stroke="#bbb" stroke-width=".5"/>'
    )
    return f'<text x="{x}" y="{y + 12}" font-size="10">{label}</text>{frame}{"".join(cells)}'
