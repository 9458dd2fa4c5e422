"""Ranks of a real MPI job, four on this machine: what the user types, signals, kills, and what is said if it cannot be.

mpiexec and MPI itself come with the mpich wheel, which the tests' own environment has.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import playout as po
from playout import GNRPA, MPI, InputError, Root, SameGame, cluster
from tests import program

BIN = Path(sys.executable).parent
MPIEXEC = BIN / "mpiexec"
PLAYOUT = [sys.executable, "-m", "playout"]
GAME = SameGame.standard(1)
SOLVE = ["solve", "samegame:1,tabu=dominant", "--level", "3"]

pytestmark = pytest.mark.skipif(
    not MPIEXEC.exists(), reason="there is no mpiexec beside Python; the mpi extra brings it"
)


def ranks(count, *command, cwd, **options):
    environment = {**os.environ, "COLUMNS": "200", **options.pop("env", {})}
    return subprocess.run(
        [MPIEXEC, "-n", str(count), *map(str, command)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=cwd,
        env=environment,
        **options,
    )


def begin(count, *command, cwd):
    full = [MPIEXEC, "-n", str(count), *PLAYOUT, *map(str, command)]
    return subprocess.Popen(full, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd)


def outcome(result):
    return result.score, result.moves, result.playouts


@pytest.mark.parametrize(
    ("options", "parallel", "problem"),
    [
        (["--parallel", "root", "--jobs", "5"], Root(5), GAME),
        (["--threads", "2"], po.Hybrid(4, 4), GAME),
        pytest.param(
            ["--parallel", "root", "--jobs", "3"], Root(3), SameGame.standard(1, tabu="auto"), marks=program.MANY_JOBS
        ),
    ],
)
def test_four_ranks_find_what_one_process_does(options, parallel, problem, tmp_path):
    named = ["solve", f"samegame:1,tabu={problem.tabu}", "--level", "3"]
    done = ranks(4, *PLAYOUT, *named, "--playouts", 60_000, "--chunk", "0.2", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (saved,) = tmp_path.iterdir()
    result = po.load(saved)
    assert outcome(result) == outcome(po.solve(problem, GNRPA(level=3), playouts=60_000, parallel=parallel, threads=2))
    assert result.provenance["cluster"]["name"] == "mpi"
    assert len({node for island in result.islands for node in island.nodes}) > 1
    assert done.stdout.count(": score ") == 1  # by rank 0
    assert done.stderr.count("at a time (mpi)") == 1


def test_rank_0_works_too(tmp_path):
    done = ranks(2, *PLAYOUT, *SOLVE, "--seconds", 3, "--json", "--quiet", cwd=tmp_path)
    data = json.loads(done.stdout)
    assert done.stderr == ""
    assert len({node for island in data["islands"] for node in island["nodes"]}) == 2


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, *(pytest.param(one, marks=program.MANY_JOBS) for one in (signal.SIGUSR1, signal.SIGINT))]
)
def test_a_signal_ends_it_with_everything_saved(number, tmp_path):
    process = begin(4, *SOLVE, "--seconds", 1000, "--checkpoint", "run.ckpt", "--chunk", 8, "--quiet", cwd=tmp_path)
    wait_for(lambda: playouts_of(tmp_path / "run.ckpt.json") > 0)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number, err
    result = po.load(tmp_path / "run.ckpt.json")
    assert result.interrupted
    assert result.verify() == result.score
    kept = po.checkpoint.load(tmp_path / "run.ckpt")
    assert sum(island["playouts"] for island in kept.islands) == result.playouts
    assert not (tmp_path / "run.ckpt.DONE").exists()
    assert "--resume goes on" in out


def test_a_signal_to_one_rank_is_no_success(tmp_path):
    """It ends the search before its budget, though nobody has told rank 0: a job script must not take it for done."""
    process = begin(3, *SOLVE, "--seconds", 1000, "--checkpoint", "run.ckpt", "--quiet", cwd=tmp_path)
    wait_for(lambda: playouts_of(tmp_path / "run.ckpt.json") > 0)
    os.kill(sorted(int(pid) for pid in ranks_below(process.pid))[-1], signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 3
    assert not (tmp_path / "run.ckpt.DONE").exists()


@program.MANY_JOBS
def test_a_killed_rank_ends_the_job_and_another_number_of_ranks_goes_on(tmp_path, monkeypatch):
    options = [*SOLVE, "--playouts", 150_000, "--parallel", "root", "--jobs", 4, "--checkpoint", "run.ckpt"]
    options += ["--chunk", 0.2, "--output", "run.json"]
    process = begin(4, *options, cwd=tmp_path)
    wait_for(lambda: playouts_of(tmp_path / "run.json") > 0)
    victims = sorted(int(pid) for pid in ranks_below(process.pid))
    os.kill(victims[-1], signal.SIGKILL)
    process.communicate(timeout=60)
    assert process.returncode != 0
    assert not (tmp_path / "run.ckpt.DONE").exists()
    done = ranks(3, *PLAYOUT, *options, "--resume", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run.ckpt.DONE").exists()
    here = po.solve(GAME, GNRPA(level=3), playouts=150_000, parallel=Root(4))
    assert outcome(po.load(tmp_path / "run.json")) == outcome(here)


def test_all_ranks_of_a_script_have_the_result(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import signal\n"
        "import playout as po\n"
        "from mpi4py import MPI\n"
        "result = po.solve(po.SameGame.standard(1), po.GNRPA(level=2), playouts=9000, cluster=po.MPI(chunk=0.2))\n"
        "again = po.solve(po.SameGame.standard(2), po.GNRPA(level=2), playouts=9000, cluster=po.MPI(chunk=0.2))\n"
        "assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL\n"
        "line = f'{MPI.COMM_WORLD.rank} {result.score:g} {again.score:g} {len(result.islands)}'\n"
        "print(line + '\\n', end='', flush=True)\n"
    )
    done = ranks(3, sys.executable, script, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    scores = [
        po.solve(SameGame.standard(board), GNRPA(level=2), playouts=9000, parallel=Root(3)).score for board in (1, 2)
    ]
    assert sorted(done.stdout.splitlines()) == [f"{rank} {scores[0]:g} {scores[1]:g} 3" for rank in range(3)]


def test_a_problem_of_ones_own_on_ranks(tmp_path):
    shutil.copy(Path(__file__).parents[2] / "examples" / "knapsack.py", tmp_path)
    done = ranks(
        3, *PLAYOUT, "solve", "./knapsack.py:problem", "--level", 2, "--playouts", 3000, "--chunk", 0.5, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    (saved,) = tmp_path.glob("*.json")
    checked = [*PLAYOUT, "verify", saved, "--problem", "./knapsack.py:problem"]
    assert subprocess.run(checked, cwd=tmp_path, capture_output=True).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*SOLVE], "no budget"),
        (["solve", "samegame:99", "--playouts", "10"], "99"),
        ([*SOLVE, "--playouts", "10", "--iterations", "0"], "iterations is 0"),
        ([*SOLVE, "--playouts", "10", "--nonsense"], "--nonsense"),
        ([*SOLVE, "--playouts", "10", "--threads", "0"], "threads is 0"),
        ([*SOLVE, "--playouts", "10", "--scheduler", "x"], "--scheduler does not go with --cluster mpi"),
        ([*SOLVE, "--playouts", "10", "--output", "/no/such/folder/x"], "cannot write"),
    ],
)
def test_a_mistake_is_said_once_and_ends_all_ranks(arguments, message, tmp_path):
    done = ranks(2, *PLAYOUT, *arguments, cwd=tmp_path)
    said = [line for line in done.stderr.splitlines() if line.startswith("playout:")]
    assert len(said) == 1
    assert message in said[0]
    assert done.returncode == 2


def test_a_mistake_in_a_search_is_said_once(tmp_path):
    (tmp_path / "own.py").write_text(
        "import playout as po\n"
        "class Fails(po.Problem):\n"
        "    State = dict(left='i8', sum='i8')\n"
        "    max_moves = 2\n"
        "    compiled = False\n"
        "    def init(self, s): s.left = 11\n"
        "    def moves(self, s, out):\n"
        "        out[0], out[1] = 0, 1\n"
        "        return 2 if s.left else 0\n"
        "    def play(self, s, move):\n"
        "        s.left -= 1\n"
        "        s.sum += move\n"
        "    def score(self, s): return 1 / (11 - s.sum)\n"
        "problem = Fails()\n"
    )
    done = ranks(2, *PLAYOUT, "solve", "./own.py:problem", "--playouts", 100_000, "--level", 1, cwd=tmp_path)
    assert done.returncode == 3
    assert done.stderr.count("ZeroDivisionError") == 1


def test_another_cluster_is_not_run_by_every_rank(tmp_path):
    done = ranks(2, *PLAYOUT, *SOLVE, "--seconds", 1, "--cluster", "local", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("this was started as 2 ranks; leave out mpiexec") == 1
    assert not list(tmp_path.iterdir())


def test_one_rank_is_not_a_cluster(tmp_path):
    alone = subprocess.run(
        [*PLAYOUT, *SOLVE, "--playouts", "10", "--cluster", "mpi"], capture_output=True, text=True, cwd=tmp_path
    )
    assert alone.returncode == 2
    assert "there is one rank only; start several: mpiexec -n 4 playout solve" in alone.stderr
    done = ranks(1, *PLAYOUT, *SOLVE, "--playouts", 10, "--quiet", cwd=tmp_path)
    assert done.returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_a_launcher_of_another_mpi_is_found_out(tmp_path):
    """Started by an mpiexec that this MPI knows nothing of, each process would take itself for the only one."""
    said = []
    for rank in range(2):
        other = {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": "2"}
        done = subprocess.run(
            [*PLAYOUT, *SOLVE, "--playouts", "10"],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, **other},
        )
        assert done.returncode == 2
        said += done.stderr.splitlines()
    assert len(said) == 1
    assert "this was started as 2 ranks, but MPI knows of 1: mpiexec or srun belongs to another MPI" in said[0]


def test_without_mpi4py(tmp_path, monkeypatch):
    (tmp_path / "mpi4py.py").write_text("raise ModuleNotFoundError('no mpi4py')\n")
    for environment, message in (
        ({}, "mpi4py is not installed; pip install 'playout[mpi]' brings it"),
        ({"PMI_RANK": "0", "PMI_SIZE": "4"}, "this was started as 4 ranks, but mpi4py is not installed"),
    ):
        done = subprocess.run(
            [*PLAYOUT, *SOLVE, "--playouts", "10", "--cluster", "mpi"],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(tmp_path), **environment},
        )
        assert done.returncode == 2
        assert message in done.stderr


def test_launchers_are_known_by_what_they_set(monkeypatch):
    for name in ("PMI_RANK", "PMI_SIZE", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"):
        monkeypatch.delenv(name, raising=False)
    assert cluster.launched() == (0, 1)
    monkeypatch.setenv("SLURM_PROCID", "3")
    assert cluster.launched() == (0, 1)  # in the job script itself
    monkeypatch.setenv("SLURM_STEP_NUM_TASKS", "8")
    assert cluster.launched() == (3, 8)
    monkeypatch.setenv("PMI_RANK", "2")
    monkeypatch.setenv("PMI_SIZE", "8")
    assert cluster.launched() == (2, 8)


def test_threads_of_a_rank_are_slurms_word_or_its_part(monkeypatch):
    monkeypatch.setattr(cluster, "processors", lambda: 6)
    for name in ("SLURM_CPUS_PER_TASK", "MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE"):
        monkeypatch.delenv(name, raising=False)
    assert cluster.threads_of_a_rank() == 6
    monkeypatch.setenv("MPI_LOCALNRANKS", "4")
    assert cluster.threads_of_a_rank() == 1
    monkeypatch.setenv("MPI_LOCALNRANKS", "2")
    assert cluster.threads_of_a_rank() == 3
    monkeypatch.setenv("SLURM_CPUS_PER_TASK", "6")
    assert cluster.threads_of_a_rank() == 6


def test_watching_ranks_is_refused():
    with pytest.raises(InputError, match=r"watch does not go with MPI\(\); use solve, with on_event"):
        po.watch(GAME, playouts=10, cluster=MPI())


def playouts_of(file: Path) -> int:
    return po.load(file).playouts if file.exists() else 0


def ranks_below(pid: int) -> list[str]:
    """The processes that mpiexec has started, through its proxy."""
    below, found = [str(pid)], []
    while below:
        tasks = list(Path(f"/proc/{below.pop()}/task").glob("*/children"))
        below += [child for task in tasks for child in text_of(task).split()]
        found += [child for child in below if "playout" in words_of(child, "cmdline")]
    return sorted(set(found))


def words_of(pid: str, file: str) -> list[str]:
    return text_of(Path(f"/proc/{pid}/{file}")).split("\0")


def text_of(file: Path) -> str:
    """What a file of /proc says; nothing if its process has ended meanwhile."""
    try:
        return file.read_text()
    except OSError:
        return ""


def wait_for(condition):
    patience = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < patience
        time.sleep(0.05)
