"""From a line of SGF nodes to games of Go, and back.

``Go`` knows players who take turns from a start position until two passes. Files also have stones that are set up in
the middle, a player who moves twice, and moves after two passes. There the game begins afresh: a line is one or more
parts, each a game and its moves, and each begins where the one before has ended, or where the stones were set up.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from playout.errors import InputError, short
from playout.problems.go import PLAYERS, Go
from playout.sgf_text import Node, escape, unescape

Part = tuple[Go, tuple[str, ...]]

MAX_MOVES, MAX_PARTS = 20_000, 1_000
COLOURS = {"B": "black", "W": "white"}
SET_UP = {"AE": 0, "AB": 1, "AW": 2}
# How the names of rules begin, in small letters and without anything else: the ko rule, and whether suicide is allowed.
RULES = {
    "chinese": ("positional", False),
    "cn": ("positional", False),
    "aga": ("situational", False),
    "newzealand": ("situational", True),
    "nz": ("situational", True),
    "goe": ("situational", True),
    "ing": ("situational", True),
    "tromptaylor": ("positional", True),
}
USUAL_RULES = (
    "simple",
    False,
)  # of a file that says nothing, and of Japanese and Korean rules: fewest moves are refused
WRITTEN_RULES = {
    ("positional", False): "Chinese",
    ("situational", False): "AGA",
    ("situational", True): "NZ",
    ("positional", True): "Tromp-Taylor",
    ("simple", False): "koSIMPLEscoreAREAtaxNONEsui0",  # as KataGo writes rules that have no name
    ("simple", True): "koSIMPLEscoreAREAtaxNONEsui1",
}


def read_line(nodes: Sequence[Node]) -> tuple[list[Part], tuple[str, ...]]:
    """Play a line of nodes, the root first.

    Returns
    -------
    tuple
        The parts, of which only the last may be without moves; and the comments, by the number of moves before them.

    Raises
    ------
    InputError
        If it is not Go, or a move is not legal, with its number and its place in the file.
    """
    walk = _Walk(nodes)
    for node in nodes:
        walk.take(node)
    walk.end_part()
    return walk.parts, tuple("\n".join(walk.comments.get(count, ())) for count in range(walk.count + 1))


def find(nodes: Sequence[Node], name: str) -> tuple[Node, str]:
    """Return the text of a property of the whole game, and the node it is in; the root if it is in none."""
    node = next((node for node in nodes if name in node.properties), nodes[0])
    return node, unescape(node.properties.get(name, ("",))[0]).strip()


class _Walk:
    """Where a line has come to."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.parts: list[Part] = []
        self.count = 0  # moves so far
        self.comments: dict[int, list[str]] = {}
        self._rules = _game(nodes)
        self._handicap = int(find(nodes, "HA")[1]) if re.fullmatch("[0-9]{1,2}", find(nodes, "HA")[1]) else 0
        self._cells = [0] * (self._rules.width * self._rules.height)  # at the beginning of the part
        self._first: str | None = None
        self._moves: list[str] = []
        self._nodes: list[Node] = []  # of the moves
        self._begun = nodes[0]  # the last that had a say in where the part begins

    def take(self, node: Node) -> None:
        for name in node.properties:
            if name in SET_UP:
                self._set_up(node, name)
        if node.text("PL").strip()[:1].upper() in COLOURS:
            self._turn(COLOURS[node.text("PL").strip()[0].upper()])
        for name in node.properties:
            if name in COLOURS:
                for value in node.properties[name]:
                    self._move(node, COLOURS[name], value)
        if "C" in node.properties:
            self.comments.setdefault(self.count, []).append(node.text("C"))

    def end_part(self) -> None:
        """Make the part's game, play it, and begin the next one where it ends."""
        if len(self.parts) >= MAX_PARTS:
            raise self._begun.error(f"the game begins afresh too often; allowed are {MAX_PARTS:,} times")
        try:
            game = self._game()
        except InputError as error:
            raise self._begun.error(str(error)) from None
        done = -1
        try:
            for position in game.positions(self._moves):  # noqa: B007, the last one is used
                done += 1
        except InputError as error:
            number = self.count - len(self._moves) + done + 1
            why = str(error).partition(", ")[2]
            raise self._nodes[done].error(f"move {number}, {why}") from None
        self.parts.append((game, tuple(self._moves)))
        self._first = PLAYERS[position.player()]
        self._cells = [position.cell(c, r) for r in range(game.height) for c in range(game.width)]
        self._moves, self._nodes = [], []

    def _game(self) -> Go:
        stones = self._rules.decode(range(len(self._cells)))
        black, white = (
            tuple(stone for stone, colour in zip(stones, self._cells, strict=True) if colour == wanted)
            for wanted in (1, 2)
        )
        game = replace(self._rules, black=black, white=white)
        if not self.parts and not white and len(black) == self._handicap:
            game = _with_handicap(game)
        first = self._next() if self._first is None else self._first
        return game if first == PLAYERS[game.handicap > 0] else replace(game, first=first)

    def _next(self) -> str:
        """Who is to move; at the start, if the file does not say, White where only Black has stones."""
        first = self._first or PLAYERS[self._handicap > 1 or (1 in self._cells and 2 not in self._cells)]
        return first if len(self._moves) % 2 == 0 else PLAYERS[first == "black"]

    def _set_up(self, node: Node, name: str) -> None:
        if self._moves:
            self.end_part()
        self._begun = node
        for value in node.properties[name]:
            for points in self._runs(node, value):
                self._cells[points.start : points.stop] = [SET_UP[name]] * len(points)

    def _turn(self, colour: str) -> None:
        if colour != self._next():
            if self._moves:
                self.end_part()
            self._first = colour

    def _move(self, node: Node, colour: str, value: str) -> None:
        if self._moves and (colour != self._next() or self._moves[-2:] == ["pass", "pass"]):
            self.end_part()
            self._begun = node
        if not self._moves:
            self._first = colour
        self.count += 1
        if self.count > MAX_MOVES:
            raise node.error(f"there are too many moves; allowed are {MAX_MOVES:,}")
        text = value.strip()
        is_pass = text == "" or (text == "tt" and max(self._rules.width, self._rules.height) <= 19)
        self._moves.append("pass" if is_pass else self._rules.decode([self._point(node, text)])[0])
        self._nodes.append(node)

    def _point(self, node: Node, text: str) -> int:
        if re.fullmatch("[A-Ya-y]{2}", text):
            column, row = (ord(letter) - ord("a") for letter in text.lower())
            if column < self._rules.width and row < self._rules.height:
                return (self._rules.height - 1 - row) * self._rules.width + column
        last = _point_text(self._rules, f"{self._rules.decode([self._rules.width - 1])[0][0]}1")
        raise node.error(f"a point is {short(text)}; allowed are 'aa' to {last!r}, and nothing for a pass")

    def _runs(self, node: Node, value: str) -> Iterator[range]:
        """Yield a point, or the rows of a rectangle: ``aa:cc``."""
        one, colon, other = value.partition(":")
        width = self._rules.width
        corners = [divmod(self._point(node, text.strip()), width) for text in (one, other if colon else one)]
        (low, high), (left, right) = (sorted(numbers) for numbers in zip(*corners, strict=True))
        for row in range(low, high + 1):
            yield range(row * width + left, row * width + right + 1)


