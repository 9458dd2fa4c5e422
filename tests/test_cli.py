"""The command line as its users type it, in processes of their own (forked by commands.py where possible)."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import playout as po
from playout.cli import MODULES, app, import_commands
from tests import commands
from tests.problems.test_tsptw import a_result

QUICK = ["solve", "samegame:1,tabu=dominant", "--level", "2", "--playouts", "2000", "--threads", "1"]


def playout(*arguments, cwd=None, **environment):
    if not any(name.startswith("PYTHON") for name in environment):  # which Python reads when it starts
        return commands.run(*arguments, cwd=cwd, **{"COLUMNS": "120", **environment})
    return subprocess.run(
        [sys.executable, "-m", "playout", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=cwd,
        env={**os.environ, "COLUMNS": "120", **environment},
    )


def mistake(done) -> str:
    """The one line of a command that could not be used."""
    assert (done.returncode, done.stdout) == (2, "")
    lines = done.stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("playout: ")
    return lines[0].removeprefix("playout: ")


def test_solve_draws_and_saves(tmp_path):
    done = playout(*QUICK, "--seed", 3, "--output", tmp_path / "run.json")
    assert done.returncode == 0
    result = po.load(tmp_path / "run.json")
    assert f"score {result.score:,g}" in done.stdout
    assert f"saved in {tmp_path / 'run.json'}" in done.stdout
    assert "score" in done.stderr
    here = po.solve(po.SameGame.standard(1), po.GNRPA(level=2), playouts=2000, seed=3)
    assert (result.problem, result.search, result.seed, result.moves) == (here.problem, here.search, 3, here.moves)


def test_json_is_all_there_is_on_standard_output(tmp_path):
    done = playout(*QUICK, "--json", "--quiet")
    assert done.stderr == ""
    data = json.loads(done.stdout)
    assert data["format"] == "playout-result/1"
    assert data["playouts"] == 2000
    assert json.loads(playout(*QUICK, "--json").stdout)["moves"] == data["moves"]


def test_every_setting_reaches_the_search(tmp_path):
    settings = {
        "level": 1,
        "iterations": 7,
        "alpha": 0.5,
        "temperature": 1.5,
        "bias": True,
        "initial": "bias",
        "playouts_per_call": 3,
        "repetitions": 2,
    }
    options = [f"--{key.replace('_', '-')}={value}" for key, value in settings.items() if key != "bias"]
    done = playout("solve", "samegame:1,tabu=none", *options, "--playouts", 20, "--json", "--quiet")
    assert json.loads(done.stdout)["search"] == {"name": "GNRPA", **settings, "improve": False}
    done = playout("solve", "samegame:1", "--no-bias", "--playouts", 20, "--json", "--quiet")
    assert json.loads(done.stdout)["search"]["bias"] is False
    for name in ("nrpa", "nmcs", "uct"):
        done = playout("solve", "samegame:1", "--search", name, "--playouts", 20, "--json", "--quiet")
        assert json.loads(done.stdout)["search"]["name"] == name.upper()


def test_tree_search_of_a_puzzle(tmp_path):
    file = tmp_path / "run.json"
    options = ["--bandit", "rave", "--exploration", 0.1, "--memory", 50, "--playouts", 2000, "--output", file]
    done = playout("solve", "samegame:1", "--search", "uct", *options, "--threads", 2, "--parallel", "tree")
    assert done.returncode == 0
    assert "UCT with RAVE, tree, virtual_loss 1," in done.stdout
    assert "UCT, bandit RAVE (k 3000.0, prior 10.0, exploration 0.1)" in done.stderr
    assert playout("verify", file).returncode == 0
    saved = po.load(file)
    assert saved.search == po.UCT(po.RAVE(exploration=0.1), memory=50)
    assert saved.parallel == po.Tree()
    assert playout("show", file).returncode == 0


STRATEGIES = [
    (["--threads", "1"], None),
    (["--parallel", "root"], {"name": "root", "jobs": 2}),
    (["--parallel", "root", "--jobs", "5"], {"name": "root", "jobs": 5}),
    (["--parallel", "leaf"], {"name": "leaf", "width": 2, "policy": "shared", "exchange_best": False}),
    (
        ["--parallel", "leaf", "--width", "7", "--policy", "local"],
        {"name": "leaf", "width": 7, "policy": "local", "exchange_best": False},
    ),
    (
        ["--parallel", "node", "--parallel-level", "2", "--width", "3"],
        {"name": "node", "level": 2, "width": 3, "policy": "shared", "exchange_best": False},
    ),
    (
        ["--parallel", "hybrid", "--jobs", "3"],
        {"name": "hybrid", "jobs": 3, "width": 2, "level": 1, "policy": "shared", "exchange_best": False},
    ),
    (
        ["--parallel", "leaf", "--threads", "500"],
        {"name": "leaf", "width": 100, "policy": "shared", "exchange_best": False},
    ),
    (
        ["--parallel", "node", "--parallel-level", "2", "--policy", "local", "--exchange-best"],
        {"name": "node", "level": 2, "width": 2, "policy": "local", "exchange_best": True},
    ),
]


@pytest.mark.parametrize(("options", "expected"), STRATEGIES, ids=[" ".join(options) for options, _ in STRATEGIES])
def test_every_strategy_can_be_asked_for(options, expected):
    """Jobs and width are as many as threads unless given, but never more than the iterations."""
    threads = [] if "--threads" in options else ["--threads", 2]
    done = playout("solve", "samegame:1", "--level", 2, "--playouts", 500, "--json", "--quiet", *threads, *options)
    assert json.loads(done.stdout)["parallel"] == expected


def test_a_strategy_that_was_chosen_is_said():
    done = playout("solve", "samegame:1", "--level", 2, "--playouts", 500, "--threads", 2, "--json")
    chosen = json.loads(done.stdout)["parallel"]
    assert f"{chosen['name']}, " in done.stderr
    assert "on 2 threads (chosen for them; --parallel says otherwise)" in done.stderr
    done = playout("solve", "samegame:1,tabu=0", "--level", 2, "--playouts", 500, "--threads", 1)
    assert "one search, on 1 thread" in done.stderr


def test_threads_are_those_that_slurm_gives_or_that_the_process_may_use():
    done = playout("solve", "samegame:1", "--parallel", "root", "--playouts", 50, "--json", SLURM_CPUS_PER_TASK="3")
    assert json.loads(done.stdout)["parallel"] == {"name": "root", "jobs": 3}
    one = min(os.sched_getaffinity(0))
    command = ["taskset", "-c", str(one), sys.executable, "-m", "playout", "solve", "samegame:1", "--playouts", "50"]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["parallel"] is None


def test_the_command_line_tries_every_tabu_colour_unless_told():
    done = playout("solve", "samegame:1", "--playouts", 500, "--threads", 1)
    assert "samegame:1,tabu=auto" in done.stdout
    assert "5 searches try 5 variants of the problem, the best one gets most playouts" in done.stderr
    assert "samegame:1:" in playout("solve", "samegame:1,tabu=dominant", "--playouts", 500).stdout


def test_a_checkpoint_is_resumed_with_its_own_strategy(tmp_path):
    """On another number of threads, with the rest of the budget; and without --resume it is left alone."""
    search = ["solve", "samegame:1", "--level", 3, "--seed", 5, "--json", "--checkpoint", tmp_path / "run.ckpt"]
    first = playout(*search, "--playouts", 3000, "--threads", 3, "--parallel", "root")
    assert json.loads(first.stdout)["parallel"] == {"name": "root", "jobs": 3}
    assert "exists; resume from it" in mistake(playout(*search, "--playouts", 9000))
    more = playout(*search, "--playouts", 9000, "--threads", 2, "--resume")
    assert "resumed after 0:00" in more.stderr
    options = ["--level", 3, "--seed", 5, "--json", "--playouts", 9000, "--parallel", "root", "--jobs", 3]
    whole = json.loads(playout("solve", "samegame:1", *options).stdout)
    assert [json.loads(more.stdout)[key] for key in ("score", "moves", "playouts")] == [
        whole["score"],
        whole["moves"],
        9000,
    ]
    same = playout(*search, "--playouts", 9500, "--threads", 2, "--parallel", "root", "--resume")
    assert json.loads(same.stdout)["parallel"] == {"name": "root", "jobs": 3}
    assert "its seed is 5, this search's is 0" in mistake(
        playout("solve", "samegame:1", "--level", 3, "--playouts", 9, "--resume", "--checkpoint", tmp_path / "run.ckpt")
    )


def test_start_goes_on_from_a_saved_result(tmp_path):
    first = json.loads(playout(*QUICK, "--output", tmp_path / "one.json", "--json").stdout)
    done = playout(*QUICK, "--start", tmp_path / "one.json", "--seed", 9, "--json")
    assert json.loads(done.stdout)["history"][0][1:] == [0, first["score"]]


def test_verify_checks_the_score(tmp_path):
    file = tmp_path / "run.json"
    playout(*QUICK, "--output", file, "--quiet")
    assert playout("verify", file).returncode == 0
    data = json.loads(file.read_text())
    for change, message in (
        ({"score": data["score"] + 1}, "the moves score"),
        ({"moves": data["moves"][:-1]}, "the game goes on after the last"),
        ({"moves": data["moves"][1:]}, "is not legal there"),
    ):
        file.write_text(json.dumps({**data, **change}))
        done = playout("verify", file)
        assert done.returncode == 1
        assert message in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_show_draws_a_saved_result(tmp_path):
    file = tmp_path / "run.json"
    playout(*QUICK, "--output", file, "--quiet")
    done = playout("show", file)
    assert done.returncode == 0
    assert "number of the move that removes it" in done.stdout
    assert "  1. " in done.stdout
    assert "After 3 of" in playout("show", file, "--step", 3).stdout
    assert "step is 999" in mistake(playout("show", file, "--step", 999))


def test_problems_and_bench_and_version():
    listed = playout("problems").stdout
    assert "samegame:random:7" in listed
    assert "tsptw:rc_204.1" in listed
    assert "./file.py:name" in listed
    measured = json.loads(playout("bench", "--seconds", 0.01, "--threads", 3, "--json").stdout)
    assert {row["problem"] for row in measured["rates"]} >= {"samegame:1", "samegame:9", "samegame:16"}
    assert all(row["playouts_per_cpu_second"] > 0 for row in measured["rates"])
    assert {row["threads"] for row in measured["scaling"]} == {1, 2, 3}
    assert all(row["playouts_per_second"] > 0 for row in measured["scaling"])
    shown = playout("bench", "--seconds", 0.01).stdout
    assert "playouts per CPU second" in shown
    assert "1 thread" in shown
    assert playout("--version").stdout.strip() == po.__version__


def test_a_tour_is_verified_and_shown(tmp_path):
    """With what it costs and its timetable, in a terminal of any kind, as a picture and as a page."""
    file = tmp_path / "run.json"
    problem = po.problem("tsptw:random:5,n=5")
    a_result(problem, sorted(range(1, 6), key=lambda customer: problem.due[customer])).save(file)
    assert "correct, 5 moves score -" in playout("verify", file).stdout
    shown = playout("show", file).stdout
    assert "tsptw:random:5,n=5: score -" in shown
    assert "Cost " in shown
    assert "━" in shown
    assert "=" in playout("show", file, PYTHONIOENCODING="ascii").stdout
    assert "After 2 of 5 customers" in playout("show", file, "--step", 2).stdout
    done = playout("show", file, "--svg", tmp_path / "a.svg", "--html", tmp_path / "a.html")
    assert done.stdout.splitlines() == [f"wrote {tmp_path / 'a.svg'}", f"wrote {tmp_path / 'a.html'}"]
    assert "there is no tsptw instance 'rc_999.9' in" in mistake(playout("solve", "tsptw:rc_999.9", "--seconds", 1))


def test_no_number_of_a_timetable_is_cut(tmp_path):
    """A pipe has the width the table needs, bars and all; what is told to be narrow has it without, and folded."""
    small = po.TSPTW.random(3, seed=2)
    large = [[1e6 * time + 0.25 for time in row] for row in (*small.distances, small.ready, small.due)]
    problem = po.TSPTW(large[:-2], *large[-2:])
    a_result(problem, (1, 2, 3)).save(tmp_path / "run.json")
    shown = playout("show", "run.json", cwd=tmp_path, COLUMNS="").stdout
    stops = problem.tour((1, 2, 3)).stops
    lines = shown.splitlines()[-5:]
    for stop, line in zip(stops, lines, strict=False):
        assert f" {stop.arrival:,.2f}  " in line
        assert f" {stop.ready:,.2f} - {stop.due:,.2f}  " in line
        assert "━" in line
    for columns in (30, 60, 80):
        shown = playout("show", "run.json", cwd=tmp_path, COLUMNS=str(columns)).stdout
        assert "…" not in shown
        assert max(map(len, shown.splitlines()[1:])) <= columns
        cells = "".join(shown.split())
        assert columns < 80 or all(f"{stop.arrival:,.2f}" in cells for stop in stops)


def test_the_temperature_that_is_used_is_said():
    command = ["solve", "tsptw:random:1", "--level", 1, "--playouts", 10, "--json"]
    assert ", temperature 1.4, " in playout(*command).stderr
    assert ", temperature 2.0, " in playout(*command, "--temperature", 2).stderr
    assert "temperature" not in playout(*command, "--search", "nrpa").stderr


def test_a_name_is_printed_as_it_is(tmp_path):
    """Not as the picture that rich knows by such a name."""
    po.TSPTW.random(4, seed=1).save(tmp_path / "ok:.txt")
    done = playout("solve", "tsptw:ok:.txt", "--level", 1, "--playouts", 20, "--output", "run.json", cwd=tmp_path)
    assert done.stderr.startswith("tsptw:ok:: GNRPA")
    for text in (done.stdout, playout("show", "run.json", cwd=tmp_path).stdout):
        assert "tsptw:ok:: score" in text


COMMANDS = [["solve"], ["verify"], ["show"], ["bench"], ["problems"]]
EXPERIMENT = [["experiment"], ["experiment", "run"], ["experiment", "report"], ["experiment", "list"]]


@pytest.mark.parametrize("command", [[], *COMMANDS, *EXPERIMENT])
def test_every_command_has_help_with_what_it_takes(command):
    done = playout(*command, "--help")
    assert done.returncode == 0
    assert "Usage: playout" in done.stdout
    if command == ["solve"]:
        assert "playout solve samegame:1 --seconds 60" in done.stdout
        assert "Learning rate" in done.stdout
    if command == ["experiment"]:
        assert "[[search]]" in done.stdout


MISTAKES = [
    (["solve", "chess:1", "--seconds", "1"], "unknown problem 'chess:1'; there is samegame:1"),
    (["solve", "samegame:21", "--seconds", "1"], "there is no standard board 21; allowed are 1 to 20"),
    (["solve", "samegame:nowhere.txt", "--seconds", "1"], "cannot read 'nowhere.txt': No such file"),
    (["solve", "samegame:1", "--search", "magic", "--seconds", "1"], "magic"),
    (["solve", "samegame:1", "--level", "-1", "--seconds", "1"], "level is -1; allowed are whole numbers from 0"),
    (["solve", "samegame:1", "--level", "two", "--seconds", "1"], "two"),
    (["solve", "samegame:1", "--iterations", "0", "--seconds", "1"], "iterations is 0; allowed are"),
    (["solve", "samegame:1", "--temperature", "0", "--seconds", "1"], "temperature is 0.0; allowed are finite"),
    (["solve", "samegame:1", "--alpha", "nan", "--seconds", "1"], "alpha is nan"),
    (["solve", "samegame:1", "--search", "nmcs", "--alpha", "1", "--seconds", "1"], "nmcs has no setting 'alpha'"),
    (["solve", "samegame:1", "--improve", "--seconds", "1"], "has no local search"),
    (["solve", "go:9", "--seconds", "1"], "go:9 is a game for two players: it is played with playout.Player"),
    (["solve", "hex", "--search", "uct", "--seconds", "1"], "is a game for two players"),
    (["solve", "samegame:1", "--bandit", "rave", "--seconds", "1"], "gnrpa has no setting 'bandit'"),
    (["solve", "samegame:1", "--exploration", "1", "--seconds", "1"], "gnrpa has no setting 'exploration'"),
    (["solve", "samegame:1", "--search", "uct", "--exploration", "-1", "--seconds", "1"], "exploration is -1.0"),
    (["solve", "samegame:1", "--search", "uct", "--memory", "0", "--seconds", "1"], "memory is 0"),
    (["solve", "samegame:1", "--search", "uct", "--level", "3", "--seconds", "1"], "uct has no setting 'level'"),
    (["solve", "samegame:1", "--parallel", "tree", "--seconds", "1"], "gnrpa has no tree that several threads"),
    (
        ["solve", "samegame:1", "--search", "uct", "--parallel", "node", "--parallel-level", "2", "--seconds", "1"],
        "uct has neither levels nor policies",
    ),
    (["solve", "samegame:1", "--search", "uct", "--cluster", "local", "--seconds", "1"], "the trees of uct do not"),
    (["solve", "samegame:1"], "no budget: give seconds, playouts or target"),
    (["solve", "samegame:1", "--seconds", "nan"], "seconds is nan"),
    (["solve", "samegame:1", "--playouts", "0"], "playouts is 0"),
    (["solve", "samegame:1", "--seconds", "1", "--output", "no/such/folder/run.json"], "cannot write"),
    (["solve", "samegame:1", "--seconds", "1", "--output", "."], "cannot write '.': it is a folder"),
    (["solve", "samegame:1", "--seconds", "1", "--start", "none.json"], "cannot read 'none.json'"),
    (["solve", "samegame:1", "--seconds", "1", "--speed", "9"], "--speed"),
    (["solve"], "PROBLEM"),
    (["sovle", "samegame:1"], "sovle"),
    (["verify", "none.json"], "cannot read 'none.json': No such file"),
    (["show", "none.json"], "cannot read 'none.json': No such file"),
    (["bench", "--seconds", "0"], "seconds is 0.0"),
    (["solve", "samegame:1", "--seconds", "1", "--seed", "99999999999999999999"], "seed is 99999999999999999999"),
    (["solve", "samegame:1", "--seconds", "1", "--level", "2.6"], "it is '2.6'; a whole number is needed"),
    (["solve", "samegame:²", "--seconds", "1"], "a whole number is needed"),
    (["solve", "samegame:" + "9" * 5000, "--seconds", "1"], "a whole number is needed"),
    (["solve", "samegame:1,tabu=1,tabu=2", "--seconds", "1"], "option 'tabu' is there twice"),
    (["solve", "samegame:random", "--seconds", "1"], "the seed of samegame:random:SEED is ''"),
    (["solve", "samegame:1", "--seconds", "1", "--threads", "0"], "threads is 0; allowed are whole numbers from 1 to"),
    (["solve", "samegame:1", "--seconds", "1", "--parallel", "all"], "all"),
    (["solve", "samegame:1", "--seconds", "1", "--parallel", "root", "--jobs", "0"], "jobs is 0; allowed are"),
    (["solve", "samegame:1", "--seconds", "1", "--parallel", "root", "--jobs", "99999"], "from 1 to 1,000"),
    (
        ["solve", "samegame:1", "--seconds=1", "--parallel=hybrid", "--jobs=1000", "--width=100"],
        "jobs times width is 100,000; at most 10,000 make sense",
    ),
    (["solve", "samegame:1", "--seconds=1", "--output=x", "--checkpoint=x"], "are the same file; they need one each"),
    (["solve", "samegame:1", "--seconds=1", "--checkpoint=/dev/null"], "it is not a plain file"),
    (["solve", "samegame:1", "--seconds", "1", "--parallel", "root", "--width", "2"], "--width does not go with"),
    (["solve", "samegame:1", "--seconds", "1", "--jobs", "2"], "--jobs without a strategy; say which by --parallel"),
    (["solve", "samegame:1", "--seconds", "1", "--parallel", "leaf", "--width", "101"], "width is 101; allowed are"),
    (["solve", "samegame:1", "--seconds", "1", "--parallel", "node"], "node needs the level"),
    (
        ["solve", "samegame:1", "--seconds", "1", "--parallel", "node", "--parallel-level", "5"],
        "the parallel level is 5; allowed are whole numbers from 1 to 4",
    ),
    (
        ["solve", "samegame:1", "--seconds", "1", "--parallel", "node", "--parallel-level", "0"],
        "level is 0; allowed are whole numbers from 1",
    ),
    (
        ["solve", "samegame:1", "--seconds", "1", "--level", "0", "--parallel", "leaf"],
        "a search of level 0 has no level that could make several calls",
    ),
    (
        ["solve", "samegame:1", "--seconds", "1", "--search", "nmcs", "--parallel", "leaf"],
        "nmcs has no policy that several calls could share",
    ),
    (
        ["solve", "samegame:1", "--seconds=1", "--playouts-per-call=4", "--parallel=leaf", "--policy=local"],
        "policy is 'local' at level 1, which has no policy with playouts_per_call",
    ),
    (
        ["solve", "samegame:1", "--seconds=1", "--parallel=leaf", "--exchange-best"],
        "exchange_best goes with policy 'local'; with a shared policy all calls know the best one",
    ),
    (
        ["solve", "samegame:1", "--seconds=1", "--parallel=root", "--exchange-best"],
        "--exchange-best does not go with --parallel root, which takes --jobs",
    ),
    (
        ["solve", "samegame:1", "--seconds=1", "--parallel=leaf", "--policy=local", "--width=101"],
        "width is 101; allowed are whole numbers from 1 to 100",
    ),
    (["solve", "samegame:1", "--seconds", "1", "--resume"], "nothing to resume from"),
    (["solve", "samegame:1", "--seconds", "1", "--resume", "--checkpoint", "no.ckpt"], "'no.ckpt': No such file"),
    (["solve", "samegame:1", "--seconds", "1", "--checkpoint", "no/such/run.ckpt"], "cannot write"),
]


@pytest.mark.parametrize(("command", "message"), MISTAKES, ids=[" ".join(command)[:60] for command, _ in MISTAKES])
def test_a_mistake_is_one_line_and_status_2(command, message, tmp_path):
    assert message in mistake(playout(*command, cwd=tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", ["", "{}", "[1, 2", "\x00", '{"format": "playout-result/1"}'])
def test_a_damaged_file_is_one_line_and_status_2(content, tmp_path):
    (tmp_path / "run.json").write_text(content)
    for command in (["verify", "run.json"], ["show", "run.json"], [*QUICK, "--start", "run.json"]):
        assert "'run.json' is not a result: " in mistake(playout(*command, cwd=tmp_path))


@pytest.mark.parametrize("text", ["", "01\n0", "0x", "0" * 30])
def test_a_malformed_board_is_one_line_and_status_2(text, tmp_path):
    (tmp_path / "board.txt").write_text(text)
    assert "board.txt" in mistake(playout("solve", "samegame:board.txt", "--seconds", 1, cwd=tmp_path))


def test_a_result_that_shows_an_illegal_move_is_no_traceback(tmp_path):
    file = tmp_path / "run.json"
    playout(*QUICK, "--output", file, "--quiet")
    data = json.loads(file.read_text())
    file.write_text(json.dumps({**data, "moves": [[2, 0]]}))
    assert "cannot draw" in mistake(playout("show", file))


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_save_and_print_the_best_so_far(number, status, tmp_path):
    file = tmp_path / "run.json"
    process = started(["solve", "samegame:1", "--seconds", 600, "--json", "--output", file])
    process.send_signal(number)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == status
    assert "Traceback" not in errors
    result = po.load(file)
    assert result.interrupted
    assert result.verify() == result.score == json.loads(output)["score"]


def started(arguments, **options):
    """A command whose search is under way."""
    process = subprocess.Popen(
        [sys.executable, "-m", "playout", *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options,
    )  # fmt: skip
    assert process.stderr is not None
    process.stderr.readline()
    return process


def test_sigterm_ends_a_job_that_ignores_ctrl_c(tmp_path):
    """As the jobs do that a shell script starts in the background."""
    file = tmp_path / "run.json"
    process = started(
        ["solve", "samegame:1", "--seconds", 600, "--output", file],
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 143
    assert po.load(file).interrupted


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_impatient_user_loses_nothing(number, tmp_path):
    """A signal every few milliseconds until the process is gone."""
    file = tmp_path / "run.json"
    process = started(["solve", "samegame:1", "--seconds", 600, "--output", file])
    while process.poll() is None:
        process.send_signal(number)
        time.sleep(0.004)
    process.communicate(timeout=60)
    assert po.load(file).interrupted


def test_a_result_is_saved_elsewhere_rather_than_lost(tmp_path):
    """The folder disappears while the search runs."""
    folder = tmp_path / "gone"
    folder.mkdir()
    process = started(["solve", "samegame:1", "--seconds", 600, "--output", "gone/r.json"], cwd=tmp_path)
    folder.rename(tmp_path / "moved")
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=60)
    line = next(line for line in errors.splitlines() if "the result is in" in line)
    refuge = Path(line.rpartition(" in ")[2].strip("'"))
    assert po.load(refuge).interrupted
    refuge.unlink()
    refuge.parent.rmdir()


def run_in_terminal(*arguments) -> str:
    """What a command writes when its output is a terminal of 100 by 40."""
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "40"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(
        [sys.executable, "-m", "playout", *arguments], stdin=slave, stdout=slave, stderr=slave, env=environment
    )
    os.close(slave)
    written, end = b"", time.monotonic() + 60
    while time.monotonic() < end:
        try:
            piece = os.read(master, 65536)
        except OSError:  # Linux's way to say that the other end is closed
            break
        if not piece:
            break
        written += piece
    os.close(master)
    assert process.wait(timeout=60) == 0
    return written.decode()


def test_the_live_view_on_a_terminal(tmp_path):
    text = run_in_terminal("solve", "samegame:1", "--seconds", "1", "--output", str(tmp_path / "run.json"))
    for word in ("playouts/s", "left", "GNRPA, level 4", "improved", "Ctrl-C stops"):
        assert word in text
    assert "\x1b[" in text
    shown = run_in_terminal("show", str(tmp_path / "run.json"))
    assert "\x1b[30;48;" in shown  # black on a colour


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_commands_and_options(shell):
    import_commands()
    script = app.generate_completion(shell=shell)
    for word in ("solve", "verify", "problems", "temperature", "gnrpa", "experiment", "workers"):
        assert word in script
    assert "--install-completion" in playout("--help").stdout


@pytest.mark.parametrize("command", [["problems"], QUICK, [*QUICK, "--json"]])
def test_output_that_nobody_reads_is_no_traceback(command):
    """The reader is gone before anything is written: the status is that of a broken pipe."""
    command = [sys.executable, "-m", "playout", *command]
    buffered = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=buffered) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()
    assert process.returncode == 128 + signal.SIGPIPE


def test_pipes_and_devices_are_written_to(tmp_path):
    done = subprocess.run(
        f"{sys.executable} -m playout solve samegame:1 --level 1 --playouts 50 --quiet --output /dev/stdout | cat",
        shell=True, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert json.loads(done.stdout.splitlines()[0])["playouts"] == 50
    os.mkfifo(tmp_path / "pipe")
    assert "cannot write" in mistake(playout(*QUICK, "--output", tmp_path / "pipe"))
    playout(*QUICK, "--output", tmp_path / "run.json")
    line = mistake(playout("show", tmp_path / "run.json", "--svg", "/dev/full"))
    assert line == "cannot write '/dev/full': No space left on device"


def test_closed_streams_are_no_traceback(tmp_path):
    command = f"{sys.executable} -m playout solve samegame:1 --level 1 --playouts 50 --output {tmp_path / 'run.json'}"
    done = subprocess.run(f"{command} >&- 2>&-", shell=True, timeout=60)
    assert done.returncode == 0
    assert po.load(tmp_path / "run.json").playouts == 50


def test_ctrl_c_at_any_moment_is_no_traceback():
    """From the first moment Python is up: while modules are imported, too."""
    program = (
        "import os, signal, sys, threading; from playout.__main__ import main\n"
        "threading.Timer(float(sys.argv.pop(1)), lambda: os.kill(os.getpid(), signal.SIGINT)).start(); main()"
    )
    for delay in (0.02, 0.05, 0.1, 0.2, 0.3, 0.5):
        arguments = [str(delay), "solve", "samegame:1", "--seconds", "600"]
        done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=60)
        assert (done.returncode, "Traceback" in done.stderr) == (130, False)


def test_a_full_disk_behind_standard_output_is_one_line():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "playout", "problems"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60
        )
    assert (done.returncode, done.stderr) == (2, "playout: standard output: No space left on device\n")


def test_a_terminal_without_unicode_is_no_traceback(tmp_path):
    file = tmp_path / "run.json"
    assert playout(*QUICK, "--output", file, PYTHONIOENCODING="ascii").returncode == 0
    for command in (["show", file], ["problems"], ["bench", "--seconds", 0.01], ["--help"]):
        done = playout(*command, PYTHONIOENCODING="ascii")
        assert (done.returncode, "Traceback" in done.stderr) == (0, False)


def test_a_wide_board_is_not_cut_off_and_colours_are_not_lost(tmp_path):
    """Into a file there is no colour, so the board with its colours is drawn too; 20 columns fit into 80 characters."""
    file = tmp_path / "run.json"
    playout("solve", "samegame:random:1,width=20,height=20,colours=9", "--level", 1, "--playouts", 50, "--output", file)
    done = playout("show", file, COLUMNS="60")
    rows = po.load(file).problem.rows
    assert "".join(f"{colour:>3}" for colour in rows[0]) in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines()[3:23])
    assert sum(line.strip().startswith("19 ") for line in done.stdout.splitlines()) >= 2


def test_each_command_is_where_it_is_said_to_be():
    import_commands()
    assert {name for name in app if not name.startswith("-")} == set(MODULES)
    for command in ("verify", "gtp", "solve"):
        words = [sys.executable, "-c", f"from playout import cli; cli.import_commands({command!r}); print(*cli.app)"]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        assert command in done.stdout.split()
        assert command == "solve" or "solve" not in done.stdout.split()
