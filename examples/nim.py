"""Nim, a game of one's own: take as many as you like from one of the heaps; who takes the last thing of all wins."""

import playout as po


class Nim(po.Problem):
    def __init__(self, heaps):
        self.heaps, self.max_moves = heaps, sum(heaps)
        self.State = dict(heap=("i8", len(heaps)), turn="i8")

    def init(self, s):
        s.heap[:] = self.heaps

    def moves(self, s, out):
        count = 0
        for heap in range(len(s.heap)):
            for take in range(1, s.heap[heap] + 1):
                out[count], count = 100 * heap + take, count + 1
        return count

    def play(self, s, move):
        s.heap[move // 100] -= move % 100
        s.turn = 1 - s.turn

    def score(self, s):
        return 1 if s.turn == 1 else -1  # it is the loser's turn

    def player(self, s):
        return s.turn


problem = Nim([3, 4, 5])

if __name__ == "__main__":
    player = po.Player(problem, po.UCT(graph=True), seed=1)  # there are few states, reached in many ways
    analysis = player.think(playouts=10_000)
    heap, take = divmod(analysis.move, 100)
    print(f"from heap {heap} take {take}, value {analysis.value:.2f}")  # the only move that wins: 2 from the 3
