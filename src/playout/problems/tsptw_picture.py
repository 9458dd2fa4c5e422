"""Tours with time windows as pictures: a map beside a chart of the windows, and a page with the timetable."""

from collections.abc import Sequence
from html import escape
from importlib import resources
from itertools import pairwise
from math import floor, log10
from string import Template
from typing import TYPE_CHECKING, Any

from playout.problems.tsptw_rules import Stop
from playout.problems.tsptw_timetable import Timetable, sentences

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from playout.problems.tsptw import TSPTW

# Okabe and Ito's palette, as in the other pictures; a page has its own for dark screens.
INK, FAINT, LINE, PAPER = "#1b1b1b", "#666", "#ddd", "#fff"
WINDOW, TRIP, WAIT, LATE = "#9ecbea", "#0072b2", "#e69f00", "#c22f00"
MAP, CHART, LEFT, LABELS, GAP, TOP = 480, 560, 42, 34, 28, 62
LEAST_NUMBERED = 4.4  # the smallest mark that has room for a number: up to some 250 places


def to_html(problem: "TSPTW", moves: Sequence[Any] = ()) -> str:
    """Return the map and the chart for a notebook."""
    return to_svg(problem, moves, problem.describe())


def to_svg(problem: "TSPTW", moves: Sequence[Any], title: str) -> str:
    """Draw the tour on a map, and beside it the windows of its stops in visiting order."""
    shown = Timetable(problem, moves)
    heading, _, rest = title.partition("; ")
    width, height = GAP + MAP + GAP + CHART + GAP, TOP + max(MAP, chart_height(shown)) + GAP
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:g}" width="{width}" '
            f'height="{height:g}" style="max-width:100%;height:auto" font-family="system-ui, sans-serif" role="img" '
            f'aria-label="{escape(title)}">',
            f"<title>{escape(title)}</title>",
            f'<rect width="{width}" height="{height:g}" fill="{PAPER}"/>',
            f'<text x="{GAP}" y="24" font-size="15" font-weight="bold" fill="{INK}">{escape(heading)}</text>',
            f'<text x="{GAP}" y="41" font-size="11" fill="{FAINT}">{escape(_shorten(sentences(shown)))}</text>',
            f'<text x="{GAP}" y="56" font-size="10" fill="{FAINT}">{escape(rest)}</text>',
            f'<g transform="translate({GAP} {TOP})">{map_of(shown)}</g>',
            f'<text x="{GAP}" y="{TOP + MAP + 18}" font-size="10" fill="{FAINT}">{map_title(shown)}</text>',
            f'<g transform="translate({GAP + MAP + GAP} {TOP})">{chart_of(shown)}</g>',
            "</svg>\n",
        ]
    )


def to_page(problem: "TSPTW", moves: Sequence[Any], title: str, about: str) -> str:
    """Return a page, complete in itself: the map, the chart and the timetable, each stop marked in all three."""
    shown = Timetable(problem, moves)
    template = (resources.files("playout.problems") / "tsptw.html").read_text(encoding="utf-8")
    return Template(template).substitute(
        title=escape(title),
        about=escape(about),
        summary="".join(f"<p>{escape(line)}.</p>" for line in sentences(shown)),
        map_title=map_title(shown),
        map_box=f"0 0 {MAP} {MAP}",
        map=map_of(shown),
        chart_box=f"0 0 {CHART} {chart_height(shown):g}",
        chart=chart_of(shown),
        rows="".join(_table_row(shown, number, stop) for number, stop in enumerate(shown.stops, 1)),
    )


def _table_row(shown: Timetable, number: int, stop: Stop) -> str:
    cells = [
        shown.who(stop),
        shown.amount(stop.arrival) if shown.arrived else "",
        shown.amount(stop.ready),
        shown.amount(stop.due),
        shown.amount(stop.wait) if shown.arrived and stop.wait else "",
        shown.amount(stop.late) if shown.arrived and stop.late else "",
    ]
    late = ' class="missed"' if shown.arrived and stop.late else ""
    first = f'<th scope="row">{number}</th>'
    focus = 0 if number == 1 else -1
    data = "".join(f"<td>{cell}</td>" for cell in cells)
    return f'<tr data-stop="{number}" tabindex="{focus}"{late}>{first}{data}</tr>\n'


