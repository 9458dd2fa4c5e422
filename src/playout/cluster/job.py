"""Ranks of an MPI job that think about one game: rank 0 plays it, the others think with it.

Rank 0 has the :class:`playout.Player`, or several; the others have a tree for each of them and do what rank 0 says:
begin, stop, play a move, go to a position. What the trees tell each other goes from engine to engine (``link``), beside
that.

A rank that falls silent is lost: rank 0 goes on with what it has, says so on standard error, and the job ends with
status 3 when rank 0 ends. It never waits for it longer than a moment.
"""

import atexit
import os
import platform
import queue
import signal
import sys
import threading
import time
import traceback
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import playout
from playout import _core
from playout import parallel as parallels
from playout import search as searches
from playout import share as shares
from playout.cluster import check_mpi, travel
from playout.cluster.link import SILENCE, START, Command, Link
from playout.cluster.ranks import LOOK_UP, Trees, make_forest, parts
from playout.compile import explained
from playout.errors import ClusterError, InputError, short
from playout.share import Treesplit
from playout.uct import width_of

if TYPE_CHECKING:
    from playout.play import Player

LAST_WORD = 0.3  # seconds that a rank has for the last of what it has learned
RELAY = 0.5  # seconds after which rank 0 is told of a signal
ORPHAN = 60.0  # seconds without rank 0 after which the others end
LOST = 3  # exit status

_job: "Job | None" = None


