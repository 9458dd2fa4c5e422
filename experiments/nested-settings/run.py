"""What the two later improvements of NRPA do to the score of SameGame at equal playouts: results.csv and README.md.

    python experiments/nested-settings/run.py [--seeds 20] [--playouts 200000]

Runs are interleaved by seed, appended one by one, and not repeated when the script is started again.
"""

import argparse
import csv
import datetime
import statistics
import subprocess
from pathlib import Path

import playout as po
from playout.result import cpu_name

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results.csv"
BOARDS = (1, 16)
SEARCHES = {
    "GNRPA": po.GNRPA(level=3),
    "NRPA": po.NRPA(level=3),
    "GNRPA, playouts_per_call=4": po.GNRPA(level=3, playouts_per_call=4),
    "GNRPA, playouts_per_call=10": po.GNRPA(level=3, playouts_per_call=10),
    "GNRPA, repetitions=3": po.GNRPA(level=3, repetitions=3),
    "GNRPA, repetitions=10": po.GNRPA(level=3, repetitions=10),
}
FIELDS = ("date", "commit", "machine", "board", "search", "playouts", "seed", "score")


def rows() -> list[dict[str, str]]:
    if not RESULTS.exists():
        return []
    with RESULTS.open(newline="") as stream:
        return list(csv.DictReader(stream))


def run(seeds: int, playouts: int) -> None:
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=FOLDER, capture_output=True, text=True).stdout
    done = {(row["board"], row["search"], row["playouts"], row["seed"]) for row in rows()}
    new = not RESULTS.exists()
    with RESULTS.open("a", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        if new:
            writer.writerow(FIELDS)
        for seed in range(seeds):
            for board in BOARDS:
                for name, search in SEARCHES.items():
                    if (str(board), name, str(playouts), str(seed)) in done:
                        continue
                    score = po.solve(po.SameGame.standard(board), search, playouts=playouts, seed=seed).score
                    today = datetime.date.today().isoformat()
                    writer.writerow([today, commit.strip(), cpu_name(), board, name, playouts, seed, f"{score:g}"])
                    stream.flush()
                    print(board, name, seed, score, flush=True)


def report() -> str:
    """A table of means with 95 % intervals, one line a search, one column a board."""
    found = rows()
    lines = ["| search | " + " | ".join(f"board {board}" for board in BOARDS) + " |", "|---" * (len(BOARDS) + 1) + "|"]
    for name in SEARCHES:
        cells = []
        for board in BOARDS:
            scores = [float(r["score"]) for r in found if (r["search"], r["board"]) == (name, str(board))]
            half = 1.96 * statistics.stdev(scores) / len(scores) ** 0.5
            cells.append(f"{statistics.mean(scores):,.0f} ± {half:,.0f}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    last = found[-1]
    seeds = len({row["seed"] for row in found})
    lines += [
        "",
        f"{seeds} seeds, {int(last['playouts']):,} playouts a run, level 3, 100 iterations, dominant tabu colour;",
    ]
    lines += [f"mean and 95 % interval. {last['date']}, commit {last['commit']}, {last['machine']}."]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--playouts", type=int, default=200_000)
    arguments = parser.parse_args()
    run(arguments.seeds, arguments.playouts)
    readme = FOLDER / "README.md"
    before, begin, _ = readme.read_text().partition("<!-- table -->\n")
    readme.write_text(f"{before}{begin}{report()}\n")


if __name__ == "__main__":
    main()
