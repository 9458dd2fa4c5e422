"""Nodes: where chunks are done. A cluster has a file of its own, and is an Executor of concurrent.futures, or two."""

from concurrent.futures import Future
from typing import Protocol


class LostError(RuntimeError):
    """A chunk is lost with the worker that did it."""


class Nodes(Protocol):
    """What the driver asks of a cluster."""

    outcome: bytes  # the result, once there is one: for those who did not see the search

    def slots(self) -> int:
        """How many chunks can be under way at a time: now, since workers come and go."""

    def submit(self, request: bytes) -> "Future[bytes]":
        """Have a chunk done; the future raises whatever befell it."""

    def stop(self, name: str) -> None:
        """Have the chunks of a search that are under way end at once."""

    def refuse(self, reply: "Future[bytes]", node: str) -> None:
        """Give no more chunks to the node that cannot do what it was given."""

    def close(self) -> None:
        """Let go of it all. Chunks that are still under way are nobody's."""