def _shorten(lines: Sequence[str], most: int = 190) -> str:
    text = ". ".join(lines)
    return text if len(text) <= most else f"{text[: most - 3]}..."


# The map


def map_title(shown: Timetable) -> str:
    """Say what the map is, and that an instance has no places, only distances."""
    return "Tour, places estimated from the distances" if shown.arrived else "Places, estimated from the distances"


def map_of(shown: Timetable) -> str:
    """Draw the places and the ways between them; customers that are missed are red."""
    nodes = shown.problem.nodes
    radius = max(2.5, min(10.5, 70 / nodes**0.5))
    points = _fitted(_spread(_fitted(positions(shown.problem), radius), radius), radius, most=1.0)
    parts = []
    if shown.arrived:
        way = [points[0], *(points[stop.customer] for stop in shown.stops)]
        parts.append(f'<path class="way" d="{_path(way)}" fill="none" stroke="{TRIP}" stroke-width="1.6"/>')
        parts += [_arrow(a, b, radius) for a, b in pairwise(way)]
    stop_of = {stop.customer: number for number, stop in enumerate(shown.stops, 1)}
    missed = {stop.customer for stop in shown.tour.missed}
    for node, point in enumerate(points):
        number = stop_of.get(node, 0)
        mark = f' data-stop="{number}"' if number else ""
        hint = f"<title>{escape(_hint(shown, node, number))}</title>"
        parts.append(f'<g class="stop"{mark}>{hint}{_place(node, point, radius, node in missed)}</g>')
    return "\n".join(parts)


def _place(node: int, point: Any, radius: float, missed: bool) -> str:
    """A customer as a disc with its number, the depot as a square."""
    x, y = point
    kind = "missed" if missed else "place" if node else "depot"
    fill, edge, ink = {"missed": (LATE, LATE, PAPER), "place": (PAPER, INK, INK), "depot": (INK, INK, PAPER)}[kind]
    paint = f'class="{kind}" fill="{fill}" stroke="{edge}" stroke-width="1.2"'
    if node:
        shape = f'<circle {paint} cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"/>'
    else:
        corner, side = f'x="{x - radius:.1f}" y="{y - radius:.1f}"', f"{2 * radius:.1f}"
        shape = f'<rect {paint} {corner} width="{side}" height="{side}" rx="2"/>'
    if radius < LEAST_NUMBERED:
        return shape
    size = radius if node < 100 else 0.8 * radius
    place = f'x="{x:.1f}" y="{y + 0.36 * size:.1f}" font-size="{size:.1f}" text-anchor="middle"'
    return f'{shape}<text class="{kind}-label" {place} fill="{ink}">{node}</text>'


def _hint(shown: Timetable, node: int, number: int) -> str:
    if number:
        return shown.sentence(number, shown.stops[number - 1])
    return "the depot" if node == 0 else f"customer {node}"


def positions(problem: "TSPTW") -> "NDArray[np.float64]":
    """Return places on a map whose distances are about those of the instance: classical multidimensional scaling.

    The way there and the way back count with their mean, and what a node's way to itself takes is service, no distance.
    """
    import numpy as np

    arcs = np.array(problem.distances)
    arcs = np.maximum(arcs - np.diag(arcs)[:, None], 0)
    squared = ((arcs + arcs.T) / 2) ** 2
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1)[:, None] + squared.mean()
    values, vectors = np.linalg.eigh(-centred / 2)
    places = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0))
    places = np.hstack([places, np.zeros((len(places), 2 - places.shape[1]))])
    return places * np.where(places[np.abs(places).argmax(axis=0), [0, 1]] < 0, -1, 1)  # an eigenvector has no sign


