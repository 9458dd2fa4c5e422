"""Openings: a few random moves, so that players who always do the same do not play one game again and again."""

from collections.abc import Iterator

from playout import _core
from playout.problems.go import Go
from playout.random import uniforms

TRIES = 100  # for an opening that was not there yet


def openings(game: Go, length: int, seed: int) -> Iterator[tuple[str, ...]]:
    """Yield an opening for each pair of games, without end, the same for the same seed.

    Stones go to the third line and above (on boards below 7 x 7 the second, below 5 x 5 anywhere). None comes twice,
    nor its image in a mirror, while there are others.
    """
    seen: set[frozenset[tuple[tuple[int, int], int]]] = set()
    pair = 0
    while True:
        for attempt in range(TRIES if length else 1):
            opening = _opening(game, length, uniforms(seed, 0, attempt, pair))
            name = _whatever_side(game, opening)
            if name not in seen:
                break
        seen.add(name)
        yield tuple(opening)
        pair += 1


def _opening(game: Go, length: int, draws: Iterator[float]) -> list[str]:
    position = _core.Position(game.engine())
    inside = set(_points_inside(game))
    moves: list[int] = []
    while len(moves) < length:
        legal = [move for move, *_ in position.moves() if move in inside]
        if not legal:
            break
        moves.append(legal[int(next(draws) * len(legal))])
        position.play(moves[-1])
    return game.decode(moves)


def _points_inside(game: Go) -> Iterator[int]:
    side = game.width
    edge = 2 if side >= 7 else 1 if side >= 5 else 0
    for row in range(edge, side - edge):
        for column in range(edge, side - edge):
            yield row * side + column


def _whatever_side(game: Go, opening: list[str]) -> frozenset[tuple[tuple[int, int], int]]:
    """Return the stones of an opening, the same for all ways to look at the board."""
    last = game.width - 1
    stones = [(divmod(point, game.width), number % 2) for number, point in enumerate(game.encode(opening))]
    images = []
    for _ in range(2):
        stones = [((column, row), colour) for (row, column), colour in stones]
        for _ in range(4):
            stones = [((column, last - row), colour) for (row, column), colour in stones]
            images.append(sorted(stones))
    return frozenset(min(images))
