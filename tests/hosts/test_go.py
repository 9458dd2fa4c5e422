"""One game of Go on three hosts, a rank on each: a whole game against GNU Go, and what befalls a host in the middle."""

import os
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import playout as po
from tests.gtp.talk import Program
from tests.hosts.network import BIN, Host
from tests.hosts.test_mpi import launcher

pytest.importorskip("mpi4py")


def gtp(hosts: list[Host], folder: Path, share: str, *options: str) -> list[str]:
    """Return the command of an engine whose ranks are on these hosts."""
    words = ["gtp", "--share", share, "--threads", "1", "--memory", "64", *options]
    return hosts[0].wrapped([*launcher(hosts, folder), str(BIN / "playout"), *words])


@contextmanager
def engine(hosts: list[Host], folder: Path, *options: str, mpiexec: tuple[str, ...] = ()) -> Iterator[Program]:
    command = gtp(hosts, folder, "averaged", *options)
    at = command.index(str(BIN / "mpiexec")) + 1
    command[at:at] = mpiexec
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=folder, start_new_session=True, **pipes) as process:
        try:
            yield Program(process)
        finally:
            for host in hosts:
                host.kill()
            process.kill()


@pytest.mark.parametrize("share", ["averaged", "broadcast"])
def test_three_hosts_play_a_whole_game_against_gnu_go(
    hosts: list[Host], tmp_path: Path, gnugo: str, share: str
) -> None:
    result = po.match(
        shlex.join(gtp(hosts, tmp_path, share, "--size", "9", "--playouts", "1500")),
        f"{gnugo} --mode gtp --chinese-rules --level 1",
        games=1,
        size=9,
        judge=f"{gnugo} --mode gtp --chinese-rules --level 10",
        sgf=tmp_path / "games",
        patience=60.0,
    )
    (game,) = result.games
    print(game.result, game.reason, len(game.moves), "moves")
    assert "fail" not in game.reason
    assert len(game.moves) > 20


def test_a_host_that_is_cut_off_hangs_no_game(hosts: list[Host], tmp_path: Path) -> None:
    with engine(hosts, tmp_path, "--size", "9", "--seconds", "2") as program:
        assert program.ask("genmove b").startswith("= ")
        hosts[2].cut()
        answers, began = [], time.monotonic()
        while program.process.poll() is None and time.monotonic() < began + 60:
            program.send(f"genmove {'wb'[len(answers) % 2]}")
            line = program.line()
            if not line:
                break
            answers.append(line)
            program.line()
            print(f"{time.monotonic() - began:.1f} s: {line.strip()}")
            time.sleep(0.5)
        status = program.process.wait(30)
        said = program.process.stderr.read().decode()
    print(f"status {status}\n{said}")
    assert status != 0
    assert answers
    assert all(answer.startswith("= ") for answer in answers)
    assert "lost rank 2 on host3" in said


@pytest.mark.parametrize("options", [(), ("-disable-auto-cleanup",)], ids=["usual", "no cleanup"])
def test_a_killed_rank(hosts: list[Host], tmp_path: Path, options: tuple[str, ...]) -> None:
    """What mpiexec makes of it, as it is and with -disable-auto-cleanup; in either case nothing hangs."""
    with engine(hosts, tmp_path, "--size", "9", "--seconds", "2", mpiexec=options) as program:
        assert program.ask("genmove b").startswith("= ")
        program.send("genmove w")
        time.sleep(0.5)
        for pid in hosts[2].pids():
            if "gtp" in Path(f"/proc/{pid}/cmdline").read_text().split("\0"):
                os.kill(pid, signal.SIGKILL)
        began = time.monotonic()
        line = program.line()
        print(f"after {time.monotonic() - began:.1f} s: {line!r}")
        if line.startswith("= "):  # the others go on until rank 0 misses it
            program.line()
            time.sleep(6.0)
            program.send("genmove b")
            print(repr(program.line()))
        status = program.process.wait(30)
        print(f"status {status} after {time.monotonic() - began:.1f} s")
        print(program.process.stderr.read().decode())
    assert status != 0
