"""The memory of a level-5 search of a standard board: resident megabytes, once in a while, of this very process.

    python benchmarks/memory.py [--board 1] [--minutes 10]

Rows are added to benchmarks/memory.csv.
"""

import argparse
import os
from pathlib import Path

from record import append_rows

from playout import GNRPA, SameGame, watch

SAMPLES = 10


def resident_megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--board", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=10.0)
    arguments = parser.parse_args()
    seconds, rows = 60 * arguments.minutes, []
    before = resident_megabytes()
    for progress in watch(SameGame.standard(arguments.board), GNRPA(level=5), seconds=seconds):
        if progress.seconds >= len(rows) * seconds / SAMPLES or progress.result is not None:
            rows.append(
                {
                    "board": arguments.board,
                    "level": 5,
                    "seconds": round(progress.seconds),
                    "playouts": progress.playouts,
                    "resident_megabytes": round(resident_megabytes(), 1),
                    "before_the_search": round(before, 1),
                }
            )
            print(rows[-1])
    append_rows("memory.csv", rows)


if __name__ == "__main__":
    main()
