"""``playout gtp``: Go in the usual clients."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any, Literal, TextIO

from cyclopts import Group, Parameter

from playout import cluster as clusters
from playout.cli.common import CLUSTER, OUTPUT, PARALLEL, SEARCH, app, note, strictly_whole
from playout.errors import InputError
from playout.gtp import Engine, Settings, serve
from playout.search import check_known
from playout.share import SHARES, Share

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
    share: Annotated[Literal["averaged", "broadcast", "treesplit"] | None, Parameter(group=CLUSTER)] = None,
    interval: Annotated[float | None, Parameter(group=CLUSTER)] = None,
    depth: Annotated[int | None, Parameter(group=CLUSTER, converter=strictly_whole)] = None,
    min_visits: Annotated[float | None, Parameter(group=CLUSTER)] = None,
    duplicate_after: Annotated[int | None, Parameter(group=CLUSTER, converter=strictly_whole)] = None,
    sync_every: Annotated[int | None, Parameter(group=CLUSTER, converter=strictly_whole)] = None,
    overload: Annotated[float | None, Parameter(group=CLUSTER)] = None,
    log: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
) -> int:
    """Play Go in any client of the Go Text Protocol (GTP), version 2.

    **In Sabaki**: Engines, Manage Engines, Add; the path is that of *playout*, the arguments are *gtp*. Attach it, and
    let it play a colour or analyse. It keeps the time of the game.

    **Against GNU Go**: *playout match "playout gtp --seconds 2" "gnugo --mode gtp --chinese-rules" --size 9 --games 2*

    **On a cluster**: *mpiexec -n 4 playout gtp --share averaged*; rank 0 talks, and all of them think. With *treesplit*
    they have one tree, as large as the memory of all.

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
        How many threads search (as many as this process may use), on each rank.
    share
        How the ranks of an MPI job share what they learn: they add up the statistics of the first moves now and then
        (averaged), each makes the simulations of all its own (broadcast), or they have one tree, a part each
        (treesplit).
    interval
        Seconds between two exchanges (0.1, of broadcast 0.02); of averaged, *inf* for one at the end.
    depth
        Of averaged: how many moves from the present position statistics are added up (0: of its moves alone).
    min_visits
        Of averaged with a depth: the simulations that a position needs to be shared, or below 1 their share of all
        (0.05).
    duplicate_after
        Of treesplit: how many simulations must have passed a position before all ranks have it (16).
    sync_every
        Of treesplit: how often a move of such a position is visited before the other ranks are told (100).
    overload
        Of treesplit: simulations under way for each thread, some of which are on other ranks (3).
    log
        Add all lines that come and go to this file.
    """
    policy = "heavy" if heavy else "light"
    sharing = _share(
        share,
        interval=interval,
        depth=depth,
        min_visits=min_visits,
        duplicate_after=duplicate_after,
        sync_every=sync_every,
        overload=overload,
    )
    if sharing is not None and threads is None:
        threads = clusters.threads_of_a_rank()
    settings = Settings(
        size, komi, playouts, seconds, threads, ponder, memory, seed, policy, resign, agree, share=sharing
    )
    if sharing is not None:
        from playout.cluster import job

        ranks = job.open_job(settings.to_json())
        if ranks.link.rank > 0:
            ranks.serve(settings.threads or 1)
            return 0
    with _appended(log) as file:
        engine = Engine(settings, _tell)
        if sys.stdin is None:  # closed by whoever started us
            return 0
        if sys.stdin.isatty():
            note("type commands of the Go Text Protocol: genmove black, showboard, list_commands, quit")
        return serve(engine, sys.stdin.fileno(), sys.stdout.buffer, file)


def _share(name: str | None, **given: Any) -> Share | None:
    """Return how ranks share what they learn; None where there is one alone."""
    given = {key: value for key, value in given.items() if value is not None}
    size = clusters.launched()[1]
    if name is None and given:
        raise InputError(f"--{next(iter(given)).replace('_', '-')} goes with --share")
    if name is None and size > 1:
        raise InputError(f"this was started as {size} ranks; say how they share what they learn: --share averaged")
    if name is None:
        return None
    check_known(name, given, SHARES[name])
    return SHARES[name](**given)


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
