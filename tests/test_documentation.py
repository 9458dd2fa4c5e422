"""What the documentation shows runs as shown."""

import doctest
import os
import re
import shlex
import socket
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import playout
from playout import TSPTW, SameGame

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def commands() -> list[str]:
    return [line for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL) for line in block.splitlines()]


def test_the_readme_python(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tests = doctest.DocTestParser().get_doctest(README.replace("```", ""), {}, "README.md", "README.md", 0)
    assert len(tests.examples) > 8
    assert doctest.DocTestRunner(verbose=False).run(tests).failed == 0


def test_the_readme_commands(tmp_path):
    """In the order shown, in one folder; with a fifth of the time."""
    assert len(commands()) == 12
    for command in commands():
        done = in_shell(with_less_time(command, 5), tmp_path)
        assert done.returncode == 0, command + done.stderr


def with_less_time(command, times):
    return re.sub(r"--seconds (\d+)", lambda found: f"--seconds {int(found[1]) / times:g}", command)


def in_shell(command, folder):
    """As it is typed, where the environment's programs are on the path."""
    words = ["bash", "-c", command]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120, env=environment())


def environment():
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path}


@pytest.mark.slow("runs every command of a guide")
def test_the_guide_to_clusters(tmp_path):
    """Its commands, with a sixtieth of the time; those of the scheduler and the worker in the background."""
    guide = (ROOT / "docs" / "cluster.md").read_text()
    lines = [line for block in re.findall(r"```sh\n(.*?)```", guide, re.DOTALL) for line in block.splitlines()]
    lines = [line.partition(" #")[0].strip() for line in lines if not line.startswith(("pip", "export", "sbatch"))]
    background = []
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    try:
        for line in lines:
            line = with_less_time(line, 60).replace("8786", str(port))
            if line.startswith("dask"):
                words = [*shlex.split(line), "--no-dashboard"]
                quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment(), cwd=tmp_path)
                background.append(subprocess.Popen([Path(sys.executable).with_name("dask"), *words[1:]], **quiet))
            else:
                done = in_shell(line, tmp_path)
                assert done.returncode == 0, line + done.stderr
    finally:
        for process in background:
            process.kill()
            process.wait()
    assert len(background) == 2
    assert len(lines) == 9
    for block in re.findall(r"```python\n(.*?)```", guide, re.DOTALL):
        compile(block, "cluster.md", "exec")


@pytest.mark.slow("runs every command of a guide")
def test_the_guide_to_ranks(tmp_path):
    guide = (ROOT / "docs" / "ranks.md").read_text()
    lines = [line for block in re.findall(r"```sh\n(.*?)```", guide, re.DOTALL) for line in block.splitlines()]
    assert len(lines) == 4
    for line in lines:
        done = in_shell(line, tmp_path)
        assert done.returncode == 0, line + done.stderr
        assert done.stdout.startswith("= \n\n= ")
        assert "ranks; " in done.stderr
    (script,) = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    (tmp_path / "script.py").write_text(script.replace("seconds=2", "seconds=0.3").replace("threads=4", "threads=1"))
    done = in_shell("mpiexec -n 3 python script.py", tmp_path)
    assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (0, "", 1)


