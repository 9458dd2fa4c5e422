"""The features of moves in Go, and the priors, in plain Python.

From the header comments of cpp/problems/go/features.h, ladder.h, neighbourhood.h and priors.h. Positions are PlainGo,
chains are found by filling, boards are copied for every stone.
"""

import copy
import re
from collections.abc import Sequence
from pathlib import Path

from playout._core import exp
from playout._core import go_features as feature_names
from tests.reference.floats import single
from tests.reference.go import PlainGo

GO_FEATURES = feature_names()
MOST_STONES = 100
PRIOR_WINS = 20.0
WEIGHTS = Path(__file__).parents[2] / "cpp" / "problems" / "go" / "weights.h"


def chain(go: PlainGo, point: int) -> frozenset[int]:
    return frozenset(go.fill(go.board, point)[0])


def liberties(go: PlainGo, point: int) -> set[int]:
    """Of the chain of a stone."""
    return {other for stone in chain(go, point) for other in go.neighbours(stone) if go.board[other] == 0}


def chains_around(go: PlainGo, points: Sequence[int] | frozenset[int], colour: int) -> set[frozenset[int]]:
    around = {other for point in points for other in go.neighbours(point)}
    return {chain(go, other) for other in around if go.board[other] == colour}


def put(go: PlainGo, point: int, player: int) -> PlainGo:
    after = copy.copy(go)  # shares the history, which nothing here looks at
    after.board, captured, _ = go.after(point, player)
    retaken = captured and after.after(min(captured), 1 - player)[0] == go.board
    after.ko_point = min(captured) if len(captured) == 1 and retaken else None
    after.player = 1 - player
    return after


def passed(go: PlainGo) -> PlainGo:
    after = copy.copy(go)
    after.ko_point, after.player = None, 1 - go.player
    return after


class Ladder:
    """Reads one ladder; the player to move is the position's."""

    def __init__(self) -> None:
        self.stones = 0

    def tries(self, go: PlainGo, point: int) -> PlainGo | None:
        """The position after a stone, unless it was one too many."""
        self.stones += 1
        return put(go, point, go.player) if self.stones <= MOST_STONES else None

    def is_caught(self, go: PlainGo, stone: int) -> bool:
        """Whether the chain is, its owner to move."""
        own = chain(go, stone)
        attackers = [c for c in chains_around(go, own, 2 - go.player) if len(liberties(go, min(c))) == 1]
        points = liberties(go, stone).union(*(liberties(go, min(c)) for c in attackers))
        for point in sorted(points):
            if go.fits(point, suicide=False):
                after = self.tries(go, point)
                if after is None or not self.can_catch(after, stone):
                    return False
        return True

    def can_catch(self, go: PlainGo, stone: int) -> bool:
        """Whether the player to move catches the other's chain."""
        found = sorted(liberties(go, stone))
        if len(found) != 2:
            return len(found) < 2
        for point in found:
            if go.fits(point, suicide=False):
                after = self.tries(go, point)
                if after is not None and self.is_caught(after, stone):
                    return True
        return False


def features(go: PlainGo, move: int, last: int | None, before: int | None) -> list[int]:
    """The features of a legal move, as numbers in order; ``last`` and ``before`` are None for passes."""
    if move == go.last:
        names = {"pass" if go.passes == 0 else "pass again"}
    else:
        names = place(go, move, last, before) | neighbourhood(go, move) | tactics(go, move, last)
    return sorted(GO_FEATURES.index(name) for name in names)


