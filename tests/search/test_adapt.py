"""Adapt and the probabilities it works with, on steps of any codes and biases."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playout._core import BiasUse, HashPolicy, adapt, probabilities

FACTOR, INITIAL, NONE = BiasUse.factor, BiasUse.initial, BiasUse.none


SMALL_BIASES = st.floats(-8, 8)


@st.composite
def steps(draw, biases=SMALL_BIASES, distinct=True, most=6):
    """Some steps: codes, biases and the move played. Distinct codes never repeat from step to step."""
    result, next_code = [], 0
    for _ in range(draw(st.integers(1, most))):
        count = draw(st.integers(1, 8))
        if distinct:
            codes = list(range(next_code, next_code + count))
            next_code += count
        else:
            codes = draw(st.lists(st.integers(0, 9), min_size=count, max_size=count))
        bias = {code: draw(biases) for code in codes}
        result.append((codes, [bias[code] for code in codes], draw(st.integers(0, count - 1))))
    return result


def weights(policy, codes):
    return [policy.weight(policy.find(code)) for code in codes]


def learned(sequence, times=5, alpha=1.0, temperature=1.0, use=FACTOR):
    policy = HashPolicy()
    for _ in range(times):
        adapt(policy, sequence, alpha, temperature, use)
    return policy


@given(steps(), st.floats(0.1, 10), st.floats(0.2, 5))
def test_adapt_keeps_the_sum_of_the_weights_of_a_state(sequence, alpha, temperature):
    policy = learned(sequence, 5, alpha, temperature)
    for codes, _, _ in sequence:
        assert math.fsum(weights(policy, codes)) == pytest.approx(0, abs=1e-9 * alpha / temperature)


@given(steps(distinct=False))
def test_one_step_is_the_papers_formula(sequence):
    """w_ij -= alpha (p_ij - d_ij), all p from the old weights, also where codes repeat."""
    policy = HashPolicy()
    adapt(policy, sequence, 2.0, 1.4, FACTOR)
    expected: dict[int, float] = {}
    for codes, biases, chosen in sequence:
        total = math.fsum(math.exp(b) for b in biases)
        for i, (code, bias) in enumerate(zip(codes, biases, strict=True)):
            change = 2.0 / 1.4 * ((i == chosen) - math.exp(bias) / total)
            expected[code] = expected.get(code, 0.0) + change
    assert weights(policy, expected) == pytest.approx(list(expected.values()), abs=1e-9)


@given(steps(), st.floats(0.5, 3), st.floats(0.5, 3), st.floats(0.2, 3))
def test_alpha_and_temperature_replace_each_other(sequence, t1, t2, alpha2):
    """Section 4.2: alpha1 = (t1 / t2)^2 alpha2 gives the same probabilities."""
    one = learned(sequence, alpha=(t1 / t2) ** 2 * alpha2, temperature=t1)
    two = learned(sequence, alpha=alpha2, temperature=t2)
    for codes, biases, _ in sequence:
        assert probabilities(one, codes, biases, t1, FACTOR) == pytest.approx(
            probabilities(two, codes, biases, t2, FACTOR), abs=1e-9
        )


@given(steps(), st.floats(0.5, 3), st.floats(0.2, 3))
def test_a_bias_and_initial_weights_replace_each_other(sequence, temperature, alpha):
    """Section 4.2: weights that start at t * bias, and no bias, give the same probabilities."""
    one = learned(sequence, 5, alpha, temperature, FACTOR)
    two = learned(sequence, 5, alpha, temperature, INITIAL)
    for codes, biases, _ in sequence:
        assert probabilities(one, codes, biases, temperature, FACTOR) == pytest.approx(
            probabilities(two, codes, biases, temperature, INITIAL), abs=1e-9
        )


@given(steps())
def test_without_bias_the_bias_does_not_matter(sequence):
    plain = [(codes, [0.0] * len(codes), chosen) for codes, _, chosen in sequence]
    assert_same_weights(learned(sequence, use=NONE), learned(plain, use=FACTOR), sequence)


def assert_same_weights(one, two, sequence):
    for codes, _, _ in sequence:
        assert weights(one, codes) == weights(two, codes)


@given(steps(biases=st.sampled_from([-2000.0, -800.0, -341.0, 0.0, 341.0, 2000.0]), distinct=False))
def test_extreme_settings_give_finite_probabilities(sequence):
    """Alpha 64, temperature 0.1 and biases of +-2000."""
    for use in (FACTOR, INITIAL, NONE):
        policy = learned(sequence, times=20, alpha=64.0, temperature=0.1, use=use)
        for codes, biases, _ in sequence:
            p = probabilities(policy, codes, biases, 0.1, use)
            assert all(0 <= x <= 1 for x in p)
            assert math.fsum(p) == pytest.approx(1)


@given(steps(biases=st.sampled_from([-2000.0, -300.0, 0.0, 2000.0])))
def test_extreme_biases_are_overcome_by_learning(sequence):
    """Where no code repeats, what is learned often enough is played, however large the bias against it."""
    policy = learned(sequence, times=20, alpha=64.0, temperature=0.1)
    for codes, biases, chosen in sequence:
        assert probabilities(policy, codes, biases, 0.1, FACTOR)[chosen] > 0.99


def test_a_small_factor_is_not_lost_beside_a_large_one():
    """exp(-800) is no double, but exp(-800 + 790) is the larger of the two odds here."""
    policy = HashPolicy()
    policy.find_or_insert(1, 790.0, math.nan)
    p = probabilities(policy, [1, 2], [-800.0, -700.0], 1.0, FACTOR)
    assert p == pytest.approx([1.0, math.exp(-690)])
