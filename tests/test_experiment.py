"""Experiments: the grid and its order, what survives a kill, the numbers of the report, and every mistake in a line."""

import csv
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

import playout as po
from playout.cli import main
from playout.errors import InputError
from playout.experiment import report, results, runner
from playout.experiment.plan import budget_label, load_plan
from playout.parallel import Root
from playout.solve import Budget
from tests.test_cli import playout, run_in_terminal

ROOT = Path(__file__).parent.parent
ONE, TWO = "samegame:random:1,width=4,height=4,colours=2", "samegame:random:2,width=5,height=4,colours=3"
TINY = f"""
title = "Tiny"
problems = ["{ONE}", "{TWO}"]
seeds = 2

[[search]]
name = "gnrpa"
level = 2
iterations = 5

[[search]]
label = "NMCS"
name = "nmcs"
level = 1

[[budget]]
playouts = 30

[[budget]]
playouts = 60
"""
TREES = """
title = "Trees"
problems = ["samegame:1"]
seeds = 2

[[search]]
name = "uct"
bandit = "ucb1"

[[search]]
label = "RAVE"
name = "uct"
bandit = { name = "rave", k = 100 }
widening = { first = 10 }

[[budget]]
playouts = 50
"""
LONG = (
    'title = "Long"\nproblems = ["samegame:1"]\nseeds = 500\n[[search]]\nname = "nrpa"\n[[budget]]\nplayouts = 2_000\n'
)
HEADER = ",".join(results.COLUMNS) + "\n"
SETTINGS = results.settings_text(po.GNRPA(level=2, iterations=5), None)


def write(folder: Path, text: str = TINY) -> Path:
    """An experiment 't' below the folder."""
    home = folder / "experiments" / "t"
    home.mkdir(parents=True, exist_ok=True)
    (home / "run.toml").write_text(text)
    return home


def rows_of(home: Path) -> list[dict[str, str]]:
    with (home / "results.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def row(**changes) -> results.Row:
    """A row of the tiny experiment, with changes."""
    values = {
        "date": "2026-11-15", "commit": "abc1234", "machine": "CPU, 2 cores", "problem": ONE, "search": "S",
        "parallel": "none", "budget": "100 playouts", "threads": 1, "seed": 0, "score": 10.0, "playouts": 100,
        "seconds": 1.0, "history": ((1, 4.0), (20, 7.5), (90, 10.0)), "settings": SETTINGS,
    }  # fmt: skip
    return results.Row(**{**values, **changes})


def command(*arguments, cwd) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "playout", "experiment", *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd,
    )  # fmt: skip


def wait_for_rows(home: Path, count: int, process: subprocess.Popen) -> None:
    file = home / "results.csv"
    while not file.exists() or file.read_bytes().count(b"\n") <= count:
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.01)


def called(capsys, *arguments) -> tuple[int, str, str]:
    """Status, output and errors of a command in this process, which is quicker than one of its own."""
    with pytest.raises(SystemExit) as ended:
        main(["experiment", *map(str, arguments)])
    output, errors = capsys.readouterr()
    return int(ended.value.code or 0), output, errors


def mistake(capsys, *arguments) -> str:
    status, output, errors = called(capsys, *arguments)
    assert (status, output, len(errors.splitlines())) == (2, "", 1), errors
    return errors


def test_the_grid_is_interleaved_by_seed(tmp_path):
    plan = load_plan(write(tmp_path))
    assert [(run.seed, run.problem, run.budget, run.search) for run in plan.runs()] == [
        (seed, problem, budget, search)
        for seed in (0, 1)
        for problem in (ONE, TWO)
        for budget in ("30 playouts", "60 playouts")
        for search in ("GNRPA, level=2, iterations=5", "NMCS")
    ]


def test_a_row_says_what_ran_and_what_came_out(tmp_path):
    """In the order of the plan, with the score that solve gives."""
    home = write(tmp_path)
    plan = load_plan(home)
    status = runner.run(plan)
    rows = results.read(home)
    assert [row.run for row in rows] == plan.runs()
    assert (status.done, status.total, status.done_now, status.running) == (16, 16, 16, ())
    for found in rows:
        here = po.solve(
            po.problem(found.problem),
            plan.searches[found.search],
            playouts=int(found.budget.split()[0]),
            seed=found.seed,
        )
        assert (found.score, found.playouts) == (here.score, here.playouts)
        assert found.history == tuple((playouts, score) for _, playouts, score in here.history)
    first = rows_of(home)[0]
    assert first["settings"] == SETTINGS
    assert first["machine"] == f"{results.cpu_name()}, {os.cpu_count()} cores"
    assert (first["parallel"], first["threads"], first["commit"]) == ("none", "1", results.commit())
    assert re.fullmatch(r"\d+\.\d\d", first["seconds"])
    assert re.fullmatch(r"\d+:\d+( \d+:\d+)*", first["history"])


