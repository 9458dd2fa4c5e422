"""The commands of the protocol: what each does with its words."""

import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import playout
from playout.clock import MAX_COUNT, MAX_SECONDS, Clock
from playout.errors import InputError
from playout.gtp import board, live
from playout.gtp.engine import LEAST_SIDE, Engine
from playout.gtp.protocol import SYNTAX, GtpError, colour, integer, number, vertex
from playout.gtp.status import written
from playout.problems.go import MAX_KOMI, MAX_SIDE, Go


@dataclass(frozen=True)
class Call:
    """A command on its way.

    Attributes
    ----------
    engine
        Who is asked.
    words
        The arguments.
    began
        When it came, by ``time.monotonic``.
    send
        Sends a line of an answer that is longer in coming.
    wait
        Waits for the next command, so many seconds at most; true once it is there.
    """

    engine: Engine
    words: tuple[str, ...]
    began: float
    send: Callable[[str], object]
    wait: Callable[[float], bool]


# About the engine


def _say(text: str, call: Call) -> str:
    return text


def _version(call: Call) -> str:
    return playout.__version__


def _known(call: Call) -> str:
    return "true" if call.words[0] in COMMANDS else "false"


def _list(call: Call) -> str:
    return "\n".join(COMMANDS)


# The game


def _boardsize(call: Call) -> str:
    size = integer(call.words[0])
    if not LEAST_SIDE <= size <= MAX_SIDE:
        raise GtpError("unacceptable size")
    call.engine.clear(size)
    return ""


def _clear(call: Call) -> str:
    call.engine.clear()
    return ""


def _komi(call: Call) -> str:
    komi = number(call.words[0])
    if abs(komi) > MAX_KOMI:
        raise GtpError(SYNTAX)
    call.engine.history.set_komi(komi)
    return ""


def _play(call: Call) -> str:
    mover, where = colour(call.words[0]), vertex(call.words[1])
    try:
        call.engine.history.play(mover, where)
    except InputError:
        raise GtpError("illegal move") from None
    return ""


def _undo(call: Call) -> str:
    try:
        call.engine.history.undo()
    except InputError:
        raise GtpError("cannot undo") from None
    return ""


def _showboard(call: Call) -> str:
    history = call.engine.history
    says = "the game is over" if history.finished else f"move {history.count + 1}: {history.to_move} is next"
    return board.draw(history.cells(), history.size, history.captured(), f"{says}; komi is {history.game.komi:g}")


def _loadsgf(call: Call) -> str:
    before = integer(call.words[1]) if len(call.words) > 1 else None
    if before is not None and before < 1:
        raise GtpError(SYNTAX)
    _check_plain(Path(call.words[0]))
    try:
        call.engine.load(call.words[0], None if before is None else before - 1)
    except InputError as error:
        raise GtpError(f"cannot load file: {error}") from None
    return ""


def _check_plain(path: Path) -> None:
    """Refuse what is there and is no plain file: a pipe may never have anything to read."""
    with suppress(OSError):  # the reader says what is wrong
        if not stat.S_ISREG(path.stat().st_mode):
            raise GtpError("cannot load file: it is not a file")


# Handicap


def _on_empty_board(call: Call) -> None:
    if not call.engine.history.is_empty:
        raise GtpError("board not empty")


def _fixed_handicap(call: Call) -> str:
    stones, size = integer(call.words[0]), call.engine.history.size
    if not 2 <= stones <= Go(size).most_handicap():
        raise GtpError("invalid number of stones")
    return _placed(call, Go(size, handicap=stones).handicap_stones())


def _place_free_handicap(call: Call) -> str:
    stones, size = integer(call.words[0]), call.engine.history.size
    if not 2 <= stones < size * size:
        raise GtpError("invalid number of stones")
    return _placed(call, board.free_handicap(size, stones))


def _set_free_handicap(call: Call) -> str:
    try:
        _placed(call, [vertex(word) for word in call.words])
    except InputError:
        raise GtpError("bad vertex list") from None
    return ""


def _placed(call: Call, stones: list[str]) -> str:
    _on_empty_board(call)
    call.engine.place(stones)
    return " ".join(stones)


# Moves


def _genmove(call: Call) -> str:
    return _shown(call.engine.genmove(colour(call.words[0]), call.began))


def _cleanup(call: Call) -> str:
    return _shown(call.engine.genmove(colour(call.words[0]), call.began, cleanup=True))


def _reg_genmove(call: Call) -> str:
    return _shown(call.engine.suggest(colour(call.words[0]), call.began))


