"""Does exchange between islands help at equal playouts? Eight islands on three boards, with and without.

    python experiments/exchange/run.py            # resumes; results.csv has a row for each run
    python experiments/exchange/run.py --report   # writes the table of README.md

Without exchange the islands are eight searches of ``Root``: no cluster is needed. With it they are eight islands of a
local cluster with one process: each is searched for half a second at a time, and exchange is tried every time.
"""

import csv
import statistics
import sys
from datetime import date
from pathlib import Path

import playout as po
from playout.experiment.report import interval
from playout.experiment.results import commit, machine

BOARDS, ISLANDS, SEEDS, PLAYOUTS, LEVEL = (1, 3, 16), 8, 20, 1_000_000, 4
CHUNK, EVERY = 0.5, 0.5
FILE = Path(__file__).with_name("results.csv")
COLUMNS = ["date", "commit", "machine", "board", "exchange", "seed", "score", "playouts", "seconds", "families", "lost"]


def main() -> None:
    """Run what is missing, a whole grid with the first seed before the second."""
    done = {(row["board"], row["exchange"], row["seed"]) for row in read()}
    for seed in range(SEEDS):
        for board in BOARDS:
            for exchange in ("no", "yes"):
                if (str(board), exchange, str(seed)) not in done:
                    write(run(board, exchange, seed))


def run(board: int, exchange: str, seed: int) -> dict[str, object]:
    """Search one board once."""
    cluster = po.Local(workers=1, chunk=CHUNK, exchange=EVERY) if exchange == "yes" else None
    result = po.solve(
        po.SameGame.standard(board),
        po.GNRPA(level=LEVEL),
        playouts=PLAYOUTS,
        parallel=po.Root(ISLANDS),
        cluster=cluster,
        seed=seed,
    )
    families = {island.family for island in result.islands} or range(ISLANDS)
    return {
        "date": date.today(),
        "commit": commit(),
        "machine": machine(),
        "board": board,
        "exchange": exchange,
        "seed": seed,
        "score": result.score,
        "playouts": result.playouts,
        "seconds": round(result.seconds, 1),
        "families": len(families),
        "lost": sum(island.lost for island in result.islands),
    }


def read() -> list[dict[str, str]]:
    """Return the rows that are there."""
    if not FILE.exists():
        return []
    with FILE.open(newline="") as file:
        return list(csv.DictReader(file))


def write(row: dict[str, object]) -> None:
    """Add a row."""
    new = not FILE.exists()
    with FILE.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if new:
            writer.writeheader()
        writer.writerow(row)
    print(*row.values(), flush=True)


def report() -> str:
    """Return the table: means with 95 % intervals, and the mean difference of runs with the same seed."""
    lines = ["| board | none | exchange | difference | searches left of 8 | n |", "|---|---:|---:|---:|---:|---:|"]
    rows = read()
    for board in BOARDS:
        scores = {(r["exchange"], r["seed"]): float(r["score"]) for r in rows if r["board"] == str(board)}
        seeds = [seed for kind, seed in scores if kind == "yes" and ("no", seed) in scores]
        columns = [[scores[kind, seed] for seed in seeds] for kind in ("no", "yes")]
        columns.append([b - a for a, b in zip(*columns, strict=True)])
        left = [float(r["families"]) for r in rows if r["board"] == str(board) and r["exchange"] == "yes"]
        cells = ["{:,.0f} ± {:,.0f}".format(*interval(column)) for column in columns]
        lines.append(f"| {board} | {' | '.join(cells)} | {statistics.mean(left):.1f} | {len(seeds)} |")
    return "\n".join(lines)


def write_report() -> None:
    """Put the table into README.md."""
    file = FILE.with_name("README.md")
    begin, end = "<!-- table: begin -->\n", "<!-- table: end -->"
    before, rest = file.read_text().split(begin)
    file.write_text(f"{before}{begin}{report()}\n{end}{rest.partition(end)[2]}")


if __name__ == "__main__":
    write_report() if "--report" in sys.argv else main()
