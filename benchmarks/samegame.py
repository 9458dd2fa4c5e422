"""Playouts per CPU second of Playout and of a plain C++ program that does the same search, in one run, interleaved.

    python benchmarks/samegame.py path/to/samegame.cpp path/to/standard.txt [--rounds 10] [--seconds 2]

Level 2, 100 iterations, GNRPA with bias and dominant tabu. Each round runs both programs on each board, in turn; a
board's ratio is the median over the rounds. Rows are added to benchmarks/samegame.csv.
"""

import argparse
import statistics
import subprocess
import tempfile
from pathlib import Path

from record import append_rows

from playout import GNRPA, SameGame
from playout.bench import rate

BOARDS = (1, 9, 16)
LEVEL = 2


def build(source: Path, folder: str) -> Path:
    program = Path(folder) / "yardstick"
    subprocess.run(["g++", "-O3", "-march=native", "-std=c++20", "-o", program, source], check=True)
    return program


def yardstick_rate(program: Path, boards: Path, board: int, seconds: float, seed: int) -> float:
    command = [program, boards, str(board), str(seconds), str(LEVEL), str(seed)]
    line = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(line.split()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("yardstick", type=Path, help="the C++ file")
    parser.add_argument("boards", type=Path, help="the file of standard boards")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=2.0, help="CPU seconds of each run")
    arguments = parser.parse_args()
    rates: dict[int, list[tuple[float, float]]] = {board: [] for board in BOARDS}
    with tempfile.TemporaryDirectory() as folder:
        program = build(arguments.yardstick, folder)
        for seed in range(1, arguments.rounds + 1):
            for board in BOARDS:
                theirs = yardstick_rate(program, arguments.boards, board, arguments.seconds, seed)
                ours = rate(SameGame.standard(board), GNRPA(level=LEVEL), arguments.seconds, seed)
                rates[board].append((theirs, ours))
                print(f"board {board:>2}  yardstick {theirs:>8,.0f}  playout {ours:>8,.0f}  ratio {ours / theirs:.2f}")
    append_rows("samegame.csv", [row(board, pairs, arguments.seconds) for board, pairs in rates.items()])


def row(board: int, pairs: list[tuple[float, float]], seconds: float) -> dict[str, object]:
    ratios = [ours / theirs for theirs, ours in pairs]
    result = {
        "board": board,
        "rounds": len(pairs),
        "cpu_seconds": seconds,
        "yardstick": round(statistics.median(theirs for theirs, _ in pairs)),
        "playout": round(statistics.median(ours for _, ours in pairs)),
        "ratio": round(statistics.median(ratios), 3),
        "least_ratio": round(min(ratios), 3),
        "most_ratio": round(max(ratios), 3),
    }
    print(f"board {board:>2}: median ratio {result['ratio']} ({result['least_ratio']} to {result['most_ratio']})")
    return result


if __name__ == "__main__":
    main()
