"""The page that replays a game in a browser; a script for each problem says what it shows."""

import json
import re
from html import escape
from importlib import resources
from typing import Any


def page(script: str, title: str, data: dict[str, Any]) -> str:
    """Return a page, complete in itself.

    The script is a file beside this one. It makes the texts of the page from ``data``, which has ``width``, ``height``,
    ``about`` and ``frames``, one for each state, and whatever else the script needs: ``box``, ``headings`` and
    ``rows()`` of the table, and ``picture(frame)``, ``label(frame)``, ``sentence()`` and ``place()``.
    """
    folder = resources.files("playout.problems")
    parts = {
        "TITLE": escape(title),
        "DATA": json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
        "SCRIPT": (folder / script).read_text(encoding="utf-8"),
    }
    template = (folder / "replay.html").read_text(encoding="utf-8")
    return re.sub("|".join(parts), lambda found: parts[found[0]], template)
