"""Floating-point numbers as the engine stores them."""

import struct


def single(x: float) -> float:
    """A number as it is stored in four bytes."""
    return float(struct.unpack("f", struct.pack("f", x))[0])