def test_workers_do_not_change_the_results(tmp_path):
    one, three = write(tmp_path / "a"), write(tmp_path / "b")
    runner.run(load_plan(one))
    runner.run(load_plan(three), workers=3)

    def found(home):
        return sorted((str(row.run), row.score, row.history) for row in results.read(home))

    assert found(one) == found(three)


def test_strategies_and_threads_reach_solve(tmp_path, monkeypatch):
    """No strategy is one search, whatever the threads."""
    asked = []

    def solve(problem, search, **options):
        asked.append({key: options.get(key) for key in ("parallel", "threads")})
        return po.solve(problem, search, **options)

    monkeypatch.setattr(runner, "solve", solve)
    strategies = '[[parallel]]\nname = "none"\n[[parallel]]\nlabel = "root, 3"\nname = "root"\njobs = 3\n'
    home = write(tmp_path, TINY.replace("seeds = 2", "seeds = [7]\nthreads = 2") + strategies)
    runner.run(load_plan(home))
    assert asked == [{"parallel": None, "threads": 1}, {"parallel": Root(3), "threads": 2}] * 8
    rows = results.read(home)
    assert [row.parallel for row in rows[:2]] == ["none", "root, 3"]
    assert {(row.threads, row.seed) for row in rows} == {(2, 7)}
    assert [json.loads(row.settings)["parallel"] is None for row in rows[:2]] == [True, False]
    assert json.loads(rows[1].settings)["parallel"]["jobs"] == 3
    table = report.tables(load_plan(home), rows)[0]
    assert table.header == ("search", "parallel", ONE, TWO, "all problems", "n")
    assert [line[1] for line in table.rows] == ["none", "root, 3"] * 2
    runner.run(load_plan(home))
    assert len(asked) == 16


def test_runs_that_are_done_are_not_repeated(tmp_path):
    home = write(tmp_path)
    runner.run(load_plan(home, seeds=1))
    before = (home / "results.csv").read_bytes()
    status = runner.run(load_plan(home, seeds=3))
    assert (status.done, status.total, status.done_now) == (24, 24, 16)
    assert (home / "results.csv").read_bytes().startswith(before)
    assert runner.run(load_plan(home)).done_now == 0


@pytest.mark.parametrize("cut", [1, 40, 400])
def test_a_half_written_line_is_dropped_and_run_again(tmp_path, cut):
    home = write(tmp_path)
    runner.run(load_plan(home))
    file = home / "results.csv"
    whole = results.read(home)
    file.write_bytes(file.read_bytes()[:-cut])
    lost = 16 - len(results.read(home))
    assert lost > 0
    with pytest.warns(RuntimeWarning, match="dropped the half-written last line"):
        assert runner.run(load_plan(home)).done_now == lost
    again = results.read(home)
    assert [(row.run, row.score) for row in again] == [(row.run, row.score) for row in whole]


def test_a_cut_header_is_written_again(tmp_path):
    home = write(tmp_path)
    (home / "results.csv").write_text("date,comm")
    with pytest.warns(RuntimeWarning, match="dropped"):
        assert runner.run(load_plan(home, seeds=1)).done_now == 8


def test_a_killed_runner_loses_only_what_was_under_way(tmp_path):
    home = write(tmp_path, LONG)
    process = command("run", "t", "--workers", 2, cwd=tmp_path)
    wait_for_rows(home, 3, process)
    process.kill()
    process.communicate()
    kept = results.read(home)
    assert 3 <= len(kept) < 500
    status = runner.run(load_plan(home, seeds=len(kept) + 2))
    assert status.done == len(kept) + 2
    assert results.read(home)[: len(kept)] == kept


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_drop_what_is_under_way_and_keep_the_rest(tmp_path, number, status):
    """With one run that ends and one that would take for ever."""
    home = write(tmp_path, LONG + "[[budget]]\nplayouts = 1_000_000_000_000\n")
    process = command("run", "t", "--workers", 2, cwd=tmp_path)
    wait_for_rows(home, 1, process)
    process.send_signal(number)
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output) == (status, "")
    done = len(results.read(home))
    assert errors.splitlines()[-1] == (
        f"playout: stopped; {done} of 1,000 runs are done and kept; the same command goes on"
    )
    assert {row.playouts for row in results.read(home)} == {2000}


