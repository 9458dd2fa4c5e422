"""The standard text format of the TSPTW: the number of nodes, the matrix of distances, the windows; depot first.

One row of the matrix a line, then one line a node with its ready and its due time. Empty lines do not count.
"""

import math
from collections.abc import Sequence

from playout.data import split_lines
from playout.errors import InputError, short
from playout.problems.tsptw_rules import Matrix, Times, plain

MAX_NODES, MAX_VALUE, MAX_BYTES = 1000, 1e9, 1 << 25


def parse(text: str, source: str) -> tuple[Matrix, Times, Times]:
    """Read distances, ready times and due times.

    Raises
    ------
    InputError
        With the source and the line, if something is not as it should be.
    """
    lines = _Lines(text, source)
    nodes = _nodes(lines)
    distances = tuple(_row(lines, node, nodes) for node in range(nodes))
    windows = [_window(lines, node) for node in range(nodes)]
    for number, words in lines.rest:
        what = "the only window" if nodes == 1 else f"the last of {nodes} windows"
        raise InputError(f"{source}, line {number}: {short(' '.join(words))} follows {what}; nothing may")
    return distances, tuple(opens for opens, _ in windows), tuple(closes for _, closes in windows)


def write(distances: Matrix, ready: Times, due: Times) -> str:
    """Return an instance as text; every number reads back as it is."""
    rows = [*distances, *zip(ready, due, strict=True)]
    return "\n".join([str(len(ready)), *(" ".join(map(_exact, row)) for row in rows)]) + "\n"


class _Lines:
    """The lines of a text that are not empty: each a number and its words."""

    def __init__(self, text: str, source: str) -> None:
        self.rest = ((number, line.split()) for number, line in enumerate(split_lines(text), 1) if line.strip())
        self.source, self.last = source, 0

    def take(self, what: str) -> tuple[str, list[str]]:
        """Return where the next line is and its words; raise if there is none, with what it should have had."""
        number, words = next(self.rest, (self.last + 1, []))
        where = f"{self.source}, line {number}"
        if not words:
            raise InputError(f"{where}: ends too early: {what} is missing")
        self.last = number
        return where, words


def numbers(count: int) -> str:
    return "1 number" if count == 1 else f"{count} numbers"


def check_window(opens: float, closes: float, node: int, where: str = "") -> None:
    """Raise if a window closes before it opens."""
    if closes < opens:
        raise InputError(f"{where}{_window_of(node)} closes at {plain(closes)}, before it opens at {plain(opens)}")


def _window_of(node: int) -> str:
    return f"the window of customer {node}" if node else "the window of the depot"


def _nodes(lines: _Lines) -> int:
    where, words = lines.take("the number of nodes")
    word = " ".join(words)
    nodes = int(word) if word.isascii() and word.isdecimal() and len(word) < 10 else 0
    if not 1 <= nodes <= MAX_NODES:
        raise InputError(
            f"{where}: the number of nodes is {short(word)}; allowed are whole numbers from 1 to {MAX_NODES:,}"
        )
    return nodes


def _row(lines: _Lines, node: int, nodes: int) -> Times:
    where, words = lines.take(f"row {node + 1} of {nodes} of the matrix")
    if len(words) != nodes:
        needed = "1 is" if nodes == 1 else f"{nodes} are"
        raise InputError(f"{where}: row {node + 1} of the matrix has {numbers(len(words))}; {needed} needed")
    return tuple(_values(words, f"{where}: a distance"))


def _window(lines: _Lines, node: int) -> tuple[float, float]:
    where, words = lines.take(_window_of(node))
    if len(words) != 2:
        raise InputError(f"{where}: {_window_of(node)} has {numbers(len(words))}; a ready and a due time are needed")
    opens, closes = _values(words, f"{where}: a time")
    check_window(opens, closes, node, f"{where}: ")
    return opens, closes


def _values(words: Sequence[str], what: str) -> list[float]:
    values = []
    for word in words:
        try:
            value = float(word) if word.isascii() and "_" not in word else math.nan
        except ValueError:
            value = math.nan
        if not 0 <= value <= MAX_VALUE:
            raise InputError(f"{what} is {short(word)}; allowed are numbers from 0 to {MAX_VALUE:,.0f}")
        values.append(value)
    return values


def _exact(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)
