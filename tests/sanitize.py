"""Build the engine under sanitizers and run the tests of what is threaded or parses: `make sanitize`.

The presets of CMakePresets.json make build/asan (address and undefined behaviour) and build/tsan (threads). Each test
run gets a package of its own, the Python files beside the sanitized module, and the sanitizer's library in front.

Every test file is in one of the three lists below; test_sanitize.py holds them against the folders.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent

# These files run threads of the engine. They run under all sanitizers.
THREADED = [
    "cluster/test_averaging.py",
    "cluster/test_chunk.py",
    "cluster/test_transport.py",
    "cluster/test_treesplit.py",
    "gtp/test_commands.py",
    "gtp/test_doubt.py",
    "match/test_seats.py",
    "own/test_library.py",
    "own/test_problem.py",
    "parallel/test_jobs.py",
    "parallel/test_node.py",
    "parallel/test_run.py",
    "parallel/test_tree.py",
    "test_checkpoint.py",
    "test_play.py",
    "test_solve.py",
]
# These files use one thread and parse bytes or manage memory. They run under the address sanitizer.
ONE_THREAD = [
    "core/test_exp.py",
    "core/test_policy.py",
    "core/test_random.py",
    "gtp/test_endings.py",
    "own/test_check.py",
    "own/test_compile.py",
    "own/test_game.py",
    "problems/test_games.py",
    "problems/test_go.py",
    "problems/test_go_engine.py",
    "problems/test_go_heavy.py",
    "problems/test_go_priors.py",
    "problems/test_playthroughs.py",
    "problems/test_same_game.py",
    "problems/test_same_game_engine.py",
    "problems/test_tsptw.py",
    "problems/test_tsptw_engine.py",
    "problems/test_tsptw_twin.py",
    "search/test_adapt.py",
    "search/test_bandit.py",
    "search/test_nested.py",
    "search/test_serialise.py",
    "search/test_solver.py",
    "search/test_tree_memory.py",
    "search/test_uct.py",
    "test_result.py",
    "test_sgf.py",
]
# These files run under no sanitizer, each for the reason given.
LEFT_OUT = {
    "cluster/test_dask.py": "other processes",
    "cluster/test_driver.py": "other processes; what they do is in cluster/test_chunk.py",
    "cluster/test_job.py": "other processes, whose MPI is not built for sanitizers",
    "cluster/test_mpi.py": "other processes, whose MPI is not built for sanitizers",
    "cluster/test_slurm.py": "a script of bash",
    "cluster/test_travel.py": "Python modules, and other processes",
    "gtp/test_others.py": "other processes",
    "gtp/test_program.py": "other processes",
    "match/test_match.py": "other processes; our own players are in match/test_seats.py",
    "match/test_referee.py": "other processes",
    "match/test_statistics.py": "numbers in Python",
    "parallel/test_team.py": "a program that has sanitizers of its own",
    "problems/test_go_others.py": "libraries of others",
    "problems/test_tsptw_picture.py": "a browser",
    "test_build.py": "how Python finds the module",
    "test_cli.py": "other processes",
    "test_clock.py": "numbers in Python",
    "test_documentation.py": "other processes",
    "test_examples.py": "other processes",
    "test_experiment.py": "Python around searches that test_solve.py has",
    "test_picture.py": "a browser",
    "test_plot.py": "matplotlib",
    "test_sanitize.py": "these lists",
}
# Single tests that are left out of the files above, each for the reason given.
DESELECTED = {
    "own/test_library.py::test_the_header_is_where_it_is_said_to_be": "another process",
    "test_sgf.py::test_the_page_replays_the_game": "a browser",
    "own/test_problem.py::test_the_second_run_of_a_program_does_not_compile": "another process",
    "own/test_problem.py::test_a_loop_without_an_end_can_be_left": "another process",
    "cluster/test_transport.py::test_a_million_messages": "a program that has sanitizers of its own",
    "cluster/test_treesplit.py::test_a_million_simulations": "a program that has sanitizers of its own",
    "parallel/test_jobs.py::test_auto_finds_the_better_colour": "about scores, and long",
    "test_checkpoint.py::test_killed_at_any_moment_it_leaves_a_checkpoint_that_can_be_read": "other processes",
    "test_checkpoint.py::test_no_memory_for_a_checkpoint_is_said_and_the_search_goes_on": "takes memory away",
}
# Tests of threaded files that use one thread only, or the threads of another test on another game: each name stands for
# all tests whose names begin with it. The thread sanitizer would spend minutes on them.
ALONE = [
    "cluster/test_treesplit.py::test_a_full_tree_gives_back_what_the_game_has_left",
    "cluster/test_treesplit.py::test_ranks_have_the_memory_of_all",
    "cluster/test_treesplit.py::test_small_games_are_solved[",
    "cluster/test_treesplit.py::test_the_twin_has_the_same_nodes_on_all_ranks",
    "cluster/test_treesplit.py::test_visits_add_up_and_each_state_has_one_home",
    "parallel/test_node.py::test_any_pieces_and_any_break_give_the_same",
    "parallel/test_node.py::test_damaged_bytes_are_refused_or_harmless",
    "parallel/test_node.py::test_the_twin_finds_the_same",
    "parallel/test_node.py::test_width_one_is_the_plain_search",
    "test_checkpoint.py::test_a_resumed_search_finds_what_an_uninterrupted_one_does[auto-",
    "test_solve.py::test_a_result_pinned_across_machines_and_versions",
    "test_solve.py::test_another_process_gives_the_same_result",
    "test_solve.py::test_start_is_where_the_search_begins",
]


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
    not_sanitized = shutil.ignore_patterns("_core.*.so")
    shutil.copytree(ROOT / "src" / "playout", site / "playout", dirs_exist_ok=True, ignore=not_sanitized)
    return site


def library(name: str) -> str:
    return subprocess.run(
        ["g++", f"-print-file-name={name}"], check=True, capture_output=True, text=True
    ).stdout.strip()


def test(preset: str, libraries: list[str], files: list[str], left_out: list[str], **options: str) -> None:
    print(f"== {preset}", flush=True)
    site = build(preset)
    environment = {
        **os.environ,
        "PYTHONPATH": str(site),
        "LD_PRELOAD": " ".join(map(library, libraries)),
        **options,
    }
    where = "import playout, sys; sys.exit(not playout._core.__file__.startswith(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", where, site], check=True, env=environment)
    workers = len(os.sched_getaffinity(0))
    command = [sys.executable, "-m", "pytest", "-q", f"--numprocesses={workers}", "--dist=worksteal"]
    command += ["-p", "no:cacheprovider", *(f"tests/{file}" for file in files)]
    command += [f"--deselect=tests/{test}" for test in left_out]
    subprocess.run(command, cwd=ROOT, check=True, env=environment)


if __name__ == "__main__":
    test(
        "asan",
        ["libasan.so", "libstdc++.so"],
        THREADED + ONE_THREAD,
        list(DESELECTED),
        ASAN_OPTIONS="detect_leaks=0",
        UBSAN_OPTIONS="halt_on_error=1",
    )
    test("tsan", ["libtsan.so"], THREADED, [*DESELECTED, *ALONE], TSAN_OPTIONS="halt_on_error=1")
