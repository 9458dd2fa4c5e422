"""Ranks of a real MPI job that think about one game, on this machine: what the user types, and what befalls them."""

import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import playout as po
from tests import program
from tests.cluster.test_mpi import MPIEXEC, PLAYOUT, ranks, ranks_below, words_of
from tests.gtp.talk import Program, board

pytestmark = pytest.mark.skipif(
    not MPIEXEC.exists(), reason="there is no mpiexec beside Python; the mpi extra brings it"
)
GTP = [*PLAYOUT, "gtp", "--size", "5", "--memory", "16", "--threads", "1"]


@contextmanager
def engine(count, *options):
    """``mpiexec -n COUNT playout gtp ...``, with a client at its other end."""
    command = [MPIEXEC, "-n", str(count), *GTP, *map(str, options)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:
        try:
            yield Program(process)
        finally:
            for pid in by_rank(process.pid).values():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.kill()


def by_rank(pid):
    """The processes of a job by their ranks."""
    found = {}
    for child in ranks_below(pid):
        for word in words_of(child, "environ"):
            if word.startswith("PMI_RANK="):
                found[int(word.partition("=")[2])] = int(child)
    return found


def run_script(count, text, folder, **options):
    script = folder / "script.py"
    script.write_text(textwrap.dedent(text))
    return ranks(count, sys.executable, script, cwd=folder, **options)


@pytest.mark.parametrize("share", ["averaged", "broadcast", "treesplit"])
def test_a_job_is_an_engine(share):
    """Rank 0 talks; all think; their trees follow the game through moves, undo, a new game and pondering."""
    with engine(3, "--share", share, "--playouts", 300, "--ponder") as program:
        assert program.ask("name") == "= Playout"
        for command in ("genmove b", "play w A1", "genmove b", "undo", "genmove b", "clear_board", "genmove b"):
            assert program.ask(command).startswith("= "), command
        assert "X" in "".join(board(program.ask("showboard")))
        assert program.ask("time_settings 5 0 0") == "= "
        for colour in "wbwb":
            assert program.ask(f"genmove {colour}").startswith("= ")
        assert program.ask("quit") == "= "
        assert program.process.wait(30) == 0
        said = program.process.stderr.read().decode()
    moves = [line for line in said.splitlines() if "3 ranks" in line]
    assert len(moves) == 8
    assert all(int(re.search(r"; ([\d,]+) playouts", line)[1].replace(",", "")) >= 300 for line in moves[:4])
    assert "Traceback" not in said


def test_live_analysis():
    with engine(3, "--share", "averaged", "--interval", 0.02) as program:
        program.send("lz-analyze 10")
        assert program.line() == "= \n"
        lines = [program.line() for _ in range(3)]
        program.send("name")
        assert all(line.startswith("info move") for line in lines)
        program.answer()
        assert program.answer() == "= Playout"


PLAYER = """
    import playout as po

    with po.Player(po.Hex(5), po.UCT(po.RAVE()), seed=3, share=po.{share}) as player:
        first = player.think(playouts=611)
        player.play(first.move)
        again = player.think(playouts=300)
        player.undo()
        last = player.think(playouts=90)
    for analysis in (first, again, last):
        print(analysis.move, analysis.ranks, analysis.playouts, analysis.simulations, analysis.nodes)
        print(dict(analysis.visits))
"""


@pytest.mark.parametrize(
    "share",
    ["Averaged(simulations=20)", "Averaged(simulations=20, depth=2, min_visits=3)", "Broadcast(simulations=20)"],
)
def test_a_script_finds_what_ranks_in_one_process_find(share, tmp_path):
    """Bit for bit: in step, it does not matter where the ranks are. Only rank 0 goes on with the script."""
    done = run_script(3, PLAYER.format(share=share), tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    here = textwrap.dedent(PLAYER.format(share=share)).replace("seed=3", "seed=3, ranks=3")
    alone = subprocess.run([sys.executable, "-c", here], capture_output=True, text=True, check=True)
    assert done.stdout == alone.stdout
    assert len(done.stdout.splitlines()) == 6


def test_sums_are_exact_by_the_clock(tmp_path):
    """Over moves and threads, on four ranks and two processors or less: each simulation counts once."""
    script = """
        import playout as po

        search = po.UCT(po.RAVE(), solver=False, early_stop=False)
        by_sums = po.Averaged(interval=0.02), po.Averaged(interval=0.02, depth=2)
        for share in (*by_sums, po.Broadcast(interval=0.01), po.Treesplit()):
            with po.Player(po.Hex(7), search, threads=2, share=share) as player:
                first = player.think(playouts=20_000)
                assert first.simulations == first.playouts == sum(first.visits.values()) == 20_000, first
                assert sum(move.votes for move in first.moves) == (first.ranks if share.votes else 0), first
                assert first.ranks == 4
                player.play(first.move)
                again = player.think(seconds=0.5)
                known = again.simulations - again.playouts
                assert 0 < known <= first.visits[first.move], (known, first)
                assert sum(again.visits.values()) == again.simulations
        print("exact")
    """
    done = run_script(4, script, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "exact\n", "")


def test_a_million_messages_over_mpi(tmp_path):
    script = """
        import time
        import playout.cluster.link as link
        from playout import _core

        MESSAGES = 1_000_000
        done = []
        connection = link.Link(lambda rank, command: done.append(rank))
        rank, size = connection.rank, connection.size
        port = _core.Port(rank, size)
        connection.add_port(0, port)
        connection.start()
        each = MESSAGES // size
        others = [other for other in range(size) if other != rank]
        last = dict.fromkeys(others, -1)
        received = 0

        def receive():
            global received
            while (message := port.receive()) is not None:
                source, kind, content = message
                number = int.from_bytes(content[:8], "little")
                assert number > last[source] and len(content) == 8 + number % 40 and kind == number % 7
                last[source] = number
                received += 1

        for number in range(each):
            port.send(others[number % len(others)], number % 7, number.to_bytes(8, "little") + b"x" * (number % 40))
            if number % 100 == 0:
                receive()
        expected = sum(len(range((others_of.index(rank)), each, size - 1))
                       for other in others for others_of in [[one for one in range(size) if one != other]])
        while received < expected:
            receive()
        for other in others:
            connection.tell(other, {"done": True})
        while len(done) < size - 1:
            time.sleep(0.01)
        assert connection.close() == []
        traffic = port.traffic
        assert traffic.messages_received == expected and traffic.messages_sent == each
        assert traffic.batches_sent < each / 5
        print(f"{received}\\n", end="", flush=True)
    """
    done = run_script(4, script, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert sum(map(int, done.stdout.split())) == 1_000_000


WAITS = pytest.mark.slow("waits for the silence that ends a job")


@pytest.mark.parametrize(
    ("share", "commands", "pause"),
    [
        ("averaged", [], 0.5),
        pytest.param("averaged", ["clear_board", "genmove b"], 0.5, marks=WAITS),
        pytest.param("averaged", [], 6.0, marks=WAITS),
        pytest.param("treesplit", [], 0.5, marks=WAITS),
        ("treesplit", ["clear_board", "genmove b"], 0.5),
    ],
)
def test_a_rank_that_falls_silent_hangs_no_game(share, commands, pause):
    """Rank 0 answers with what it has, says what happened, and ends the job: while it thinks, sets up a game, or waits.

    (mpiexec's status is that of some rank: 3, rank 0's, or 9 of one that was ended.)
    """
    with engine(3, "--share", share, "--seconds", 1) as program:
        assert program.ask("genmove b").startswith("= ")
        program.send("genmove w")
        time.sleep(0.3)
        os.kill(by_rank(program.process.pid)[2], signal.SIGSTOP)
        assert program.answer().startswith("= ")
        answers = []
        for command in [*commands, *("genmove b", "genmove w") * 20]:  # until it is noticed
            time.sleep(pause)
            if by_rank(program.process.pid).keys() != {0, 1, 2}:
                break
            program.send(command)
            answers.append(program.answer())
        assert program.process.wait(30) != 0
        said = program.process.stderr.read().decode()
    assert answers
    assert all(answer.startswith("= ") for answer in answers)
    assert said.count("lost rank 2 on ") == 1
    assert "no sign of life for 5 seconds" in said


@pytest.mark.parametrize("share", [pytest.param("averaged", marks=program.MANY_JOBS), "treesplit"])
def test_a_rank_that_is_only_slow_is_waited_for_no_longer_than_a_moment(share):
    with engine(3, "--share", share, "--seconds", 0.5) as program:
        assert program.ask("genmove b").startswith("= ")
        slow = by_rank(program.process.pid)[1]
        os.kill(slow, signal.SIGSTOP)
        assert program.ask("genmove w").startswith("= ")
        assert program.ask("genmove b").startswith("= ")
        os.kill(slow, signal.SIGCONT)
        for colour in "wbw":
            assert program.ask(f"genmove {colour}").startswith("= ")
        program.ask("quit")
        assert program.process.wait(30) == 0
        lines = program.process.stderr.read().decode().splitlines()
    assert any("3 ranks" in line for line in lines[-2:])
    assert "lost" not in "".join(lines)


def test_a_killed_rank_ends_the_job():
    with engine(3, "--share", "averaged", "--seconds", 5) as program:
        assert program.ask("name") == "= Playout"
        program.send("genmove b")
        time.sleep(0.5)
        os.kill(by_rank(program.process.pid)[1], signal.SIGKILL)
        assert program.process.wait(30) != 0


@pytest.mark.parametrize("victim", ["mpiexec", 0, 2])
def test_a_signal_ends_all_ranks(victim):
    with engine(3, "--share", "averaged", "--seconds", 60) as program:
        assert program.ask("name") == "= Playout"
        program.send("genmove b")
        time.sleep(0.5)
        here = by_rank(program.process.pid)
        os.kill(program.process.pid if victim == "mpiexec" else here[victim], signal.SIGTERM)
        assert program.process.wait(30) == 143
        assert program.answer().startswith("= ")  # what it had
        assert not any(Path(f"/proc/{pid}").exists() for pid in here.values())


def test_the_end_of_the_input_ends_all_ranks():
    with engine(4, "--share", "averaged", "--ponder", "--seconds", 0.2) as program:
        assert program.ask("genmove b").startswith("= ")
        program.process.stdin.close()
        assert program.process.wait(30) == 0


SHARED = ["gtp", "--share", "averaged"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gtp"], "this was started as 2 ranks; say how they share what they learn: --share averaged"),
        (["gtp", "--depth", "2"], "--depth goes with --share"),
        ([*SHARED, "--interval", "-1"], "interval is -1"),
        ([*SHARED, "--depth", "-1"], "depth is -1"),
        ([*SHARED, "--min-visits", "-3"], "min_visits is -3"),
        ([*SHARED, "--size", "99"], "size is 99"),
        (["gtp", "--share", "broadcast", "--depth", "1"], "broadcast has no setting 'depth'"),
        (["gtp", "--share", "treesplit", "--overload", "0.5"], "overload is 0.5"),
        (["gtp", "--share", "treesplit", "--interval", "1"], "treesplit has no setting 'interval'"),
        (["gtp", "--share", "nothing"], "nothing"),
    ],
)
def test_a_mistake_is_said_once_and_ends_all_ranks(arguments, message, tmp_path):
    done = ranks(2, *PLAYOUT, *arguments, cwd=tmp_path, stdin=subprocess.DEVNULL)
    said = [line for line in done.stderr.splitlines() if line]
    assert len(said) == 1
    assert message in said[0]
    assert (done.returncode, done.stdout) == (2, "")


def test_one_rank_shares_with_nobody(tmp_path):
    done = subprocess.run([*PLAYOUT, *SHARED], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 2
    assert "there is one rank only; start several: mpiexec -n 4 playout gtp --share averaged" in done.stderr
    done = run_script(1, "import playout as po; po.Player(po.Hex(5), share=po.Averaged())", tmp_path)
    assert done.returncode == 1
    assert "InputError: there is one rank only" in done.stderr


def several(*commands):
    """Run one job of several commands, a rank each."""
    words = [word for command in commands for word in ("-n", "1", *command, ":")][:-1]
    return subprocess.run(
        [MPIEXEC, *map(str, words)], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL
    )


def test_ranks_with_other_settings_are_refused():
    done = several([*GTP, "--share", "averaged"], [*GTP, "--share", "averaged", "--komi", "5.5"])
    assert done.returncode == 2
    assert "rank 1 on " in done.stderr
    assert "differs from rank 0: komi is 5.5 there and 7.5 here" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    done = several([*GTP, "--share", "averaged"], [*GTP, "--share", "averaged", "--depth", "1"])
    assert "depth is 1 there and 0 here" in done.stderr
    done = several([*GTP, "--share", "averaged"], [*GTP[:-1], "2", "--share", "averaged"])
    assert (done.returncode, done.stderr) == (0, "")  # ranks need not be alike


def test_ranks_of_another_version_are_refused():
    other = "import playout; playout.__version__ = '99.9'; from playout.cli import main; main()"
    done = several([*GTP, "--share", "averaged"], [sys.executable, "-c", other, *GTP[3:], "--share", "averaged"])
    assert done.returncode == 2
    assert f"version is '99.9' there and '{po.__version__}' here" in done.stderr


OWN = """
import os
import playout as po

{first}

class Take(po.Problem):
    State = dict(left="i8", turn="i8")
    max_moves = 2
    compiled = False
    def init(self, s): s.left = 30
    def moves(self, s, out):
        out[0], out[1] = 1, 2
        return min(s.left, 2)
    def play(self, s, move):
        s.left -= move
        s.turn = 1 - s.turn
    def player(self, s): return s.turn
    def score(self, s): return {score}
"""


def test_a_game_that_others_cannot_build_is_said_by_rank_0(tmp_path):
    missing = "if os.environ['PMI_RANK'] != '0': raise ImportError('not on this machine')"
    (tmp_path / "own.py").write_text(OWN.format(first=missing, score="1 if s.turn else -1"))
    script = """
        import playout as po

        with po.Player(po.Hex(4), share=po.Averaged()) as player:
            print(player.think(playouts=30).playouts)
        import own

        try:
            po.Player(own.Take(), share=po.Averaged())
        except po.InputError as error:
            print(error)
        with po.Player(po.Hex(4), share=po.Averaged()) as player:
            print(player.think(playouts=30).playouts)
    """
    done = run_script(3, script, tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert (lines[0], lines[2]) == ("30", "30")
    assert "rank 1 on " in lines[1]
    assert "not on this machine" in lines[1]


PIDS = """
    import os
    from pathlib import Path

    def pid_of(rank):
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "environ").read_bytes().split(bytes(1))
                parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            except OSError:
                continue
            if b"PMI_RANK=%d" % rank in words and int(parent) == os.getppid():
                return int(folder.name)
"""


@pytest.mark.parametrize(
    "share",
    [
        "Averaged(depth=2, min_visits=1)",
        "Treesplit()",
        *(pytest.param(share, marks=program.MANY_JOBS) for share in ("Averaged()", "Broadcast()")),
    ],
)
def test_a_rank_that_was_slow_takes_part_again(share, tmp_path):
    """Stopped for a second, in which the game goes on by two moves: then all add up, and all have a vote."""
    script = f"""
        import signal, time
        import playout as po

        search = po.UCT(po.RAVE(), solver=False, early_stop=False)
        with po.Player(po.Hex(7), search, share=po.{share}) as player:
            player.play(player.think(playouts=3000).move)
            os.kill(pid_of(1), signal.SIGSTOP)
            for _ in range(2):
                player.play(player.think(seconds=0.3).move)
            time.sleep(0.3)
            os.kill(pid_of(1), signal.SIGCONT)
            for _ in range(2):
                time.sleep(0.2)
                analysis = player.think(playouts=6000)
                assert analysis.playouts == 6000, analysis
                assert sum(move.votes for move in analysis.moves) == (3 if player.share.votes else 0), analysis
                assert sum(analysis.visits.values()) == analysis.simulations >= 6000
                player.play(analysis.move)
            player.undo()
            analysis = player.think(playouts=3000)
            assert analysis.playouts == analysis.simulations == 3000, analysis
        print("level")
    """
    done = run_script(3, textwrap.dedent(PIDS) + textwrap.dedent(script), tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "level\n", "")


def test_bytes_that_are_no_messages_end_the_job_and_hang_nobody(tmp_path):
    script = """
        import playout as po
        from playout.cluster.link import TREE

        with po.Player(po.Hex(5), share=po.Averaged()) as player:
            player.think(playouts=100)
            player._forest.job.link._queues[1].append((TREE + player._forest.tree, b"no message"))
            player.think(seconds=30)
    """
    done = run_script(3, script, tmp_path)
    assert done.returncode != 0
    assert "MPI failed: the saved state of the search is damaged" in done.stderr


def test_what_a_game_does_wrong_on_another_rank_is_said_by_rank_0(tmp_path):
    (tmp_path / "own.py").write_text(OWN.format(first="", score="1 / (os.environ['PMI_RANK'] == '0')"))
    script = """
        import playout as po
        from own import Take

        first = po.Player(po.Hex(4), share=po.Averaged())  # the others stay here
        for _ in range(2):
            with po.Player(Take(), share=po.Averaged()) as player:
                try:
                    player.think(seconds=20)
                except po.InputError as error:
                    print(error)
        with po.Player(po.Hex(4), share=po.Averaged()) as player:
            print(player.think(playouts=300).playouts)
    """
    done = run_script(3, script, tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 3
    assert all("ZeroDivisionError" in line and line.startswith("rank ") for line in lines[:2])
    assert lines[2] == "300"


def test_an_exception_on_rank_0_ends_all_ranks(tmp_path):
    script = """
        import playout as po

        player = po.Player(po.Hex(5), share=po.Averaged())
        player.ponder()
        raise RuntimeError("a mistake in the script")
    """
    done = run_script(3, script, tmp_path)
    assert done.returncode == 1
    assert done.stderr.count("RuntimeError: a mistake in the script") == 1


@pytest.mark.slow("compiles a game on each rank")
def test_games_of_users_think_on_other_ranks(tmp_path):
    """Compiled by Numba or plain: what a rank has to ask of Python, its own Python answers."""
    (tmp_path / "nim.py").write_text((Path(__file__).parents[2] / "examples" / "nim.py").read_text())
    script = """
        import playout as po
        from nim import Nim

        with po.Player(Nim([3, 4, 5]), po.UCT(po.RAVE()), share=po.Averaged(interval=0.01)) as player:
            analysis = player.think(playouts=6000)
            print(analysis.ranks, analysis.proven is not None or analysis.playouts == 6000)
    """
    done = run_script(3, script, tmp_path)
    assert (done.returncode, done.stdout) == (0, "3 True\n"), done.stderr
