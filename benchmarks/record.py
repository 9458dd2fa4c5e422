"""Results files: rows of CSV that say when, from which commit and on which machine they were measured."""

import csv
import datetime
import os
import subprocess
from pathlib import Path

from playout.result import cpu_name

FOLDER = Path(__file__).parent


def commit() -> str:
    """The commit that is checked out, with a plus sign if the sources differ from it."""

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=FOLDER, check=True, capture_output=True, text=True).stdout

    changed = git("status", "--short", "--", "../cpp", "../src", "../CMakeLists.txt")
    return git("rev-parse", "--short", "HEAD").strip() + ("+" if changed else "")


COMMIT = commit()  # when the measurement begins; it may be another when it ends


def append_rows(name: str, rows: list[dict[str, object]]) -> None:
    """Add rows to a results file in this folder, with date, commit and machine in front."""
    where = {
        "date": datetime.date.today().isoformat(),
        "commit": COMMIT,
        "machine": f"{cpu_name()}, {os.cpu_count()} cores",
    }
    file = FOLDER / name
    new = not file.exists()
    with file.open("a", newline="") as stream:
        writer = csv.DictWriter(stream, [*where, *rows[0]], lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerows({**where, **row} for row in rows)
