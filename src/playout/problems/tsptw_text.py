"""The standard text format of the TSPTW: the number of nodes, the matrix of distances, the windows; depot first.

One row of the matrix a line, then one line a node with its ready and its due time. Empty lines do not count.
"""

import math
from collections.abc import Iterator, Sequence

from playout.errors import InputError, short
from playout.problems.tsptw_rules import Matrix, Times, plain

MAX_NODES, MAX_VALUE, MAX_BYTES = 1000, 1e9, 1 << 25

Line = tuple[int, list[str]]


def parse(text: str, source: str) -> tuple[Matrix, Times, Times]:
    """Read distances, ready times and due times.

    Raises
    ------
    InputError
        With the source and the line, if something is not as it should be.
    """
    lines = ((number, line.split()) for number, line in enumerate(text.splitlines(), 1) if line.strip())
    nodes = _nodes(lines, source)
    distances = tuple(_row(lines, source, node, nodes) for node in range(nodes))
    windows = [_window(lines, source, node, nodes) for node in range(nodes)]
    for number, words in lines:
        raise InputError(
            f"{source}, line {number}: {short(' '.join(words))} follows the last of {nodes} windows; nothing may"
        )
    return distances, tuple(opens for opens, _ in windows), tuple(closes for _, closes in windows)


def write(distances: Matrix, ready: Times, due: Times) -> str:
    """Return an instance as text; every number reads back as it is."""
    rows = [*distances, *zip(ready, due, strict=True)]
    return "\n".join([str(len(ready)), *(" ".join(map(_exact, row)) for row in rows)]) + "\n"


def check_window(opens: float, closes: float, node: int, where: str = "") -> None:
    """Raise if a window closes before it opens."""
    if closes < opens:
        who = f"customer {node}" if node else "the depot"
        raise InputError(f"{where}the window of {who} closes at {plain(closes)}, before it opens at {plain(opens)}")


def _nodes(lines: Iterator[Line], source: str) -> int:
    number, words = next(lines, (0, []))
    if not words:
        raise InputError(f"{source} is empty; the number of nodes comes first")
    word = " ".join(words)
    nodes = int(word) if word.isascii() and word.isdecimal() and len(word) < 10 else 0
    if not 1 <= nodes <= MAX_NODES:
        raise InputError(
            f"{source}, line {number}: the number of nodes is {short(word)}; "
            f"allowed are whole numbers from 1 to {MAX_NODES:,}"
        )
    return nodes


def _row(lines: Iterator[Line], source: str, node: int, nodes: int) -> Times:
    number, words = _next(lines, source, f"row {node + 1} of {nodes} of the matrix")
    if len(words) != nodes:
        raise InputError(
            f"{source}, line {number}: row {node + 1} of the matrix has {len(words)} numbers; {nodes} are needed"
        )
    return tuple(_values(words, f"{source}, line {number}: a distance"))


def _window(lines: Iterator[Line], source: str, node: int, nodes: int) -> tuple[float, float]:
    number, words = _next(lines, source, f"window {node + 1} of {nodes}")
    if len(words) != 2:
        raise InputError(
            f"{source}, line {number}: window {node + 1} has {len(words)} numbers; a ready and a due time are needed"
        )
    opens, closes = _values(words, f"{source}, line {number}: a time")
    check_window(opens, closes, node, f"{source}, line {number}: ")
    return opens, closes


def _next(lines: Iterator[Line], source: str, what: str) -> Line:
    try:
        return next(lines)
    except StopIteration:
        raise InputError(f"{source} ends too early: {what} is missing") from None


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