def place(go: PlainGo, move: int, last: int | None, before: int | None) -> set[str]:
    row, column = divmod(move, go.width)
    line = min(column + 1, go.width - column, row + 1, go.height - row, 5)
    is_open = not any(
        colour and abs(point // go.width - row) <= 2 and abs(point % go.width - column) <= 2
        for point, colour in enumerate(go.board)
    )
    names = {f"{'open line' if is_open else 'line'} {line}"}
    for name, point in {"last": last, "before": before}.items():
        if point is not None:
            dx, dy = abs(point % go.width - column), abs(point // go.width - row)
            names.add(f"{name} {min(max(dx + dy + max(dx, dy), 2), 17)}")
    return names


def neighbourhood(go: PlainGo, move: int) -> set[str]:
    names = {f"shape {shape(go, move)}"}
    for where, points in {"sides": go.neighbours(move), "corners": go.corners(move)}.items():
        colours = [go.board[point] for point in points if point is not None]
        for whose, colour in {"own": go.player + 1, "enemy": 2 - go.player}.items():
            if count := colours.count(colour):
                names.add(f"{whose} {where} {count}")
    if all(go.board[other] == go.player + 1 for other in go.neighbours(move)):
        names.add("own eye" if go.is_eye(move) else "false eye")
    return names


def shape(go: PlainGo, move: int) -> str:
    """The eight points around, from below on against the clock, in the way that is the least number of base 4."""
    row, column = divmod(move, go.width)
    letters = {0: ".", go.player + 1: "x", 2 - go.player: "o"}
    around = ""
    for dy, dx in ((-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1)):
        inside = 0 <= row + dy < go.height and 0 <= column + dx < go.width
        around += letters[go.board[(row + dy) * go.width + column + dx]] if inside else "#"
    turned = [around[i:] + around[:i] for i in (0, 2, 4, 6)]
    mirrored = [way[0] + way[:0:-1] for way in turned]
    return min(turned + mirrored, key=lambda way: ["  .xo#".index(letter) for letter in reversed(way)])


def tactics(go: PlainGo, move: int, last: int | None) -> set[str]:
    own = chains_around(go, [move], go.player + 1)
    enemies = {c: len(liberties(go, min(c))) for c in chains_around(go, [move], 2 - go.player)}
    after = put(go, move, go.player)
    if after.board[move] == 0:
        return {self_atari(1 + sum(map(len, own)))}
    names = set()
    count = len(liberties(after, move))
    if count < 4:
        names.add(self_atari(len(chain(after, move))) if count == 1 else f"liberties {count}")
    if len(own) > 1:
        names.add(f"connect {min(3, len(own))}")
    if len(enemies) > 1:
        names.add(f"cut {min(3, len(enemies))}")
    if captured := [c for c, n in enemies.items() if n == 1]:
        names |= capture(go, captured, last, after)
    if in_atari := [c for c, n in enemies.items() if n == 2]:
        caught = any(Ladder().is_caught(after, min(c)) for c in in_atari)
        names.add("atari ladder" if caught else "atari")
        if go.ko_point is not None:
            names.add("atari ko")
    if 3 in enemies.values():
        names.add("press")
    caught = Ladder().can_catch(after, move)
    if any(len(liberties(go, min(c))) == 1 for c in own):
        names.add("extend caught" if caught else "extend")
    if any(len(liberties(go, min(c))) == 2 and Ladder().can_catch(passed(go), min(c)) for c in own):
        names.add("defend caught" if caught else "defend")
    return names


def self_atari(size: int) -> str:
    return f"self-atari {1 if size == 1 else 2 if size < 5 else 5}"


def capture(go: PlainGo, captured: list[frozenset[int]], last: int | None, after: PlainGo) -> set[str]:
    size = sum(map(len, captured))
    names = {"capture 2"} if 2 <= size < 5 else {"capture 5"} if size >= 5 else set()
    if after.ko_point is not None:
        names.add("takes ko")
    friends = {friend for c in captured for friend in chains_around(go, c, go.player + 1)}
    if any(len(liberties(go, min(friend))) == 1 for friend in friends):
        return names | {"capture saves"}
    if any(last in c for c in captured):
        return names | {"capture last"}
    free = any(not Ladder().is_caught(passed(go), min(c)) for c in captured)
    return names | {"capture free" if free else "capture caught"}


def weights() -> list[int]:
    """The learned weights, in thousandths."""
    numbers = re.sub("//.*", "", WEIGHTS.read_text().partition("= {")[2])
    return [int(number) for number in re.findall(r"-?\d+", numbers)]


def priors(lists: list[list[int]]) -> list[tuple[float, float]]:
    """Visits and wins of each move, by their features."""
    table = weights()
    sums = [sum(table[feature] for feature in found) for found in lists]
    wins = [single(PRIOR_WINS * exp((total - max(sums)) / 1000)) for total in sums]
    return [(won, won) for won in wins]
