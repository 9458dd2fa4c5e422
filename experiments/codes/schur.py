"""Weak Schur numbers with several codes, biases and lists of moves: what experiments/codes compares."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
from weak_schur import WeakSchur


class PartOnly(WeakSchur):
    def code(self, s, move):
        return move


class NumberOnly(WeakSchur):
    def code(self, s, move):
        return s.next


class NoBias(WeakSchur):
    def bias(self, s, move):
        return 0.0


class AllEmptyParts(WeakSchur):
    def moves(self, s, out):
        count = 0
        for part in range(self.parts):
            if not s.sums[part, s.next] and s.next < len(s.part):
                out[count], count = part, count + 1
        return count


number_and_part, part, number = WeakSchur(4), PartOnly(4), NumberOnly(4)
no_bias, all_empty_parts = NoBias(4), AllEmptyParts(4)
