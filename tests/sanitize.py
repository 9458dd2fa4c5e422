"""Build the engine under sanitizers and run the tests of what is threaded or parses: `make sanitize`.

The presets of CMakePresets.json make build/asan (address and undefined behaviour) and build/tsan (threads). Each test
run gets a package of its own, the Python files beside the sanitized module, and the sanitizer's library in front.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
LEFT_OUT = [  # has sanitizers of its own; is about a browser; about scores; about other processes; about others' code
    "--ignore=tests/problems/test_tsptw_picture.py",
    "--ignore=tests/problems/test_go_others.py",
    "--deselect=tests/own/test_library.py::test_the_header_is_where_it_is_said_to_be",
    "--deselect=tests/own/test_problem.py::test_the_second_run_of_a_program_does_not_compile",
    "--deselect=tests/own/test_problem.py::test_a_loop_without_an_end_can_be_left",
    "--ignore=tests/parallel/test_team.py",
    "--deselect=tests/parallel/test_jobs.py::test_auto_finds_the_better_colour",
    "--deselect=tests/test_checkpoint.py::test_killed_at_any_moment_it_leaves_a_checkpoint_that_can_be_read",
    "--deselect=tests/test_checkpoint.py::test_no_memory_for_a_checkpoint_is_said_and_the_search_goes_on",
]
TESTS = [
    "tests/core",
    "tests/own",
    "tests/problems",
    "tests/search",
    "tests/parallel",
    "tests/gtp/test_commands.py",
    "tests/gtp/test_endings.py",
    "tests/test_play.py",
    "tests/test_solve.py",
    "tests/test_result.py",
    "tests/test_checkpoint.py",
    "tests/cluster/test_averaging.py",
    "tests/cluster/test_chunk.py",
    *LEFT_OUT,
]
THREADED = [
    "tests/own/test_problem.py",
    "tests/parallel",
    "tests/gtp/test_commands.py",
    "tests/test_play.py",
    "tests/test_solve.py",
    "tests/test_checkpoint.py",
    "tests/cluster/test_averaging.py",
    *LEFT_OUT,
]
RUN = """
import sys
sys.meta_path = [finder for finder in sys.meta_path if "ScikitBuild" not in type(finder).__name__]
import playout, pytest
assert "/build/" in playout._core.__file__, playout._core.__file__
sys.exit(pytest.main(sys.argv[1:]))
"""


def build(preset: str) -> Path:
    """Return a folder with the package built by a preset."""
    folder, site = ROOT / "build" / preset, ROOT / "build" / preset / "site"
    tools = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for command in (
        ["cmake", "--preset", preset, f"-DPython_EXECUTABLE={sys.executable}"],
        ["cmake", "--build", folder],
        ["cmake", "--install", folder, "--prefix", site],
    ):
        subprocess.run(command, cwd=ROOT, check=True, env=tools, stdout=subprocess.DEVNULL)
    shutil.copytree(ROOT / "src" / "playout", site / "playout", dirs_exist_ok=True)
    return site


def library(name: str) -> str:
    return subprocess.run(
        ["g++", f"-print-file-name={name}"], check=True, capture_output=True, text=True
    ).stdout.strip()


def test(preset: str, libraries: list[str], tests: list[str], **options: str) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": str(build(preset)),
        "LD_PRELOAD": " ".join(map(library, libraries)),
        **options,
    }
    print(f"== {preset}", flush=True)
    command = [sys.executable, "-c", RUN, "-q", "-p", "no:cacheprovider", *tests]
    subprocess.run(command, cwd=ROOT, check=True, env=environment)


if __name__ == "__main__":
    test("asan", ["libasan.so", "libstdc++.so"], TESTS, ASAN_OPTIONS="detect_leaks=0", UBSAN_OPTIONS="halt_on_error=1")
    test("tsan", ["libtsan.so"], THREADED, TSAN_OPTIONS="halt_on_error=1")
