"""The engine's random numbers: the twin draws the same, and streams are keyed as promised."""

from itertools import islice

import pytest

from playout import random as twin
from playout._core import uniforms


@pytest.mark.parametrize("key", [(0, 0, 0, 0), (7, 0, 0, 123), (2**64 - 1, 3, 5, 10**12)])
def test_the_twin_draws_the_same_numbers(key):
    assert uniforms(*key, 50) == list(islice(twin.uniforms(*key), 50))


def test_each_coordinate_names_another_stream():
    keys = [(0, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)]
    assert len({tuple(uniforms(*key, 3)) for key in keys}) == len(keys)


def test_numbers_are_uniform():
    """The share of numbers below x is x: 100,000 numbers, five standard deviations, fixed seed."""
    numbers = [u for playout in range(1000) for u in uniforms(1, 0, 0, playout, 100)]
    assert all(0 <= u < 1 for u in numbers)
    for x in (0.01, 0.25, 0.5, 0.9):
        share = sum(u < x for u in numbers) / len(numbers)
        assert abs(share - x) < 5 * (x * (1 - x) / len(numbers)) ** 0.5
