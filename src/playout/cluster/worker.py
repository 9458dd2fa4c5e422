"""A process of the local cluster: chunks come in by standard input, replies leave by standard output."""

import os
import signal
import struct
import sys
from typing import BinaryIO

from playout.cluster import chunk

LENGTH = struct.Struct("<Q")
MAX_BYTES = 1 << 34


def send(stream: BinaryIO, message: bytes) -> None:
    """Write a message: its length, then its bytes."""
    stream.write(LENGTH.pack(len(message)))
    stream.write(message)
    stream.flush()


def receive(stream: BinaryIO) -> bytes | None:
    """Read a message; None if whoever writes has gone."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size or LENGTH.unpack(head)[0] > MAX_BYTES:
        return None
    length = LENGTH.unpack(head)[0]
    message = stream.read(length)
    return message if len(message) == length else None


def main() -> None:
    """Serve until standard input ends. SIGTERM ends the chunk under way, and no more than that."""
    asked = []
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: asked.append(True))
    chunk.stop_when.append(lambda: bool(asked))
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a user's problem prints is not a reply
    while (request := receive(requests)) is not None:
        reply = chunk.work(request)
        asked.clear()
        try:
            send(replies, reply)
        except OSError:  # whoever wanted it has gone
            return


if __name__ == "__main__":
    main()
