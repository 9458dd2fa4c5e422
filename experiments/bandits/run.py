"""The regret of the bandits of UCT on arms of known chances: `python experiments/bandits/run.py`.

How much less a bandit has won than the best arm would have, on average over seeds, after 10, 100, ... steps. Writes
results.csv and regret.png in this folder.
"""

import csv
import datetime
import math
import statistics
import subprocess
from pathlib import Path

from playout import UCB1, UCBTuned1, UCBTuned2, _core
from playout.result import cpu_name

FOLDER = Path(__file__).parent
ARMS = {
    "two arms": (0.9, 0.6),
    "two close arms": (0.55, 0.45),
    "ten arms": (0.1, 0.05, 0.05, 0.05, 0.02, 0.02, 0.02, 0.01, 0.01, 0.01),
}
SEEDS = 100
STEPS = [10**power // half for power in range(2, 7) for half in (4, 2, 1)]


def regrets(chances: tuple[float, ...], bandit: object) -> list[list[float]]:
    """The regret after each number of steps, for each seed."""
    return [_core.regret(bandit.kind, bandit.exploration, list(chances), STEPS, seed) for seed in range(SEEDS)]


def bound(chances: tuple[float, ...], steps: int) -> float:
    """The bound on UCB1's expected regret: the sum of 8 log n / gap + (1 + pi^2 / 3) gap."""
    gaps = [max(chances) - chance for chance in chances if chance < max(chances)]
    return sum(8 * math.log(steps) / gap + (1 + math.pi**2 / 3) * gap for gap in gaps)


def main() -> None:
    from matplotlib import pyplot

    where = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=FOLDER, check=True, capture_output=True, text=True
    )
    figure, axes = pyplot.subplots(1, len(ARMS), figsize=(12, 3.6))
    rows = []
    for axis, (name, chances) in zip(axes, ARMS.items(), strict=True):
        for bandit in (UCB1(), UCBTuned1(), UCBTuned2()):
            columns = list(zip(*regrets(chances, bandit), strict=True))
            means = [statistics.mean(column) for column in columns]
            errors = [1.98 * statistics.stdev(column) / SEEDS**0.5 for column in columns]
            axis.errorbar(STEPS, means, errors, label=bandit.name, capsize=2)
            for steps, mean, error in zip(STEPS, means, errors, strict=True):
                rows.append(
                    [name, bandit.name, steps, SEEDS, round(mean, 2), round(error, 2), round(bound(chances, steps), 1)]
                )
        most = max(row[4] for row in rows if row[:2] == [name, "UCB1"])
        axis.set_ylim(0, 1.3 * most)  # UCB-Tuned.1 leaves the picture
        axis.set(
            xscale="log",
            xlabel="steps",
            title=f"{name}: {', '.join(f'{chance:g}' for chance in dict.fromkeys(chances))}",
        )
    axes[0].set_ylabel(f"regret, mean of {SEEDS} seeds")
    axes[0].legend()
    figure.tight_layout()
    figure.savefig(FOLDER / "regret.png", dpi=90)
    with (FOLDER / "results.csv").open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["arms", "bandit", "steps", "seeds", "regret", "error", "bound", "date", "commit", "machine"])
        made = [datetime.date.today().isoformat(), where.stdout.strip(), cpu_name()]
        writer.writerows([*row, *made] for row in rows)


if __name__ == "__main__":
    main()
