"""What a number of games says, against values worked out by hand and against plain definitions."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import playout as po
from playout.match.statistics import (
    NEVER_SEEN,
    PAIR_SCORES,
    _tilt,
    elo,
    expected_score,
    log_likelihood_ratio,
    wilson,
)


@pytest.mark.parametrize(
    ("score", "games", "interval"),
    [
        (0, 0, (0.0, 1.0)),
        (50, 100, (0.40383, 0.59617)),
        (8, 10, (0.49016, 0.94332)),
        (0, 10, (0.0, 0.27753)),  # z^2 / (n + z^2)
        (10, 10, (0.72247, 1.0)),
        (2.5, 5, (0.17042, 0.82958)),  # 2 wins, 1 draw, 2 losses
    ],
)
def test_wilson(score, games, interval):
    assert wilson(score, games) == pytest.approx(interval, abs=1e-5)


def test_elo_is_the_logistic_curve():
    assert elo(0.5) == 0
    assert elo(10 / 11) == pytest.approx(400)
    assert elo(0.75) == pytest.approx(190.8485)
    assert expected_score(-200) == pytest.approx(0.240253)
    assert (elo(0), elo(1)) == (-math.inf, math.inf)
    assert elo(expected_score(35.0)) == pytest.approx(35)


@pytest.mark.parametrize(
    ("settings", "said"),
    [((50, 0), "elo0"), ((0, 50, 0.6), "alpha"), ((0, 50, 0.05, 0), "beta"), ((math.nan, 50), "elo0")],
)
def test_impossible_tests_are_refused(settings, said):
    with pytest.raises(po.InputError, match=said):
        po.SPRT(*settings)


def test_the_limits_are_walds():
    assert po.SPRT(0, 50).bounds == pytest.approx((math.log(0.05 / 0.95), math.log(0.95 / 0.05)))
    assert po.SPRT(0, 50, 0.01, 0.2).bounds == pytest.approx((math.log(0.2 / 0.99), math.log(0.8 / 0.01)))


def test_pairs_that_are_won_or_lost_alone_are_coins():
    """There is one distribution of each mean then, and the ratio is that of Wald's test."""
    p0, p1 = expected_score(0), expected_score(100)
    by_hand = 60 * math.log(p1 / p0) + 40 * math.log((1 - p1) / (1 - p0))
    assert log_likelihood_ratio((40, 0, 0, 0, 60), 0, 100) == pytest.approx(by_hand, abs=0.02)


def test_the_ratio_of_few_differences_is_that_of_normal_means():
    """Close to what was seen, the generalised ratio is n (s1 - s0) (2 mean - s0 - s1) / (2 variance)."""
    counts = (100, 400, 1000, 420, 110)
    n = sum(counts)
    mean = sum(c * s for c, s in zip(counts, PAIR_SCORES, strict=True)) / n
    variance = sum(c * (s - mean) ** 2 for c, s in zip(counts, PAIR_SCORES, strict=True)) / n
    s0, s1 = expected_score(-5), expected_score(5)
    normal = n * (s1 - s0) * (2 * mean - s0 - s1) / (2 * variance)
    assert log_likelihood_ratio(counts, -5, 5) == pytest.approx(normal, rel=0.01)
    assert log_likelihood_ratio(counts[::-1], -5, 5) == pytest.approx(-log_likelihood_ratio(counts, -5, 5))


@given(st.tuples(*[st.integers(0, 50)] * 5).filter(any), st.floats(-600, 600), st.integers(0, 2))
def test_no_other_distribution_of_the_same_mean_is_more_likely(counts, difference, place):
    seen = [count or NEVER_SEEN for count in counts]
    shares = [count / sum(seen) for count in seen]
    mean = expected_score(difference)
    tilt = _tilt(shares, mean)
    best = [share / (1 + tilt * (s - mean)) for share, s in zip(shares, PAIR_SCORES, strict=True)]
    assert min(best) > 0
    assert sum(best) == pytest.approx(1, abs=1e-6)
    assert sum(p * s for p, s in zip(best, PAIR_SCORES, strict=True)) == pytest.approx(mean, abs=1e-6)
    step = [0.0] * place + [1.0, -2.0, 1.0] + [0.0] * (2 - place)  # neither the sum nor the mean changes
    for size in (1e-3, -1e-3):
        other = [p + size * min(best) * d for p, d in zip(best, step, strict=True)]
        likelihoods = [sum(n * math.log(p) for n, p in zip(seen, ps, strict=True)) for ps in (best, other)]
        assert likelihoods[0] >= likelihoods[1] - 1e-9 * abs(likelihoods[1])


def test_the_test_is_wrong_as_rarely_as_it_says():
    """Of 200 matches between equals, and of 200 at +100 Elo; 5 % may go wrong, and 10 of 200 by chance 22 at most."""
    rng = random.Random(1)
    test = po.SPRT(0, 100)
    for difference, wrong in ((0, "H1"), (100, "H0")):
        chance = expected_score(difference)
        ends = []
        for _ in range(200):
            pairs = []
            while (state := test.state(pairs)).accepted is None:
                pairs.append(sum(rng.random() < chance for _ in range(2)) / 2)
            assert state.pairs == len(pairs)
            ends.append(state.accepted)
        assert ends.count(wrong) <= 22


def test_what_comes_after_the_end_changes_nothing():
    test = po.SPRT(0, 200)
    won = test.state([1.0] * 30)
    assert won.accepted == "H1"
    assert test.state([1.0] * won.pairs + [0.0] * 100) == won
    assert "H1 (+200 Elo) accepted" in str(won)
    assert test.state([0.0] * 30).accepted == "H0"
    assert test.state([]).accepted is None
