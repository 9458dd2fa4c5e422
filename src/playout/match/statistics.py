"""What a number of games says: win rate and Elo with 95 % intervals, and the sequential test."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from playout.errors import InputError, check_number

Z95 = 1.959963984540054  # of a normal distribution, 95 % lies within so many deviations
PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)  # what two games can be worth, as a share of both
NEVER_SEEN = 1e-3  # pairs that a score which never came is counted as: it is rare, not impossible
MAX_ELO = 4000.0


def wilson(score: float, games: int, z: float = Z95) -> tuple[float, float]:
    """Return Wilson's interval for the chance behind a score of so many games, a draw being half a win.

    The variance is that of wins and losses alone: with draws the interval is wider than it need be, never narrower.
    """
    if games == 0:
        return 0.0, 1.0
    share = score / games
    centre = (share + z * z / (2 * games)) / (1 + z * z / games)
    half = z / (1 + z * z / games) * math.sqrt(share * (1 - share) / games + z * z / (4 * games * games))
    low = 0.0 if score == 0 else max(0.0, centre - half)
    return low, 1.0 if score == games else min(1.0, centre + half)


def elo(chance: float) -> float:
    """Return the difference in Elo that gives this expected score: 400 log10(p / (1 - p))."""
    if chance <= 0:
        return -math.inf
    return math.inf if chance >= 1 else 400 * math.log10(chance / (1 - chance))


def expected_score(difference: float) -> float:
    """Return the expected score of a player that is so many Elo ahead."""
    return float(1 / (1 + 10 ** (-difference / 400)))


@dataclass(frozen=True)
class SPRT:
    """A sequential test: a match ends as soon as it is clear which of two claims about the first player is right.

    H0 says that the first player is ``elo0`` stronger than the other, H1 that it is ``elo1`` stronger.

    Parameters
    ----------
    elo0, elo1
        The two claims, elo0 below elo1.
    alpha
        How often H1 may be accepted where H0 is right.
    beta
        How often H0 may be accepted where H1 is right.

    Notes
    -----
    The test is the generalised one on pairs of games (Van den Bergh): the two games of a pair have the same opening,
    and are not independent. A pair is worth 0, 1/4, 1/2, 3/4 or 1. Of all distributions over these with a given mean,
    the one that makes what was seen most likely stands for a claim; the statistic is the logarithm of the ratio of the
    two likelihoods, and the limits are Wald's, log(beta / (1 - alpha)) and log((1 - beta) / alpha).
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        for name in ("elo0", "elo1"):
            object.__setattr__(self, name, check_number(name, getattr(self, name), -MAX_ELO, MAX_ELO))
        for name in ("alpha", "beta"):
            object.__setattr__(self, name, check_number(name, getattr(self, name), 1e-6, 0.499))
        if self.elo0 >= self.elo1:
            raise InputError(f"elo0 is {self.elo0:g} and elo1 is {self.elo1:g}; elo0 has to be the smaller one")

    @property
    def bounds(self) -> tuple[float, float]:
        """At or below the first H0 is accepted, at or above the second H1."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def state(self, pairs: Sequence[float]) -> "SPRTState":
        """Return what the test says after these pairs, in the order they were played; each is worth 0 to 1."""
        low, high = self.bounds
        counts = [0] * len(PAIR_SCORES)
        ratio = 0.0
        for number, worth in enumerate(pairs, 1):
            counts[PAIR_SCORES.index(worth)] += 1
            ratio = log_likelihood_ratio(tuple(counts), self.elo0, self.elo1)
            if not low < ratio < high:  # what comes after the end of the test changes nothing
                return SPRTState(self, number, ratio, "H0" if ratio <= low else "H1")
        return SPRTState(self, len(pairs), ratio, None)


@dataclass(frozen=True)
class SPRTState:
    """A sequential test at one moment.

    Attributes
    ----------
    test
        What is tested.
    pairs
        How many pairs of games went into it.
    ratio
        The logarithm of the likelihood ratio.
    accepted
        ``"H0"``, ``"H1"``, or None while neither is clear.
    """

    test: SPRT
    pairs: int
    ratio: float
    accepted: str | None

    def __str__(self) -> str:
        low, high = self.test.bounds
        claims = {"H0": f"{self.test.elo0:+g} Elo", "H1": f"{self.test.elo1:+g} Elo"}
        said = "not decided" if self.accepted is None else f"{self.accepted} ({claims[self.accepted]}) accepted"
        return (
            f"SPRT of {self.test.elo0:g} against {self.test.elo1:g} Elo: {said}, "
            f"log likelihood ratio {self.ratio:.2f} in ({low:.2f}, {high:.2f}) after {self.pairs:,} pairs"
        )


@lru_cache(maxsize=1 << 16)  # a match that goes on asks for the same counts again and again
def log_likelihood_ratio(counts: tuple[int, ...], elo0: float, elo1: float) -> float:
    """Return log(likelihood under elo1 / under elo0), given how many pairs were worth 0, 1/4, 1/2, 3/4 and 1."""
    seen = [count or NEVER_SEEN for count in counts]
    total = math.fsum(seen)
    shares = [count / total for count in seen]
    means = expected_score(elo0), expected_score(elo1)
    tilts = [_tilt(shares, mean) for mean in means]
    return total * math.fsum(
        share * math.log((1 + tilts[0] * (worth - means[0])) / (1 + tilts[1] * (worth - means[1])))
        for share, worth in zip(shares, PAIR_SCORES, strict=True)
    )


def _tilt(shares: Sequence[float], mean: float) -> float:
    """Return t with sum of share (worth - mean) / (1 + t (worth - mean)) = 0.

    share / (1 + t (worth - mean)) is then the distribution of this mean under which the shares are most likely. The sum
    falls as t grows, between the two t where a denominator is 0.
    """
    low, high = -1 / (1 - mean), 1 / mean
    for _ in range(200):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        terms = zip(shares, PAIR_SCORES, strict=True)
        if math.fsum(share * (worth - mean) / (1 + middle * (worth - mean)) for share, worth in terms) > 0:
            low = middle
        else:
            high = middle
    return middle