class Job:
    """What a rank has of its job; there is one in a process."""

    def __init__(self) -> None:
        self.commands: queue.SimpleQueue[Command] = queue.SimpleQueue()
        self.answers: queue.SimpleQueue[tuple[int, Command]] = queue.SimpleQueue()
        self.errors: queue.SimpleQueue[tuple[int, Command]] = queue.SimpleQueue()
        self.trees: dict[int, Mirror] = {}  # of a rank other than 0
        self.refused = ""  # why ranks cannot work together
        self.link = Link(self._take)
        self.hosts = {self.link.rank: platform.node()}
        self.lost: list[int] = []
        self._made = 0
        self.link.start()
        atexit.register(self.close)

    def meet(self, settings: dict[str, Any]) -> None:
        """See that all ranks are there and of one mind: the same version, and the same settings, as JSON.

        If they are not, what differs is in ``refused`` on rank 0.
        """
        hello = {"about": "hello", "version": playout.__version__, "settings": settings, "host": platform.node()}
        if self.link.rank > 0:
            self.link.tell(0, hello)
            return
        for rank, other in self._answers("hello").items():
            self.hosts[rank] = str(other.get("host"))
            for key in ("version", "settings"):
                if other.get(key) != hello[key] and not self.refused:
                    what = _difference(hello[key], other.get(key), key)
                    self.refused = f"rank {rank} on {self.hosts[rank]} differs from rank 0: {what}"
        if self.lost:
            raise ClusterError(f"rank {self.lost[0]} has fallen silent")

    def _take(self, rank: int, command: Command) -> None:
        """On the thread of the link: a command for this rank, or a reply to rank 0."""
        if self.link.rank == 0:
            if "signal" in command:
                os.kill(os.getpid(), int(command["signal"]))
            elif "about" in command:
                self.answers.put((rank, command))
            else:
                self.errors.put((rank, command))
            return
        if command.get("do") in ("halt", "stop"):  # at once, whatever the rank is waiting for
            mirror = self.trees.get(command["tree"])
            if mirror is not None:
                mirror.forest.request_stop()
        if command.get("do") != "halt":
            self.commands.put(command)

    # Rank 0

    def _answers(self, about: str) -> dict[int, Command]:
        """Wait for what every other rank answers, but for those that are lost."""
        answers: dict[int, Command] = {}
        end = time.monotonic() + START
        while missing := [rank for rank in range(1, self.link.size) if rank not in answers and rank not in self.lost]:
            with suppress(queue.Empty):
                rank, reply = self.answers.get(timeout=0.1)
                if reply["about"] == about:
                    answers[rank] = reply
            if not self.is_whole() or time.monotonic() < end:
                continue
            self.lost += missing
            raise ClusterError(f"no word of rank {missing[0]}; do all ranks run the same program?")
        return dict(sorted(answers.items()))

    def new_tree(self, player: "Player") -> tuple[int, _core.Port]:
        """Have all other ranks make a tree like a player's; returns its number and the port to theirs."""
        tree, self._made = self._made, self._made + 1
        if tree > self.link.most_trees:
            raise ClusterError(f"this job has had {tree:,} players; MPI has no more numbers for them: start another")
        port = _core.Port(0, self.link.size)
        self.link.add_port(tree, port)
        self.tell({"do": "new", "tree": tree, **describe(player)})
        for rank, reply in self._answers(f"tree {tree}").items():
            if "error" in reply:
                self.close_tree(tree)
                raise InputError(f"rank {rank} on {self.hosts[rank]} cannot play this: {reply['error']}")
        return tree, port

    def close_tree(self, tree: int) -> None:
        self.link.remove_port(tree)
        self.tell({"do": "close", "tree": tree})

    def tell(self, command: Command) -> None:
        """Tell all other ranks something."""
        for rank in range(1, self.link.size):
            if rank not in self.lost:
                self.link.tell(rank, command)

    def check(self, tree: int) -> bool:
        """Whether all ranks are there; raises what went wrong with a tree on one of them."""
        found = []
        with suppress(queue.Empty):
            while True:
                rank, reply = self.errors.get_nowait()
                if reply.get("tree") == tree:
                    found.append(f"rank {rank} on {self.hosts[rank]}: {reply.get('error')}")
        if found:
            raise InputError(found[0])
        return self.is_whole()

    def is_whole(self) -> bool:
        """Whether all ranks are there; who is lost is said once."""
        news = [rank for rank in self.link.silent() if rank not in self.lost]
        if news:
            self.lost += news
            names = ", ".join(f"{rank} on {self.hosts.get(rank, 'an unknown host')}" for rank in news)
            why = f"MPI failed: {self.link.error}" if self.link.error else f"no sign of life for {SILENCE:g} seconds"
            _say(f"lost rank {names} ({why}); rank 0 answers with what it has, and the job ends")
        return not self.lost

    def close(self) -> None:
        """End all ranks; when the program ends."""
        global _job
        if _job is not self:
            return
        _job = None
        if self.link.rank == 0:
            self.tell({"do": "end"})
        if self.lost or self.link.error is not None:
            self.link.abort(LOST)
        if missing := self.link.close():
            if self.link.rank == 0:
                _say(f"rank {missing[0]} has fallen silent; the job ends without it")
            self.link.abort(LOST)

    # The others

    def serve(self, threads: int) -> None:
        """Do what rank 0 says until it ends; after that this process has nothing more to do.

        A signal is for rank 0 to act on. It has most likely heard it too, and ends; if not, it is told.
        """
        heard: list[tuple[float, int]] = []
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGUSR1):
                signal.signal(number, lambda which, _: heard.append((time.monotonic(), which)))
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            while self._obey(threads):
                if heard and time.monotonic() > heard[0][0] + RELAY:
                    self.link.tell(0, {"signal": heard[0][1]})
                    heard.clear()
            self.trees.clear()
            self.close()
        except BaseException:
            traceback.print_exc()
            self.link.abort(LOST)

    def _obey(self, threads: int) -> bool:
        """Do the next thing; false if that was the last."""
        command = self._next_command()
        if command is None:
            return True
        kind, number = command["do"], int(command.get("tree", -1))
        if kind == "end":
            return False
        if kind == "new":
            self._make(number, command)
        elif kind == "close":
            self.link.remove_port(number)
            self.trees.pop(number, None)
        elif number in self.trees:
            with self._telling(number):
                self._do(self.trees[number].forest, command, threads)
        return True

    def _next_command(self) -> Command | None:
        """Wait a moment for a command; meanwhile look after the trees that think."""
        for number, mirror in [*self.trees.items()]:
            with self._telling(number):
                if mirror.forest.wait(LOOK_UP if self.commands.empty() else 0.0):
                    mirror.forest.finish(0.0)
        if self.link.error is not None:
            raise ClusterError(f"MPI failed: {self.link.error}")
        if 0 in self.link.silent(ORPHAN):
            raise ClusterError("rank 0 has fallen silent")
        try:
            return self.commands.get(timeout=LOOK_UP)
        except queue.Empty:
            return None

    @contextmanager
    def _telling(self, tree: int) -> Iterator[None]:
        """Tell rank 0 what goes wrong with a tree: a user's game may raise anything."""
        try:
            with explained(self.trees[tree].game):
                yield
        except Exception as error:
            self.link.tell(0, {"tree": tree, "error": _words(error)})

    def _make(self, tree: int, command: Command) -> None:
        answer: Command = {"about": f"tree {tree}"}
        try:
            game = travel.unpack(command["game"])
            parallel = parallels.from_json(command["parallel"])
            search = searches.from_json(command["search"])
            port = _core.Port(self.link.rank, self.link.size)
            with explained(game):
                forest = make_tree(game, search, parallel, int(command["seed"]), command["share"], port)
            self.trees[tree] = Mirror(forest, game)
            self.link.add_port(tree, port)
        except Exception as error:
            answer["error"] = _words(error)
        self.link.tell(0, answer)

    def _do(self, forest: _core.Forest, command: Command, threads: int) -> None:
        if command["do"] == "begin":
            self.link.is_busy = command["busy"]
            forest.begin(int(command["playouts"][self.link.rank]), threads)
        elif command["do"] == "stop":
            self.link.in_haste = True
            try:
                forest.stop()
                while not forest.finish(LOOK_UP) and self.commands.empty() and not self.link.silent(ORPHAN):
                    pass
            finally:
                self.link.in_haste = self.link.is_busy = False
        elif command["do"] == "play":
            forest.play(int(command["move"]))
        elif command["do"] == "go_to":
            forest.go_to([int(move) for move in command["moves"]])


