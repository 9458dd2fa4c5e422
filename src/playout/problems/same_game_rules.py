"""The rules of SameGame in plain Python, on columns of colours, the bottom cell first.

They share nothing with the engine (cpp/problems/same_game.h): ``playout verify`` and the drawings use them, and the
tests hold the engine against them.
"""

from collections.abc import Iterator, Sequence

Cell = tuple[int, int]
Columns = Sequence[Sequence[int]]


def cells_of(columns: Columns) -> Iterator[Cell]:
    """Yield every cell in order of column, then row."""
    return ((column, row) for column, cells in enumerate(columns) for row in range(len(cells)))


def group(columns: Columns, cell: Cell) -> set[Cell]:
    """Return the cells connected to a cell by equal colours, itself included; none outside the board."""

    def colour(column: int, row: int) -> int | None:
        inside = 0 <= column < len(columns) and 0 <= row < len(columns[column])
        return columns[column][row] if inside else None

    wanted = colour(*cell)
    if wanted is None:
        return set()
    found, todo = {cell}, [cell]
    while todo:
        column, row = todo.pop()
        for near in ((column - 1, row), (column + 1, row), (column, row - 1), (column, row + 1)):
            if near not in found and colour(*near) == wanted:
                found.add(near)
                todo.append(near)
    return found


def without(columns: Columns, cells: set[Cell]) -> list[list[int]]:
    """Return the columns after cells are removed: the rest falls, empty columns close to the left."""
    fallen = [
        [colour for row, colour in enumerate(column) if (c, row) not in cells] for c, column in enumerate(columns)
    ]
    return [column for column in fallen if column]