def test_two_runners_do_not_write_one_file(tmp_path, capsys, monkeypatch):
    home = write(tmp_path)
    monkeypatch.chdir(tmp_path)
    with results.ResultsFile(home):
        assert "another runner is writing" in mistake(capsys, "run", "t")
        assert called(capsys, "report", "t")[0] == 0
    assert called(capsys, "run", "t")[0] == 0


def test_a_full_disk_leaves_no_half_line(tmp_path, monkeypatch):
    home = write(tmp_path)
    monkeypatch.setattr(results.os, "write", lambda handle, content: os.pwrite(handle, content[:9], 0))
    with pytest.raises(InputError, match=r"cannot write .*No space left"):
        runner.run(load_plan(home))
    assert (home / "results.csv").read_bytes() == b""


def test_a_search_that_ends_early_is_no_row(tmp_path, monkeypatch):
    """As one does that runs out of memory; others that are under way are ended, too."""
    home = write(tmp_path)

    def solve(problem, search, **options):
        if search != po.NMCS(level=1):
            options["playouts"] = 10**12
        else:
            time.sleep(0.2)
        result = po.solve(problem, search, **options)
        object.__setattr__(result, "interrupted", True)
        return result

    monkeypatch.setattr(runner, "solve", solve)
    with pytest.raises(InputError, match=f"{ONE}, NMCS, 30 playouts, seed 0: the search ended before its budget did"):
        runner.run(load_plan(home), workers=2)
    assert results.read(home) == []


@pytest.mark.parametrize(
    ("freedom", "t"),
    [(1, 12.706205), (2, 4.302653), (3, 3.182446), (4, 2.776445), (9, 2.262157), (19, 2.093024), (30, 2.042272),
     (99, 1.984217), (1000, 1.962339)],
)  # fmt: skip
def test_the_quantiles_of_student(freedom, t):
    """As in printed tables of the two-sided 95 %."""
    assert report.student_t(freedom) == pytest.approx(t, abs=5e-7)


def test_the_interval_of_known_numbers():
    """1, 2, 3, 4: mean 2.5, deviation sqrt(5 / 3), 3.182446 / 2 times that."""
    assert report.interval([1, 2, 3, 4]) == pytest.approx((2.5, 3.182446 / 2 * (5 / 3) ** 0.5), abs=1e-6)


def table_plan(tmp_path):
    text = f"""
title = "T"
problems = ["{ONE}", "{TWO}"]
seeds = 3
[[search]]
label = "S"
name = "gnrpa"
level = 2
iterations = 5
[[search]]
label = "other | S"
name = "nmcs"
[[budget]]
playouts = 100
"""
    return load_plan(write(tmp_path, text))


def test_the_table_against_numbers_by_hand(tmp_path):
    plan = table_plan(tmp_path)
    rows = [row(seed=seed, score=score) for seed, score in ((0, 1000.0), (1, 1100.0), (2, 1300.0))]
    rows += [row(problem=TWO, seed=seed, score=score) for seed, score in ((0, 0.5), (1, 0.75))]
    (table,) = report.tables(plan, rows)
    assert table.title == "100 playouts"
    assert table.header == ("search", ONE, TWO, "all problems", "n")
    # deviation 152.75 of three, t 4.303; 0.17678 of two, t 12.706; means of seeds 0 and 1: 500.25 and 550.375
    assert table.rows[0] == ("S", "1,133 ± 379", "0.6 ± 1.6", "525 ± 318", "2 to 3 of 3")
    assert table.rows[1] == ("other | S", "missing", "missing", "missing", "0 of 3")
    assert statistics.stdev([1000, 1100, 1300]) == pytest.approx(152.75, abs=0.01)


def test_single_and_equal_scores(tmp_path):
    plan = table_plan(tmp_path)
    rows = [row(score=12.5), *(row(problem=TWO, seed=seed, score=7.0) for seed in range(5))]
    assert report.tables(plan, rows)[0].rows[0] == ("S", "12.5 ± ?", "7 ± 0", "9.75 ± ?", "1 to 5 of 3")


