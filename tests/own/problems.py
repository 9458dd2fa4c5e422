"""Problems of one's own for the tests: sound ones, and one for each mistake that check() knows."""

import random
from dataclasses import dataclass

import numpy as np

import playout as po


class Digits(po.Problem):
    """Choose eight digits; the score is their sum, with a bonus where one follows its predecessor."""

    State = dict(count="i8", last="i4", chosen=("i1", 8), total="f8")

    def __init__(self, values=(3, 1, 2), bonus=0.5):
        self.values, self.bonus, self.max_moves = np.array(values), bonus, len(values)

    def init(self, s):
        s.last = -1

    def moves(self, s, out):
        if s.count == 8:
            return 0
        for i in range(len(self.values)):
            out[i] = i
        return len(self.values)

    def play(self, s, move):
        if move == s.last + 1:
            s.total += self.bonus
        s.total += self.values[move]
        s.chosen[s.count] = move
        s.last = move
        s.count += 1

    def score(self, s):
        return s.total

    def code(self, s, move):
        return s.count * 10 + move

    def bias(self, s, move):
        return 0.1 * move


@dataclass(frozen=True)
class Frozen(po.Problem):
    length: int = 4
    max_moves: int = 2
    State = dict(n="i8", sum="i8")

    def init(self, s):
        pass

    def moves(self, s, out):
        out[0], out[1] = 0, 1
        return 2 if s.n < self.length else 0

    def play(self, s, move):
        s.n += 1
        s.sum += move

    def score(self, s):
        return s.sum

    def draw(self, moves):
        return "drawn: " + "".join(map(str, moves))


class Scored(Digits):
    """Digits whose score only Python can compute."""

    @po.python
    def score(self, s):
        return float(np.linalg.norm(s.chosen.astype(float))) + sum({"bonus": 1.0}.values())


class ScoreRaises(Digits):
    @po.python
    def score(self, s):
        if s.chosen.sum() >= 12:
            raise LookupError("no such thing")
        return s.total


class RaisesLate(Digits):
    """Sound in most games: not in the best."""

    def score(self, s):
        if s.total > 23.0:
            raise ValueError("too good")
        return s.total


