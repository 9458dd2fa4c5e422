"""Talking to the engine: in this process, and as a program."""

import io
import os
import re
import subprocess
import sys
import tempfile
from contextlib import contextmanager

from playout.gtp import Engine, Settings, serve

SMALL = {"size": 5, "playouts": 30, "threads": 1, "memory": 16}
ANSWER = re.compile(rb"[=?](\d*) (?:[^\n]*\n)+?\n")
COMMAND = [sys.executable, "-m", "playout", "gtp", "--memory", "32", "--threads", "1"]


def answers(raw):
    """Split what an engine wrote into its answers; fails unless they have the protocol's form to the last byte."""
    found = [match[0] for match in ANSWER.finditer(raw)]
    assert b"".join(found) == raw
    assert not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", raw)
    return [one.decode()[:-2] for one in found]


def serve_bytes(raw, engine):
    with tempfile.TemporaryFile() as file, io.BytesIO() as out:
        file.write(raw)
        file.flush()
        os.lseek(file.fileno(), 0, os.SEEK_SET)
        assert serve(engine, file.fileno(), out) == 0
        return out.getvalue()


def ask(*lines, **settings):
    """Return the answers of a fresh engine to some lines."""
    engine = Engine(Settings(**{**SMALL, **settings}))
    return answers(serve_bytes("".join(f"{line}\n" for line in lines).encode(), engine))


class Program:
    """``playout gtp`` with a client at its other end."""

    def __init__(self, process):
        self.process = process

    def send(self, line):
        self.process.stdin.write(f"{line}\n".encode())
        self.process.stdin.flush()

    def line(self):
        return self.process.stdout.readline().decode()

    def answer(self):
        lines = [self.line()]
        while lines[-1] not in ("\n", ""):
            lines.append(self.line())
        assert lines[-1] == "\n"
        return "".join(lines)[:-2]

    def ask(self, line):
        self.send(line)
        return self.answer()


@contextmanager
def program(*options, **more):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*COMMAND, *options], **{**pipes, **more}) as process:
        try:
            yield Program(process)
        finally:
            process.kill()


def board(answer):
    """The rows of a board as showboard draws it, the top one first."""
    return ["".join(line.split()[1:-1]) for line in answer.splitlines() if re.match(r" *\d+ [.+XO]", line)]


def stones(text):
    """The commands that put the stones of a drawing on the board, Black's first."""
    rows = text.split()[::-1]
    letters = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
    points = [(mark, f"{letters[c]}{r + 1}") for r, row in enumerate(rows) for c, mark in enumerate(row) if mark != "."]
    ordered = sorted(points, key=lambda point: point[0], reverse=True)
    return [f"boardsize {len(rows)}", *(f"play {'b' if mark == 'X' else 'w'} {vertex}" for mark, vertex in ordered)]
