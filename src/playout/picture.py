"""Pictures of results: an SVG, and a page for a browser.

A problem that has pictures of its own offers ``to_svg(moves, title)`` and ``to_page(moves, title, about)``; for any
other the picture is the list of its moves, and says so.
"""

from html import escape

from playout.parallel import describe as describe_strategy
from playout.result import Result, shown
from playout.search import describe as describe_search

NO_PICTURE = "This problem has no picture of its own; these are its moves."


def to_svg(result: Result) -> str:
    """Return the result as an SVG picture."""
    draw = getattr(result.problem, "to_svg", None)
    if draw is not None:
        return str(draw(result.moves, result.summary()))
    lines = [result.summary(), NO_PICTURE, *_move_lines(result)]
    text = "".join(f'<text x="10" y="{24 + 18 * i}">{escape(line)}</text>' for i, line in enumerate(lines))
    size = f'width="900" height="{36 + 18 * len(lines)}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="monospace" font-size="13">{text}</svg>\n'


def to_html(result: Result) -> str:
    """Return a page, complete in itself, that shows the result in a browser."""
    draw = getattr(result.problem, "to_page", None)
    if draw is not None:
        return str(draw(result.moves, f"{result.problem.describe()}: {shown(result.score)}", _about(result)))
    title = escape(result.summary())
    moves = "".join(f"<li>{escape(line)}</li>" for line in _move_lines(result))
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{title}</title><h1>{title}</h1><p>{NO_PICTURE}</p><ul>{moves}</ul></html>\n"
    )


def has_picture(result: Result) -> bool:
    """Whether the problem draws itself, rather than as a list of moves."""
    return hasattr(result.problem, "to_svg")


def _move_lines(result: Result) -> list[str]:
    return [f"{number}. {move}" for number, move in enumerate(result.moves, 1)]


def _about(result: Result) -> str:
    how = describe_search(result.search, result.problem)
    strategy = "" if result.parallel is None else f"; {describe_strategy(result.parallel)}"
    return f"{how}{strategy}; seed {result.seed}, {result.playouts:,} playouts in {result.seconds:,.1f} s"