def test_scores_after_fewer_playouts(tmp_path):
    assert [report.score_at(row(), at) for at in (1, 19, 20, 89, 90, 100)] == [4, 4, 7.5, 7.5, 10, 10]
    assert report.score_at(row(), 101) is None
    assert report.score_at(row(history=()), 50) is None
    assert report.score_at(row(history=((5, 1.0),)), 4) is None
    shown = report.tables(table_plan(tmp_path), [row(), row(seed=1, history=((1, 4.5),))], at=(50,))
    assert [table.title for table in shown] == ["100 playouts", "100 playouts, the best after 50 playouts"]
    assert shown[1].rows[0][1] == "6 ± 19"
    with pytest.raises(InputError, match="at is 101; no budget has that many playouts"):
        report.tables(table_plan(tmp_path), [], at=(101,))


def test_the_source_names_dates_commits_machines_and_what_is_missing(tmp_path):
    plan = table_plan(tmp_path)
    rows = [row(date="2026-11-14"), row(seed=1, commit="def5678", machine="Other"), row(seed=2, search="gone")]
    assert report.source(plan, rows) == (
        "Mean and 95 % interval (Student's t), 2 seeds, 2026-11-14 to 2026-11-15, commits abc1234, def5678, "
        "CPU, 2 cores; Other. 10 of 12 runs are missing."
    )
    assert report.source(plan, []) == "No run is done. 12 of 12 runs are missing."


def test_markdown_and_the_readme(tmp_path, capsys, monkeypatch):
    home = write(tmp_path)
    monkeypatch.chdir(tmp_path)
    runner.run(load_plan(home))
    (home / "README.md").write_text(f"# Title\n\n{report.BEGIN}\nold\nlines\n{report.END}\nafter\n")
    text = called(capsys, "report", "t", "--markdown")[1]
    assert (
        f"30 playouts:\n\n| search | {ONE} | {TWO} | all problems | n |\n|---|---|---|---|---|\n| GNRPA, level" in text
    )
    for _ in range(2):
        assert called(capsys, "report", "t", "--write") == (0, "wrote experiments/t/README.md\n", "")
        assert (home / "README.md").read_text() == f"# Title\n\n{report.BEGIN}\n{text}{report.END}\nafter\n"
    assert report.to_markdown([report.Table("T", ("a|b",), (("c",),))], "E") == "T:\n\n| a\\|b |\n|---|\n| c |\n\nE"


def test_run_and_report_print_the_same_table(tmp_path, capsys, monkeypatch):
    home = write(tmp_path, TINY.replace("seeds = 2", "seeds = 2\nat = [10, 5]"))
    monkeypatch.chdir(tmp_path)
    status, output, errors = called(capsys, "run", "t")
    assert status == 0
    assert "16/16 runs" in errors.splitlines()[-1]
    assert called(capsys, "report", home) == (0, output, "")
    assert output.index("the best after 5 playouts") < output.index("the best after 10 playouts")
    only = called(capsys, "report", "t", "--at", "20")[1]
    assert "after 20 playouts" in only
    assert "after 5 playouts" not in only
    write(tmp_path, TINY.replace('label = "NMCS"', 'label = "new"'))
    assert (
        "8 rows of experiments/t/results.csv belong to nothing that run.toml has now"
        in called(capsys, "report", "t")[2]
    )


