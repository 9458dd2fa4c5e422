"""The built-in problems, and the strings that name problems.

A built-in problem is a frozen dataclass that the searches, the results and the command line use through
:class:`BuiltIn`. A new one is a file in this folder and a line in ``KINDS``.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from playout import _core, own
from playout.errors import InputError, short
from playout.problems.connect_four import ConnectFour
from playout.problems.go import Go
from playout.problems.hex import Hex
from playout.problems.mnk import MNK, parse_tic_tac_toe
from playout.problems.same_game import SameGame
from playout.problems.tsptw import TSPTW

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True)
class Kind:
    """What ``playout problems`` says of one kind of problem."""

    title: str
    forms: tuple[tuple[str, str], ...]
    options: tuple[tuple[str, str], ...]
    command_line: dict[str, str]  # options that the command line adds where they are not given
    # What comes after the kind where no file is named, as a regular expression; options may follow. If nothing need
    # come, the kind alone is a name.
    without_file: str
    parse: Any
    from_json: Any


class BuiltIn(Protocol):
    """What the rest of the package asks of a problem."""

    @property
    def temperature(self) -> float:
        """The temperature GNRPA uses unless told otherwise."""

    def engine(self) -> _core.Problem:
        """The problem inside the C++ engine."""

    def variants(self) -> "Sequence[BuiltIn]":
        """Other ways to search the same problem, of which nobody knows the best beforehand; else the problem alone.

        A sequence of moves of one is a sequence of all, with the same score. Searches try them all, and give most
        playouts to those that do best.
        """

    def decode(self, moves: Sequence[int]) -> list[Any]:
        """The engine's moves as they appear in a result."""

    def encode(self, moves: Sequence[Any]) -> list[int]:
        """A result's moves as the engine wants them."""

    def replay(self, moves: Sequence[Any]) -> tuple[float, dict[str, Any]]:
        """Score and detail of a sequence, by the plain rules, without the engine."""

    def to_json(self) -> str | dict[str, Any]:
        """What rebuilds the problem: the string that names it, or the whole instance."""

    def describe(self) -> str:
        """The problem in a few words."""

    def draw(self, moves: Sequence[Any], step: int | None = None) -> "RenderableType":
        """The problem and the sequence, for a terminal."""

    def to_html(self, moves: Sequence[Any] = ()) -> str:
        """The problem and the sequence, for a notebook."""


KINDS: dict[str, Kind] = {
    "samegame": Kind(
        title="SameGame: remove groups of equal neighbours, the larger the better",
        forms=(
            ("samegame:1", "standard board 1 (of 20)"),
            ("samegame:random:7", "a random board, seed 7"),
            ("samegame:FILE", "a board in a text file"),
        ),
        options=(
            (
                "tabu=auto|dominant|none|COLOUR",
                "colour that the selective policy avoids; auto, the default of solve, tries all",
            ),
            ("leftover_penalty=none|total|per_colour", "points off for cells left over (default none)"),
            ("board=N", "which board of a file that has several"),
            ("width=W,height=H,colours=C", "of a random board (default 15, 15, 5; at most 20, 20, 9)"),
        ),
        command_line={"tabu": "auto"},
        without_file=r"\d+|random:[^,]*",
        parse=SameGame.parse_name,
        from_json=SameGame.from_json,
    ),
    "tsptw": Kind(
        title="TSPTW: the shortest tour that reaches every customer within its time window",
        forms=(
            ("tsptw:rc_204.1", "an instance in a data folder: $PLAYOUT_DATA, then Playout's own"),
            ("tsptw:random:7", "a random instance that has a feasible tour, seed 7"),
            ("tsptw:FILE", "an instance in a text file"),
        ),
        options=(
            ("objective=cost|makespan", "what is minimised (default cost, the sum of the distances)"),
            ("urgent=yes|no", "go on with customers that are late if any other comes first (default no)"),
            ("avoid_late=yes|no", "leave out moves that make somebody late, while there are others (default yes)"),
            ("n=N,width=W", "customers and longest window of a random instance (default 20, 60)"),
        ),
        command_line={},
        without_file=r"random:[^,]*",
        parse=TSPTW.parse_name,
        from_json=TSPTW.from_json,
    ),
    "tictactoe": Kind(
        title="Tic-tac-toe",
        forms=(("tictactoe", "the same as mnk:3x3x3"),),
        options=(),
        command_line={},
        without_file="",
        parse=parse_tic_tac_toe,
        from_json=MNK.from_json,
    ),
    "mnk": Kind(
        title="m,n,k games: k in a row win",
        forms=(("mnk:15x15x5", "five in a row on a board 15 wide and 15 high; at most 19 x 19"),),
        options=(),
        command_line={},
        without_file=r"\d+x\d+x\d+",
        parse=MNK.parse_name,
        from_json=MNK.from_json,
    ),
    "connectfour": Kind(
        title="Connect Four",
        forms=(
            ("connectfour", "7 columns and 6 rows"),
            ("connectfour:8x7", "8 columns and 7 rows; columns * (rows + 1) may be 64 at most"),
        ),
        options=(),
        command_line={},
        without_file=r"(\d+x\d+)?",
        parse=ConnectFour.parse_name,
        from_json=ConnectFour.from_json,
    ),
    "hex": Kind(
        title="Hex: connect your two sides of the board",
        forms=(("hex:11", "on 11 x 11 cells; at most 19 x 19"),),
        options=(),
        command_line={},
        without_file=r"(\d+)?",
        parse=Hex.parse_name,
        from_json=Hex.from_json,
    ),
    "go": Kind(
        title="Go: a game for two, played and not solved",
        forms=(("go:9", "a board of 9 x 9, up to 25 x 25"), ("go:9x7", "9 wide and 7 high")),
        options=(
            ("komi=POINTS", "for White (default 7.5)"),
            ("ko=simple|positional|situational", "what must not be repeated (default positional)"),
            ("suicide=yes|no", "whether a move may take off own stones (default no)"),
            ("handicap=N", "black stones at the fixed places, 2 to 9 (default 0)"),
            ("playouts=light|heavy", "random moves, or answers to the last moves first (default light)"),
        ),
        command_line={},
        without_file=r"\d+(x\d+)?",
        parse=Go.parse_name,
        from_json=Go.from_json,
    ),
}


