"""``playout gtp`` as clients and people use it: a program at the other end of two pipes."""

import os
import re
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from playout.gtp import Engine, Settings
from playout.play import Player
from tests.gtp.talk import COMMAND, answers, program, serve_bytes

INFO = re.compile(
    r"info move (\S+) visits (\d+) winrate (\d+) prior \d+ lcb (\d+) order (\d+) pv((?: (?:[A-T]\d+|pass))+)"
)


def said_by(lines, *options, **more):
    return subprocess.run([*COMMAND, *options], input=lines, capture_output=True, timeout=300, **more)


def test_the_end_of_the_input_is_the_end():
    done = said_by(b"name\ngenmove b", "--size", "5", "--playouts", "50")
    assert done.returncode == 0
    assert answers(done.stdout)[0] == "= Playout"
    assert len(answers(done.stdout)) == 2
    assert b"playout: black: " in done.stderr
    assert b"Traceback" not in done.stderr


def test_no_input_at_all():
    command = " ".join(COMMAND)
    done = subprocess.run(f"{command} <&-", shell=True, capture_output=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_nothing_to_read():
    done = subprocess.run(COMMAND, stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("line", [None, "genmove b", "lz-analyze 10"])
def test_signals_end_it_cleanly(number, line):
    with program("--size", "9", "--seconds", "3000") as engine:
        assert engine.ask("name") == "= Playout"
        if line is not None:
            engine.send(line)
            time.sleep(0.5)
        engine.process.send_signal(number)
        out, err = engine.process.communicate(timeout=60)
        assert engine.process.returncode == 128 + number
        assert b"Traceback" not in err
        answers(out)


def test_nobody_reads_the_answers():
    with program("--size", "9", "--playouts", "10") as engine:
        engine.ask("name")
        engine.process.stdout.close()
        engine.send("genmove b")
        assert engine.process.wait(timeout=60) != 0
        assert b"Traceback" not in engine.process.stderr.read()


def test_analysis_stops_when_the_next_command_comes():
    with program("--size", "9") as engine:
        engine.send("7 lz-analyze 10")
        assert engine.line() == "=7 \n"
        seen = [engine.line() for _ in range(3)]
        engine.send("name")
        rest = engine.answer()
        assert engine.answer() == "= Playout"
        for line in [*seen, *rest.splitlines()]:
            found = INFO.findall(line)
            assert " ".join(f"info move {m} visits" for m, *_ in found) == " ".join(
                re.findall(r"info move \S+ visits", line)
            )
            assert INFO.sub("", line).strip() == ""
            visits = [int(one[1]) for one in found]
            assert visits == sorted(visits, reverse=True)
            assert [int(one[4]) for one in found] == list(range(len(found)))
            assert all(0 <= int(lower) <= int(winrate) <= 10_000 for _, _, winrate, lower, *_ in found)
            assert all(pv.split()[0] == move for move, *_, pv in found)


@pytest.mark.parametrize("line", ["lz-analyze", "lz-analyze w", "lz-analyze b 20", "lz-analyze white interval 20"])
def test_ways_to_ask_for_analysis(line):
    with program("--size", "5") as engine:
        engine.send(f"{line}\nplay b A1\nquit")
        assert engine.answer().partition("\n")[0] == "= "  # perhaps with something to show
        assert engine.answer() == "= "
        assert engine.answer() == "= "
        assert engine.process.wait(timeout=60) == 0


def test_moves_that_are_watched():
    with program("--size", "5", "--seconds", "1.5") as engine:
        first, *lines, last = engine.ask("3 lz-genmove_analyze b 10").splitlines()
        assert first == "=3 "
        assert re.fullmatch(r"play ([A-E][1-5]|PASS)", last)
        assert lines
        assert all(line.startswith("info move ") for line in lines)
        assert "move 2: white is next" in engine.ask("showboard")


def test_the_end_of_the_input_ends_an_analysis():
    done = said_by(b"lz-analyze 1000", "--size", "5")
    assert (done.returncode, done.stdout) == (0, b"= \n\n")


def test_no_game_is_lost_on_time(monkeypatch):
    """Six seconds for all moves of a game, on a simulated clock that adds a little to each search."""
    now, think = [100.0], Player.think

    def timed(player, *, seconds=None, playouts=None, on_event=None):
        now[0] += (seconds or 0.0) + 0.02
        return replace(think(player, playouts=player.least_playouts + 20), seconds=seconds or 0.0)

    monkeypatch.setattr(Player, "think", timed)
    monkeypatch.setattr("playout.gtp.engine.time", SimpleNamespace(monotonic=lambda: now[0]))
    engine = Engine(Settings(size=7, threads=1, memory=16))
    serve_bytes(b"time_settings 6 0 0\n", engine)
    spent = moves = 0
    while moves < 40:
        begin = now[0]
        move = engine.genmove("black", begin)
        spent += now[0] - begin
        moves += 1
        if move in ("pass", "resign") or engine.genmove("white", now[0]) in ("pass", "resign"):
            break
    engine.close()
    assert moves > 10
    assert 1 < spent < 6


@pytest.mark.parametrize(
    "settings",
    [
        "time_settings 0 2 1",
        "kgs-time_settings byoyomi 0 2 5",
        "kgs-time_settings absolute 3",
        "time_left b 2 0",
        "time_left b 2 1",
        "time_settings 0 0 0",
    ],
)
def test_clocks_of_all_kinds_end_a_move(settings):
    """Without one it would think for most of an hour."""
    with program("--size", "9", "--seconds", "3000") as engine:
        assert engine.ask(settings) == "= "
        assert re.fullmatch(r"= [A-J]\d", engine.ask("genmove b"))


@pytest.mark.parametrize("last", ["kgs-time_settings none", "time_settings 5 5 0"])
def test_without_a_clock_the_time_is_what_was_asked_for(last):
    engine = Engine(Settings(size=5, memory=16, seconds=1.0, threads=1))
    serve_bytes(f"time_settings 1 0 0\n{last}\n".encode(), engine)
    assert all(clock.budget(10) is None for clock in engine.clocks.values())


def test_each_game_has_the_time_that_was_set():
    engine = Engine(Settings(size=5, memory=16, playouts=5, threads=1))
    serve_bytes(b"time_settings 60 0 0\ngenmove b\ntime_left w 7 0\nundo\n", engine)
    assert 0 < engine.clocks["black"].left < 60
    assert engine.clocks["white"].left == 7
    serve_bytes(b"clear_board\n", engine)
    assert [clock.left for clock in engine.clocks.values()] == [60, 60]


def test_pondering_is_of_use():
    """What was found while the opponent thought is there when the opponent plays what was expected."""
    engine = Engine(Settings(size=5, playouts=50, ponder=True, threads=1, memory=16))
    engine.genmove("black", time.monotonic())
    engine.ponder()
    end = time.monotonic() + 60
    while engine._player.analysis().simulations < 2000 and time.monotonic() < end:
        time.sleep(0.01)
    expected = engine._player.analysis()
    assert expected.player == "white"
    engine.history.play("white", expected.move)
    kept = engine._follow("black").analysis()
    engine.close()
    assert kept.player == "black"
    assert kept.simulations > 200


def test_without_pondering_nothing_goes_on():
    engine = Engine(Settings(size=5, playouts=50, threads=1, memory=16))
    engine.genmove("black", time.monotonic())
    engine.ponder()
    before = engine._player.analysis().simulations
    time.sleep(0.2)
    assert engine._player.analysis().simulations == before
    engine.close()


def test_the_log_has_what_came_and_went(tmp_path):
    log = tmp_path / "gtp.log"
    for _ in range(2):
        said_by(b"1 name # hello\nquit\n", "--log", log)
    lines = [line.split(" ", 2)[2] for line in log.read_text().splitlines()]
    assert lines == ["< 1 name # hello", "> =1 Playout", "< quit", "> = "] * 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full disk to write to")
def test_a_full_disk_ends_the_log_and_not_the_game():
    done = said_by(b"name\nversion\n", "--log", "/dev/full")
    assert (done.returncode, len(answers(done.stdout))) == (0, 2)
    assert b"the log ends here: No space left on device" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full disk to write to")
@pytest.mark.parametrize("line", [b"name\n", b"lz-analyze 10\n"])
def test_a_full_disk_ends_an_engine_that_writes_to_it(line):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(COMMAND, input=line, stdout=full, stderr=subprocess.PIPE, timeout=300)
    assert (done.returncode, done.stderr) == (2, b"playout: standard output: No space left on device\n")


def test_nobody_reads_standard_error():
    read, write = os.pipe()
    os.close(read)
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with program("--size", "5", "--playouts", "5", stderr=write, env=usual) as engine:
        os.close(write)
        assert engine.ask("genmove b")[0] == "="
        assert engine.ask("name") == "= Playout"
        assert engine.ask("quit") == "= "
        assert engine.process.wait(timeout=60) == 0


def test_mistakes_on_the_command_line(tmp_path):
    for options, message in [
        (["--size", "0"], "size is 0; allowed are whole numbers from 1 to 25"),
        (["--log", str(tmp_path)], "cannot write"),
    ]:
        done = said_by(b"name\n", *options)
        assert (done.returncode, done.stdout) == (2, b"")
        assert message in done.stderr.decode()


def test_help_teaches():
    done = said_by(b"", "--help")
    text = done.stdout.decode()
    assert done.returncode == 0
    for word in ("Sabaki", "GNU Go", "--ponder", "--light", "--playouts", "--memory"):
        assert word in text


def test_a_terminal_is_greeted(tmp_path):
    leader, follower = os.openpty()
    try:
        with program("--size", "5", stdin=follower) as engine:
            os.write(leader, b"name\nquit\n")
            assert engine.process.wait(timeout=60) == 0
            assert b"showboard" in engine.process.stderr.read()
            assert engine.process.stdout.read() == b"= Playout\n\n= \n\n"
    finally:
        os.close(leader)
        os.close(follower)
