"""Teams of threads, tested in C++: team_test.cpp, plain and under ThreadSanitizer."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
COMPILER = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")


@pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler: set CXX")
@pytest.mark.parametrize("sanitizer", [[], ["-fsanitize=thread"]], ids=["plain", "tsan"])
def test_team(sanitizer, tmp_path):
    program = tmp_path / "team_test"
    include = HERE.parent.parent / "cpp"
    flags = ["-std=c++20", "-O2", "-g", "-pthread", *sanitizer]
    subprocess.run([COMPILER, *flags, f"-I{include}", HERE / "team_test.cpp", "-o", program], check=True)
    done = subprocess.run([program], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "ok\n"), done.stderr
