"""Curves of results: the right numbers reach matplotlib, and files are written."""

import subprocess
import sys

import matplotlib
import numpy as np
import pytest

import playout as po
from playout import GNRPA, NRPA, InputError, SameGame
from playout.plot import curve, grouped, mean_and_band, save_plot

matplotlib.use("agg")
BOARD = SameGame.standard(1)
QUICK = GNRPA(level=1)


@pytest.fixture(scope="module")
def results():
    searches = [GNRPA(level=2), GNRPA(level=2), GNRPA(level=2), NRPA(level=2)]
    return [po.solve(BOARD, search, playouts=1000, seed=seed) for seed, search in enumerate(searches)]


def test_a_curve_is_the_history_up_to_the_end(results):
    at, scores = curve(results[0], "playouts")
    assert list(zip(at, scores, strict=True)) == [
        *((playouts, score) for _, playouts, score in results[0].history),
        (1000, results[0].score),
    ]


def test_mean_and_band_of_known_curves():
    """Two steps, at 1 and at 3: the mean rises by half at each, the band is 1.96 standard errors."""
    one = (np.array([0.0, 1.0, 4.0]), np.array([0.0, 10.0, 10.0]))
    two = (np.array([0.0, 3.0, 4.0]), np.array([0.0, 10.0, 10.0]))
    grid, mean, half = mean_and_band([one, two])
    assert (grid[0], grid[-1]) == (0.0, 4.0)
    assert mean[np.searchsorted(grid, 0.5)] == 0
    assert mean[np.searchsorted(grid, 2.0)] == 5
    assert mean[-1] == 10
    assert half[np.searchsorted(grid, 2.0)] == pytest.approx(1.96 * np.std([10, 0], ddof=1) / 2**0.5)


def test_results_are_grouped_by_problem_and_settings(results):
    other = po.solve(BOARD, GNRPA(level=2, alpha=2.0), playouts=50)
    boards = [po.solve(SameGame.parse(rows), QUICK, playouts=5) for rows in ("00\n11", "01\n01")]
    groups = grouped([*results, other, *boards])
    assert [len(group) for group in groups.values()] == [3, 1, 1, 1, 1]


def test_a_figure_over_both_or_one(results):
    both = results[0].plot()
    assert [ax.get_xlabel() for ax in both.axes] == ["seconds", "playouts"]
    several = po.plot(results, x="playouts")
    (ax,) = several.axes
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "samegame:1, GNRPA level 2, mean of 3",
        "samegame:1, NRPA level 2",
    ]
    figure, mine = matplotlib.pyplot.subplots()
    assert results[0].plot(mine) is figure
    assert mine.get_xlabel() == "seconds"
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize(("name", "magic"), [("curve.png", b"\x89PNG"), ("curve.svg", b"<?xml"), ("C.PNG", b"\x89PNG")])
def test_the_command_writes_pictures(results, tmp_path, name, magic):
    files = []
    for number, result in enumerate(results):
        files.append(tmp_path / f"{number}.json")
        result.save(files[-1])
    done = run("plot", *files, "--output", tmp_path / name)
    assert (done.returncode, done.stdout) == (0, f"wrote {tmp_path / name}\n")
    assert (tmp_path / name).read_bytes().startswith(magic)


def run(*arguments):
    command = [sys.executable, "-m", "playout", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_mistakes_are_one_line(results, tmp_path):
    results[0].save(tmp_path / "run.json")
    for arguments, message in (
        (["plot", "--output", tmp_path / "x.png"], "no results to plot"),
        (["plot", tmp_path / "run.json", "--output", tmp_path / "x.gif"], "should end with .png or .svg"),
        (["plot", tmp_path / "none.json", "--output", tmp_path / "x.png"], "cannot read"),
        (["plot", tmp_path / "run.json", "--output", tmp_path / "no" / "x.png"], "cannot write"),
        (["plot", tmp_path / "run.json", "--output", tmp_path / "x.png", "--x", "hours"], "hours"),
        (["show", tmp_path / "run.json", "--svg", tmp_path / "no" / "x.svg"], "cannot write"),
        (["show", tmp_path / "run.json", "--html", tmp_path], "it is a folder"),
    ):
        done = run(*arguments)
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
        assert message in done.stderr
    with pytest.raises(InputError, match="x is 'hours'; allowed are seconds, playouts"):
        results[0].plot(x="hours")
    with pytest.raises(InputError, match="no results"):
        save_plot([], tmp_path / "x.png")


def test_without_matplotlib_one_line_says_what_to_install(results, tmp_path):
    program = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from playout.cli import main\n"
        f"main(['plot', {str(tmp_path / 'run.json')!r}, '--output', {str(tmp_path / 'x.png')!r}])"
    )
    results[0].save(tmp_path / "run.json")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith("playout: plots need matplotlib, the [plot] extra; install it with: pip install ")
    assert len(done.stderr.splitlines()) == 1


def test_nothing_heavy_is_imported_before_it_is_used():
    program = "import sys, playout; print({'matplotlib', 'numpy', 'rich', 'cyclopts'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout == "set()\n"
