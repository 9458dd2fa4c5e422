"""Teams of threads, tested in C++: team_test.cpp, plain and under ThreadSanitizer."""

from pathlib import Path

import pytest

from tests import program


@program.needs_compiler
@pytest.mark.parametrize("sanitizer", [[], program.THREADS], ids=["plain", "tsan"])
def test_team(sanitizer, tmp_path):
    program.run(Path(__file__).with_name("team_test.cpp"), tmp_path, sanitizer=sanitizer)
