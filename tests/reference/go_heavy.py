"""Heavy playouts of Go in plain Python, from the header comments of cpp/problems/go/heavy.h and shapes.h."""

from itertools import product

from tests.reference.go import PlainGo
from tests.reference.stream import Stream

ATARI, TWO, NAKADE, SHAPES, REJECT = 90, 90, 95, 95, 50

# Three rows from above; the words as in shapes.h. The edge is the lowest row.
DRAWN = """
    x o x    x o .    x o ?     . o .    x o ?      x o ?    ? x ?      o x ?
    . * .    . * .    x * .     x * .    o * !o     o * x    o * o      !x * o
    ? ? ?    ? . ?    ? !o ?    . . .    ? !o ?     ? ? ?    !x !x !x   ? ? ?

    x . ?    o x ?    ? x ?     ? x o    ? o x
    o * ?    x * o    !o * o    !o * !o  x * o
    # # #    # # #    # # #     # # #    # # #
"""


def drawn_shapes() -> list[list[str]]:
    """Each shape as nine words, row by row from below, as the points of a board are."""
    blocks = [block.strip().splitlines() for block in DRAWN.strip("\n").split("\n\n")]
    shapes = []
    for block in blocks:
        rows = [line.split() for line in block]
        for i in range(0, len(rows[0]), 3):
            above, middle, below = (row[i : i + 3] for row in rows)
            shapes.append([*below, *middle, *above])
    return shapes


def turned(shape: list[str]) -> list[str]:
    return [shape[3 * (2 - column) + row] for row, column in product(range(3), repeat=2)]


def mirrored(shape: list[str]) -> list[str]:
    return [shape[3 * row + 2 - column] for row, column in product(range(3), repeat=2)]


def ways(shape: list[str]) -> list[list[str]]:
    out = []
    for _ in range(4):
        out += [shape, mirrored(shape)]
        shape = turned(shape)
    return out


ALL_WAYS = [way for shape in drawn_shapes() for way in ways(shape)]


def allows(word: str, there: int, x: int) -> bool:
    """Whether a word of a shape allows what is there: 0 empty, 1 black, 2 white, 3 the edge."""
    is_word = {"?": True, "*": there == 0, ".": there == 0, "#": there == 3, "x": there == x, "o": there == 3 - x}
    return not is_word[word[1:]] if word.startswith("!") else is_word[word]


