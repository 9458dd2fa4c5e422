"""The Go Text Protocol, version 2: lines to commands, and answers to lines."""

import re
from dataclasses import dataclass

from playout.gtp.board import vertex_of

MAX_ID = 2**31 - 1
_UNSEEN = {code: None for code in [*range(32), 127] if code not in (9, 10)} | {9: " "}  # control characters, and HT


class GtpError(Exception):
    """A command that fails; the message is the answer."""


SYNTAX = "syntax error"


@dataclass(frozen=True)
class Request:
    """A line that asks something: its number, if it has one, the command and its arguments."""

    number: str
    command: str
    words: tuple[str, ...]


def parse(line: bytes) -> Request | None:
    """Read a line; None if there is nothing but a comment on it."""
    text = line.decode(errors="replace").translate(_UNSEEN).partition("#")[0]
    words = text.split(" ")
    words = [word.strip() for word in words if word.strip()]
    if not words:
        return None
    number = ""
    if re.fullmatch(r"[0-9]{1,10}", words[0]) and int(words[0]) <= MAX_ID:
        number = words.pop(0)
    return Request(number, words[0] if words else "", tuple(words[1:]))


def begin_answer(request: Request, ok: bool) -> str:
    """Return how the answer begins, up to its text."""
    return f"{'=' if ok else '?'}{request.number} "


def answer(request: Request, ok: bool, text: str) -> str:
    """Return the whole answer; a text never has an empty line, which would end it."""
    text = re.sub(r"\n+", "\n", text.translate(_UNSEEN)).rstrip("\n")
    return f"{begin_answer(request, ok)}{text}\n\n"


# Arguments


def colour(word: str) -> str:
    found = {"b": "black", "black": "black", "w": "white", "white": "white"}.get(word.lower())
    if found is None:
        raise GtpError(SYNTAX)
    return found


def vertex(word: str) -> str:
    found = vertex_of(word)
    if found is None:
        raise GtpError(SYNTAX)
    return found


def integer(word: str) -> int:
    if not re.fullmatch(r"[+-]?[0-9]{1,9}", word):
        raise GtpError(SYNTAX)
    return int(word)


def number(word: str) -> float:
    """Read a number such as 7.5, -3 or 1e3."""
    if not re.fullmatch(r"[+-]?([0-9]{1,9}(\.[0-9]{0,30})?|\.[0-9]{1,30})(e[+-]?[0-9])?", word.lower()):
        raise GtpError(SYNTAX)
    return float(word)
