"""Run `make test` again and again, and say which tests failed: `python tests/repeat.py --runs 5 --busy 2`.

It runs without standard input, beside so many busy loops, and in an empty environment if that is asked for. The output
of each run is in build/repeat.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent
LOGS = ROOT / "build" / "repeat"


@contextmanager
def busy_loop():
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        try:
            yield
        finally:
            process.kill()


def run(name: str, empty: bool) -> bool:
    """Run all tests once; whether they passed."""
    environment = {key: os.environ[key] for key in ("HOME", "PATH")} if empty else None
    begin = time.monotonic()
    with open(LOGS / f"{name}.log", "w") as log:
        status = subprocess.run(
            ["make", "test"], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment
        ).returncode
    said = (LOGS / f"{name}.log").read_text()
    outcome = re.findall(r"^=* ?(\d+ .* in .*?s)", said, re.MULTILINE)[-1:] or ["no test ran"]
    print(f"{name}: status {status}, {time.monotonic() - begin:.0f} s, {outcome[0]}", flush=True)
    for line in re.findall(r"^(?:FAILED|ERROR) .*", said, re.MULTILINE):
        print(f"  {line}", flush=True)
    return status == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--busy", type=int, default=0, help="busy loops beside the tests")
    parser.add_argument("--empty", action="store_true", help="nothing in the environment but HOME and PATH")
    given = parser.parse_args()
    LOGS.mkdir(parents=True, exist_ok=True)
    passed = []
    for number in range(given.runs):
        with ExitStack() as stack:
            for _ in range(given.busy):
                stack.enter_context(busy_loop())
            passed.append(run(f"{time.strftime('%H%M')}-{number + 1}-busy-{given.busy}", given.empty))
    print(f"{sum(passed)} of {given.runs} runs passed")
    sys.exit(0 if all(passed) else 1)


if __name__ == "__main__":
    main()
