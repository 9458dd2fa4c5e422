"""Tests that are programs: in C++, compiled, under a sanitizer or plain, and run; or jobs of several processes."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
COMPILER = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler: set CXX")
MANY_JOBS = pytest.mark.slow("starts another job of several processes")
THREADS = ["-fsanitize=thread"]
ADDRESSES = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


def run(source: Path, folder: Path, *arguments: object, sanitizer: list[str]) -> None:
    """Compile and run a program, which says what it found wrong, or ok."""
    program = folder / source.stem
    flags = ["-std=c++20", "-O2", "-g", "-pthread", f"-I{ROOT / 'cpp'}", *sanitizer]
    subprocess.run([COMPILER, *flags, source, "-o", program], check=True)
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=1200)
    assert (done.returncode, done.stdout) == (0, "ok\n"), done.stderr
