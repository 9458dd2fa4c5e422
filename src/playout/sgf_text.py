"""The text format SGF: from a text to nodes with properties, and back.

A game is a tree. Here it is the list of its nodes in the order of the file, each with the place of the node it follows,
so that nothing is nested however deep the tree is. A first child is always the next in the list: the main line is 0, 1,
2 ... for as long as each follows the one before.

What real files do is read as it is meant: text around games; names of old files such as ``AddBlack`` for ``AB``; a
property twice in a node; a variation without its ``;``; any line ends; character sets other than they say; a file that
ends before its last ``)``.
"""

import codecs
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from playout.errors import InputError, short

MAX_BYTES = 4_000_000
MAX_NODES = 500_000

_START = re.compile(r"\(\s*;")
_TOKEN = re.compile(
    r"\s*+(?:(?P<mark>[();])|(?P<name>[A-Za-z][A-Za-z0-9]*+)|\[(?P<value>(?:[^\]\\]++|\\.)*+)\])", re.DOTALL
)
_SPACE = re.compile(r"\s*")
_ESCAPE = re.compile(r"\\(\n|.)", re.DOTALL)
# What would be read as an order by a terminal, or not at all by a browser, is a space.
_CONTROL = dict.fromkeys((set(range(32)) - {ord("\n")}) | set(range(127, 160)) | {0xFFFE, 0xFFFF}, " ")
_CODECS = ("utf-8", "ascii", "iso8859", "iso2022", "cp", "gb", "big5", "shift_jis", "euc", "koi8", "johab", "hz", "mac")
_WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949"}  # what is meant by the first
_LINE = 70


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a game.

    Attributes
    ----------
    parent
        The place of the node before it in the list of nodes, -1 for the root.
    properties
        Their values by name, as they are between the brackets of a file, with its escapes.
    line, column
        Where it is in the file, from 1; 0 if it is in none.
    """

    parent: int
    properties: Mapping[str, tuple[str, ...]]
    line: int = field(default=0, compare=False)
    column: int = field(default=0, compare=False)

    def text(self, name: str) -> str:
        """Return a property as a text of several lines; without it, the empty one."""
        return "\n".join(map(unescape, self.properties.get(name, ())))

    def error(self, message: str) -> InputError:
        """Return what to raise if something is wrong with this node."""
        return InputError(f"line {self.line}, column {self.column}: {message}" if self.line else message)


def decode(content: bytes) -> str:
    """Return the text of a file: in the character set it says, else UTF-8 if that is possible, else Latin 1."""
    said = re.search(rb"CA\s*\[\s*([\w.:-]{1,40})\s*\]", content)
    for name in (said[1].decode("ascii", "replace") if said else "utf-8", "utf-8"):
        try:
            codec = codecs.lookup(name).name
            if codec.startswith(_CODECS):  # others are no character sets, and some take for ever
                return content.decode(_WIDER.get(codec, codec)).removeprefix("\ufeff")
        except (LookupError, ValueError):
            continue
    return content.decode("latin-1")


def read_games(text: str) -> Iterator[tuple[Node, ...]]:
    """Yield the nodes of each game in a text.

    Raises
    ------
    InputError
        If a game cannot be read, with its line and column.
    """
    if len(text) > MAX_BYTES:
        raise InputError(f"it has {len(text):,} characters; allowed are up to {MAX_BYTES:,}")
    source = _Source(_plain(text))
    at = 0
    while found := _START.search(source.text, at):
        reader = _Reader(source, found.start())
        yield reader.read()
        at = reader.at


def write_game(nodes: Sequence[Node]) -> str:
    """Return the text of a game."""
    children: list[list[int]] = [[] for _ in nodes]
    for place, node in enumerate(nodes[1:], 1):
        children[node.parent].append(place)
    lines, line = [], ""
    todo: list[int | str] = [")", 0, "("]
    while todo:
        item = todo.pop()
        piece = item if isinstance(item, str) else _written(nodes[item])
        if line.strip("(") and len(line) + len(piece) > _LINE:
            lines.append(line)
            line = ""
        line += piece
        if isinstance(item, int):
            after = children[item]
            todo += after if len(after) == 1 else [part for child in reversed(after) for part in (")", child, "(")]
    return "\n".join([*lines, line, ""])


def unescape(value: str) -> str:
    """Return the text that a value stands for."""
    return clean(_ESCAPE.sub(lambda found: found[1].replace("\n", ""), value))


def escape(text: str) -> str:
    """Return the value that stands for a text."""
    return re.sub(r"([\]\\])", r"\\\1", text)


def clean(text: str) -> str:
    """Return a text without what is no letter, and with the ends of lines as SGF has them here."""
    return _plain(text).translate(_CONTROL)


def one_line(text: str) -> str:
    """Return a text on one line, as names and dates are."""
    return clean(text).replace("\n", " ").strip()


def _plain(text: str) -> str:
    """Return a text with line ends of one kind, and nothing that cannot be written as UTF-8."""
    return re.sub(r"\r\n|\n\r|\r", "\n", text).encode("utf-8", "replace").decode()


def _written(node: Node) -> str:
    values = (name + "".join(f"[{value}]" for value in values) for name, values in node.properties.items())
    return ";" + "".join(values)


class _Source:
    """A text, and what is where in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._ends = [found.start() for found in re.finditer("\n", text)]

    def place(self, at: int) -> tuple[int, int]:
        """Return the line and the column, from 1."""
        line = bisect_left(self._ends, at)
        return line + 1, at - (self._ends[line - 1] if line else -1)

    def error(self, at: int, message: str) -> InputError:
        line, column = self.place(at)
        return InputError(f"line {line}, column {column}: {message}")


