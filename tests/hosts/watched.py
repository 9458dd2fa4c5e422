"""The command ``playout``, which also writes down what it hears of the islands, and when: a line of JSON each time.

Checkpoints are written every second, not every 30.
"""

import json
import os
import time
from typing import Any

from playout import cli
from playout.cli import solve
from playout.cluster import driver
from playout.progress import Progress


def main() -> None:
    """Run the command line; the file is $PLAYOUT_TEST_LOG."""
    run = solve.run
    driver.CHECKPOINT_SECONDS = 1.0
    with open(os.environ["PLAYOUT_TEST_LOG"], "a", buffering=1) as log:

        def run_and_log(task: Any, budget: Any, on_event: Any) -> Any:
            before: Any = None

            def note(progress: Progress) -> Any:
                nonlocal before
                islands = [[i.playouts, i.seen, i.lost, i.nodes[-1:]] for i in progress.islands]
                if islands != before:
                    log.write(json.dumps({"at": time.monotonic(), "islands": islands}) + "\n")
                before = islands
                return on_event(progress)

            return run(task, budget, on_event=note)

        solve.run = run_and_log
        cli.main()


if __name__ == "__main__":
    main()
