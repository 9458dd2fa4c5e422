"""Our own exponential against decimal arithmetic."""

import math
from decimal import Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playout._core import exp, exp_factor


@given(st.floats(-700, 700))
def test_within_one_unit_in_the_last_place(x):
    with localcontext(prec=40):
        exact = Decimal(x).exp()
        assert abs(Decimal(exp(x)) - exact) <= Decimal(math.ulp(float(exact)))


def test_exact_at_zero_and_extreme_values():
    assert exp(0.0) == 1.0
    assert exp(-math.inf) == exp(-701) == 0.0
    assert exp(math.inf) == exp(701) == math.inf
    assert math.isnan(exp(math.nan))


@pytest.mark.parametrize("x", [-340.0, -1.0, 0.0, 340.0])
def test_a_factor_is_the_exponential_within_range(x):
    assert exp_factor(x) == exp(x)


@pytest.mark.parametrize("x", [-340.1, 340.1, 2000.0, -2000.0, 1e308, math.inf, -math.inf, math.nan])
def test_a_factor_out_of_range_is_not_a_number(x):
    assert math.isnan(exp_factor(x))
