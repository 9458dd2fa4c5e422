"""``playout slurm``: a job script for a search."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from playout import problems
from playout import search as searches
from playout.cli.common import app, strictly_whole
from playout.cli.solve import make_cluster, make_search, make_strategy
from playout.cluster import slurm
from playout.errors import InputError
from playout.progress import Budget
from playout.result import load
from playout.solve import Task

SLURM_SAYS = {
    "threads": "--cpus-per-task of slurm is the number of threads",
    "resume": "it resumes if there is a checkpoint",
    **dict.fromkeys(("cluster", "workers", "scheduler"), "the search has the processes of the job"),
}


@app.command(name="slurm", usage="Usage: playout slurm [OPTIONS] solve PROBLEM [OPTIONS of solve]")
def slurm_command(
    *command: Annotated[str, Parameter(allow_leading_hyphen=True)],
    nodes: Annotated[int, Parameter(converter=strictly_whole)] = 1,
    tasks_per_node: Annotated[int, Parameter(converter=strictly_whole)] = 1,
    cpus_per_task: Annotated[int, Parameter(converter=strictly_whole)] = 1,
    time: str = "01:00:00",
    partition: str | None = None,
    account: str | None = None,
    job_name: str | None = None,
    launcher: Literal["srun", "mpiexec"] = "srun",
) -> int:
    """Print a job script for Slurm that runs a search in as many turns as it needs.

    **Examples**

    - *playout slurm --nodes 4 --cpus-per-task 32 solve samegame:1 --seconds 86400 > job.sh*: then *sbatch job.sh*
    - *playout slurm --time 04:00:00 --partition long solve samegame:1 --seconds 86400 | sbatch*: six turns and a bit

    Before the time limit the search saves itself, and the job queues again and goes on. It ends when the budget is
    used. A result and a checkpoint are kept in any case: *samegame-1.json*, *samegame-1.ckpt*.

    Parameters
    ----------
    command
        A solve command, as it would be typed: solve PROBLEM --seconds 86400 and so on.
    nodes
        How many machines.
    tasks_per_node
        Processes on each machine. One that has all processors as threads is usual.
    cpus_per_task
        Processors of each process, and the threads of its search.
    time
        The limit of one turn, as 04:00:00 or 2-00:00:00.
    partition
        Where the job queues.
    account
        Who pays.
    job_name
        Of the job and its files (made from the problem and the seed). Jobs of the same name run one after the other.
    launcher
        What starts the processes: srun, or the mpiexec of an MPI that does not know Slurm.
    """
    job = slurm.Job(nodes, tasks_per_node, cpus_per_task, time, partition, account, job_name, launcher)
    print(slurm.script(command[1:], job, _check_solve(command, job)), end="")
    return 0


def _check_solve(command: Sequence[str], job: slurm.Job) -> dict[str, Any]:
    """Return the arguments of a solve command for a job script; what is wrong with it is said as solve would."""
    if not command or command[0] != "solve":
        what = f"{command[0]!r} is no option of slurm" if command else "there is no solve command"
        raise InputError(f"{what}; write playout slurm [OPTIONS] solve PROBLEM ...")
    _, bound, _ = app.parse_args(list(command), exit_on_error=False, print_error=False)
    said = dict(bound.arguments)
    for option, instead in SLURM_SAYS.items():
        if option in said:
            raise InputError(f"--{option} is for the job script to say: {instead}")
    Budget(*(said.get(name) for name in ("seconds", "playouts", "target")))
    settings = {field.name for kind in searches.SEARCHES.values() for field in fields(kind)} | {"exploration"}
    chosen = make_search(said.get("search", "gnrpa"), {key: said[key] for key in said if key in settings})
    built = problems.problem(said["problem"], for_command_line=True)
    first = load(said["start"]) if "start" in said else None
    where = make_cluster("mpi" if job.tasks > 1 else None, {key: said.get(key) for key in ("exchange", "chunk")})
    options = ("jobs", "width", "parallel_level", "policy", "exchange_best")
    wanted = {option.removeprefix("parallel_"): said[option] for option in options if option in said}
    slots = job.tasks if job.tasks > 1 else None
    strategy = make_strategy(chosen, said.get("parallel"), job.cpus_per_task, wanted, None, slots)
    Task.begin(built, chosen, job.cpus_per_task, strategy, said.get("seed", 0), first, None, False, cluster=where)
    return said
