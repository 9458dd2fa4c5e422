"""Envelopes: what Playout keeps in files and sends between machines.

A line of JSON that says what it is, bytes of the engine's, and a SHA-256 of both. What is opened may come from
anywhere: it is parsed, and nothing in it is ever run.
"""

import hashlib
import json
from typing import Any

from playout import version
from playout.errors import InputError

DIGEST_BYTES = 32


class DamagedError(InputError):
    """What was opened is not what was written."""


def seal(kind: str, header: dict[str, Any], content: bytes = b"") -> bytes:
    """Return an envelope of that kind, which says by which version of Playout it was made."""
    line = json.dumps({"format": kind, "version": version.VERSION, **header}).encode()
    whole = line + b"\n" + content
    return whole + hashlib.sha256(whole).digest()


def unseal(kind: str, sealed: bytes, any_version: bool = False) -> tuple[dict[str, Any], bytes]:
    """Return the header and the content of an envelope of that kind.

    Raises
    ------
    InputError
        If it is damaged, of another kind, or was made by another version that is not asked for.
    """
    whole = sealed[:-DIGEST_BYTES]
    if hashlib.sha256(whole).digest() != sealed[-DIGEST_BYTES:]:
        raise DamagedError("it is damaged: its content is not what was written")
    line, _, content = whole.partition(b"\n")
    try:
        header = json.loads(line)
        made_by = (header["format"], header["version"])
    except (ValueError, TypeError, KeyError, RecursionError):
        raise DamagedError("it is damaged: it does not say what it is of") from None
    if made_by != (kind, made_by[1] if any_version else version.VERSION):
        raise InputError(f"it was written by version {shown(made_by[1])} of Playout, this is {version.VERSION}")
    return header, content


def shown(value: Any) -> str:
    """Return a part of a header as a message shows it."""
    text = json.dumps(value)
    return text if len(text) <= 200 else f"{text[:197]}..."
