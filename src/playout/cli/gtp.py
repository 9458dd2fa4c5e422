"""``playout gtp``: Go in the usual clients."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, TextIO

from cyclopts import Group, Parameter

from playout.cli.common import OUTPUT, PARALLEL, SEARCH, app, note, strictly_whole
from playout.errors import InputError
from playout.gtp import Engine, Settings, serve

GAME = Group("Game", sort_key=0)
TIME = Group("Time for a move", sort_key=1)


@app.command
def gtp(
    *,
    size: Annotated[int, Parameter(group=GAME, converter=strictly_whole)] = 19,
    komi: Annotated[float, Parameter(group=GAME)] = 7.5,
    resign: Annotated[float, Parameter(group=GAME)] = 0.1,
    agree: Annotated[bool, Parameter(group=GAME, negative="")] = False,
    playouts: Annotated[int | None, Parameter(group=TIME, converter=strictly_whole)] = None,
    seconds: Annotated[float | None, Parameter(group=TIME)] = None,
    ponder: Annotated[bool, Parameter(group=TIME, negative="")] = False,
    heavy: Annotated[bool, Parameter(group=SEARCH, negative="--light")] = True,
    memory: Annotated[int, Parameter(group=SEARCH, converter=strictly_whole)] = 1024,
    seed: Annotated[int, Parameter(group=SEARCH, converter=strictly_whole)] = 0,
    threads: Annotated[int | None, Parameter(group=PARALLEL, converter=strictly_whole)] = None,
    log: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
) -> int:
    """Play Go in any client of the Go Text Protocol (GTP), version 2.

    **In Sabaki**: Engines, Manage Engines, Add; the path is that of *playout*, the arguments are *gtp*. Attach it, and
    let it play a colour or analyse. It keeps the time of the game.

    **Against GNU Go**: *playout match "playout gtp --seconds 2" "gnugo --mode gtp --chinese-rules" --size 9 --games 2*

    **By hand**: type *genmove black*, *showboard*, *lz-analyze 100*, *list_commands*, *quit*.

    Standard output has the answers and nothing else; what it thinks of its moves is on standard error. The engine ends
    with the input.

    Parameters
    ----------
    size
        Of the board until the client says it, 1 to 25.
    komi
        Points for White until the client says it.
    resign
        Resign after five moves in a row with less than this chance to win; 0 for never.
    agree
        Players agree on dead stones when both have passed, as people do. If not, all stones count as alive, and dead
        ones are captured before the end.
    playouts
        Playouts of a move, all of them.
    seconds
        Seconds for a move. Without any limit by the client or here, it is 5.
    ponder
        Think while the opponent does.
    heavy
        What a playout is: random moves (light), or likely ones (heavy): fewer, and much better.
    memory
        How many MB the tree may take.
    seed
        Of the random numbers. With one thread and a number of playouts, it plays the same again.
    threads
        How many threads search (as many as this process may use).
    log
        Add all lines that come and go to this file.
    """
    policy = "heavy" if heavy else "light"
    settings = Settings(size, komi, playouts, seconds, threads, ponder, memory, seed, policy, resign, agree)
    with _appended(log) as file:
        engine = Engine(settings, _tell)
        if sys.stdin is None:  # closed by whoever started us
            return 0
        if sys.stdin.isatty():
            note("type commands of the Go Text Protocol: genmove black, showboard, list_commands, quit")
        return serve(engine, sys.stdin.fileno(), sys.stdout.buffer, file)


@contextmanager
def _appended(path: Path | None) -> Iterator[TextIO | None]:
    if path is None:
        yield None
        return
    try:
        file = open(path, "a", encoding="utf-8", errors="replace")  # noqa: SIM115, closed below
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror}") from None
    try:
        yield file
    finally:
        with suppress(OSError):  # a full disk was heard of before
            file.close()


def _tell(line: str) -> None:
    try:
        note(line)
    except OSError:  # a client need not read it; what is left of the line goes nowhere, else the end would fail with it
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stderr.fileno())
