"""Runs commands of the command line in processes that are forked from one process, which has imported everything.

Tests run hundreds of commands, and starting Python takes longer than most of them.
"""

import atexit
import json
import os
import select
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

SECONDS = 120
SERVER = """
import json, os, sys
from playout import cli

cli.import_commands()
for line in sys.stdin:
    job = json.loads(line)
    child = os.fork()
    if child == 0:
        os.chdir(job["cwd"])
        os.environ.clear()
        os.environ.update(job["environment"])
        for number, file in enumerate(["/dev/null", *job["files"]]):
            os.dup2(os.open(file, os.O_RDWR), number)
        status = 1
        try:
            cli.main(job["arguments"])
        except SystemExit as end:
            status = end.code or 0
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
"""


@cache
def server() -> subprocess.Popen:
    words = [sys.executable, "-c", SERVER]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(process.kill)
    return process


def run(*arguments: object, cwd: Path | None = None, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run ``playout`` with some arguments, as subprocess.run does."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("out", "err")]
        for file in files:
            file.touch()
        job = {
            "arguments": [str(argument) for argument in arguments],
            "cwd": str(cwd or Path.cwd()),
            "environment": {**os.environ, **environment},
            "files": [str(file) for file in files],
        }
        process = server()
        process.stdin.write(json.dumps(job) + "\n")
        process.stdin.flush()
        if not select.select([process.stdout], [], [], SECONDS)[0]:
            process.kill()
            server.cache_clear()
            raise subprocess.TimeoutExpired(arguments, SECONDS)
        status = int(process.stdout.readline())
        return subprocess.CompletedProcess(arguments, status, *(file.read_text() for file in files))
