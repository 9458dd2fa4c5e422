"""Print the tables of the documentation from the newest rows of the results; with --write, put them there."""

import csv
import sys
from pathlib import Path

FOLDER = Path(__file__).parent


def newest(name: str) -> list[dict[str, str]]:
    """The rows of the last measurement."""
    with (FOLDER / name).open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    return [row for row in rows if (row["date"], row["commit"]) == (rows[-1]["date"], rows[-1]["commit"])]


def source(row: dict[str, str]) -> str:
    return f"Medians of {row['rounds']} rounds, {row['date']}, commit {row['commit']}, {row['machine']}."


def speed() -> str:
    rows = newest("samegame.csv")
    lines = ["| board | plain C++ | Playout | ratio |", "|---|---|---|---|"]
    lines += [
        f"| {row['board']} | {int(row['yardstick']):,} | {int(row['playout']):,} | {float(row['ratio']):.2f} |"
        for row in rows
    ]
    return "\n".join([*lines, "", source(rows[-1])])


def scaling() -> str:
    rows = newest("scaling.csv")
    counts = list(dict.fromkeys(row["threads"] for row in rows))
    heads = [f"{count} thread{'s' if count != '1' else ''}" for count in counts]
    lines = [f"| strategy | {' | '.join(heads)} |", "|---" * (len(counts) + 1) + "|"]
    for strategy in dict.fromkeys(row["strategy"] for row in rows):
        cells = [
            f"{int(row['playouts_per_second']):,}" + ("" if row["threads"] == "1" else f" ({float(row['ratio']):.2f})")
            for row in rows
            if row["strategy"] == strategy
        ]
        lines.append(f"| {strategy} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", source(rows[-1])])


def user() -> str:
    row = newest("user.csv")[-1]
    return (
        "| a tour of 50 cities, NRPA level 3 | playouts per CPU second |\n|---|---|\n"
        f"| written in C++, inside the engine | {int(row['cpp_per_cpu_second']):,} |\n"
        f"| written with `playout.Problem` | {int(row['problem_per_cpu_second']):,} ({float(row['ratio']):.2f}) |\n\n"
        "The scores are equal for every seed. "
        f"Compiling took {row['compile_cpu_seconds']} CPU seconds the first time and "
        f"{row['start_up_cpu_seconds']} from then on, beyond importing Numba. {source(row)}"
    )


def trees() -> str:
    rows = {row["what"]: row for row in newest("tree.csv")}
    lines = [
        "| game | OpenSpiel | Playout | ratio | rollouts alone | two threads, `Tree` |",
        "|---|---|---|---|---|---|",
    ]
    for game in ("Go 9 x 9", "Go 19 x 19", "Connect Four"):
        against, alone = rows[f"{game}: UCT against OpenSpiel"], rows[f"{game}: rollouts against OpenSpiel's UCT"]
        together = rows[f"{game}: Tree, two threads against one"]
        cells = (f"{int(row[key]):,}" for row, key in ((against, "before"), (against, "after"), (alone, "after")))
        peer, ours, rollouts = cells
        ratio, scaled = float(against["ratio"]), float(together["ratio"])
        lines.append(f"| {game} | {peer} | {ours} | {ratio:.1f} | {rollouts} | {scaled:.2f} times |")
    return "\n".join([*lines, "", source(rows[f"{game}: UCT against OpenSpiel"])])


PAGES = (
    ("README.md", "speed", speed),
    ("docs/parallel.md", "scaling", scaling),
    ("docs/problems.md", "user", user),
    ("docs/games.md", "trees", trees),
)


def main() -> None:
    for page, name, table in PAGES:
        print(table())
        if "--write" in sys.argv:
            file = FOLDER.parent / page
            begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
            before, _, rest = file.read_text().partition(begin)
            file.write_text(f"{before}{begin}\n{table()}\n{end}{rest.partition(end)[2]}")


if __name__ == "__main__":
    main()