def _fitted(places: "NDArray[np.float64]", margin: float, most: float = 1e9) -> "NDArray[np.float64]":
    """Scale places by at most a factor, so that the larger extent is the whole side of the map."""
    low, high = places.min(axis=0), places.max(axis=0)
    extent = float((high - low).max())
    scale = min(most, (MAP - 2 * margin - 4) / extent) if extent else 1.0
    fitted: NDArray[np.float64] = (places - (low + high) / 2) * scale + MAP / 2
    return fitted


def _spread(points: "NDArray[np.float64]", radius: float) -> "NDArray[np.float64]":
    """Push marks apart that would cover each other: the map is rough anyway, and a number must be read."""
    import numpy as np

    least = 2 * radius + min(6.0, radius)  # so that ways can be seen between them
    order = np.arange(len(points))[:, None]  # places that are the same part on a spiral
    points = points + 0.1 * np.sqrt(order) * np.hstack([np.cos(2.4 * order), np.sin(2.4 * order)])
    for _ in range(300 if radius >= LEAST_NUMBERED else 0):
        apart = points[:, None] - points[None]
        distance = np.sqrt((apart**2).sum(axis=2)) + least * np.eye(len(points))
        overlap = np.maximum(least - distance, 0)
        if overlap.max() < 0.1:
            break
        push = (apart / np.maximum(distance, 1e-6)[:, :, None] * overlap[:, :, None] / 2).sum(axis=1)
        points = points + np.clip(push, -radius, radius)
    return points


