"""The board as the Go Text Protocol writes it: vertices, handicap stones, and a drawing in letters."""

import re
from collections.abc import Iterator, Sequence

from playout.problems.go import LETTERS, Go

PASS = "pass"


def vertex_of(text: str) -> str | None:
    """Return a vertex or a pass in the usual spelling, whether or not it is on the board; None if it is neither."""
    if text.lower() == PASS:
        return PASS
    return text.upper() if re.fullmatch(r"[A-HJ-Z]([1-9]|1[0-9]|2[0-5])", text.upper()) else None


def free_handicap(size: int, stones: int) -> list[str]:
    """Where this engine puts handicap stones, perhaps fewer than it is asked for: the fixed places if there are any."""
    most = Go(size).most_handicap()
    if most:
        return Go(size, handicap=min(stones, most)).handicap_stones()
    near = 1 if size > 3 else 0
    far = size - 1 - near
    corners = [(near, near), (far, far), (near, far), (far, near)]
    return [f"{LETTERS[column]}{row + 1}" for column, row in corners[: min(stones, size)]]


def is_eye(cells: Sequence[int], size: int, point: int, colour: int) -> bool:
    """Whether an empty point has only this colour around it, and on the diagonals nearly so: nobody should fill it."""
    row, column = divmod(point, size)
    if any(cells[other] != colour for other in _around(row, column, size, ((0, 1), (1, 0), (0, -1), (-1, 0)))):
        return False
    diagonal = [cells[other] for other in _around(row, column, size, ((1, 1), (1, -1), (-1, 1), (-1, -1)))]
    return sum(stone == 3 - colour for stone in diagonal) < (2 if len(diagonal) == 4 else 1)


def _around(row: int, column: int, size: int, steps: Sequence[tuple[int, int]]) -> Iterator[int]:
    for r, c in ((row + up, column + right) for up, right in steps):
        if 0 <= r < size and 0 <= c < size:
            yield r * size + c


def draw(cells: Sequence[int], size: int, captured: tuple[int, int], says: str) -> str:
    """Draw the board, a line each row, the top one first; captured are Black's prisoners and White's."""
    letters = "    " + " ".join(LETTERS[:size])
    board = Go(size)
    stars = set(board.encode(free_handicap(size, 9))) if board.most_handicap() else set()
    lines = [letters]
    for row in reversed(range(size)):
        points = range(row * size, (row + 1) * size)
        marks = " ".join("+" if cells[p] == 0 and p in stars else ".XO"[cells[p]] for p in points)
        lines.append(f"{row + 1:>3} {marks} {row + 1}")
    notes = (f"Black (X) has captured {captured[0]}", f"White (O) has captured {captured[1]}", says)
    return "\n".join(["", *lines, letters, *notes])
