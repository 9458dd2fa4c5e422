"""A problem of one's own against the same problem in C++: playouts per CPU second, and what compiling costs.

    python benchmarks/user.py [--rounds 10] [--playouts 60000]

The travelling salesman problem of 50 cities, NRPA level 3, on one thread: written with playout.Problem below, and in
C++ against the engine's concept of a problem (tour.cpp, built with the engine's own flags). Each round runs both, with
the same seed: the scores must be equal. Start-up is the CPU time of the first engine(), beyond importing Numba, with
nothing in Numba's cache and with everything. Rows are added to benchmarks/user.csv.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from record import append_rows

import playout as po

HERE = Path(__file__).parent
FLAGS = ["-std=c++20", "-O3", "-ffp-contract=off", "-fno-math-errno"]
LEVEL = 3
START = (
    "import time, numba, user; begin = time.process_time(); user.problem.engine(); print(time.process_time() - begin)"
)


class Tour(po.Problem):
    def __init__(self, cities, seed=0):
        places = np.random.default_rng(seed).random((cities, 2))
        self.distances = np.sqrt(((places[:, None] - places) ** 2).sum(2))
        self.cities = self.max_moves = cities
        self.State = {"at": "i8", "count": "i8", "cost": "f8", "left": ("i8", cities), "place": ("i8", cities)}

    def init(self, s):
        s.count = self.cities - 1
        for i in range(s.count):
            s.left[i] = i + 1
            s.place[i + 1] = i

    def moves(self, s, out):
        for i in range(s.count):
            out[i] = s.left[i]
        return s.count

    def play(self, s, move):
        s.cost += self.distances[s.at, move]
        s.at = move
        s.count -= 1
        last = s.left[s.count]
        s.left[s.place[move]] = last
        s.place[last] = s.place[move]

    def score(self, s):
        return -(s.cost + self.distances[s.at, 0])

    def code(self, s, move):
        return s.at * self.cities + move


problem = Tour(50)


def build(folder: str) -> Path:
    program = Path(folder) / "tour"
    subprocess.run(["g++", *FLAGS, f"-I{HERE.parent / 'cpp'}", "-o", program, HERE / "tour.cpp"], check=True)
    return program


def in_cpp(program: Path, playouts: int, seed: int) -> tuple[float, float]:
    """Return score and CPU seconds."""
    numbers = " ".join(map(repr, [problem.cities, *problem.distances.ravel().tolist()]))
    command = [program, str(LEVEL), str(playouts), str(seed)]
    score, seconds = subprocess.run(command, input=numbers, check=True, capture_output=True, text=True).stdout.split()
    return float(score), float(seconds)


def in_python(playouts: int, seed: int) -> tuple[float, float]:
    search = po.NRPA(level=LEVEL).begin(problem, seed)
    begin = time.process_time()
    while search.playouts < playouts:
        search.advance(playouts - search.playouts)
    return search.score, time.process_time() - begin


def start_up(folder: str) -> float:
    environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
    done = subprocess.run([sys.executable, "-c", START], cwd=HERE, env=environment, check=True, capture_output=True)
    return float(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--playouts", type=int, default=60_000)
    arguments = parser.parse_args()
    problem.engine()
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder)
        pairs = []
        for seed in range(1, arguments.rounds + 1):
            score, theirs = in_cpp(program, arguments.playouts, seed)
            same, ours = in_python(arguments.playouts, seed)
            if score != same:
                sys.exit(f"seed {seed}: the scores differ, {score!r} and {same!r}")
            pairs.append((arguments.playouts / theirs, arguments.playouts / ours))
            print(f"seed {seed:>2} C++ {pairs[-1][0]:>8,.0f} Problem {pairs[-1][1]:>8,.0f}  ratio {theirs / ours:.2f}")
        cold = start_up(folder)
        warm = statistics.median(start_up(folder) for _ in range(5))
    row = {
        "rounds": arguments.rounds,
        "playouts": arguments.playouts,
        "cpp_per_cpu_second": round(statistics.median(pair[0] for pair in pairs)),
        "problem_per_cpu_second": round(statistics.median(pair[1] for pair in pairs)),
        "ratio": round(statistics.median(pair[1] / pair[0] for pair in pairs), 3),
        "compile_cpu_seconds": round(cold, 2),
        "start_up_cpu_seconds": round(warm, 2),
    }
    print(row)
    append_rows("user.csv", [row])


if __name__ == "__main__":
    main()
