"""NRPA, GNRPA and NMCS in plain Python, from the papers' listings.

The exponential is the engine's own, and sums run in the same order, so results agree to the last bit.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from playout._core import exp, exp_factor


@dataclass
class Settings:
    iterations: int = 100
    alpha: float = 1.0
    temperature: float = 1.0
    bias: bool = True
    initial_bias: bool = False
    playouts_per_call: int | None = None
    repetitions: int | None = None
    improve: bool = False


@dataclass
class Searcher:
    """A problem, the settings, and the random numbers of playout 0, 1, 2, ..."""

    problem: Any
    settings: Settings
    random: Callable[[int], Iterator[float]]
    optimised: bool = True
    playouts: int = 0
    index: int = 0  # of the next playout's random numbers
    best: tuple[float, list] = (-math.inf, [])
    scores: list = field(default_factory=list)

    def weight(self, policy: dict, move: Any) -> float:
        start = self.settings.temperature * move.bias if self.settings.initial_bias else 0.0
        return policy.get(move.code, start)

    def odds(self, policy: dict, moves: list) -> list[float]:
        """exp(w / t + bias) of each move, or all of them divided by the largest where a factor is out of range."""
        s = self.settings
        biased = s.bias and not s.initial_bias

        def factors(move: Any) -> float:
            if s.initial_bias and move.code not in policy:
                return exp_factor(move.bias)
            value = exp_factor(self.weight(policy, move) / s.temperature)
            return value * (exp_factor(move.bias) if biased else 1.0)

        odds = [factors(move) for move in moves]
        if not any(map(math.isnan, odds)):
            return odds
        exponents = [self.weight(policy, m) / s.temperature + (m.bias if biased else 0.0) for m in moves]
        return [exp(x - max(exponents)) for x in exponents]

    def playout(self, policy: dict) -> tuple[float, list]:
        """Algorithm 4; a sequence is a list of moves."""
        numbers = self.random(self.index)
        self.playouts += 1
        self.index += 1
        state, sequence = self.problem.initial(), []
        while moves := self.problem.moves(state):
            odds = self.odds(policy, moves)
            share = next(numbers) * plain_sum(odds)
            running, chosen = 0.0, moves[-1]
            for move, one in zip(moves[:-1], odds[:-1], strict=True):
                running += one
                if running > share:
                    chosen = move
                    break
            state = self.problem.play(state, chosen)
            sequence.append(chosen)
        return self.note(self.problem.score(state), sequence)

    def improved(self, score: float, sequence: list) -> tuple[float, list]:
        """A sequence after the problem's local search, if that is on."""
        moves = [move.move for move in sequence]
        better = self.problem.improve(moves) if self.settings.improve else moves
        if better == moves:
            return score, sequence
        state, sequence = self.problem.initial(), []
        for name in better:
            sequence += [move for move in self.problem.all_moves(state) if move.move == name]
            state = self.problem.play(state, sequence[-1])
        return self.note(self.problem.score(state), sequence)

    def choices(self, state: Any, played: Any) -> list:
        """What a move was chosen from; a local search plays what the selective policy leaves out, too."""
        moves = self.problem.moves(state)
        return moves if played in moves else self.problem.all_moves(state)

    def note(self, score: float, sequence: list) -> tuple[float, list]:
        if score > self.best[0]:
            self.best = (score, sequence)
        self.scores.append(score)
        return score, sequence

    def adapt(self, policy: dict, sequence: list, calls: int = 1) -> dict:
        adapt = self.adapt_optimised if self.optimised else self.adapt_plainly
        return adapt(policy, sequence, self.settings.alpha * calls / self.settings.temperature)

    def adapt_plainly(self, policy: dict, sequence: list, rate: float) -> dict:
        """Algorithm 5, with Algorithm 4's exponent: a second policy collects what the first one says."""
        changed = dict(policy)
        state = self.problem.initial()
        for best in sequence:
            moves = self.choices(state, best)
            odds = self.odds_known(policy, moves)
            scale = rate / plain_sum(odds)
            for move, one in zip(moves, odds, strict=True):
                changed[move.code] = self.weight(changed, move) - one * scale
            changed[best.code] += rate
            state = self.problem.play(state, best)
        return changed

    def adapt_optimised(self, policy: dict, sequence: list, rate: float) -> dict:
        """Algorithm 6: all probabilities first, then the changes, in place."""
        state, steps = self.problem.initial(), []
        for best in sequence:
            moves = self.choices(state, best)
            steps.append((best, moves, self.odds_known(policy, moves)))
            state = self.problem.play(state, best)
        for best, moves, odds in steps:
            scale = rate / plain_sum(odds)
            for move, one in zip(moves, odds, strict=True):
                policy[move.code] = self.weight(policy, move) - one * scale
            policy[best.code] += rate
        return policy

    def odds_known(self, policy: dict, moves: list) -> list[float]:
        """Odds where every code has its weight, as Adapt sees them."""
        return self.odds({m.code: self.weight(policy, m) for m in moves}, moves)

    def nrpa(self, level: int, policy: dict) -> tuple[float, list]:
        """Algorithm 3, with the two later improvements."""
        s = self.settings
        if level == 0:
            return self.playout(policy)
        stabilised = level == 1 and s.playouts_per_call is not None
        policy = dict(policy)
        best_score, best, repeated = -math.inf, None, 0
        for _ in range(s.playouts_per_call if stabilised else s.iterations):
            score, sequence = self.nrpa(level - 1, policy)
            if best is not None and moves_of(sequence) == moves_of(best):
                repeated += 1
            elif score >= best_score:
                best_score, best, repeated = score, sequence, 0
            best_score, best = self.improved(best_score, best)
            if s.repetitions is not None and repeated > s.repetitions:
                break
            if not stabilised:
                policy = self.adapt(policy, best)
        return best_score, best

    def node(
        self, level: int, wide: int, width: int, local: bool = False, exchange_best: bool = False
    ) -> tuple[float, list]:
        """NRPA whose calls at the wide level are made `width` at a time."""
        if local:
            return self.with_local_policies(level, wide, width, exchange_best, {})
        return self.with_shared_policy(level, wide, width, {})

    def with_shared_policy(self, level: int, wide: int, width: int, policy: dict) -> tuple[float, list]:
        """Algorithm 4: M calls on the same policy, then one Adapt with alpha times their number."""
        s = self.settings
        stabilised = level == 1 and s.playouts_per_call is not None
        calls = s.playouts_per_call if stabilised else s.iterations
        if level == wide:
            widths = [calls] if stabilised else [width] * (calls // width) + [calls % width] * (calls % width > 0)
        else:
            widths = [1] * calls
        policy = dict(policy)
        best_score, best, repeated = -math.inf, None, 0
        for count in widths:
            first = self.index
            for call in range(count):
                if level > wide:
                    score, sequence = self.with_shared_policy(level - 1, wide, width, policy)
                else:
                    self.index = first + call * self.playouts_of(level - 1)
                    score, sequence = self.nrpa(level - 1, policy)
                if best is not None and moves_of(sequence) == moves_of(best):
                    repeated += 1
                elif score >= best_score:
                    best_score, best, repeated = score, sequence, 0
            best_score, best = self.improved(best_score, best)
            if s.repetitions is not None and repeated > s.repetitions:
                break
            if not stabilised:
                policy = self.adapt(policy, best, count)
        return best_score, best

    def with_local_policies(
        self, level: int, wide: int, width: int, exchange_best: bool, policy: dict
    ) -> tuple[float, list]:
        """Algorithm 5: M workers learn on copies of the policy; the best one's sequence is the result."""
        if level > wide:
            above = Worker(dict(policy))
            for _ in range(self.settings.iterations):
                found = self.with_local_policies(level - 1, wide, width, exchange_best, above.policy)
                if self.is_enough(above, found):
                    break
                above.policy = self.adapt(above.policy, above.sequence)
            return above.score, above.sequence
        workers = []
        for number in range(width):
            iterations = self.settings.iterations // width + (number < self.settings.iterations % width)
            workers.append(Worker(dict(policy), left=iterations, index=self.index))
            self.index += iterations * self.playouts_of(level - 1)
        best_before = self.best
        while under_way := [worker for worker in workers if worker.left > 0]:
            for worker in under_way:
                self.index, self.best = worker.index, worker.best
                worker.left -= 1
                if self.is_enough(worker, self.nrpa(level - 1, worker.policy)):
                    worker.left = 0
                worker.index, worker.best = self.index, self.best
            if exchange_best:
                best = max(workers, key=lambda worker: worker.score)  # the first of equals
                for worker in workers:
                    if moves_of(worker.sequence) != moves_of(best.sequence):
                        worker.score, worker.sequence, worker.repeated = best.score, best.sequence, 0
            for worker in under_way:
                worker.policy = self.adapt(worker.policy, worker.sequence)
        self.index = workers[-1].index
        self.best = max([best_before, *(worker.best for worker in workers)], key=lambda best: best[0])
        best = max(workers, key=lambda worker: worker.score)
        return best.score, best.sequence

    def is_enough(self, worker: "Worker", found: tuple[float, list]) -> bool:
        """Take what a call found, and say whether the best sequence was repeated too often."""
        score, sequence = found
        if worker.sequence is not None and moves_of(sequence) == moves_of(worker.sequence):
            worker.repeated += 1
        elif score >= worker.score:
            worker.score, worker.sequence, worker.repeated = score, sequence, 0
        worker.score, worker.sequence = self.improved(worker.score, worker.sequence)
        return self.settings.repetitions is not None and worker.repeated > self.settings.repetitions

    def playouts_of(self, level: int) -> int:
        s = self.settings
        calls = [s.playouts_per_call or s.iterations if below == 1 else s.iterations for below in range(1, level + 1)]
        return math.prod(calls)

    def nmcs(self, level: int, state: Any, path: list) -> tuple[float, list]:
        """Nested Monte Carlo Search from a state that was reached by a path."""
        moves = self.problem.moves(state)
        if level == 0 or not moves:
            return self.uniform_playout(state, path)
        best_score, best = -math.inf, []
        while moves := self.problem.moves(state):
            for move in moves:
                score, sequence = self.nmcs(level - 1, self.problem.play(state, move), [*path, move])
                if score >= best_score:
                    best_score, best = score, sequence
            move = best[len(path)]
            state, path = self.problem.play(state, move), [*path, move]
        return best_score, best

    def uniform_playout(self, state: Any, path: list) -> tuple[float, list]:
        numbers = self.random(self.index)
        self.playouts += 1
        self.index += 1
        while moves := self.problem.moves(state):
            move = moves[int(next(numbers) * len(moves))]
            state, path = self.problem.play(state, move), [*path, move]
        return self.note(self.problem.score(state), path)


@dataclass
class Worker:
    """A call under way: its policy, and what it has found."""

    policy: dict
    score: float = -math.inf
    sequence: list | None = None
    repeated: int = 0
    left: int = 0  # iterations
    index: int = 0  # of its next playout's random numbers
    best: tuple[float, list] = (-math.inf, [])  # of its playouts


def moves_of(sequence: list) -> list:
    return [move.move for move in sequence]


def plain_sum(numbers: list[float]) -> float:
    """Add from left to right; sum() of newer Pythons compensates rounding."""
    total = 0.0
    for number in numbers:
        total += number
    return total
