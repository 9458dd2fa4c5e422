"""A tour that picks up parcels and delivers each after it was picked up: the shorter the better."""

import numpy as np

import playout as po


class Tour(po.Problem):
    def __init__(self, places):  # the depot, where parcels are picked up, and in the same order where they go
        self.distance = np.hypot(*(places[:, None] - places).T)
        self.places = self.max_moves = len(places)
        self.State = dict(at="i8", seen=("b1", self.places), length="f8")

    def init(self, s):
        s.seen[0] = True

    def moves(self, s, out):
        count = 0
        for to in range(1, self.places):
            if not s.seen[to] and (to <= self.places // 2 or s.seen[to - self.places // 2]):
                out[count], count = to, count + 1
        return count

    def play(self, s, move):
        s.length, s.at, s.seen[move] = s.length + self.distance[s.at, move], move, True

    def score(self, s):
        return -s.length - self.distance[s.at, 0]

    def code(self, s, move):
        return s.at * self.places + move  # the way from here to there

    def bias(self, s, move):
        return -20 * self.distance[s.at, move]

    def draw(self, moves):
        return " ".join(f"+{move}" if move <= self.places // 2 else f"-{move - self.places // 2}" for move in moves)


problem = Tour(np.random.default_rng(1).random((31, 2)))

if __name__ == "__main__":
    for result in (po.solve(problem, po.GNRPA(level=3), playouts=n, seed=1) for n in (1, 1_000, 50_000)):
        print(f"playouts: {result.playouts:,}, length: {-result.score:.3f}\n  {problem.draw(result.moves)}")