def _shown(move: str) -> str:
    return "PASS" if move == board.PASS else move


def _lz_analyze(call: Call) -> str:
    who, interval = live.arguments(call.words, call.engine.history.to_move)
    show = live.shower(call.engine, call.send)
    call.send("")
    call.engine.analyze(who, interval, call.wait, show)
    return ""


def _lz_genmove_analyze(call: Call) -> str:
    who, interval = live.arguments(call.words, call.engine.history.to_move)
    show = live.every(interval, live.shower(call.engine, call.send))
    call.send("")
    return f"play {_shown(call.engine.genmove(who, call.began, on_event=show))}"


# The end


def _final_score(call: Call) -> str:
    return written(call.engine.judge().score().margin)


def _final_status_list(call: Call) -> str:
    if call.words[0] not in ("dead", "alive", "seki"):
        raise GtpError(SYNTAX)
    judged = call.engine.judge()
    chains = {"dead": judged.dead, "alive": judged.alive, "seki": []}[call.words[0]]
    return "\n".join(" ".join(chain) for chain in chains)


# Time


def _seconds(word: str) -> float:
    seconds = number(word)
    if not 0 <= seconds <= MAX_SECONDS:
        raise GtpError(SYNTAX)
    return seconds


def _count(word: str) -> int:
    count = integer(word)
    if not 0 <= count <= MAX_COUNT:
        raise GtpError(SYNTAX)
    return count


def _time_settings(call: Call) -> str:
    main, period, stones = _seconds(call.words[0]), _seconds(call.words[1]), _count(call.words[2])
    unlimited = period > 0 and stones == 0
    call.engine.set_clock(Clock() if unlimited else Clock.canadian(main, period, stones))
    return ""


def _kgs_time_settings(call: Call) -> str:
    kind, words = call.words[0].lower(), call.words[1:]
    counts = {"none": 0, "absolute": 1, "byoyomi": 3, "canadian": 3}
    if kind not in counts or len(words) != counts[kind]:
        raise GtpError(SYNTAX)
    if kind == "none":
        call.engine.set_clock(Clock())
    elif kind == "absolute":
        call.engine.set_clock(Clock.absolute(_seconds(words[0])))
    else:
        make = Clock.byoyomi if kind == "byoyomi" else Clock.canadian
        call.engine.set_clock(make(_seconds(words[0]), _seconds(words[1]), _count(words[2])))
    return ""


def _time_left(call: Call) -> str:
    call.engine.tell_clock(colour(call.words[0]), _seconds(call.words[1]), _count(call.words[2]))
    return ""


@dataclass(frozen=True)
class Command:
    """What does it, and how many words it takes."""

    run: Callable[[Call], str]
    least: int
    most: int


def _command(run: Callable[[Call], str], least: int = 0, most: int | None = None) -> Command:
    return Command(run, least, least if most is None else most)


MANY = 10_000
COMMANDS: dict[str, Command] = {
    "protocol_version": _command(partial(_say, "2")),
    "name": _command(partial(_say, "Playout")),
    "version": _command(_version),
    "known_command": _command(_known, 1),
    "list_commands": _command(_list),
    "quit": _command(partial(_say, "")),
    "boardsize": _command(_boardsize, 1),
    "clear_board": _command(_clear),
    "komi": _command(_komi, 1),
    "play": _command(_play, 2),
    "genmove": _command(_genmove, 1),
    "undo": _command(_undo),
    "showboard": _command(_showboard),
    "loadsgf": _command(_loadsgf, 1, 2),
    "reg_genmove": _command(_reg_genmove, 1),
    "fixed_handicap": _command(_fixed_handicap, 1),
    "place_free_handicap": _command(_place_free_handicap, 1),
    "set_free_handicap": _command(_set_free_handicap, 2, MANY),
    "time_settings": _command(_time_settings, 3),
    "kgs-time_settings": _command(_kgs_time_settings, 1, 4),
    "time_left": _command(_time_left, 3),
    "final_score": _command(_final_score),
    "final_status_list": _command(_final_status_list, 1),
    "kgs-genmove_cleanup": _command(_cleanup, 1),
    "lz-analyze": _command(_lz_analyze, 0, 4),
    "lz-genmove_analyze": _command(_lz_genmove_analyze, 0, 4),
}


def run(name: str, call: Call) -> str:
    """Do what a command asks and return the answer; raises GtpError if it fails."""
    command = COMMANDS.get(name)
    if command is None:
        raise GtpError("unknown command")
    if not command.least <= len(call.words) <= command.most:
        raise GtpError(SYNTAX)
    return command.run(call)
