"""Trees on several ranks that think about the same game together, asked as if they were one.

What :class:`playout.Player` asks of its trees, a ``RanksHere`` does with trees in this process, connected by a network
of the core's own (``cpp/cluster/in_process.h``), and a ``RanksOfJob`` (``playout.cluster.job``) with those of an MPI
job.
"""

import time
from collections.abc import Iterable

from playout import _core
from playout.share import Sharing

LOOK_UP = 0.005  # seconds between two looks


def parts(playouts: int, ranks: int) -> list[int]:
    """Return how many playouts each rank gets."""
    return [playouts // ranks + (rank < playouts % ranks) for rank in range(ranks)]


class Trees:
    """What does not depend on where the other ranks are: rank 0 has a tree here, which is asked."""

    def __init__(self, own: _core.Forest, port: _core.Port) -> None:
        self.own, self.port = own, port

    @property
    def sharing(self) -> Sharing:
        return Sharing.of(self.own.sharing, self.port.traffic)

    def report(self) -> _core.TreeReport:
        return self.own.report()

    def variation(self, first: int, decision: _core.Decision) -> list[int]:
        return self.own.variation(first, decision)

    def is_decided(self, more: int) -> bool:
        return self.own.is_decided(more)

    def legal_moves(self) -> list[int]:
        return self.own.legal_moves()

    def player(self) -> int:
        return self.own.player()

    def score(self) -> float:
        return self.own.score()

    def nodes(self) -> list[_core.NodeReport]:
        return self.own.nodes()


class RanksHere(Trees):
    """Ranks of this process: for trying things out, and for experiments."""

    def __init__(
        self,
        engine: _core.Problem,
        settings: _core.UctSettings,
        seed: int,
        width: int,
        sharing: _core.SharingSettings,
        ranks: int,
        *,
        delay: float = 0.0,
        bandwidth: float = float("inf"),
    ) -> None:
        self.network = _core.Network(ranks, delay, bandwidth)
        self.forests = [
            _core.Forest(engine, settings, seed, width, self.network.port(rank), sharing) for rank in range(ranks)
        ]
        super().__init__(self.forests[0], self.network.port(0))
        self.ranks = ranks
        self._is_over = [True] * ranks

    def begin(self, playouts: int, threads: int) -> None:
        self.stop()
        self._is_over = [False] * len(self.forests)
        for forest, part in zip(self.forests, parts(playouts, len(self.forests)), strict=True):
            forest.begin(part, threads)

    def wait(self, seconds: float) -> bool:
        """Wait at most that long for the end of thinking; a rank that is through takes part in what others need."""
        end = time.monotonic() + seconds
        while True:
            for rank in self._under_way():
                self._is_over[rank] = self.forests[rank].wait(max(0.0, min(LOOK_UP, end - time.monotonic())))
                if self._is_over[rank]:
                    self.forests[rank].finish(0.0)
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
        waiting = self.forests
        while waiting := [forest for forest in waiting if not forest.finish(LOOK_UP)]:
            pass

    @property
    def spent(self) -> tuple[int, float]:
        playouts, seconds = zip(*(forest.spent for forest in self.forests), strict=True)
        return sum(playouts), max(seconds)

    def play(self, move: int) -> None:
        self.stop()
        for forest in self.forests:
            forest.play(move)

    def go_to(self, moves: list[int]) -> None:
        self.stop()
        for forest in self.forests:
            forest.go_to(moves)
