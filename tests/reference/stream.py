"""The engine's streams of random numbers (cpp/core/random.h), one object each."""

from playout.random import GOLDEN, WORD, mix


def fold(word: int, following: int) -> int:
    return mix(((word ^ following) + GOLDEN) & WORD)


class Stream:
    def __init__(self, start: int) -> None:
        self.state = start

    @classmethod
    def of(cls, seed: int, island: int, job: int, playout: int) -> "Stream":
        """Return the stream of a playout of a search: StreamKey{seed, island, job}.stream(playout)."""
        start = 0
        for coordinate in (seed, island, job, playout):
            start = fold(start, coordinate)
        return cls(start)

    def next(self) -> int:
        self.state = (self.state + GOLDEN) & WORD
        return mix(self.state)

    def uniform(self) -> float:
        """A number on [0, 1)."""
        return (self.next() >> 11) * 2.0**-53

    def below(self, n: int) -> int:
        """A whole number from 0 to n - 1."""
        return (self.next() >> 32) * n >> 32
