"""The portfolio in plain Python: how many playouts each job has been given after each round."""

from collections.abc import Callable, Iterator


def rounds(jobs: int, keep: int, playouts: int, score: Callable[[int, int], float]) -> Iterator[list[int]]:
    """Yield the quotas of each round; score(job, playouts) is a job's best after so many."""
    quotas = [0] * jobs
    while (given := sum(quotas)) < playouts:
        left = playouts - given
        if keep == jobs:
            groups = [(left, list(range(jobs)))]
        elif given == 0:
            groups = [(min(left, 1000 * jobs), list(range(jobs)))]
        else:
            ranked = sorted(range(jobs), key=lambda job: -score(job, quotas[job]))  # stable: the lower of equals first
            groups, rest = [], min(left, given)
            while len(ranked) > keep:
                share = rest - rest // 4
                groups.append((share, ranked[:keep]))
                rest, ranked = rest - share, ranked[keep:]
            groups.append((rest, ranked))
        for share, members in groups:
            for place, job in enumerate(members):
                quotas[job] += share // len(members) + (place < share % len(members))
        yield list(quotas)
