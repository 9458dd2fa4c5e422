"""``playout show | plot | verify``: look at saved results."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from cyclopts import Parameter
from rich.text import Text

from playout import problems
from playout.cli.common import app, print_parts, strictly_whole
from playout.errors import InputError
from playout.own import Missing
from playout.picture import has_picture, to_html, to_svg
from playout.result import Result, check_writable, load, shown, write_whole
from playout.sgf import load_sgf

Drawing = TypeVar("Drawing")


@app.command
def verify(file: Path, /, *, problem: str | None = None) -> int:
    """Replay a saved result move by move and check its score.

    The rules it replays by are plain Python and share nothing with the engine. Exit status 1 if the score is wrong.

    Parameters
    ----------
    file
        What *playout solve --output* wrote.
    problem
        The problem, if it is one of your own, as it was named to *solve*: ./file.py:problem. A file never decides what
        code is run.
    """
    result = _load(file, problem)
    if isinstance(result.problem, Missing):
        raise InputError(result.problem.needed())
    try:
        score = result.verify()
    except InputError as error:
        return _wrong(file, str(error))
    if not problems.same_score(result.problem, score, result.score):
        return _wrong(file, f"the moves score {shown(score)}, the file says {shown(result.score)}")
    print(f"{file}: correct, {len(result.moves)} moves score {shown(score)}")
    return 0


@app.command
def show(
    file: Path,
    /,
    *,
    step: Annotated[int | None, Parameter(converter=strictly_whole)] = None,
    svg: Path | None = None,
    html: Path | None = None,
    problem: str | None = None,
) -> int:
    """Draw a saved result or a game of Go: in the terminal, as a picture, or as a page for a browser.

    In the terminal: of SameGame the board, the move that removes each cell, and the moves; of a tour its timetable; of
    a game of Go the board and the comment.

    Parameters
    ----------
    file
        What *playout solve --output* wrote, or a game of Go, *game.sgf*.
    step
        Draw what there is after this many moves instead.
    svg
        Write a picture to this file: the board with its moves numbered, or the map of the tour and its windows.
    html
        Write a page to this file that replays a game, or shows a tour stop by stop. It needs no network.
    problem
        The problem, if it is one of your own and is to draw itself: ./file.py:problem. Else its moves are listed.
    """
    for picture in (svg, html):
        if picture is not None:
            check_writable(picture)
    if file.suffix.lower() == ".sgf":
        if problem is not None:
            raise InputError("--problem does not go with a game of Go; its file says all there is")
        return _show_game(file, step, svg, html)
    result = _load(file, problem)
    if svg is None and html is None:
        print_parts(
            Text(result.summary(), style="bold"),
            _drawn(file, lambda: problems.draw(result.problem, result.moves, step)),
        )
    if svg is not None:
        _write_picture(svg, _drawn(file, lambda: to_svg(result)), has_picture(result))
    if html is not None:
        _write_picture(html, _drawn(file, lambda: to_html(result)), has_picture(result))
    return 0


@app.command
def plot(
    *files: Path,
    output: Path,
    x: Literal["seconds", "playouts"] | None = None,
) -> int:
    """Plot how the score of saved results grew, as PNG or SVG.

    Results of the same problem and search share a colour: thin lines for each, a thick one for their mean, and a band
    for its 95 % confidence interval. Needs matplotlib, the *plot* extra.

    Parameters
    ----------
    files
        What *playout solve --output* wrote.
    output
        The picture to write; its ending says of what kind, .png or .svg.
    x
        Plot over seconds or over playouts; both, side by side, if not given.
    """
    from playout.plot import save_plot

    if not files:
        raise InputError("no results to plot; name at least one file that 'playout solve --output' wrote")
    check_writable(output)
    results = [load(file) for file in files]
    try:
        save_plot(results, output, x)
    except OSError as error:
        raise InputError(f"cannot write {str(output)!r}: {error.strerror}") from None
    print(f"wrote {output}")
    return 0


def _load(file: Path, problem: str | None) -> Result:
    return load(file, None if problem is None else problems.problem(problem))


def _drawn(file: Path, draw: Callable[[], Drawing]) -> Drawing:
    """Return a drawing; a result whose moves cannot be played has none."""
    try:
        return draw()
    except InputError as error:
        raise InputError(f"cannot draw {str(file)!r}: {error}") from None


def _show_game(file: Path, step: int | None, svg: Path | None, html: Path | None) -> int:
    """Draw an SGF file."""
    record = load_sgf(file)
    if svg is None and html is None:
        board = _drawn(file, lambda: record.draw(step))
        at = record.length if step is None else step
        comment = record.comments[at] if at < len(record.comments) else ""
        print_parts(Text(record.summary(), style="bold"), board, *([Text(comment)] if comment else []))
    if svg is not None:
        _write_picture(svg, record.to_svg())
    if html is not None:
        _write_picture(html, record.to_page())
    return 0


def _write_picture(path: Path, text: str, is_picture: bool = True) -> None:
    try:
        write_whole(path, text)
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror}") from None
    print(f"wrote {path}" + ("" if is_picture else "; the problem has no picture: it lists the moves"))


def _wrong(file: Path, reason: str) -> int:
    print(f"playout: {file} is wrong: {reason}", file=sys.stderr)
    return 1
