"""A score that only Python can compute, here with NumPy: the 8 points at which a polynomial is measured best."""

import threading

import numpy as np

import playout as po


class Points(po.Problem):
    grid, max_moves, callers = 101, 101, set()
    State = dict(done="i8", point=("i8", 8))

    def moves(self, s, out):  # compiled, as all but the score: the next point, further right
        first = s.point[s.done - 1] + 1 if s.done > 0 else 0
        count = self.grid - first - len(s.point) + s.done + 1 if s.done < len(s.point) else 0
        out[:count] = np.arange(first, first + count)
        return count

    def play(self, s, move):
        s.point[s.done], s.done = move, s.done + 1

    @po.python
    def score(self, s):
        self.callers.add(threading.current_thread().name)
        return np.linalg.slogdet(np.polynomial.legendre.legvander(s.point / 50 - 1, 7))[1]

    def code(self, s, move):
        return s.done * self.grid + move


problem = Points()

if __name__ == "__main__":
    result = po.solve(problem, playouts=20_000, threads=2, parallel=po.Root(jobs=2), seed=2)
    print("found", [round(point / 50 - 1, 2) for point in result.moves], "with log |det|", round(result.score, 4))
    print("known", [-1, -0.8717, -0.5917, -0.2093, 0.2093, 0.5917, 0.8717, 1], "where there is no grid")
    print(f"two threads played, {', '.join(problem.callers)} computed the scores; {result.playouts:,} playouts")
