"""The record of a match: a line for what is played, then a line for each game that has ended, as JSON."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from playout.errors import InputError, short
from playout.lines import LinesFile
from playout.match.result import MatchGame

FORMAT = "playout-match/1"


class Record(LinesFile):
    """The record of a match, locked while inside; games of an earlier run of the same match are in ``games``."""

    writer = "match"

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        super().__init__(path)
        self.settings = json.loads(json.dumps(settings))  # as they are read again
        self.games: dict[int, MatchGame] = {}

    def read(self, content: bytes) -> None:
        lines = [self._parse(number, line) for number, line in enumerate(content.splitlines(), 1)]
        if lines:
            self._check_settings(lines[0])
        for number, line in enumerate(lines[1:], 2):
            try:
                game = MatchGame.from_json(line)
            except InputError as error:
                raise InputError(f"{str(self.path)!r}, line {number}: {error}") from None
            self.games[game.number] = game

    def first_line(self) -> str:
        return json.dumps({"format": FORMAT, "settings": self.settings}) + "\n"

    def append(self, game: MatchGame) -> None:
        """Add a game that has ended; it has reached the disk when this returns."""
        self.write(json.dumps(game.to_json()) + "\n")
        self.games[game.number] = game

    def _parse(self, number: int, line: bytes) -> Any:
        try:
            return json.loads(line)
        except (ValueError, RecursionError):
            what = "is not the record of a match" if number == 1 else f"line {number} is not JSON"
            raise InputError(f"{str(self.path)!r}: {what}") from None

    def _check_settings(self, header: Any) -> None:
        before = header.get("settings") if isinstance(header, dict) and header.get("format") == FORMAT else None
        if not isinstance(before, dict):
            raise InputError(f"{str(self.path)!r}: is not the record of a match; its first line has no {FORMAT!r}")
        for key in {**before, **self.settings}:
            old, new = before.get(key), self.settings.get(key)
            if old != new:
                what = f"{str(self.path)!r} is the record of another match, with {key} {short(old)}, not {short(new)}"
                raise InputError(f"{what}; give this one a file of its own")
