"""Who plays: a program that speaks GTP, or one of Playout's own players."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from playout import parallel as parallels
from playout import search as searches
from playout import share as shares
from playout.errors import InputError, check_choice, check_integer, check_number, check_positive, short, whole_number
from playout.gtp.engine import Settings, usual_search
from playout.match.process import split
from playout.parallel import MAX_THREADS, Leaf, Root, Tree
from playout.play import MAX_VISITS
from playout.problems.go import PLAYOUTS
from playout.share import SHARES, Share, check_share
from playout.uct import BANDITS, UCT

OWN = "playout:"  # what the name of one of Playout's own players begins with
MEMORY = 256  # MB of a tree, unless told otherwise: there are two of them in each game at the same time
STRATEGIES: dict[str, Callable[[int], Any]] = {"tree": lambda threads: Tree(), "root": Root, "leaf": Leaf}


@dataclass(frozen=True)
class Contestant:
    """One of Playout's own players: it plays as ``playout gtp`` does, but in this process, with one tree a game.

    Parameters
    ----------
    search
        A :class:`playout.UCT`; if None, that of ``playout gtp`` with 256 MB of memory: RAVE, all of the playouts.
    playouts, seconds
        What it has for a move; at least one is required.
    threads, parallel, share, ranks
        As of :class:`playout.Player`; the ranks are in this process.
    policy
        The playouts of its ``Go``: ``"light"``, at random, or ``"heavy"``, which know some Go.
    resign
        The chance to win, 0 to 0.5, below which the game is hopeless; it resigns after five such moves in a row. 0:
        never.
    name
        What to call it; if None, its settings.
    """

    search: UCT | None = None
    playouts: int | None = None
    seconds: float | None = None
    threads: int = 1
    parallel: Tree | Leaf | Root | None = None
    policy: str = "heavy"
    resign: float = 0.1
    name: str | None = None
    share: Share | None = None
    ranks: int | None = None

    def __post_init__(self) -> None:
        if self.search is None:
            self._set("search", usual_search(self.playouts, MEMORY))
        if not isinstance(self.search, UCT):
            raise InputError(f"search is {short(self.search)}; a player needs UCT()")
        if self.playouts is None and self.seconds is None:
            raise InputError("a contestant has no budget for a move: give it playouts or seconds, or both")
        if self.playouts is not None:
            self._set("playouts", check_integer("playouts", self.playouts, 1, MAX_VISITS))
        if self.seconds is not None:
            self._set("seconds", check_positive("seconds", self.seconds))
        self._set("threads", check_integer("threads", self.threads, 1, MAX_THREADS))
        if self.parallel is not None and not isinstance(self.parallel, (Tree, Leaf, Root)):
            raise InputError(f"parallel is {short(self.parallel)}; allowed are Tree(), Leaf() and Root()")
        if self.share is not None and self.ranks is None:
            raise InputError("a contestant that shares needs ranks, all in this process: give it ranks=2, say")
        if self.ranks is not None:
            check_share(self.share, self.ranks)
        self._set("resign", check_number("resign", self.resign, 0.0, 0.5))
        if self.name is not None:
            _check_name(self.name)
        self.settings()  # raises where an engine cannot play so

    def _set(self, field: str, value: Any) -> None:
        object.__setattr__(self, field, value)

    @classmethod
    def parse(cls, text: str) -> "Contestant":
        """Return the player that ``playout:playouts=1000,policy=light`` names."""
        given: dict[str, Any] = {}
        for word in filter(None, text.removeprefix(OWN).split(",")):
            key, equals, value = word.partition("=")
            if key not in OPTIONS or not equals:
                known = ", ".join(OPTIONS)
                raise InputError(
                    f"{short(word)} is no setting of a player; write it as playouts=1000; there are {known}"
                )
            given[key] = OPTIONS[key](key, value)
        bandit = {"name": given.pop("bandit", "rave")}
        if "exploration" in given:
            bandit["exploration"] = given.pop("exploration")
        settings = {key: given.pop(key) for key in ("memory", "expand_after", "graph") if key in given}
        if "share" in given:
            given["share"] = SHARES[given["share"]]()
        if "parallel" in given:
            given["parallel"] = STRATEGIES[given["parallel"]](given.get("threads", 1))
        usual = usual_search(given.get("playouts"), MEMORY)
        return cls(replace(usual, bandit=bandit, **settings), **given)  # type: ignore[arg-type]

    def settings(self, **game: Any) -> Settings:
        """Return the settings of an engine that plays so; of a game there are size, komi, ko and seed."""
        names = ("search", "playouts", "seconds", "threads", "parallel", "policy", "resign", "share", "ranks")
        return Settings(**{name: getattr(self, name) for name in names}, **game)

    def title(self) -> str:
        """Return what it is called."""
        if self.name is not None:
            return self.name
        assert self.search is not None
        words = [f"playout {self.search.bandit.name}"]
        words += [] if self.policy == "heavy" else [self.policy]
        words += [f"{self.playouts:,} playouts"] if self.playouts else []
        words += [f"{self.seconds:g} s"] if self.seconds else []
        words += [f"{self.threads} threads"] if self.threads > 1 else []
        words += [f"{self.ranks} ranks"] if self.ranks else []
        return " ".join(words)

    def to_json(self) -> dict[str, Any]:
        own = {key: getattr(self, key) for key in ("playouts", "seconds", "threads", "policy", "resign")}
        ranks = {} if self.share is None else {"share": shares.to_json(self.share), "ranks": self.ranks}
        return {**own, "search": searches.to_json(self.search), "parallel": parallels.to_json(self.parallel), **ranks}


@dataclass(frozen=True)
class Program:
    """A program that speaks the Go Text Protocol: the words of its command line."""

    words: tuple[str, ...]

    def title(self) -> str:
        return Path(self.words[0]).name

    def to_json(self) -> list[str]:
        return list(self.words)


def contestant(given: Any) -> Contestant | Program:
    """Return who plays: a :class:`Contestant`, or the program of a command line."""
    if isinstance(given, Contestant):
        return given
    if not isinstance(given, str):
        raise InputError(f"{short(given)} cannot play; give the command line of a GTP engine, or a Contestant()")
    return Contestant.parse(given) if given.startswith(OWN) else Program(tuple(split(given)))


def titles(one: Contestant | Program, other: Contestant | Program) -> tuple[str, str]:
    """Return what both are called, so that they can be told apart."""
    first, second = one.title(), other.title()
    if first == second:
        first, second = (
            shlex.join(player.words) if isinstance(player, Program) else player.title() for player in (one, other)
        )
    return (f"{first} (1)", f"{second} (2)") if first == second else (first, second)


def _check_name(name: Any) -> str:
    if not isinstance(name, str) or not name.strip() or not name.isprintable() or len(name) > 200:
        raise InputError(f"name is {short(name)}; a line of text is needed")
    return name


def _number(key: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{key} is {short(text)}; a number is needed") from None


def _yes(key: str, text: str) -> bool:
    return check_choice(key, text, ("yes", "no")) == "yes"


OPTIONS: dict[str, Callable[[str, str], Any]] = {
    "playouts": whole_number,
    "seconds": _number,
    "policy": lambda key, text: check_choice(key, text, PLAYOUTS),
    "threads": whole_number,
    "bandit": lambda key, text: check_choice(key, text, BANDITS),
    "exploration": _number,
    "memory": whole_number,
    "expand_after": whole_number,
    "graph": _yes,
    "parallel": lambda key, text: check_choice(key, text, STRATEGIES),
    "share": lambda key, text: check_choice(key, text, SHARES),
    "ranks": whole_number,
    "resign": _number,
    "name": lambda key, text: text,
}
