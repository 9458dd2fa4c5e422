"""The knapsack problem: of all that can be carried together, what is worth most? Here the answer is known."""

import random

import playout as po


class Knapsack(po.Problem):
    State = dict(next="i8", room="i8", value="i8")  # all that changes in a playout

    def __init__(self, weights, values, capacity):
        self.weights, self.values, self.capacity = weights, values, capacity
        self.max_moves = 2

    def init(self, s):
        s.room = self.capacity  # the rest is 0

    def moves(self, s, out):
        out[0], out[1] = 0, 1  # leave the next thing, or take it
        return 0 if s.next == len(self.weights) else 1 + (self.weights[s.next] <= s.room)

    def play(self, s, move):
        s.room, s.value = s.room - move * self.weights[s.next], s.value + move * self.values[s.next]
        s.next += 1

    def score(self, s):
        return s.value

    def code(self, s, move):
        return 2 * s.next + move  # 0 and 1 mean something else for every thing


pick = random.Random(1).randint
problem = Knapsack([pick(10, 99) for _ in range(40)], [pick(10, 99) for _ in range(40)], capacity=1000)

if __name__ == "__main__":
    best = [0] * (problem.capacity + 1)  # the most value for each capacity, by dynamic programming
    for weight, value in zip(problem.weights, problem.values, strict=True):
        best = best[:weight] + [max(old, best[room] + value) for room, old in enumerate(best[weight:])]
    result = po.solve(problem, po.GNRPA(level=3, iterations=20), playouts=1_000_000, target=best[-1], seed=1)
    print(f"found {result.score:g}, possible {best[-1]}, after {result.playouts:,} playouts")
