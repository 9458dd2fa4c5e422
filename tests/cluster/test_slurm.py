"""The job script: what it says to Slurm, and what it does next, run by bash with stand-ins for Slurm's commands."""

import os
import re
import shlex
import signal
import subprocess
import time
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from playout.cluster.slurm import Job
from playout.errors import InputError
from tests.test_cli import mistake, playout

SOLVE = ["solve", "samegame:1", "--seconds", "86400"]


@cache
def made(*arguments, cwd=None) -> str:
    """The script of these arguments, which bash can read."""
    done = playout("slurm", *arguments, cwd=cwd)
    assert (done.returncode, done.stderr) == (0, "")
    checked = subprocess.run(["bash", "-n"], input=done.stdout, capture_output=True, text=True)
    assert (checked.returncode, checked.stderr) == (0, "")
    return done.stdout


def directives(script) -> dict[str, str]:
    """The options the script has for sbatch, which reads up to the first line that is no comment."""
    found = {}
    for line in script.splitlines()[1:]:
        if not line.startswith("#"):
            break
        if line.startswith("#SBATCH "):
            (word,) = shlex.split(line.removeprefix("#SBATCH "))
            option, _, value = word.partition("=")
            found[option] = value
    return found


class Slurm:
    """A folder with stand-ins: srun and mpiexec do what ``body`` says, scontrol writes down what it is told."""

    def __init__(self, folder: Path, script: str, body: str):
        self.folder = folder
        self.commands = folder / "bin"
        self.commands.mkdir(exist_ok=True)
        (folder / "job.sh").write_text(script)
        self.write("playout", "exit 99")
        self.write("scontrol", f'echo "$@" >> {shlex.quote(str(folder / "scontrol.log"))}')
        self.runs(body)

    def write(self, name, body):
        (self.commands / name).write_text(f"#!/bin/bash\n{body}\n")
        (self.commands / name).chmod(0o755)

    def runs(self, body):
        for name in ("srun", "mpiexec"):
            self.write(name, f'printf "%s\\n" "$0" "$@" > {shlex.quote(str(self.folder / "words"))}\n{body}')

    def start(self, after=0, **environment):
        """Begin a turn, as one that has gone on for so many seconds already."""
        variables = {"SLURM_JOB_ID": "17", "SLURM_CPUS_PER_TASK": "3", "SLURM_NTASKS": "8", **environment}
        path = f"{self.commands}:{os.environ['PATH']}"
        return subprocess.Popen(
            ["bash", "job.sh"],
            cwd=self.folder,
            env={**os.environ, "PATH": path, "SECONDS": str(after), **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def turn(self, after=0) -> tuple[int, str]:
        """One turn: the script's exit status and what it printed."""
        process = self.start(after)
        out, err = process.communicate(timeout=60)
        return process.returncode, out + err

    @property
    def words(self) -> list[str]:
        return (self.folder / "words").read_text().splitlines()

    @property
    def requeued(self) -> list[str]:
        """What scontrol was told since it was last asked."""
        log = self.folder / "scontrol.log"
        lines = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return lines


REQUEUED = ["requeue 17"]


def test_the_directives():
    script = made("--nodes", 4, "--tasks-per-node", 2, "--cpus-per-task", 16, "--time", "2-04:00:00", *SOLVE)
    assert directives(script) == {
        "--job-name": "samegame-1",
        "--dependency": "singleton",
        "--nodes": "4",
        "--ntasks-per-node": "2",
        "--cpus-per-task": "16",
        "--time": "2-04:00:00",
        "--signal": "USR1@120",
        "--requeue": "",
        "--output": "samegame-1-%j.log",
        "--open-mode": "append",
    }
    given = ["--partition", "long,short", "--account", "lab 7", "--job-name", "night run"]
    more = directives(made(*given, "--launcher", "mpiexec", *SOLVE))
    assert (more["--partition"], more["--account"], more["--job-name"]) == ("long,short", "lab 7", "night run")
    assert (more["--nodes"], more["--time"], more["--signal"]) == ("1", "01:00:00", "B:USR1@120")
    assert more["--output"] == "night-run-%j.log"


def test_every_directive_is_explained():
    lines = made(*SOLVE).splitlines()
    first = [line for before, line in pairwise(lines) if line[:7] == "#SBATCH" != before[:7]]
    assert len(first) == 6
    assert all(lines[lines.index(line) - 1].startswith("# ") for line in first)


def test_the_name_tells_problems_and_seeds_apart():
    names = {
        ("samegame:1,tabu=2", "--seed", "7"): "samegame-1-tabu-2-seed7",
        ("samegame:random:7",): "samegame-random-7",
    }
    for words, name in names.items():
        assert directives(made("solve", *words, "--seconds", 9))["--job-name"] == name


@pytest.mark.parametrize("launcher", ["srun", "mpiexec"])
def test_what_is_run(tmp_path, launcher):
    """The words as they were typed, threads from Slurm, files named after the job; --resume once there is something."""
    slurm = Slurm(tmp_path, made("--nodes", 4, "--launcher", launcher, *SOLVE, "--level=5"), "exit 0")
    expected = shlex.split(
        "playout solve samegame:1 --seconds 86400 --level=5"
        " --threads 3 --checkpoint samegame-1.ckpt --output samegame-1.json --cluster mpi"
    )
    assert slurm.turn()[0] == 0
    program, *words = slurm.words
    options, words = words[: words.index("playout")], words[words.index("playout") :]
    assert Path(program).name == launcher
    assert words == expected
    own = {"srun": ["--mpi=pmi2", "--cpus-per-task=3", "--kill-on-bad-exit=0", "--wait=60"], "mpiexec": ["-n", "8"]}
    assert options == own[launcher]
    (tmp_path / "samegame-1.ckpt").touch()
    assert slurm.turn()[0] == 0
    assert slurm.words[-len(expected) - 1 :] == [*expected, "--resume"]
    assert slurm.requeued == []


def test_one_process_needs_no_mpi(tmp_path):
    slurm = Slurm(tmp_path, made(*SOLVE), "exit 0")
    slurm.turn()
    assert "--cluster" not in slurm.words


def test_words_reach_the_search_as_they_are(tmp_path):
    """Nothing in a name is a command to bash."""
    odd = "a b'c\"$HOME`id`;#\\é.txt"
    (tmp_path / odd).write_text("1 1\n1 1\n")
    command = ["solve", f"samegame:{odd}", "--seconds", "9", "--checkpoint", f"{odd}.ckpt", f"--output={odd}.json"]
    name = odd.replace("\\", "")
    slurm = Slurm(tmp_path, made("--job-name", name, "--account", name, *command, cwd=tmp_path), "exit 0")
    said = slurm.turn()[1]
    words = slurm.words
    assert words[words.index("playout") + 1 :][: len(command)] == command
    assert words[-2:] == ["--threads", "3"]
    assert f"its result is in {odd}.json" in said
    found = directives((tmp_path / "job.sh").read_text())
    assert (found["--job-name"], found["--account"]) == (name, name)
    (tmp_path / f"{odd}.ckpt").touch()
    slurm.turn()
    assert slurm.words[-1] == "--resume"


def test_a_start_is_for_the_first_turn(tmp_path):
    """Resume does not go with start."""
    quick = ["solve", "samegame:1", "--playouts", 100, "--threads", 1, "--level", 1, "--quiet"]
    playout(*quick, "--output", "one.json", cwd=tmp_path)
    for option in (["--start", "one.json"], ["--start=one.json"]):
        slurm = Slurm(tmp_path, made(*SOLVE, *option, "--level", 3, cwd=tmp_path), "exit 0")
        slurm.turn()
        assert slurm.words[-2:] == ["--start", "one.json"]
        (tmp_path / "samegame-1.ckpt").touch()
        slurm.turn()
        assert slurm.words[-1] == "--resume"
        assert "one.json" not in " ".join(slurm.words)
        (tmp_path / "samegame-1.ckpt").unlink()


@pytest.mark.parametrize("status", [138, 143])
def test_a_search_that_was_warned_goes_on_however_often(tmp_path, status):
    slurm = Slurm(tmp_path, made(*SOLVE), f"touch samegame-1.ckpt; exit {status}")
    for _ in range(5):
        slurm.turn(after=600)
        assert slurm.requeued == REQUEUED
    slurm.runs("exit 0")
    assert slurm.turn(after=600)[0] == 0
    assert slurm.requeued == []


FAILURES = [("touch samegame-1.ckpt; exit 3", 600), ("exit 137", 600), ("exit 1", 600)]
FAILURES += [("touch samegame-1.ckpt; exit 138", 0), ("exit 138", 600)]  # warned at once; saved nothing


@pytest.mark.parametrize(("body", "seconds"), FAILURES)
def test_failures_in_a_row_are_limited(tmp_path, body, seconds):
    """A search that is warned before it gets anywhere is one of them: such a job would only ever queue."""
    status = int(body.split()[-1])
    slurm = Slurm(tmp_path, made(*SOLVE), body)
    for _ in range(2):  # sbatch again after the last: counted afresh
        for _ in range(2):
            slurm.turn(seconds)
            assert slurm.requeued == REQUEUED
        ended, said = slurm.turn(seconds)
        assert (ended, slurm.requeued) == (status, [])
        assert "failed 3 times in a row" in said


def test_a_turn_that_went_well_forgives_the_failures_before(tmp_path):
    slurm = Slurm(tmp_path, made(*SOLVE), "exit 3")
    for _ in range(3):
        slurm.runs("exit 3")
        slurm.turn(600)
        slurm.turn(600)
        slurm.runs("touch samegame-1.ckpt; exit 138")
        slurm.turn(600)
    assert slurm.requeued == REQUEUED * 9


@pytest.mark.parametrize("status", [2, 126, 127, 130])
def test_a_mistake_is_not_tried_again(tmp_path, status):
    slurm = Slurm(tmp_path, made(*SOLVE), f"exit {status}")
    assert slurm.turn(600)[0] == status
    assert slurm.requeued == []


def test_a_search_that_is_done_is_done_whatever_failed_after(tmp_path):
    slurm = Slurm(tmp_path, made(*SOLVE), "touch samegame-1.ckpt samegame-1.ckpt.DONE; exit 137")
    status, said = slurm.turn(600)
    assert (status, slurm.requeued) == (0, [])
    assert "the search is done; its result is in samegame-1.json" in said
    slurm.runs("exit 138")  # the budget was raised: what was done is not any more
    slurm.turn(600)
    assert slurm.requeued == REQUEUED


def test_where_nothing_can_be_counted_nothing_is_tried_again(tmp_path):
    slurm = Slurm(tmp_path, made(*SOLVE, "--checkpoint", "gone/run.ckpt"), "exit 3")
    assert slurm.turn(600)[0] == 3
    assert slurm.requeued == []


def test_a_queue_that_does_not_take_the_job_back_is_no_success(tmp_path):
    slurm = Slurm(tmp_path, made(*SOLVE), "exit 138")
    slurm.write("scontrol", "echo no >&2; exit 1")
    assert slurm.turn(600)[0] == 138


def test_mpiexec_is_warned_and_waited_for(tmp_path):
    """The warning comes to the script; what mpiexec returns after it is not always the search's own status."""
    saves = (
        "trap 'sleep 1; echo saved > samegame-1.ckpt; exit 10' USR1\ntouch ready\nfor i in {1..600}; do sleep 0.1; done"
    )
    slurm = Slurm(tmp_path, made("--nodes", 2, "--launcher", "mpiexec", *SOLVE), saves)
    process = slurm.start(after=600)
    deadline = time.monotonic() + 30
    while not (tmp_path / "ready").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGUSR1)
    time.sleep(0.3)
    process.send_signal(signal.SIGUSR1)  # more than one does no harm
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert "status 10 after" in out
    assert (tmp_path / "samegame-1.ckpt").read_text() == "saved\n"
    assert slurm.requeued == REQUEUED


def test_outside_slurm_the_script_says_so(tmp_path):
    slurm = Slurm(tmp_path, made(*SOLVE), "exit 0")
    process = slurm.start(SLURM_JOB_ID="")
    assert "submit it: sbatch FILE" in process.communicate()[1]
    assert process.returncode != 0
    assert not (tmp_path / "words").exists()


def test_without_playout_the_script_says_so(tmp_path):
    slurm = Slurm(tmp_path, made(*SOLVE), "exit 0")
    (slurm.commands / "playout").unlink()
    process = slurm.start(PATH=f"{slurm.commands}:/usr/bin:/bin")
    assert "playout is not found" in process.communicate()[1]
    assert process.returncode == 127
    assert not (tmp_path / "words").exists()


MISTAKES = [
    ([], "there is no solve command; write playout slurm [OPTIONS] solve PROBLEM ..."),
    (["--node", "4", *SOLVE], "'--node' is no option of slurm; write playout slurm"),
    (["verify", "run.json"], "'verify' is no option of slurm"),
    (["solve"], "requires an argument"),
    (["solve", "samegame:1"], "no budget: give seconds, playouts or target"),
    (["solve", "samegame:1", "--secnds", "9"], "Unknown option: --secnds. Did you mean --seconds?"),
    (["solve", "samegame:1", "--seconds", "-9"], "seconds is -9.0; allowed are"),
    (["solve", "samegame:21", "--seconds", "9"], "21"),
    ([*SOLVE, "--level", "2.6"], "it is '2.6'; a whole number is needed"),
    ([*SOLVE, "--level", "99"], "level is 99"),
    ([*SOLVE, "--search", "nmcs", "--alpha", "2"], "nmcs has no setting 'alpha'"),
    ([*SOLVE, "--jobs", "2"], "--jobs without a strategy"),
    ([*SOLVE, "--seed", "-1"], "seed is -1"),
    ([*SOLVE, "--start", "none.json"], "cannot read 'none.json'"),
    ([*SOLVE, "--threads", "4"], "--cpus-per-task of slurm is the number of threads"),
    ([*SOLVE, "--resume"], "it resumes if there is a checkpoint"),
    ([*SOLVE, "--cluster", "dask"], "the search has the processes of the job"),
    ([*SOLVE, "--exchange", "60"], "--exchange without a cluster"),
    (["--nodes", "2", *SOLVE, "--chunk", "60"], "at most 8 seconds are allowed"),
    (["--nodes", "2", *SOLVE, "--parallel", "leaf"], "a cluster searches several islands"),
    (["--nodes", "0", *SOLVE], "--nodes is 0; allowed are whole numbers from 1"),
    (["--cpus-per-task", "1.5", *SOLVE], "a whole number is needed"),
    (["--time", "90", *SOLVE], "--time is '90'; write hours:minutes:seconds"),
    (["--time", "00:04:59", *SOLVE], "a turn of less than 5 minutes gets nowhere"),
    (["--job-name", "a\n#SBATCH --nodes=99", *SOLVE], "allowed is text on one line"),
    (["--partition", "", *SOLVE], "--partition is ''; allowed is text on one line"),
    (["--account", "a\\", *SOLVE], "without a backslash"),
    (["--launcher", "ssh", *SOLVE], "srun"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES, ids=[" ".join(words) for words, _ in MISTAKES])
def test_mistakes_are_found_before_the_job_queues(tmp_path, arguments, message):
    assert message in mistake(playout("slurm", *arguments, cwd=tmp_path))


def test_a_job_is_checked_in_python_too():
    with pytest.raises(InputError, match=re.escape("--launcher is 'ssh'; allowed are srun, mpiexec")):
        Job(launcher="ssh")
