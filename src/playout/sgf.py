"""SGF, the files of games of Go: read with their variations, set-up stones and handicap, and write."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playout.errors import InputError, check_integer, short
from playout.problems import go_picture
from playout.problems.go import Go
from playout.result import write_whole
from playout.sgf_line import Part, find, line_nodes, read_line
from playout.sgf_text import MAX_BYTES, Node, clean, decode, one_line, read_games, write_game

if TYPE_CHECKING:
    from rich.console import RenderableType

INFO = {"black": "PB", "white": "PW", "result": "RE", "date": "DT"}


@dataclass(frozen=True)
class GameRecord:
    """A game of Go as an SGF file has it.

    Parameters
    ----------
    game
        The start position and the rules.
    moves
        What was played, as :class:`Go` writes moves: ``"D4"``, ``"pass"``.
    black, white
        The players' names.
    result
        Such as ``"B+3.5"``, ``"W+R"`` or ``"0"``, as SGF has it.
    date
        Such as ``"2025-01-31"``.
    comments
        The comment on the start, on the position after the first move, and so on; empty where there is none.
    earlier
        Games and moves that came before. In most files none: only where stones are set up after a move, or a player
        moves twice, or play goes on after two passes, the game begins afresh.

    Attributes
    ----------
    nodes
        The file as it is, with its variations and all its properties, as :class:`playout.sgf_text.Node`; the order is
        that of the file, and each has the place of its parent. :meth:`to_sgf` writes these. A record that was not read
        from a file has the nodes of its moves; so has a changed copy (``dataclasses.replace``).
    """

    game: Go
    moves: tuple[str, ...] = ()
    black: str = ""
    white: str = ""
    result: str = ""
    date: str = ""
    comments: tuple[str, ...] = ()
    earlier: tuple[Part, ...] = ()
    nodes: tuple[Node, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        parts = [_checked(part) for part in (*self.earlier, (self.game, self.moves))]
        if any(_rules(game) != _rules(self.game) for game, _ in parts):
            raise InputError("earlier games of a record need the size, the komi and the rules of the last")
        for name in INFO:
            self._set(name, one_line(_text(name, getattr(self, name))))
        comments = [clean(_text("a comment", comment)) for comment in self.comments]
        while comments and not comments[-1]:
            comments.pop()
        self._set("earlier", tuple(parts[:-1]))
        self._set("moves", parts[-1][1])
        self._set("comments", tuple(comments))
        if len(comments) > self.length + 1:
            raise InputError(f"there are {len(comments)} comments; a game of {self.length} moves has room for one more")
        info = {name: getattr(self, field) for field, name in INFO.items()}
        self._set("nodes", line_nodes(parts, info, comments))

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    @property
    def parts(self) -> tuple[Part, ...]:
        """All games and their moves, the earlier ones first."""
        return (*self.earlier, (self.game, self.moves))

    @property
    def length(self) -> int:
        """How many moves there are, with those of earlier games."""
        return sum(len(moves) for _, moves in self.parts)

    def upto(self, count: int | None = None) -> tuple[Go, tuple[str, ...]]:
        """Return a game and its moves that lead to the position after ``count`` moves; without it, after all.

        If stones were set up after that move, they are there; if the other player than usual moves next, it is their
        turn. The game is :attr:`game`, unless it has begun afresh later than that.

        >>> record = po.parse_sgf("(;SZ[9];B[ee];W[gc];B[cc])")
        >>> record.upto(2)[1]
        ('E5', 'G7')
        """
        left = self.length if count is None else check_integer("count", count, 0, self.length)
        for game, moves in self.earlier:
            if left < len(moves):
                return game, moves[:left]
            left -= len(moves)
        return self.game, self.moves[:left]

    def variations(self) -> Iterator["GameRecord"]:
        """Yield a record of each line of the tree from the root to an end, the main line first.

        Their moves are played only now: one that is not legal raises an InputError.
        """
        parents = {node.parent for node in self.nodes}
        for end in range(len(self.nodes)):
            if end not in parents:
                line = [end]
                while line[-1]:
                    line.append(self.nodes[line[-1]].parent)
                yield _record([self.nodes[place] for place in reversed(line)])

    def to_sgf(self) -> str:
        """Return the game as SGF, to be written as UTF-8."""
        root = self.nodes[0]
        standard = {"GM": ("1",), "FF": ("4",), "CA": ("UTF-8",)}
        first = Node(-1, standard | {key: value for key, value in root.properties.items() if key not in standard})
        return write_game([first, *self.nodes[1:]])

    def save(self, path: str | Path) -> None:
        """Write the game to a file, whole or not at all."""
        write_whole(Path(path), self.to_sgf())

    def summary(self) -> str:
        """The game in a line: who played, the result, the size, komi and date."""
        game = self.parts[0][0]
        handicap = f", handicap {game.handicap}" if game.handicap else ""
        result = f": {self.result}" if self.result else ""
        said = f"{game.width} x {game.height}, komi {game.komi:g}{handicap}, {self.length} moves"
        return f"{self.black or 'Black'} against {self.white or 'White'}{result}; {said}" + (
            f"; {self.date}" if self.date else ""
        )

    def draw(self, step: int | None = None) -> "RenderableType":
        """Return the board after all moves, or after so many, for a terminal."""
        if step is not None and not 0 <= step <= self.length:
            raise InputError(f"step is {step}; the game has moves 1 to {self.length}, and 0 is the start")
        game, moves = self.upto(step)
        before = (self.length if step is None else step) - len(moves)
        return go_picture.draw(game, moves, None, before)

    def to_svg(self) -> str:
        """Return a picture of the board after all moves, with their numbers on the stones."""
        return go_picture.to_svg(self.parts, self.summary())

    def to_page(self) -> str:
        """Return a page, complete in itself, that replays the game in a browser."""
        title, _, about = self.summary().partition("; ")
        ending = f"Result: {self.result}." if self.result else ""
        return go_picture.to_page(self.parts, title, about, ending, self.comments)

    def _repr_html_(self) -> str:
        return self.game.to_html(self.moves)


def load_sgf(path: str | Path) -> GameRecord:
    """Read a game of Go from an SGF file; of several, the first.

    Raises
    ------
    InputError
        If the file cannot be read, with the line and the column; or if a move is not legal, with its number.
    """
    try:
        with open(path, "rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}") from None
    try:
        return parse_sgf(content)
    except InputError as error:
        raise InputError(f"{str(path)!r} cannot be read as SGF: {error}") from None


def parse_sgf(text: str | bytes) -> GameRecord:
    """Return the game of Go in a text that is SGF; of several, the first. See :func:`load_sgf`."""
    return next(parse_all(text))


def parse_all(text: str | bytes) -> Iterator[GameRecord]:
    """Yield every game of a text that is SGF; there is at least one, else it is an InputError."""
    if isinstance(text, bytes):
        if len(text) > MAX_BYTES:
            raise InputError(f"it has more than {MAX_BYTES:,} bytes")
        text = decode(text)
    games = map(_main_record, read_games(_text("an SGF text", text)))
    first = next(games, None)
    if first is None:
        raise InputError("there is no game: a game begins with '(;'")
    yield first
    yield from games


def _main_record(nodes: Sequence[Node]) -> GameRecord:
    main = takewhile(lambda place: nodes[place].parent == place - 1, range(len(nodes)))
    return _record([nodes[place] for place in main], nodes)


def _record(line: Sequence[Node], nodes: Sequence[Node] = ()) -> GameRecord:
    """Return the record of a line; with nodes, in a tree of these."""
    parts, comments = read_line(line)
    game, moves = parts[-1]
    black, white, result, date = (find(line, name)[1] for name in INFO.values())
    record = GameRecord(game, moves, black, white, result, date, comments, tuple(parts[:-1]))
    kept = nodes or [Node(place - 1, node.properties, node.line, node.column) for place, node in enumerate(line)]
    record._set("nodes", tuple(kept))
    return record


def _checked(part: Any) -> Part:
    if not isinstance(part, tuple) or len(part) != 2 or not isinstance(part[0], Go):
        raise InputError(f"a game of a record is {short(part)}; a playout.Go and its moves are needed")
    game, moves = part
    game.cells(moves)
    return game, tuple(game.decode(game.encode(moves)))


def _rules(game: Go) -> tuple[Any, ...]:
    return game.width, game.height, game.komi, game.ko, game.suicide


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InputError(f"{name} is {short(value)}; a text is needed")
    return value