def test_the_guide_to_games(tmp_path):
    guide = (ROOT / "docs" / "games.md").read_text()
    tests = doctest.DocTestParser().get_doctest(guide.replace("```", ""), {}, "games.md", "games.md", 0)
    assert len(tests.examples) > 5
    assert doctest.DocTestRunner(verbose=False).run(tests).failed == 0
    (command,) = re.findall(r"^    (playout .*)$", guide, re.MULTILINE)
    done = run(command.removeprefix("playout ").replace("seconds 10", "seconds 1"), tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_guide_to_go(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    guide = (ROOT / "docs" / "go.md").read_text()
    tests = doctest.DocTestParser().get_doctest(guide.replace("```", ""), {}, "go.md", "go.md", 0)
    assert len(tests.examples) > 5
    assert doctest.DocTestRunner(verbose=False).run(tests).failed == 0
    done = run("show game.sgf", tmp_path)
    assert done.returncode == 0, done.stderr
    (spoken,) = re.findall(r"^    (printf .*)$", guide, re.MULTILINE)
    done = in_shell(spoken.replace("playout", f"{shlex.quote(sys.executable)} -m playout"), tmp_path)
    assert done.returncode == 0, done.stderr
    assert "A B C D E F G H J" in done.stdout


@pytest.mark.slow("runs every command of a guide")
def test_the_guide_to_problems_of_ones_own(tmp_path):
    """Its file, what check says of it with the mistakes it tells of, and its commands."""
    guide = (ROOT / "docs" / "problems.md").read_text()
    source = next(block for block in re.findall(r"```python\n(.*?)```", guide, re.DOTALL) if "import" in block)
    pages = re.findall(r"```text\n(.*?)```", guide, re.DOTALL)
    mistakes = (("max_moves = 2", "max_moves = 1"), ("2 * s.next + move", "s.next"), ("", ""))
    for page, (right, wrong) in zip(pages, mistakes, strict=True):
        (tmp_path / "bag.py").write_text(source.replace(right, wrong))
        said = run("check ./bag.py:problem", tmp_path).stdout.replace(f"{tmp_path}/", "")
        assert without_rates(said).startswith(without_rates(page))
    lines = [line for block in re.findall(r"```sh\n(.*?)```", guide, re.DOTALL) for line in block.splitlines()]
    assert len(lines) == 5
    for line in lines:
        done = run(line.removeprefix("playout "), tmp_path)
        assert done.returncode == 0, line + done.stderr


def run(command, folder):
    words = [sys.executable, "-m", "playout", *shlex.split(command)]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120)


def without_rates(page: str) -> str:
    return re.sub(r"[\d,]+ random playouts a second", "playouts a second", page)


def test_the_docstring_of_the_package():
    assert doctest.testmod(playout).failed == 0


@pytest.mark.parametrize("script", EXAMPLES, ids=[script.name for script in EXAMPLES])
def test_the_examples_run(script, tmp_path):
    assert sum(1 for line in script.read_text().splitlines() if line) <= 30
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_the_notebook_is_executed_and_runs_again(tmp_path):
    """Every code cell has the output it has now, but for times and pictures."""
    notebook = nbformat.read(ROOT / "examples" / "samegame.ipynb", as_version=4)
    before = [kinds(cell) for cell in notebook.cells]
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert [kinds(cell) for cell in notebook.cells] == before
    assert {"text/html", "image/png"} <= {kind for cell in before for kind in cell}
    assert notebook.cells[-1].outputs[0].data["text/plain"] == "2659.0"


def kinds(cell) -> list[str]:
    return [kind for output in cell.get("outputs", []) for kind in sorted(output.get("data", {}))]


def test_the_boards_of_the_format_page_can_be_read():
    text = (ROOT / "docs" / "formats.md").read_text()
    boards = re.search(r"    # two boards\n.*?(?=\n##)", text, re.DOTALL)
    assert boards is not None
    with pytest.raises(playout.InputError, match="2 boards"):
        SameGame.parse(boards[0])


def test_the_instance_of_the_format_page_can_be_read():
    text = (ROOT / "docs" / "formats.md").read_text()
    found = re.search(r"## TSPTW instances\n.*?\n((?:    [^\n]*\n)+)", text, re.DOTALL)
    assert found is not None
    assert TSPTW.parse(found[1]).replay([1, 2])[1] == {
        "cost": 35.0, "makespan": 40.0, "violations": 0, "missed": [], "feasible": True, "finished": True,
    }  # fmt: skip


def test_the_stubs_are_those_of_the_module(tmp_path):
    """`make stubs` after a change of the bindings."""
    fresh = tmp_path / "_core.pyi"
    subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "playout._core", "-o", fresh], check=True)
    assert fresh.read_text() == (ROOT / "src" / "playout" / "_core.pyi").read_text()


def test_links_in_the_documentation_lead_somewhere():
    patterns = ("*.md", "docs/*.md", "cpp/README.md", "experiments/*/README.md")
    for page in (page for pattern in patterns for page in ROOT.glob(pattern)):
        for target in re.findall(r"\]\((?!http)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_tables_are_the_results_files():
    """The tables of the README and of three pages are what `python benchmarks/readme.py` makes of the results."""
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "readme.py"], capture_output=True, text=True, check=True, env=os.environ
    )
    pages = README + "".join((ROOT / "docs" / page).read_text() for page in ("parallel.md", "problems.md", "games.md"))
    tables = re.split(r"(?<=cores\.)\n", done.stdout.strip())
    assert len(tables) == 4
    assert all(table in pages for table in tables)
