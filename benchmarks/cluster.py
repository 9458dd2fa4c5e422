"""What a cluster costs: playouts per CPU second of two ranks against two threads, and the overhead of a chunk.

    python benchmarks/cluster.py [--rounds 5] [--seconds 30]

GNRPA of level 4 on board 1 with two searches. The two ranks of one thread each (mpiexec) and the one process of two
threads are run in turn; a ratio is that of their playouts per CPU second, of everything that was started, the launcher
and Python included. The overhead of a chunk is the time between its submission and its reply less the time it
searched, with the state of a search of some seconds; it is given as a share of a chunk of 5 s. Rows are added to
benchmarks/cluster.csv. The nodes are those of the ``mpi`` and the ``dask`` extra, on this machine.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from record import append_rows

import playout as po
from playout import cluster as clusters
from playout.cluster import travel
from playout.cluster.chunk import Reply, Request

CHUNKS, CHUNK_SECONDS = 20, 5.0
SOLVE = ["solve", "samegame:1,tabu=dominant", "--level", "4", "--parallel", "root", "--jobs", "2", "--json", "--quiet"]
MPIEXEC = str(Path(sys.executable).with_name("mpiexec"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="of ranks against threads; 0 leaves that out")
    parser.add_argument("--seconds", type=float, default=30.0, help="of each run")
    parser.add_argument("--overhead", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.overhead:
        print(json.dumps(overhead(arguments.overhead)))
        return
    ratios = []
    for seed in range(arguments.rounds):
        common = [*SOLVE, "--seconds", str(arguments.seconds), "--seed", str(seed)]
        python = [sys.executable, "-m", "playout"]
        one = rate([*python, *common, "--threads", "2"])
        two = rate([MPIEXEC, "-n", "2", *python, *common, "--threads", "1"])
        ratios.append(two / one)
        print(f"one process {one:,.0f}, two ranks {two:,.0f} playouts a CPU second: {two / one:.3f}", flush=True)
    rows = [row("two ranks of a thread / one process of two threads", ratios)] if ratios else []
    script = [sys.executable, __file__, "--overhead"]
    for name, command in (("local", script), ("mpi", [MPIEXEC, "-n", "2", *script])):
        rows.append(row(f"overhead of a chunk, {name}", json.loads(output([*command, name]))))
    with_dask(rows, script)
    append_rows("cluster.csv", rows)


def rate(command: list[str]) -> float:
    """Playouts per CPU second of a command and all it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        data = json.loads(output(command, folder))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return float(data["playouts"] / used)


def output(command: list[str], folder: str | None = None) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=folder).stdout


def with_dask(rows: list[dict[str, object]], script: list[str]) -> None:
    """Measure on a scheduler and a worker, and end them."""
    dask = [sys.executable, "-m", "dask"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    address = "tcp://127.0.0.1:18786"
    began = [
        subprocess.Popen([*dask, "scheduler", "--host", "127.0.0.1", "--port", "18786", "--no-dashboard"], **quiet),
        subprocess.Popen([*dask, "worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard"], **quiet),
    ]
    try:
        rows.append(row("overhead of a chunk, dask", json.loads(output([*script, address]))))
    finally:
        for process in began:
            process.terminate()
            process.wait()


def overhead(where: str) -> list[float]:
    """The shares of some chunks that were not searching; on a rank other than 0 none."""
    cluster = po.Dask(where) if ":" in where else clusters.CLUSTERS[where]()
    if clusters.is_helper(cluster):
        clusters.help_out()
        sys.stdout = open("/dev/null", "w")  # noqa: SIM115
        return []
    problem = po.SameGame.standard(1)
    first = Request(
        name="benchmark",
        problem=travel.pack(problem),
        variant=0,
        search=po.GNRPA(level=4),
        wide=None,
        seed=0,
        job=0,
        start=None,
        adaptations=10,
        playouts=2**62,
        target=None,
        seconds=CHUNK_SECONDS,
        threads=1,
        state=b"",
    )
    with clusters.opened(cluster, 1) as nodes:
        assert nodes is not None
        while not nodes.slots():
            time.sleep(0.1)
        request, shares = first, []
        for number in range(CHUNKS + 1):
            before = time.perf_counter()
            reply = Reply.from_bytes(nodes.submit(request.to_bytes()).result())
            took = time.perf_counter() - before
            if number:  # the first starts the process, and searches long enough for a state of full size
                shares.append((took - reply.seconds) / CHUNK_SECONDS)
            request = replace(first, state=reply.state, seconds=0.2)
        nodes.outcome = b"done"  # type: ignore[attr-defined]
    return shares


def row(what: str, values: list[float]) -> dict[str, object]:
    print(f"{what}: {statistics.median(values):.4f}", flush=True)
    return {
        "what": what,
        "rounds": len(values),
        "median": round(statistics.median(values), 4),
        "least": round(min(values), 4),
        "most": round(max(values), 4),
    }


if __name__ == "__main__":
    main()
