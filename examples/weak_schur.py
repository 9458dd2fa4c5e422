"""Weak Schur numbers: put 1, 2, 3, ... into parts, no x, y and x + y in one, and get as far as one can."""

import playout as po


class WeakSchur(po.Problem):
    def __init__(self, parts, most=100):
        self.parts = self.max_moves = parts
        self.State = dict(next="i8", opened="i8", part=("i1", most), sums=("b1", (parts, 2 * most)))

    def init(self, s):
        s.next, s.part[:] = 1, -1

    def moves(self, s, out):
        count = 0
        for part in range(min(self.parts, s.opened + 1)):  # of the parts that are empty the first: they are all alike
            if not s.sums[part, s.next] and s.next < len(s.part):
                out[count], count = part, count + 1
        return count

    def play(self, s, move):
        for x in range(1, s.next):
            s.sums[move, x + s.next] |= s.part[x] == move
        s.part[s.next] = move
        s.opened, s.next = max(s.opened, move + 1), s.next + 1

    def score(self, s):
        return s.next - 1

    def code(self, s, move):
        return self.parts * s.next + move  # "67 into part 2" is what is learned; "into part 2" says little

    def bias(self, s, move):
        return 0.5 if s.part[s.next - 1] == move else 0.0  # good partitions have long runs


problem = WeakSchur(4)

if __name__ == "__main__":
    for parts, known in (3, 23), (4, 66):
        result = po.solve(WeakSchur(parts), po.GNRPA(level=3), playouts=200_000, target=known, seed=1)
        print(f"{parts} parts: 1 to {result.score:g} of {known} after {result.playouts:,} playouts")