class HeavyGo(PlainGo):
    def answer(self, last: list[int], stream: Stream) -> int | None:
        newest = last[-1] if last and last[-1] != self.last else None
        before = last[-2] if len(last) > 1 and last[-2] != self.last else None
        found: set[int] = set()
        if stream.below(100) < ATARI:
            found = self.answer_atari(self.near(newest) | self.near(before))
        if not found and stream.below(100) < TWO:
            found = self.answer_two(self.near(newest))
        if not found and stream.below(100) < NAKADE and newest is not None:
            found = self.nakade(newest)
        if not found and stream.below(100) < SHAPES:
            found = {p for point in (newest, before) if point is not None for p in self.shaped(point)}
        moves = sorted(found)
        return None if not moves else moves[stream.below(len(moves))] if len(moves) > 1 else moves[0]

    def turns_down(self, point: int, stream: Stream) -> bool:
        return self.is_self_atari(point) and stream.below(100) < REJECT

    # What is on the board

    @property
    def own(self) -> int:
        return self.player + 1

    def chain(self, point: int) -> set[int]:
        return self.fill(self.board, point)[0]

    def around(self, points: set[int]) -> set[int]:
        return {other for point in points for other in self.neighbours(point)} - points

    def liberties(self, point: int) -> set[int]:
        return {other for other in self.around(self.chain(point)) if self.board[other] == 0}

    def chains_near(self, point: int, colour: int) -> list[int]:
        return [other for other in self.neighbours(point) if self.board[other] == colour]

    def liberties_after(self, point: int, player: int) -> int:
        """Of a stone there; of what it captures, only the stones next to it are seen."""
        near = self.neighbours(point)
        chain = {point}.union(*[self.chain(other) for other in near if self.board[other] == player + 1])
        free = {other for other in self.around(chain) if self.board[other] == 0}
        return len(free | {o for o in near if self.board[o] == 2 - player and len(self.liberties(o)) == 1})

    def may_play(self, point: int) -> bool:
        return self.fits(point, suicide=False)

    def captures(self, chain: int) -> set[int]:
        """Where chains in atari next to a chain are captured."""
        others = [other for other in self.around(self.chain(chain)) if self.board[other] == 3 - self.own]
        places = {min(self.liberties(other)) for other in others if len(self.liberties(other)) == 1}
        return places - {self.ko_point}

    def is_self_atari(self, point: int) -> bool:
        captured = any(len(self.liberties(other)) == 1 for other in self.chains_near(point, 3 - self.own))
        return self.liberties_after(point, self.player) < 2 and not captured

    # The steps

    def near(self, move: int | None) -> set[int]:
        """A move and the points around it."""
        if move is None:
            return set()
        row, column = divmod(move, self.width)
        places = [(row + r, column + c) for r, c in product((-1, 0, 1), repeat=2)]
        return {r * self.width + c for r, c in places if 0 <= r < self.height and 0 <= c < self.width}

    def answer_atari(self, near: set[int]) -> set[int]:
        found = set()
        for chain in near:
            if self.board[chain] and len(self.liberties(chain)) == 1:
                place = min(self.liberties(chain))
                own = self.board[chain] == self.own
                found |= self.captures(chain) if own else set()
                found |= {place} if not own or self.liberties_after(place, self.player) > 1 else set()
        return found - {self.ko_point}

    def is_danger(self, player: int, attack: int, rest: int) -> bool:
        attacked = attack != self.ko_point and self.liberties_after(attack, 1 - player) > 1
        return attacked and self.liberties_after(rest, player) < 4

    def answer_two(self, near: set[int]) -> set[int]:
        found = set()
        for chain in near:
            if not self.board[chain] or len(self.liberties(chain)) != 2:
                continue
            one, two = self.liberties(chain)
            danger = {a for a, b in ((one, two), (two, one)) if self.is_danger(self.board[chain] - 1, a, b)}
            if self.board[chain] != self.own:
                found |= danger
            elif danger:
                found |= self.captures(chain)
                found |= {p for p in (one, two) if self.may_play(p) and self.liberties_after(p, self.player) > 2}
        return found

    def nakade(self, newest: int) -> set[int]:
        found = set()
        for point in self.chains_near(newest, 0):
            region, colours = self.fill(self.board, point)
            if 3 <= len(region) <= 6 and len(colours) == 1:
                degrees = {p: len(region & set(self.neighbours(p))) for p in region}
                vital = max(region, key=lambda p, degrees=degrees: degrees[p])
                shapes = ([1, 1, 2], [1, 1, 1, 3], [1, 1, 1, 1, 4], [1, 2, 2, 2, 3], [1, 1, 2, 2, 2, 4])
                found |= {vital} if sorted(degrees.values()) in shapes else set()
        return {point for point in found if self.may_play(point)}

    def square(self, point: int) -> list[int]:
        """The 3 x 3 points with this one in the middle, row by row from below; 3 beyond the edge."""
        row, column = divmod(point, self.width)
        places = [(row + r, column + c) for r, c in product((-1, 0, 1), repeat=2)]
        inside = [0 <= r < self.height and 0 <= c < self.width for r, c in places]
        return [self.board[r * self.width + c] if is_in else 3 for (r, c), is_in in zip(places, inside, strict=True)]

    def has_shape(self, point: int) -> bool:
        square = self.square(point)
        return any(
            all(allows(word, there, x) for word, there in zip(way, square, strict=True))
            for way in ALL_WAYS
            for x in (1, 2)
        )

    def shaped(self, newest: int) -> set[int]:
        free = [p for p in self.near(newest) if self.may_play(p) and self.has_shape(p)]
        return {point for point in free if not self.is_self_atari(point)}