@pytest.mark.parametrize("columns", [40, 80, 400])
def test_no_number_is_cut_off(tmp_path, capsys, monkeypatch, columns):
    home = write(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", str(columns))
    runner.run(load_plan(home))
    output = called(capsys, "report", "t")[1]
    for table in report.tables(load_plan(home), results.read(home)):
        for cell in (*table.header, *(cell for line in table.rows for cell in line)):
            assert cell in output


def test_list_counts_what_is_done(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "there is no experiments/NAME/run.toml below this folder" in mistake(capsys, "list")
    runner.run(load_plan(write(tmp_path), seeds=1))
    broken = tmp_path / "experiments" / "broken"
    broken.mkdir()
    (broken / "run.toml").write_text("x = 1")
    (tmp_path / "experiments" / "nothing").mkdir()
    monkeypatch.setenv("COLUMNS", "150")
    lines = called(capsys, "list")[1].splitlines()
    assert any(re.search(r"t +│ +8 of 16 │ Tiny", line) for line in lines)
    assert any(re.search(r"broken +│ +- │ .*unknown key 'x'", line) for line in lines)
    assert "nothing" not in "".join(lines)


def test_the_live_line_on_a_terminal(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path)
    text = run_in_terminal("experiment", "run", "t")
    assert re.search(r"\d+/16 runs  \d+%  left", text)
    assert "seed 0" in text


def test_the_commit_of_a_folder(tmp_path):
    def git(*arguments):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True, capture_output=True)

    (tmp_path / "src").mkdir()
    source = tmp_path / "src" / "a.py"
    assert results.commit(tmp_path) == "unknown"
    source.write_text("1\n")
    git("init")
    assert results.commit(tmp_path) == "unknown"
    git("add", ".")
    git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-m", "m")
    clean = results.commit(tmp_path / "src")
    assert re.fullmatch("[0-9a-f]{7,}", clean)
    (tmp_path / "src" / "untracked.py").write_text("")
    assert results.commit(tmp_path / "src") == clean
    source.write_text("2\n")
    assert results.commit(tmp_path / "src") == f"{clean}+"
    ignored = tmp_path / "site-packages"
    ignored.mkdir()
    assert results.commit(ignored) == "unknown"
    shutil.rmtree(tmp_path / ".git")
    assert results.commit(tmp_path / "src") == "unknown"


def test_budgets_in_words():
    assert budget_label(Budget(10, None, None)) == "10 seconds"
    assert budget_label(Budget(0.5, 200_000, 1500), ",") == "200,000 playouts or 0.5 seconds or score 1,500"
    assert budget_label(Budget(None, 200_000, None)) == "200000 playouts"


PLAN_MISTAKES = [
    ("title = ", "run.toml: is not TOML: Invalid value"),
    ("x = " + "[" * 20_000, "run.toml: is not TOML: "),
    ("x = 1" + " " * (1 << 20), "run.toml: is larger than 1,048,576 bytes"),
    ("\udcff", "run.toml: is not TOML: 'utf-8' codec can't decode"),
    (TINY + '[[parallel]]\nname = "leaf"\nwidth = 4\n', "NMCS with leaf, width=4: nmcs has no policy that several"),
    ("serach = 1\n" + TINY, "unknown key 'serach'; allowed are title, problems, seeds, threads, at, search"),
    (TINY.replace('title = "Tiny"', ""), "title is None; a text of one line is needed"),
    (TINY.replace('"Tiny"', '"a\\nb"'), "title is 'a\\nb'; a text of one line is needed"),
    (TINY.replace("problems", "#"), "problems is None; a list such as ['samegame:1'] is needed"),
    (TINY.replace(ONE, TWO), f"problem '{TWO}' is there twice"),
    (TINY.replace(ONE, "chess:1"), "unknown problem 'chess:1'"),
    (TINY.replace("seeds = 2", ""), "seeds is None; allowed are whole numbers from 1 to 1,000,000"),
    (TINY.replace("seeds = 2", "seeds = 0"), "seeds is 0"),
    (TINY.replace("seeds = 2", "seeds = [1, 1]"), "seeds is [1, 1]; a number, or a list of seeds that differ"),
    (TINY.replace("seeds = 2", "seeds = [-1]"), "a seed is -1"),
    (TINY.replace("seeds = 2", "seeds = 1_000_000"), "the grid has 8,000,000 runs; at most 1,000,000 are allowed"),
    (TINY.replace("seeds = 2", 'seeds = 2\nthreads = "4"'), "threads is '4'; allowed are whole numbers"),
    (TINY.replace("seeds = 2", "seeds = 2\nat = 10"), "at is 10; a list of numbers of playouts is needed"),
    (TINY.replace("[[search]]", "[[parallel]]"), "search is None; at least one table [[search]] is needed"),
    (TINY.replace("[[budget]]\nplayouts = 30", "").replace("[[budget]]", "[budget]"), "at least one table [[budget]]"),
    (TINY.replace('name = "nmcs"', ""), "search 2: name is None; a name such as 'gnrpa' is needed"),
    (TINY.replace('"nmcs"', '"magic"'), "search 2: search is 'magic'; allowed are gnrpa, nrpa, nmcs"),
    (TINY.replace("iterations", "iteration"), "search 1: gnrpa has no setting 'iteration'; it has level, iterations"),
    (TINY.replace("level = 2", 'level = "2"'), "search 1: level is '2'; allowed are whole numbers"),
    (TINY.replace('label = "NMCS"', "label = 3"), "search 2: label is 3; a text of one line is needed"),
    (TINY.replace("NMCS", "GNRPA, level=2, iterations=5"), "search 2: 'GNRPA, level=2, iterations=5' is there twice"),
    (TINY.replace("60", "30"), "budget 2: '30 playouts' is there twice"),
    (TINY.replace("playouts = 60", "playout = 60"), "budget 2: unknown key 'playout'; allowed are seconds, playouts"),
    (TINY.replace("playouts = 60", ""), "budget 2: no budget: give seconds, playouts or target"),
    (TINY.replace("60", "0.5"), "budget 2: playouts is 0.5"),
    (TINY + '[[parallel]]\nname = "leaf"\nwide = 2\n', "parallel 1: leaf has no setting 'wide'; it has "),
    (TINY + '[[parallel]]\nname = "magic"\n', "'magic'; allowed are none, root, leaf, node, hybrid"),
    (TINY + '[[parallel]]\nname = "none"\nwidth = 2\n', "parallel 1: unknown key 'width'; none has no settings"),
]


@pytest.mark.parametrize(("text", "message"), PLAN_MISTAKES, ids=[message[:60] for _, message in PLAN_MISTAKES])
def test_a_mistake_in_the_plan_is_one_line(text, message, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (write(tmp_path) / "run.toml").write_text(text, errors="surrogateescape")
    line = mistake(capsys, "run", "t")
    assert line.startswith("playout: experiments/t/run.toml: ")
    assert message in line
    assert not (tmp_path / "experiments" / "t" / "results.csv").exists()


GOOD = row(search="GNRPA, level=2, iterations=5", budget="30 playouts")
ROW_MISTAKES = [
    ("a,b\n", "the first line is 'a,b'; date,commit,machine,problem"),
    ("\udcff\n", "is not CSV: 'utf-8' codec can't decode"),
    (HEADER + '"a"b\n', "is not CSV: ',' expected after '\"'"),
    (HEADER + "a,b\n", "line 2: has 2 fields; 14 are needed"),
    (HEADER + "\n", "line 2: has 0 fields"),
    (HEADER + GOOD.to_csv() * 2, "line 3: the run is there twice"),
    (HEADER + GOOD.to_csv().replace("2026-11-15", "today"), "line 2: date is 'today'"),
    (HEADER + GOOD.to_csv().replace(",none,", ",,"), "line 2: parallel is ''"),
    (HEADER + GOOD.to_csv().replace(",1,0,10,", ",1,x,10,"), "line 2: seed is 'x'; a whole number is needed"),
    (HEADER + GOOD.to_csv().replace(",1,0,10,", ",0,0,10,"), "line 2: threads is 0"),
    (HEADER + GOOD.to_csv().replace(",1,0,10,", ",1,0,nan,"), "line 2: score is 'nan'; a number is needed"),
    (HEADER + GOOD.to_csv().replace("20:7.5", "20"), "line 2: a score in history is ''; a number is needed"),
    (HEADER + GOOD.to_csv().replace("20:7.5", "a:7.5"), "line 2: playouts in history is 'a'"),
    (HEADER + GOOD.to_csv().replace('{""search""', '""search""'), "seed 0: settings is "),
    (
        HEADER + GOOD.to_csv().replace('""parallel"":null', '""parallel"":3'),
        "'parallel' is neither null nor a strategy",
    ),
    (HEADER + GOOD.to_csv().replace('""name"":""GNRPA""', '""name"":""X""'), "search is 'x'; allowed are"),
]


@pytest.mark.parametrize(("text", "message"), ROW_MISTAKES, ids=[message[:60] for _, message in ROW_MISTAKES])
def test_a_strange_results_file_is_one_line_and_left_alone(text, message, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = write(tmp_path) / "results.csv"
    file.write_text(text, errors="surrogateescape")
    before = file.read_bytes()
    for action in ("run", "report"):
        line = mistake(capsys, action, "t")
        assert line.startswith("playout: experiments/t/results.csv")
        assert message in line
    assert file.read_bytes() == before


def test_rows_of_other_settings_are_not_mixed(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    home = write(tmp_path)
    runner.run(load_plan(home, seeds=1))
    write(tmp_path, TINY.replace("level = 1", "level = 2"))
    advice = "give it another label, or move results.csv away"
    assert f"'NMCS' has results with level=1, run.toml says level=2; {advice}" in mistake(capsys, "run", "t")
    write(tmp_path, TINY + '[[parallel]]\nlabel = "none"\nname = "root"\njobs = 2\n')
    assert f"'none' has results with name=None, run.toml says name=root; {advice}" in mistake(capsys, "report", "t")


def test_a_setting_that_rows_do_not_have_was_at_its_default(tmp_path):
    """So that a search may learn a new setting and its old results stay."""
    home = write(tmp_path)
    text = GOOD.to_csv().replace(',""initial"":""zero""', "")
    assert "initial" not in text
    (home / "results.csv").write_text(HEADER + text)
    assert runner.run(load_plan(home, seeds=1)).done_now == 7


def test_seconds_are_not_compared_between_numbers_of_threads(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    home = write(tmp_path, TINY.replace("playouts = 30", "seconds = 0.01").replace("seeds = 2", "seeds = 1"))
    assert "--workers 2 with the budget '0.01 seconds'" in mistake(capsys, "run", "t", "--workers", 2)
    runner.run(load_plan(home))
    write(tmp_path, (home / "run.toml").read_text().replace("seeds = 1", "seeds = 1\nthreads = 2"))
    assert "'0.01 seconds' has results with threads=1, run.toml says threads=2" in mistake(capsys, "run", "t")


def test_mistakes_in_the_command(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    home = write(tmp_path)
    assert (
        "there is no experiment 'u': no run.toml in 'experiments/u' nor in 'u'; in 'experiments' there is t"
        in mistake(capsys, "run", "u")
    )
    assert "--workers is 0" in mistake(capsys, "run", "t", "--workers", 0)
    assert "--seeds is 0" in mistake(capsys, "run", "t", "--seeds", 0)
    assert "2.5" in mistake(capsys, "run", "t", "--seeds", 2.5)
    assert "--at is 'x'; a whole number is needed" in mistake(capsys, "report", "t", "--at", "x")
    assert "a number of playouts in at is 0" in mistake(capsys, "report", "t", "--at", "0")
    assert "at is 61; no budget has that many playouts" in mistake(capsys, "report", "t", "--at", "61")
    assert "cannot read 'experiments/t/README.md': No such file" in mistake(capsys, "report", "t", "--write")
    for text in ("", report.BEGIN, f"{report.END}\n{report.BEGIN}", f"{report.BEGIN}\n{report.BEGIN}\n{report.END}"):
        (home / "README.md").write_text(text)
        assert "needs the lines <!-- report: begin --> and" in mistake(capsys, "report", "t", "--write")
        assert (home / "README.md").read_text() == text
    (home / "results.csv").mkdir()
    assert "'experiments/t/results.csv' is not a file" in mistake(capsys, "run", "t")
    write(tmp_path, TINY.replace("seeds = 2", "seeds = [5, 3]"))
    assert load_plan(home, seeds=1).seeds == (5,)
    assert "--seeds of a list is 3; allowed are whole numbers from 1 to 2" in mistake(capsys, "run", "t", "--seeds", 3)


@pytest.mark.parametrize("folder", sorted((ROOT / "experiments").glob("*/run.toml")), ids=lambda file: file.parent.name)
def test_the_readme_of_an_experiment_is_its_report(folder):
    """`playout experiment report NAME --write` after new runs."""
    plan = load_plan(folder.parent, to_run=False)
    rows = results.read(plan.folder)
    results.check_settings(plan, rows)
    text = report.to_markdown(report.tables(plan, rows, plan.at), report.source(plan, rows))
    assert f"{report.BEGIN}\n{text}\n{report.END}" in (plan.folder / "README.md").read_text()


def test_the_plans_in_the_documentation_can_be_read(tmp_path):
    for page in ("README.md", "docs/formats.md"):
        blocks = re.findall(r"```toml\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
        assert blocks
        for block in blocks:
            assert load_plan(write(tmp_path, block)).runs()


def test_tree_searches_are_compared_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, TREES)
    for _ in range(2):  # the second time nothing is left to do
        done = playout("experiment", "run", "t", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "RAVE" in done.stdout
    assert len((tmp_path / "experiments" / "t" / "results.csv").read_text().splitlines()) == 5