class _Reader:
    """Reads one game of a source, from its ``(`` on."""

    def __init__(self, source: _Source, at: int) -> None:
        self.source, self.at = source, at
        self._nodes: list[Node] = []
        self._follows = -1  # what the next node follows
        self._open: list[int] = []  # for each ( that is open, what was to be followed before it
        self._lists: dict[str, list[str]] | None = None  # the properties of the node that is being read
        self._place = (0, 0)  # of that node
        self._name: str | None = None  # of the property that is being read
        self._values = 0  # so many it has

    def read(self) -> tuple[Node, ...]:
        while token := _TOKEN.match(self.source.text, self.at):
            at = token.start(token.lastgroup or 0)
            if token["value"] is not None:
                self._add_value(token["value"], at - 1)
            else:
                self._end_property(at)
                if token["name"] is not None:
                    self._begin_property(token["name"], at)
                else:
                    self._mark(token["mark"], at)
            self.at = token.end()
            if not self._open:
                return tuple(self._nodes)
        return self._ended()

    def _mark(self, mark: str, at: int) -> None:
        self._end_node()
        if mark == ";":
            self._begin_node(at)
        elif mark == "(":
            self._open.append(self._follows)
        else:
            self._follows = self._open.pop()

    def _begin_node(self, at: int) -> None:
        if len(self._nodes) >= MAX_NODES:
            raise self.source.error(at, f"the game has too many nodes; allowed are {MAX_NODES:,}")
        self._lists = {}
        self._place = self.source.place(at)

    def _end_node(self) -> None:
        if self._lists is not None:
            properties = {name: tuple(values) for name, values in self._lists.items()}
            self._nodes.append(Node(self._follows, properties, *self._place))
            self._follows = len(self._nodes) - 1
            self._lists = None

    def _begin_property(self, word: str, at: int) -> None:
        if self._lists is None:
            self._begin_node(at)
        self._name = "".join(letter for letter in word if not letter.islower()) or word.upper()
        self._values = 0

    def _add_value(self, value: str, at: int) -> None:
        if self._name is None or self._lists is None:
            raise self.source.error(at, "there is a value without the name of a property")
        self._lists.setdefault(self._name, []).append(value)
        self._values += 1

    def _end_property(self, at: int) -> None:
        if self._name is not None and not self._values:
            raise self.source.error(at, f"property {short(self._name)} has no value")
        self._name = None

    def _ended(self) -> tuple[Node, ...]:
        """Return what there is if the text ends here, though brackets are open."""
        text = self.source.text
        self.at = _SPACE.match(text, self.at).end()  # type: ignore[union-attr]  # it always matches
        if self.at == len(text):
            self._end_property(self.at)
            self._end_node()
            return tuple(self._nodes)
        if text[self.at] == "[":
            raise self.source.error(self.at, "the value that begins here has no ']' at its end")
        raise self.source.error(self.at, f"{short(text[self.at])} is none of ( ) ; [ ] or a name")