def _path(points: Sequence[Any]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def _arrow(a: Any, b: Any, radius: float) -> str:
    """A small tip in the middle of a way that is long enough for one."""
    (x, y), (dx, dy) = (a + b) / 2, b - a
    length = float((dx * dx + dy * dy) ** 0.5)
    if length < 2 * radius + 14:
        return ""
    dx, dy = 4 * dx / length, 4 * dy / length
    tip = f"M{x + dx:.1f} {y + dy:.1f}L{x - dx - dy:.1f} {y - dy + dx:.1f}L{x - dx + dy:.1f} {y - dy - dx:.1f}z"
    return f'<path class="tip" d="{tip}" fill="{TRIP}"/>'


# The chart


def _row_height(shown: Timetable) -> float:
    return max(12.0, min(20.0, (MAP - 2 * LABELS) / max(len(shown.stops), 1)))


def chart_height(shown: Timetable) -> float:
    return 2 * LABELS + _row_height(shown) * len(shown.stops)


def chart_of(shown: Timetable) -> str:
    """Draw the window of each stop as a bar on the axis of time, and a dot at the arrival."""
    row, bottom = _row_height(shown), chart_height(shown) - LABELS
    parts = [
        f'<line class="grid" x1="{_x(shown, time):.1f}" x2="{_x(shown, time):.1f}" y1="{LABELS - 6}" y2="{bottom:g}" '
        f'stroke="{LINE}"/><text class="faint" x="{_x(shown, time):.1f}" y="{bottom + 14:g}" font-size="10" '
        f'text-anchor="middle" fill="{FAINT}">{time:,.10g}</text>'
        for time in _ticks(shown)
    ]
    parts.append(_legend(shown))
    if shown.arrived:
        starts = [(_x(shown, stop.start), LABELS + (i + 0.5) * row) for i, stop in enumerate(shown.stops)]
        parts.append(f'<path class="trip" d="{_path(starts)}" fill="none" stroke="{TRIP}" stroke-opacity=".45"/>')
    parts += [_chart_row(shown, number, stop, row) for number, stop in enumerate(shown.stops, 1)]
    return "\n".join(parts)


def _chart_row(shown: Timetable, number: int, stop: Stop, row: float) -> str:
    top = LABELS + (number - 1) * row
    middle, thick = top + row / 2, row * 0.6
    late = shown.arrived and bool(stop.late)
    opens, closes, goes_on = _x(shown, stop.ready), _x(shown, stop.due), shown.goes_on(stop)
    parts = [
        f"<title>{escape(shown.sentence(number, stop))}</title>",
        f'<rect class="row" y="{top:.1f}" width="{CHART}" height="{row:.1f}" fill="none" pointer-events="all"/>',
        f'<text class="{"missed" if late else "ink"}" x="{LEFT - 8}" y="{middle + 3.5:.1f}" '
        f'font-size="{min(10.5, row):.1f}" text-anchor="end" fill="{LATE if late else INK}">{shown.who(stop)}</text>',
        f'<rect class="window" x="{opens:.1f}" y="{middle - thick / 2:.1f}" width="{max(closes - opens, 1.5):.1f}" '
        f'height="{thick:.1f}" rx="2" fill="{WINDOW}"/>',
        *(_tip(end, middle, thick, way) for end, way, on in zip((opens, closes), (-1, 1), goes_on, strict=True) if on),
    ]
    if shown.arrived:
        arrival = _x(shown, stop.arrival)
        if stop.wait:
            parts.append(_segment("wait", WAIT, arrival, opens, middle))
        if late:
            parts.append(_segment("late", LATE, closes, arrival, middle))
        kind, fill = ("late-dot", LATE) if late else ("dot", INK)
        size = min(3.6, row / 3)
        parts.append(f'<circle class="{kind}" cx="{arrival:.1f}" cy="{middle:.1f}" r="{size:.1f}" fill="{fill}"/>')
    return f'<g class="stop" data-stop="{number}">{"".join(parts)}</g>'


def _tip(x: float, y: float, thick: float, way: int) -> str:
    """The end of a window that goes on beyond the axis: it points to where."""
    corners = f"M{x - way:.1f} {y - thick / 2:.1f}L{x + 6 * way:.1f} {y:.1f}L{x - way:.1f} {y + thick / 2:.1f}z"
    return f'<path class="window open" d="{corners}" fill="{WINDOW}"/>'


def _segment(kind: str, colour: str, begin: float, end: float, y: float) -> str:
    return (
        f'<line class="{kind}" x1="{begin:.1f}" x2="{end:.1f}" y1="{y:.1f}" y2="{y:.1f}" '
        f'stroke="{colour}" stroke-width="2.5"/>'
    )


def _legend(shown: Timetable) -> str:
    """Say what the signs mean, in a line above the chart."""
    signs = [("window", f'<rect class="window" width="18" height="9" y="-8" rx="2" fill="{WINDOW}"/>')]
    if shown.arrived:
        signs += [
            ("arrival", f'<circle class="dot" cx="9" cy="-3.5" r="3.6" fill="{INK}"/>'),
            ("waiting", _segment("wait", WAIT, 0, 18, -3.5)),
            ("late", _segment("late", LATE, 0, 18, -3.5)),
        ]
    if shown.any_goes_on:
        pointed = f'<rect class="window" width="12" height="9" y="-8" rx="2" fill="{WINDOW}"/>{_tip(12, -3.5, 9, 1)}'
        signs.append(("window goes on", pointed))
    return "".join(
        f'<g transform="translate({LEFT + 84 * place} 14)">{sign}'
        f'<text class="faint" x="23" font-size="10.5" fill="{FAINT}">{word}</text></g>'
        for place, (word, sign) in enumerate(signs)
    )


def _x(shown: Timetable, time: float) -> float:
    share = (time - shown.begin) / (shown.end - shown.begin)
    return LEFT + (CHART - LEFT - 8) * max(0.0, min(1.0, share))


def _ticks(shown: Timetable) -> list[float]:
    """Round times, some six of them, from the beginning of the axis to its end."""
    rough = (shown.end - shown.begin) / 6
    unit: float = 10.0 ** floor(log10(rough))
    step = next(factor * unit for factor in (1, 2, 5, 10) if factor * unit >= rough)
    first, last = -(-shown.begin // step), shown.end // step
    return [step * i for i in range(int(first), int(last) + 1)]
