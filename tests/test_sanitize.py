"""The lists of the sanitizers: each test file is in one of them, and each entry exists."""

import re
from pathlib import Path

from tests import sanitize

TESTS = Path(__file__).parent


def test_every_test_file_is_in_one_list():
    listed = [*sanitize.THREADED, *sanitize.ONE_THREAD, *sanitize.LEFT_OUT]
    here = {str(path.relative_to(TESTS)) for path in TESTS.rglob("test_*.py")}
    alone = {file for file in here if file.startswith("hosts/")}  # three hosts, which have no sanitizers
    assert sorted(listed) == sorted(here - alone)
    assert all([*sanitize.LEFT_OUT.values(), *sanitize.DESELECTED.values()])


def test_what_is_deselected_is_there():
    for test in [*sanitize.DESELECTED, *sanitize.ALONE]:
        file, name = test.split("::")
        assert file in sanitize.THREADED + sanitize.ONE_THREAD
        assert re.search(rf"^def {name.split('[')[0]}\(", (TESTS / file).read_text(), re.MULTILINE), test


def test_what_has_several_threads_runs_under_the_thread_sanitizer():
    """In this process: a file that asks the engine for threads or ranks is in the list of what is threaded."""
    for file in sanitize.ONE_THREAD:
        assert not re.search(r"\b(threads|ranks)=([2-9]|threads|ranks)", (TESTS / file).read_text()), file