def _game(nodes: Sequence[Node]) -> Go:
    """Return the empty board and the rules."""
    node, kind = find(nodes, "GM")
    if kind not in ("", "1"):
        raise node.error(f"GM is {short(kind)}; only 1, which is Go, can be read")
    node, size = find(nodes, "SZ")
    sides = re.fullmatch(r"([0-9]{1,3})\s*(?:[:xX]\s*([0-9]{1,3}))?", size or "19")
    if sides is None:
        raise node.error(f"SZ is {short(size)}; a size such as 19 or 9:13 is needed")
    try:
        width, height = int(sides[1]), int(sides[2] or sides[1])
        ko, suicide = _rules(find(nodes, "RU")[1])
        game = Go(width, height, 0.0, ko, suicide)
    except InputError as error:
        raise node.error(str(error)) from None
    node, komi = find(nodes, "KM")
    try:
        return replace(game, komi=float(komi.replace(",", ".") or 0))
    except ValueError:
        raise node.error(f"KM is {short(komi)}; a number such as 7.5 is needed") from None


def _rules(text: str) -> tuple[str, bool]:
    exact = re.search(r"ko(simple|positional|situational).*sui([01])", text.lower())
    if exact:
        return exact[1], exact[2] == "1"
    name = re.sub("[^a-z]", "", text.lower())
    return next((rules for start, rules in RULES.items() if name.startswith(start)), USUAL_RULES)


def _with_handicap(game: Go) -> Go:
    """Return the game by its number of handicap stones, if they are where those belong."""
    try:
        other = replace(game, handicap=len(game.black), black=())
    except InputError:
        return game
    return other if set(other.handicap_stones()) == set(game.black) else game


def line_nodes(parts: Sequence[Part], info: dict[str, str], comments: Sequence[str]) -> tuple[Node, ...]:
    """Return the nodes of a game without variations; ``info`` has texts of the root."""
    game = parts[0][0]
    size = f"{game.width}" if game.width == game.height else f"{game.width}:{game.height}"
    root = {"GM": ("1",), "FF": ("4",), "CA": ("UTF-8",), "SZ": (size,), "KM": (repr(game.komi).removesuffix(".0"),)}
    root["RU"] = (WRITTEN_RULES[game.ko, game.suicide],)
    root |= {name: (escape(text),) for name, text in info.items() if text}
    if game.handicap:
        root["HA"] = (str(game.handicap),)
    written: list[dict[str, tuple[str, ...]]] = []
    places = [0]  # the nodes of the moves; the root's stands for the start
    for number, (game, moves) in enumerate(parts):
        start = [0] * (game.width * game.height) if number == 0 else parts[number - 1][0].cells(parts[number - 1][1])
        first = game.starter()
        stones = _changes(game, start)
        turn = {"PL": (first[0].upper(),)} if stones or not moves else {}
        if number == 0:
            written.append(root | stones | turn)
        elif stones or turn:
            written.append(stones | turn)
        for count, move in enumerate(moves):
            colour = PLAYERS[(count + PLAYERS.index(first)) % 2]
            written.append({colour[0].upper(): (_point_text(game, move),)})
            places.append(len(written) - 1)
    for place, comment in zip(places, comments, strict=False):
        if comment:
            written[place]["C"] = (escape(comment),)
    return tuple(Node(place - 1, properties) for place, properties in enumerate(written))


def _changes(game: Go, before: Sequence[int]) -> dict[str, tuple[str, ...]]:
    """Return what sets up the game's first position on a board as it was before."""
    now, stones = game.cells(), game.decode(range(len(before)))
    return {
        name: points
        for name, colour in SET_UP.items()
        if (
            points := tuple(
                _point_text(game, stone)
                for stone, old, new in zip(stones, before, now, strict=True)
                if old != new and new == colour
            )
        )
    }


def _point_text(game: Go, move: str) -> str:
    point = game.encode([move])[0]
    if point == game.width * game.height:
        return ""
    row, column = divmod(point, game.width)
    return chr(ord("a") + column) + chr(ord("a") + game.height - 1 - row)
