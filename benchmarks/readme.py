"""Print the README's speed table from the newest rows of samegame.csv; with --write, put it there."""

import csv
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
BEGIN, END = "<!-- speed: begin -->", "<!-- speed: end -->"


def table() -> str:
    with (FOLDER / "samegame.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    newest = [row for row in rows if (row["date"], row["commit"]) == (rows[-1]["date"], rows[-1]["commit"])]
    lines = ["| board | plain C++ | Playout | ratio |", "|---|---|---|---|"]
    lines += [
        f"| {row['board']} | {int(row['yardstick']):,} | {int(row['playout']):,} | {float(row['ratio']):.2f} |"
        for row in newest
    ]
    last = newest[-1]
    source = f"Medians of {last['rounds']} rounds, {last['date']}, commit {last['commit']}, {last['machine']}."
    return "\n".join([*lines, "", source])


def main() -> None:
    print(table())
    if "--write" in sys.argv:
        readme = FOLDER.parent / "README.md"
        before, _, rest = readme.read_text().partition(BEGIN)
        after = rest.partition(END)[2]
        readme.write_text(f"{before}{BEGIN}\n{table()}\n{END}{after}")


if __name__ == "__main__":
    main()
