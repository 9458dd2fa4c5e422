"""The engine's random numbers (cpp/core/random.h), in plain Python: the same numbers, for the same keys."""

from collections.abc import Iterator

WORD = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix(x: int) -> int:
    """Scramble a 64-bit word: the last step of SplitMix64."""
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & WORD
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & WORD
    return x ^ x >> 31


def uniforms(seed: int, island: int, job: int, playout: int) -> Iterator[float]:
    """Yield what a playout of a search draws, uniform on [0, 1)."""
    state = 0
    for coordinate in (seed, island, job, playout):
        state = mix(((state ^ coordinate) + GOLDEN) & WORD)
    while True:
        state = (state + GOLDEN) & WORD
        yield (mix(state) >> 11) * 2.0**-53