@dataclass(frozen=True)
class Mirror:
    """What a rank other than 0 has of a player: a tree, and the game."""

    forest: _core.Forest
    game: Any


class RanksOfJob(Trees):
    """The trees of the ranks of this job, on rank 0. On any other rank it is not made: the process ends here."""

    def __init__(self, player: "Player") -> None:
        job = open_job(describe(player))
        if job.link.rank > 0:
            job.serve(player.threads)
            raise SystemExit(0)
        self.job = job
        self.ranks = job.link.size
        self.tree, port = job.new_tree(player)
        weakref.finalize(self, job.close_tree, self.tree)
        assert player.share is not None
        share = shares.to_json(player.share)
        own = make_tree(player.game, player.search, player.parallel, player.seed, share, port)
        super().__init__(own, port, player.share)
        self._is_thinking = False
        self._in_step = player.share.in_step

    def begin(self, playouts: int, threads: int) -> None:
        self.stop()
        self._is_thinking = True
        each = parts(playouts, self.ranks)
        busy = isinstance(self.share, Treesplit)
        self._tell("begin", playouts=each, busy=busy)
        self.job.link.is_busy = busy
        self.own.begin(each[0], threads)

    def wait(self, seconds: float) -> bool:
        """Wait at most that long for the end of thinking on all ranks that are there."""
        end = time.monotonic() + seconds
        while True:
            over = self.own.wait(max(0.0, min(LOOK_UP, end - time.monotonic())))
            whole = self.job.check(self.tree)
            if not self._is_thinking or (not whole and (over or self._in_step)):
                return True
            if over and self.own.finish(max(0.0, min(LOOK_UP, end - time.monotonic()))):
                return True
            if time.monotonic() >= end:
                return False

    def request_stop(self) -> None:
        self._tell("halt")
        self.own.request_stop()

    def stop(self) -> None:
        """End the thinking; whoever does not say the last of it within a moment is not waited for."""
        if not self._is_thinking:
            return
        self._is_thinking = False
        self.job.link.in_haste = True
        try:
            self._tell("stop")
            self.own.stop()
            end = time.monotonic() + LAST_WORD
            while not self.own.finish(LOOK_UP) and self.job.check(self.tree) and time.monotonic() < end:
                pass
        finally:
            self.job.link.in_haste = self.job.link.is_busy = False

    @property
    def spent(self) -> tuple[int, float]:
        return self.own.report().playouts, self.own.spent[1]

    def play(self, move: int) -> None:
        self.stop()
        self._tell("play", move=move)
        self.own.play(move)

    def go_to(self, moves: list[int]) -> None:
        self.stop()
        self._tell("go_to", moves=moves)
        self.own.go_to(moves)

    def _tell(self, what: str, **more: Any) -> None:
        self.job.tell({"do": what, "tree": self.tree, **more})


def open_job(settings: dict[str, Any]) -> Job:
    """Return this rank's part in the job; the first time, with what must be the same on all ranks."""
    global _job
    if _job is None:
        import mpi4py

        mpi4py.rc.thread_level = "serialized"  # one thread calls it, the link's; unless a script has begun otherwise
        check_mpi("mpiexec -n 4 playout gtp --share averaged")
        _job = Job()
        _job.meet(settings)
    if _job.refused:
        raise InputError(_job.refused)
    return _job


def failure() -> bool:
    """Whether a rank of this job has been lost."""
    return _job is not None and not _job.is_whole()


def describe(player: "Player") -> dict[str, Any]:
    """Return what a player's trees are made of, as JSON."""
    return {
        "game": travel.pack(player.game),
        "search": searches.to_json(player.search),
        "parallel": parallels.to_json(player.parallel),
        "seed": player.seed,
        "share": shares.to_json(player.share),
    }


def make_tree(game: Any, search: Any, parallel: Any, seed: int, share: Command, port: _core.Port) -> _core.Forest:
    wide = None if parallel is None else parallel.wide
    settings = search.engine_settings(game, wide)
    return make_forest(game.engine(), settings, seed, width_of(wide), port, shares.from_json(share))


def _difference(one: Any, other: Any, where: str) -> str:
    """Return the first thing in which two settings differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in [*one, *other]:
            if one.get(key) != other.get(key):
                return _difference(one.get(key), other.get(key), key)
    return f"{where} is {short(other)} there and {short(one)} here"


def _words(error: Exception) -> str:
    return str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"


def _say(line: str) -> None:
    print(f"playout: {line}", file=sys.stderr, flush=True)
