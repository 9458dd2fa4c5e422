"""How a portfolio could share out its playouts, replayed on recorded searches: the choice of cpp/parallel/portfolio.h.

    python experiments/portfolio/schedules.py

Searches of every colour of a board are independent, and so their score after any number of playouts can be recorded
once (colours.csv: GNRPA of level 4, 200,000 playouts, 12 seeds; what is missing is searched first). A schedule is then
replayed on 500 draws of one search for each colour, and its mean final score printed for each board.
"""

import bisect
import csv
import datetime
import random
import statistics
from collections.abc import Callable
from pathlib import Path

import playout as po
from playout.experiment.results import commit, machine

FILE = Path(__file__).parent / "colours.csv"
BOARDS, COLOURS, SEEDS, PLAYOUTS, DRAWS = (1, 7, 8, 10, 16), 5, 12, 200_000, 500
FIELDS = ("date", "commit", "machine", "board", "tabu", "seed", "history")


class Recorded:
    """The best score of a search after any number of playouts."""

    def __init__(self, history: str) -> None:
        pairs = [pair.split(":") for pair in history.split()]
        self.playouts, self.scores = [int(one) for one, _ in pairs], [float(two) for _, two in pairs]

    def after(self, playouts: float) -> float:
        place = bisect.bisect_right(self.playouts, playouts) - 1
        return self.scores[place] if place >= 0 else -1.0


Schedule = Callable[[list[Recorded], int], list[float]]  # the playouts of each search


def ranked(searches: list[Recorded], played: list[float], among: list[int]) -> list[int]:
    return sorted(among, key=lambda i: (-searches[i].after(played[i]), i))


def dominant(searches: list[Recorded], budget: int) -> list[float]:
    return [budget] + [0.0] * (len(searches) - 1)


def even(searches: list[Recorded], budget: int) -> list[float]:
    return [budget / len(searches)] * len(searches)


def halving(stages: list[float]) -> Schedule:
    """Successive halving of a known budget, with that share of it in each stage: 5, 3, 2 and 1 searches."""

    def schedule(searches: list[Recorded], budget: int) -> list[float]:
        alive, played = list(range(len(searches))), [0.0] * len(searches)
        for share, count in zip(stages, (5, 3, 2, 1), strict=True):
            alive = ranked(searches, played, alive)[:count]
            for i in alive:
                played[i] += budget * share / count
        return played

    return schedule


def halving_at(first: int) -> Schedule:
    """Halve whenever those left have played first, 2 first, 4 first ... playouts; the last one gets the rest."""

    def schedule(searches: list[Recorded], budget: int) -> list[float]:
        alive, played, left, target = list(range(len(searches))), [0.0] * len(searches), float(budget), first
        while left > 0 and len(alive) > 1:
            for i in alive:
                more = max(0.0, min(target - played[i], left))
                played[i], left = played[i] + more, left - more
            alive, target = ranked(searches, played, alive)[: (len(alive) + 1) // 2], 2 * target
        played[alive[0]] += left
        return played

    return schedule


def by_rank(first: int, share: float) -> Schedule:
    """Rounds, each as long as all before it, in which the best gets that share, the next that share of the rest."""

    def schedule(searches: list[Recorded], budget: int) -> list[float]:
        count = len(searches)
        played = [min(first, budget / count)] * count
        while (total := sum(played)) < budget - 1:
            rest = min(total, budget - total)
            for place, i in enumerate(ranked(searches, played, list(range(count)))):
                more = rest * share if place < count - 1 else rest
                played[i], rest = played[i] + more, rest - more
        return played

    return schedule


SCHEDULES: dict[str, Schedule] = {
    "dominant colour": dominant,
    "all colours alike": even,
    "halving, equal stages": halving([0.25, 0.25, 0.25, 0.25]),
    "halving, half in the last stage": halving([0.15, 0.15, 0.2, 0.5]),
    **{f"halving at {first:,}, {2 * first:,} ... playouts": halving_at(first) for first in (1000, 2000, 4000, 8000)},
    **{
        f"by rank, {share:.2f}, {first:,} first": by_rank(first, share)
        for first in (1000, 4000)
        for share in (1 / 2, 2 / 3, 3 / 4, 9 / 10)
    },
}


def collect() -> dict[tuple[int, int], list[Recorded]]:
    """The recorded searches of each board and colour."""
    if not FILE.exists():
        FILE.write_text(",".join(FIELDS) + "\n")
    with FILE.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    done = {(int(row["board"]), int(row["tabu"]), int(row["seed"])) for row in rows}
    with FILE.open("a", newline="") as stream:
        writer = csv.DictWriter(stream, FIELDS, lineterminator="\n")
        for key in ((b, t, s) for s in range(SEEDS) for b in BOARDS for t in range(COLOURS) if (b, t, s) not in done):
            board, tabu, seed = key
            game = po.SameGame.standard(board, tabu=tabu)
            found = po.solve(game, po.GNRPA(level=4), playouts=PLAYOUTS, seed=100 * seed + tabu + 1).history
            history = " ".join(f"{playouts}:{score:g}" for _, playouts, score in found)
            made = (datetime.date.today().isoformat(), commit(), machine())
            rows.append(dict(zip(FIELDS, (*made, board, tabu, seed, history), strict=True)))
            writer.writerow(rows[-1])
            stream.flush()
    searches: dict[tuple[int, int], list[Recorded]] = {}
    for row in rows:
        searches.setdefault((int(row["board"]), int(row["tabu"])), []).append(Recorded(row["history"]))
    return searches


def main() -> None:
    searches = collect()
    for budget in (91_000, 200_000):
        print(f"\n{budget:,} playouts".ljust(41) + "".join(f"{f'board {board}':>9}" for board in BOARDS) + "    total")
        for name, schedule in SCHEDULES.items():
            means = []
            for board in BOARDS:
                draw = random.Random(board)
                first = po.SameGame.standard(board).tabu_colour
                order = sorted(range(COLOURS), key=lambda colour, first=first: colour != first)
                scores = []
                for _ in range(DRAWS):
                    drawn = [draw.choice(searches[board, colour]) for colour in order]
                    played = schedule(drawn, budget)
                    scores.append(max(one.after(n) for one, n in zip(drawn, played, strict=True)))
                means.append(statistics.mean(scores))
            print(f"{name:<40}" + "".join(f"{mean:>9,.0f}" for mean in means) + f"{sum(means):>9,.0f}")


if __name__ == "__main__":
    main()
