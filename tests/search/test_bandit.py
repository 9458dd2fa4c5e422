"""The bandits alone, on arms of known chances."""

import math

import pytest

from playout import _core

CHANCES = [0.7, 0.5, 0.4]
STEPS = [100, 1000, 10_000, 100_000]


def regrets(kind, seeds=10):
    columns = zip(*(_core.regret(kind, 1.0, CHANCES, STEPS, seed) for seed in range(seeds)), strict=True)
    return [sum(column) / seeds for column in columns]


@pytest.mark.parametrize("kind", [_core.Bandit.ucb1, _core.Bandit.tuned2])
def test_regret_grows_with_the_logarithm(kind):
    """From one power of ten to the next by about as much; a bandit that learns nothing loses ten times as much."""
    found = regrets(kind)
    late = found[3] - found[2], found[2] - found[1]
    assert 0 < late[0] < 2 * late[1]
    assert found[3] < 0.02 * STEPS[3] * sum(0.7 - chance for chance in CHANCES) / 3


def test_ucb1_keeps_its_promise():
    for steps, found in zip(STEPS, regrets(_core.Bandit.ucb1), strict=True):
        gaps = [0.7 - chance for chance in CHANCES[1:]]
        assert found <= sum(8 * math.log(steps) / gap + (1 + math.pi**2 / 3) * gap for gap in gaps)


def test_the_constant_explores():
    few, many = [_core.regret(_core.Bandit.ucb1, c, CHANCES, [10_000], 1)[0] for c in (0.5, 2.0)]
    assert few < many
