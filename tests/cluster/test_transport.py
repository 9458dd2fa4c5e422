"""The transport between ranks, in C++ (transport_test.cpp), plain and under ThreadSanitizer, and through Python."""

from pathlib import Path

import pytest

from playout import _core
from tests import program


@program.needs_compiler
@pytest.mark.parametrize(
    "sanitizer",
    [
        pytest.param([], id="plain"),
        pytest.param(program.THREADS, id="tsan", marks=pytest.mark.slow("a million messages under a sanitizer")),
    ],
)
def test_a_million_messages(sanitizer, tmp_path):
    program.run(Path(__file__).with_name("transport_test.cpp"), tmp_path, sanitizer=sanitizer)


def test_ports_are_connected_by_whoever_moves_their_batches():
    one, other = (_core.Port(rank, 2) for rank in (0, 1))
    one.send(1, 3, b"first")
    one.send(1, 4, b"")
    one.send(0, 5, b"to itself")
    other.deliver(0, one.take(1))
    assert one.take(1) == b""
    assert [other.receive() for _ in range(3)] == [(0, 3, b"first"), (0, 4, b""), None]
    assert one.receive() == (0, 5, b"to itself")
    assert (one.traffic.messages_sent, one.traffic.batches_sent, other.traffic.messages_received) == (2, 1, 2)
    with pytest.raises(ValueError, match="damaged"):
        other.deliver(0, b"no batch")
    with pytest.raises(ValueError, match="no such rank"):
        _core.Port(2, 2)


def test_a_network_with_a_seed_moves_when_told_and_always_alike():
    def order(seed):
        network = _core.Network(3, seed=seed)
        for rank in range(3):
            for to in range(3):
                network.port(rank).send(to, 0, bytes([rank]))
        assert network.port(0).receive() == (0, 0, b"\0")
        assert network.port(0).receive() is None
        assert network.deliver() == 6
        assert network.deliver() == 0
        return [network.port(0).receive()[0] for _ in range(2)]

    assert all(order(seed) == order(seed) for seed in range(8))
    assert {tuple(order(seed)) for seed in range(8)} == {(1, 2), (2, 1)}
