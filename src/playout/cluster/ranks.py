"""Trees on several ranks that think about the same game together, asked as if they were one.

What :class:`playout.Player` asks of its trees, a ``RanksHere`` does with trees in this process, connected by a network
of the core's own (``cpp/cluster/in_process.h``), and a ``RanksOfJob`` (``playout.cluster.job``) with those of an MPI
job.
"""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable

from playout import _core
from playout.errors import InputError
from playout.share import Share, Sharing, Treesplit

LOOK_UP = 0.005  # seconds between two looks
HASTE = 1e-4  # the same, where the end is near


def parts(playouts: int, ranks: int) -> list[int]:
    """Return how many playouts each rank gets."""
    return [playouts // ranks + (rank < playouts % ranks) for rank in range(ranks)]


def make_forest(
    engine: _core.Problem, settings: _core.UctSettings, seed: int, width: int, port: _core.Port, share: Share
) -> _core.Forest:
    """Return the tree of the rank that a port belongs to."""
    if isinstance(share, Treesplit):
        return _core.Forest(engine, settings, seed, port, share.engine_settings())
    return _core.Forest(engine, settings, seed, width, port, share.engine_settings())


class Trees(ABC):
    """What does not depend on where the other ranks are: rank 0 has a tree here, which is asked."""

    ranks: int

    def __init__(self, own: _core.Forest, port: _core.Port, share: Share) -> None:
        self.own, self.port, self.share = own, port, share

    @property
    def sharing(self) -> Sharing:
        return Sharing.of(self.own.sharing, self.port.traffic)

    def report(self) -> _core.TreeReport:
        return self.own.report()

    def variation(self, first: int, decision: _core.Decision) -> list[int]:
        return self.own.variation(first, decision)

    @property
    @abstractmethod
    def spent(self) -> tuple[int, float]:
        """Playouts and seconds of this thinking, or of the last."""

    def is_decided(self, more: int) -> bool:
        """Whether the most visited move stays that in so many more simulations: nobody knows before all have told."""
        if not self.own.report().complete:
            return False
        playouts, seconds = self.spent
        unseen = self.share.unseen(self.ranks, playouts / seconds)
        return self.own.is_decided(more + math.ceil(min(2 * unseen, 2**40)))

    def legal_moves(self) -> list[int]:
        return self.own.legal_moves()

    def player(self) -> int:
        return self.own.player()

    def score(self) -> float:
        return self.own.score()


class RanksHere(Trees):
    """Ranks of this process: for trying things out, and for experiments."""

    def __init__(
        self,
        engine: _core.Problem,
        settings: _core.UctSettings,
        seed: int,
        width: int,
        share: Share,
        ranks: int,
        *,
        delay: float = 0.0,
        bandwidth: float = float("inf"),
    ) -> None:
        self.network = _core.Network(ranks, delay, bandwidth)
        self.forests = [
            make_forest(engine, settings, seed, width, self.network.port(rank), share) for rank in range(ranks)
        ]
        super().__init__(self.forests[0], self.network.port(0), share)
        self.ranks = ranks
        self._is_over = [True] * ranks
        self._is_broken = False  # whether some ranks have begun what others could not

    def begin(self, playouts: int, threads: int) -> None:
        self.stop()
        if self._is_broken:
            raise InputError("an earlier thinking could not begin on all ranks: a new player is needed")
        self._is_over = [False] * len(self.forests)
        self._is_broken = True
        for forest, part in zip(self.forests, parts(playouts, len(self.forests)), strict=True):
            forest.begin(part, threads)
        self._is_broken = False

    def wait(self, seconds: float) -> bool:
        """Wait at most that long for the end of thinking; a rank that is through takes part in what others need."""
        end = time.monotonic() + seconds
        while True:
            for rank in self._under_way():
                self._is_over[rank] = self.forests[rank].wait(max(0.0, min(LOOK_UP, end - time.monotonic())))
                if self._is_over[rank]:
                    self.forests[rank].finish(0.0)
            self.network.check()
            if all(self._is_over):
                return True
            if time.monotonic() >= end:
                return False

    def _under_way(self) -> Iterable[int]:
        return [rank for rank, over in enumerate(self._is_over) if not over]

    def request_stop(self) -> None:
        for forest in self.forests:
            forest.request_stop()

    def stop(self) -> None:
        """End the thinking, with everything that anybody has learned in all trees."""
        self.request_stop()
        for forest in self.forests:
            forest.stop()
        waiting = [] if self._is_broken else self.forests
        while waiting := [forest for forest in waiting if not forest.finish(0.0)]:
            self.network.check()
            time.sleep(HASTE)

    @property
    def spent(self) -> tuple[int, float]:
        playouts, seconds = zip(*(forest.spent for forest in self.forests), strict=True)
        if isinstance(self.share, Treesplit):  # some end only after the thinking
            return self.own.report().playouts, max(seconds)
        return sum(playouts), max(seconds)

    def play(self, move: int) -> None:
        self.stop()
        for forest in self.forests:
            forest.play(move)

    def go_to(self, moves: list[int]) -> None:
        self.stop()
        for forest in self.forests:
            forest.go_to(moves)


class RanksInTurns(Trees):
    """Ranks of this process that have one tree and take turns in one thread: what they find is always the same."""

    def __init__(
        self, engine: _core.Problem, settings: _core.UctSettings, seed: int, share: Treesplit, ranks: int
    ) -> None:
        network = _core.Network(ranks, seed=seed)
        own = _core.Forest(engine, settings, seed, network, ranks, share.engine_settings())
        super().__init__(own, network.port(0), share)
        self.ranks = ranks

    def begin(self, playouts: int, threads: int) -> None:
        self.own.begin(playouts, threads)

    def wait(self, seconds: float) -> bool:
        return self.own.wait(seconds)

    def request_stop(self) -> None:
        self.own.request_stop()

    def stop(self) -> None:
        self.own.stop()

    @property
    def spent(self) -> tuple[int, float]:
        return self.own.spent

    def play(self, move: int) -> None:
        self.own.play(move)

    def go_to(self, moves: list[int]) -> None:
        self.own.go_to(moves)