class IndexesLate(Digits):
    def score(self, s):
        return s.total + s.chosen[int(s.total) // 3]


class TooLong(Digits):
    def moves(self, s, out):
        if s.count == 8:
            return 0
        for i in range(5):
            out[i] = i
        return 5


class SaysTooMany(Digits):
    def moves(self, s, out):
        return 9


class Twice(Digits):
    def moves(self, s, out):
        out[0] = out[1] = 1
        return 0 if s.count == 8 else 2


class Unchanged(Digits):
    def play(self, s, move):
        pass


class Endless(Digits):
    max_length = 500

    def moves(self, s, out):
        out[0] = 1
        return 1

    def play(self, s, move):
        s.total += 1


class PlayRaises(Digits):
    def play(self, s, move):
        s.count += 1
        s.chosen[s.count] = move


class Clashes(Digits):
    def code(self, s, move):
        return s.count


class Nan(Digits):
    def score(self, s):
        return float("nan")


class NanBias(Digits):
    def bias(self, s, move):
        return np.inf


class Random(Digits):
    def play(self, s, move):
        s.count += 1
        s.total += random.random()


class NumpyRandom(Digits):
    def score(self, s):
        return np.random.rand()


class OwnGenerator(Digits):
    def __init__(self):
        super().__init__()
        self.rng = np.random.default_rng(0)

    def score(self, s):
        return self.rng.normal()


class Outside(Digits):
    calls = [0]

    def score(self, s):
        Outside.calls[0] += 1
        return float(Outside.calls[0])


class MovesChange(Digits):
    def moves(self, s, out):
        s.total += 1
        out[0], out[1] = 0, 1
        return 2 if s.count < 8 else 0


class Wraps(Digits):
    """Whole numbers that outgrow 64 bits: Python's grow, compiled ones wrap around."""

    def score(self, s):
        product = 1
        for i in range(8):
            product *= 10**9 + int(s.chosen[i])
        return float(product % 1000)


class CallsAnother(Digits):
    def helper(self, s):
        return s.total

    def score(self, s):
        return self.helper(s)


class UsesText(Digits):
    names = ("a", "b")

    def score(self, s):
        return 1.0 if self.names[0] == "a" else 0.0


class Untyped(Digits):
    def score(self, s):
        return {}.get(s.count, 0.0)


class NoCount(Digits):
    def moves(self, s, out):
        out[0] = 1


class NewField(Digits):
    def play(self, s, move):
        s.other = 3


class FloatInField(Digits):
    def play(self, s, move):
        s.count += 0.5


class SmallField(Digits):
    def play(self, s, move):
        s.count += 1
        s.last = 2**40


class NoScore(po.Problem):
    State = dict(n="i8")
    max_moves = 1

    def init(self, s):
        pass

    def moves(self, s, out):
        return 0

    def play(self, s, move):
        pass


digits = Digits()
frozen = Frozen()


def made():
    return Digits(bonus=0.25)


class Improved(Digits):
    """With a local search that is hard to do without: no playout is likely to find its peak."""

    def improve(self, moves):
        return [max(move, 0) if i % 2 else 0 for i, move in enumerate(moves)]


class ImprovedBadly(Digits):
    def improve(self, moves):
        return [7, *moves[1:]]


class ImprovedShort(Digits):
    def improve(self, moves):
        return moves[:-1]


class TwoPlayers(Digits):
    def player(self, s):
        return s.count % 2


class ThreePlayers(Digits):
    def player(self, s):
        return s.count % 3


class Take(po.Problem):
    """Take one to three of a heap; who takes the last wins. A turn that is left out is a move of 4."""

    State = dict(heap="i4", turn="?", passed="i1")
    max_moves = 4

    def __init__(self, heap=10):
        self.heap = heap

    def init(self, s):
        s.heap = self.heap

    def moves(self, s, out):
        count = min(3, s.heap)
        for i in range(count):
            out[i] = i + 1
        if s.heap > 0 and s.passed == 0:
            out[count] = 4
            count += 1
        return count

    def play(self, s, move):
        if move == 4:
            s.passed = 1
        else:
            s.heap -= move
        s.turn = not s.turn

    def score(self, s):
        return 1 if s.turn else -1

    def player(self, s):
        return s.turn

    def bias(self, s, move):
        return 1.0 if (s.heap - move) % 4 == 0 else 0.0


class HalfAPlayer(Take):
    def player(self, s):
        return 0.5 if s.heap < 5 else 0


class PlayerRaises(Take):
    def player(self, s):
        if s.heap == 0:
            raise ValueError("nobody")
        return s.turn


class PlayerPlays(Take):
    def player(self, s):
        s.heap += 1
        return s.turn


class PlayerWraps(Take):
    """Compiled whole numbers have 64 bits."""

    def player(self, s):
        power = 1
        for _ in range(70 - s.heap):
            power *= 2
        return power % 3 % 2


class ChangesConstant(Digits):
    def play(self, s, move):
        self.values[0] += 1
        s.count += 1


class Rebinds(Digits):
    State = dict(count="i8", last="i4", chosen=("i1", 8), other=("i1", 8), total="f8")

    def play(self, s, move):
        s.chosen, s.other = s.other, s.chosen
        s.count += 1


class RandomCode(Digits):
    def code(self, s, move):
        return hidden() + s.count * 10 + move


def hidden():
    """Random numbers that no reading of a method finds."""
    return 1000 * random.getrandbits(8)


class Counted(Scored):
    """With a counter, as many scores in Python have."""

    def __init__(self):
        super().__init__()
        self.calls = 0

    @po.python
    def score(self, s):
        self.calls += 1
        return s.total


class Seeded(Scored):
    """A simulation that is the same every time."""

    @po.python
    def score(self, s):
        return s.total + np.random.default_rng(int(s.total)).normal()


class Narrow(Digits):
    """Plain Python refuses what compiled code wraps around, in good games only."""

    State = dict(count="i8", last="i4", chosen=("i1", 8), total="f8", sum="i2")

    def play(self, s, move):
        s.sum += 1400 * self.values[move]
        s.total += self.values[move]
        s.chosen[s.count] = move
        s.count += 1


class Grows(Digits):
    """A score that outgrows 64 bits in good games only: the search believes what compiled code says."""

    def score(self, s):
        power = 1
        for i in range(int(s.total)):
            power = power * 7 if i < 22 else power * 70
        return float(power % 1000003) if s.total >= 24 else s.total


class LoopsLate(Digits):
    """A loop without an end, in good games only."""

    def score(self, s):
        while s.total >= 24.0 and s.total < 99.0:
            s.total += 0.0
        return s.total


class ImproveSolves(Digits):
    def improve(self, moves):
        return list(po.solve(self, po.NRPA(level=1), playouts=20).moves)


loops, loops_plain = LoopsLate(), LoopsLate()
loops_plain.compiled = False