# What ``playout problems`` says of those that are not built in.
OWN = (
    "A problem of your own: help(playout.Problem) says how, playout check what is wrong with it",
    (
        ("./file.py:name, module:name", "made with playout.Problem"),
        ("./library.so:argument", "a library that exports playout_problem(), as playout.h declares it"),
        ("...,compiled=no", "in plain Python, with tracebacks"),
    ),
)


def problem(name: str, *, for_command_line: bool = False) -> BuiltIn:
    """Build a problem from the string that names it.

    Parameters
    ----------
    name
        The kind of problem, a colon, which one, and options after commas:
        ``"samegame:1"``, ``"samegame:1,tabu=2"``, ``"samegame:random:7"``, ``"samegame:path/to/board.txt"``,
        ``"tsptw:rc_204.1"``, ``"tsptw:random:7,n=50,objective=makespan"``, ``"tictactoe"``, ``"hex:11"``. Or, for
        a problem of your own, where it is: ``"module:problem"``, ``"./file.py:problem"``, ``"./libgame.so:argument"``.
    for_command_line
        Whether options that are not given are what ``playout solve`` takes: what does best, ``tabu=auto``. Else they
        are as in the papers.

    Raises
    ------
    InputError
        If there is no such problem, with what there is.
    """
    if not isinstance(name, str):
        raise InputError(f"problem is {short(name)}; a string such as 'samegame:1' is needed")
    kind, _, rest = name.partition(":")
    is_own = kind not in KINDS
    if is_own and not own.can_be_own(name.partition(",")[0]):
        raise InputError(f"unknown problem {short(name)}; there is {_forms()}, or your own ./file.py:problem")
    if not is_own and not rest and not re.fullmatch(KINDS[kind].without_file, ""):
        raise InputError(f"{name!r} does not say which {kind}; write one of {_forms(kind)}")
    options: dict[str, str] = {}
    *path, last = (name if is_own else rest).split(",")
    while "=" in last and path:
        key, _, value = last.partition("=")
        if key in options:
            raise InputError(f"option {key!r} is there twice in {short(name)}")
        options[key] = value
        *path, last = path
    which = ",".join([*path, last])
    if is_own:
        mine: BuiltIn = own.load_own(which, options)
        return mine
    if for_command_line:
        options = {**KINDS[kind].command_line, **options}
    built: BuiltIn = KINDS[kind].parse(which, options)
    return built


def from_json(data: Any) -> BuiltIn:
    """Rebuild a problem from what :meth:`BuiltIn.to_json` gave; the data may come from anywhere.

    It never decides which file is opened, nor what code is run.
    """
    if isinstance(data, str) and data.partition(":")[0] in KINDS:
        kind, _, rest = data.partition(":")
        if not re.fullmatch(f"({KINDS[kind].without_file})(,[^,=]*=[^,]*)*", rest, re.DOTALL):
            raise InputError(f"'problem' is {short(data)}, which names a file; a result has the whole instance")
        return problem(data)
    if isinstance(data, dict) and data.get("kind") == "user":
        return own.from_json(data)
    if not isinstance(data, dict) or str(data.get("kind")) not in KINDS:
        raise InputError("'problem' is neither the name of a problem nor an instance of one")
    built: BuiltIn = KINDS[str(data["kind"])].from_json(data)
    return built


def same_score(problem: BuiltIn, score: float, claimed: float) -> bool:
    """Whether a replayed score is the one a result claims: to the last bit, unless a user's own libm is in it."""
    if isinstance(problem, own.Own):
        return math.isclose(score, claimed, rel_tol=1e-9, abs_tol=1e-12)
    return score == claimed


def improves(problem: BuiltIn) -> bool:
    """Whether a problem has a local search."""
    return hasattr(problem, "improve") if isinstance(problem, own.Own) else problem.engine().improves


def is_game(problem: BuiltIn) -> bool:
    """Whether a problem is a game for two players."""
    return problem.engine().is_game


def draw(problem: BuiltIn, moves: Sequence[Any], step: int | None = None) -> "RenderableType":
    """Return a problem and a sequence, or its first steps, for a terminal."""
    if not isinstance(problem, own.Own):
        return problem.draw(moves, step)
    if step is not None and not 0 <= step <= len(moves):
        raise InputError(f"step is {step}; allowed are whole numbers from 0 to {len(moves)}")
    drawn = problem.draw(moves if step is None else moves[:step])
    if not isinstance(drawn, str):
        return drawn
    from rich.text import Text

    return Text(drawn)


def _forms(kind: str | None = None) -> str:
    kinds = KINDS.values() if kind is None else [KINDS[kind]]
    return ", ".join(form for k in kinds for form, _ in k.forms)
