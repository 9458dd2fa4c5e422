"""How the score of results grew, drawn with matplotlib (the ``[plot]`` extra, imported when used)."""

import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playout.errors import InputError, check_choice
from playout.result import Result, write_whole_bytes
from playout.search import short_name

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes

    Curve = tuple[np.ndarray, np.ndarray]

AXES = ("seconds", "playouts")
GRID_POINTS = 200
FORMATS = ("png", "svg")


def plot(results: Result | Sequence[Result], ax: "Axes | None" = None, x: str | None = None) -> "Any":
    """Plot the best score so far over seconds and over playouts.

    Parameters
    ----------
    results
        One or several. Results of the same problem and search share a colour; where there are several of them, a thick
        line is their mean and a band its 95 % confidence interval.
    ax
        Matplotlib's axes to draw on; a new figure if None.
    x
        ``"seconds"`` or ``"playouts"``. None: both, side by side, or seconds where ``ax`` is given.

    Returns
    -------
    matplotlib.figure.Figure
        The figure that was drawn on.

    Raises
    ------
    InputError
        If matplotlib is not installed.
    """
    if x is not None:
        check_choice("x", x, AXES)
    results = [results] if isinstance(results, Result) else list(results)
    if not results:
        raise InputError("no results to plot")
    pyplot = _pyplot()
    if ax is not None:
        _draw(ax, results, x or "seconds")
        return ax.figure
    shown = AXES if x is None else (x,)
    figure, row = pyplot.subplots(1, len(shown), figsize=(5.5 * len(shown), 4), squeeze=False, layout="constrained")
    for axes, name in zip(row[0], shown, strict=True):
        _draw(axes, results, name)
    return figure


def save_plot(results: Sequence[Result], path: Path, x: str | None = None) -> None:
    """Write a plot as PNG or SVG, by the file's ending."""
    kind = path.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise InputError(f"{str(path)!r} should end with {' or '.join('.' + name for name in FORMATS)}")
    figure = plot(results, x=x)
    picture = io.BytesIO()
    figure.savefig(picture, format=kind, dpi=150)
    _pyplot().close(figure)
    write_whole_bytes(path, picture.getvalue())


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise InputError("plots need matplotlib, the [plot] extra; install it with: pip install matplotlib") from None
    return pyplot


def _draw(ax: "Axes", results: Sequence[Result], x: str) -> None:
    for number, (label, group) in enumerate(grouped(results).items()):
        colour = f"C{number}"
        curves = [curve(result, x) for result in group]
        thin = {"linewidth": 0.6, "alpha": 0.5} if len(group) > 1 else {"linewidth": 1.8, "label": label}
        for at, score in curves:
            ax.step(at, score, where="post", color=colour, **thin)
        if len(group) > 1:
            grid, mean, half = mean_and_band(curves)
            ax.plot(grid, mean, color=colour, linewidth=2, label=f"{label}, mean of {len(group)}")
            ax.fill_between(grid, mean - half, mean + half, color=colour, alpha=0.2, linewidth=0)
    ax.set_xlabel(x)
    ax.set_ylabel("best score so far")
    ax.grid(alpha=0.3)
    ax.legend(fontsize="small")


def grouped(results: Sequence[Result]) -> dict[str, list[Result]]:
    """Return the results by what was searched and how, under a short name."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        label = f"{result.problem.describe()}, {short_name(result.search)}"
        alike = (result.problem, result.search)
        same = [key for key, group in groups.items() if (group[0].problem, group[0].search) == alike]
        if not same and label in groups:
            label += f" ({sum(key.startswith(label) for key in groups) + 1})"
        groups.setdefault(same[0] if same else label, []).append(result)
    return groups


def curve(result: Result, x: str) -> "Curve":
    """Return where the best score changed and what it became, up to the end of the search."""
    import numpy as np

    column = AXES.index(x)
    at = [entry[column] for entry in result.history] + [getattr(result, x)]
    scores = [entry[2] for entry in result.history] + [result.score]
    return np.array(at, dtype=float), np.array(scores, dtype=float)


def mean_and_band(curves: "Sequence[Curve]") -> "tuple[np.ndarray, np.ndarray, np.ndarray]":
    """Return a grid, the mean of the curves on it, and half the width of its 95 % interval.

    The grid covers what all curves do: from where the last has its first score to where the first ends.
    """
    import numpy as np

    begin, end = max(at[0] for at, _ in curves), min(at[-1] for at, _ in curves)
    grid = np.linspace(begin, max(begin, end), GRID_POINTS)
    values = np.array([score[np.searchsorted(at, grid, side="right") - 1] for at, score in curves])
    half = 1.96 * values.std(axis=0, ddof=1) / math.sqrt(len(curves))
    return grid, values.mean(axis=0), half
