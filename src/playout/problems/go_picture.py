"""How a Go board looks: in a terminal, in a notebook, as SVG with numbered stones, and in the page that replays it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any

from playout.errors import InputError
from playout.problems import replay

if TYPE_CHECKING:
    from rich.console import RenderableType

    from playout.problems.go import Go

CELL, TOP, LEAST_WIDTH = 22, 44, 330
STONES = ("", "#000", "#fff")


def draw(game: "Go", moves: Sequence[Any], step: int | None, earlier: int = 0) -> "RenderableType":
    """Draw the board after the moves, or after the first of them; the last stone is between brackets.

    So many moves were played earlier, before the game's own.
    """
    from rich.text import Text  # rich takes longer to import than all the rest

    if step is not None and not 0 <= step <= len(moves):
        raise InputError(f"step is {step}; the game has moves 1 to {len(moves)}, and 0 is the start")
    shown = moves if step is None else moves[:step]
    cells, last = game.cells(shown), _last(game, shown)
    text = Text(f"{_said(game, shown, earlier)}\n", style="bold", no_wrap=True, overflow="ignore")
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
    return _svg(game, f"{game.describe()}: {_said(game, moves)}", _board(game, game.cells(moves), _last(game, moves)))


def to_svg(parts: "Sequence[tuple[Go, Sequence[Any]]]", title: str) -> str:
    """Draw the board after the last moves of games that follow each other; stones have the number of their move."""
    numbers, number = {}, 0
    for game, moves in parts:
        for number, point in enumerate(game.encode(moves), number + 1):  # noqa: B020, it goes on
            numbers[point] = number
    game, moves = parts[-1]
    heading, _, rest = title.partition("; ")
    texts = [
        f'<text x="10" y="19" font-size="14" font-weight="bold" text-anchor="start">{escape(heading)}</text>',
        f'<text x="10" y="35" text-anchor="start" fill="#555">{escape(rest)}</text>',
    ]
    return _svg(game, title, [*texts, *_board(game, game.cells(moves), -2, numbers, TOP)], TOP)


def to_page(
    parts: "Sequence[tuple[Go, Sequence[Any]]]", title: str, about: str, ending: str = "", comments: Sequence[str] = ()
) -> str:
    """Return a page, complete in itself, that replays games that follow each other."""
    game, moves = parts[-1]
    data = {
        "about": about,
        "width": game.width,
        "height": game.height,
        "stars": [(point % game.width, point // game.width) for point in _stars(game)],
        "frames": _frames(parts, comments),
        "ending": ending or f"{_said(game, moves, sum(len(moves) for _, moves in parts[:-1]))}.",
    }
    return replay.page("go.js", title, data)


def _frames(parts: "Sequence[tuple[Go, Sequence[Any]]]", comments: Sequence[str]) -> list[dict[str, Any]]:
    """Return the board at the start and after each move; what is set up later is there before the next move."""
    frames: list[dict[str, Any]] = [{"point": -2, "player": "", "move": ""}]
    for game, moves in parts:
        positions = game.positions(moves)
        frames[-1]["cells"] = _cells(game, next(positions))
        player = game.players.index(game.starter())
        for count, (position, move) in enumerate(zip(positions, moves, strict=True)):
            name = game.players[(player + count) % 2].capitalize()
            point = _last(game, [move])
            frames.append({"point": point, "player": name, "move": move, "cells": _cells(game, position)})
    for frame, comment in zip(frames, comments, strict=False):
        frame["comment"] = comment
    return frames


def _cells(game: "Go", position: Any) -> str:
    return "".join(str(position.cell(c, r)) for r in range(game.height) for c in range(game.width))


def _svg(game: "Go", title: str, parts: Sequence[str], top: int = 0) -> str:
    width, height = CELL * (game.width + 2), CELL * (game.height + 2) + top
    width = max(width, LEAST_WIDTH) if top else width
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" font-family="system-ui, sans-serif" font-size="10" text-anchor="middle">'
    )
    name = f"<title>{escape(title)}</title>"
    paper = f'<rect width="{width}" height="{height}" fill="#fff"/>' if top else ""
    return "".join([head, name, paper, *parts, "</svg>"])


def _board(
    game: "Go", cells: Sequence[int], last: int, numbers: Mapping[int, int] | None = None, top: int = 0
) -> list[str]:
    """Return the parts of a picture: the board, and its stones, with numbers if they have any."""
    right, bottom = CELL * game.width, CELL * game.height
    lines = [f"M{_x(c)} {_y(game, 0)}V{_y(game, game.height - 1)}" for c in range(game.width)]
    lines += [f"M{_x(0)} {_y(game, r)}H{_x(game.width - 1)}" for r in range(game.height)]
    parts = [
        f'<g transform="translate(0 {top})">',
        f'<rect width="{right + 2 * CELL}" height="{bottom + 2 * CELL}" fill="#e8c47c"/>',
        f'<path d="{"".join(lines)}" stroke="#000" stroke-width=".7"/>',
    ]
    for column, vertex in enumerate(game.decode(range(game.width))):
        parts.append(f'<text x="{_x(column)}" y="{bottom + CELL + 14}">{vertex[0]}</text>')
    parts += [f'<text x="10" y="{_y(game, row) + 4}">{row + 1}</text>' for row in range(game.height)]
    stars = _stars(game)
    for point, colour in enumerate(cells):
        x, y = _x(point % game.width), _y(game, point // game.width)
        if colour:
            fill = f'fill="{STONES[colour]}" stroke="#000" stroke-width=".7"'
            parts.append(f'<circle cx="{x}" cy="{y}" r="{CELL * 0.46:g}" {fill}/>')
            if numbers and point in numbers:
                size = 10 if numbers[point] < 100 else 8
                ink = STONES[3 - colour]
                parts.append(f'<text x="{x}" y="{y + 3.5}" font-size="{size}" fill="{ink}">{numbers[point]}</text>')
        elif point in stars:
            parts.append(f'<rect x="{x - 2}" y="{y - 2}" width="4" height="4"/>')
        if point == last:
            parts.append(
                f'<circle cx="{x}" cy="{y}" r="{CELL * 0.2:g}" fill="none" stroke="#d55e00" stroke-width="2"/>'
            )
    return [*parts, "</g>"]


def _stars(game: "Go") -> list[int]:
    """The points that are marked on the board: those of handicap stones."""
    for count in (9, 4):
        try:
            marked = replace(game, handicap=count, black=(), white=())
        except InputError:
            continue
        return marked.encode(marked.handicap_stones())
    return []


def _x(column: int) -> int:
    return CELL * column + CELL * 3 // 2


def _y(game: "Go", row: int) -> int:
    return CELL * (game.height - 1 - row) + CELL * 3 // 2


def _last(game: "Go", moves: Sequence[Any]) -> int:
    """The point of the last move, or -2."""
    last = game.encode(moves[-1:])
    return last[0] if last and last[0] < game.width * game.height else -2


def _said(game: "Go", moves: Sequence[Any], earlier: int = 0) -> str:
    score, detail = game.replay(moves)
    count = earlier + len(moves)
    if not detail["finished"]:
        last = f", {game.decode(game.encode(moves[-1:]))[0]} the last" if moves else ""
        return f"{count} moves{last}; {detail['next']} is next"
    won = f"{detail['winner']} wins by {abs(score):g}" if detail["winner"] else "a draw"
    return f"{count} moves; {won}"
