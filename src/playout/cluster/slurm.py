"""A job script for Slurm, which runs a search in as many turns as it needs.

Slurm warns the search before the time limit. The search then saves itself and ends, the script gives the job back to
the queue, and its next turn goes on from the checkpoint. The job ends when the search has used its budget. A command
that cannot be used is not tried again; a run that fails is, but not for ever.
"""

import re
import shlex
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from playout.errors import InputError, check_choice, check_integer, short

WARNING_SECONDS = 120  # Slurm may warn a minute earlier; the search needs 10 seconds
LEAST_SECONDS = 300  # a shorter turn would be mostly start and end
LAUNCHERS = ("srun", "mpiexec")
MOST = 1_000_000  # nodes, tasks and processors: what is more is a slip


@dataclass(frozen=True)
class Job:
    """What the job asks of Slurm.

    Attributes
    ----------
    nodes, tasks_per_node, cpus_per_task
        Machines, processes on each, and threads of each process.
    time
        The limit of one turn: hours:minutes:seconds, or days-hours:minutes:seconds.
    partition, account
        Where the job queues and who pays; None for what Slurm takes if nothing is said.
    name
        Of the job, and of its files; None for one made from the problem and the seed.
    launcher
        What starts the processes: Slurm's own srun, or the mpiexec of an MPI.
    """

    nodes: int = 1
    tasks_per_node: int = 1
    cpus_per_task: int = 1
    time: str = "01:00:00"
    partition: str | None = None
    account: str | None = None
    name: str | None = None
    launcher: Literal["srun", "mpiexec"] = "srun"

    def __post_init__(self) -> None:
        check_integer("--nodes", self.nodes, 1, MOST)
        check_integer("--tasks-per-node", self.tasks_per_node, 1, MOST)
        check_integer("--cpus-per-task", self.cpus_per_task, 1, MOST)
        check_choice("--launcher", self.launcher, LAUNCHERS)
        if _seconds(self.time) < LEAST_SECONDS:
            raise InputError(f"--time is {self.time}; a turn of less than {LEAST_SECONDS // 60} minutes gets nowhere")
        for option, text in (("partition", self.partition), ("account", self.account), ("job-name", self.name)):
            if text is not None and (not text or not text.isprintable() or "\\" in text):  # sbatch drops a backslash
                raise InputError(f"--{option} is {short(text)}; allowed is text on one line without a backslash")

    @property
    def tasks(self) -> int:
        """How many processes in all."""
        return self.nodes * self.tasks_per_node


def script(words: Sequence[str], job: Job, said: Mapping[str, Any]) -> str:
    """Return the job script that runs ``playout solve WORDS``.

    Parameters
    ----------
    words
        What follows ``solve``, as it was typed: the problem and the options.
    job
        What to ask of Slurm.
    said
        What the words mean to ``solve``: its arguments by name. A checkpoint and an output that they lack are added,
        named after the job.
    """
    name = job.name or _plain(said["problem"]) + (f"-seed{said['seed']}" if "seed" in said else "")
    stem = _plain(name)
    added = ['--threads "$SLURM_CPUS_PER_TASK"']
    added += [f'--{option} "${option}"' for option in ("checkpoint", "output") if option not in said]
    added += ["--cluster mpi"] if job.tasks > 1 else []
    return TEMPLATE.substitute(
        directives=_directives(job, name, stem),
        checkpoint=_file(said.get("checkpoint", f"{stem}.ckpt")),
        output=_file(said.get("output", f"{stem}.json")),
        words=shlex.join(_without_start(words)),
        added=" ".join(added),
        start=f"\nelse\n    solve+=(--start {_file(said['start'])})" if "start" in said else "",
        launch=LAUNCH[job.launcher],
    )


def _directives(job: Job, name: str, stem: str) -> str:
    """Return the lines for Slurm, each with what it does above it."""
    batch = "B:" if job.launcher == "mpiexec" else ""
    warned = "this script" if batch else "the search"
    listed = [
        ("The name of the job; two jobs of one name do not run at once, as they share their files.", "job-name", name),
        (None, "dependency", "singleton"),
        ("Machines, processes on each, and processors of each process.", "nodes", job.nodes),
        (None, "ntasks-per-node", job.tasks_per_node),
        (None, "cpus-per-task", job.cpus_per_task),
        ("The limit of one turn. The search takes as many turns as its budget needs.", "time", job.time),
        ("Where the job queues.", "partition", job.partition),
        ("Who pays.", "account", job.account),
        (
            f"Warn {warned} {WARNING_SECONDS} seconds before the limit, or up to a minute earlier.",
            "signal",
            f"{batch}USR1@{WARNING_SECONDS}",
        ),
        ("The job may queue again: after its limit, and after a machine is lost.", "requeue", ""),
        ("What the job prints. Each turn adds to it.", "output", f"{stem}-%j.log"),
        (None, "open-mode", "append"),
    ]
    lines = []
    for comment, option, value in listed:
        if value is not None:
            lines += [] if comment is None else [f"# {comment}"]
            lines.append(f"#SBATCH --{option}" + (f"={shlex.quote(str(value))}" if value != "" else ""))
    return "\n".join(lines)


def _seconds(time: str) -> int:
    """Return the seconds of a time limit as Slurm writes it."""
    found = re.fullmatch(r"(?:([0-9]{1,4})-)?([0-9]{1,4}):([0-5][0-9]):([0-5][0-9])", time)
    if not found:
        raise InputError(f"--time is {short(time)}; write hours:minutes:seconds, as 04:00:00, or 2-00:00:00 for days")
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


def _plain(text: str) -> str:
    """Return text as a word that can name a file anywhere."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", text).strip("-.")[:60] or "playout"


def _file(path: Path | str) -> str:
    """Return a file's name for bash, such that no command takes it for an option."""
    return shlex.quote(f"./{path}" if str(path).startswith("-") else str(path))


def _without_start(words: Sequence[str]) -> list[str]:
    """Return the words less ``--start FILE``, which is for the first turn only."""
    kept: list[str] = []
    left = iter(words)
    for word in left:
        if word == "--start":
            next(left, None)
        elif not word.startswith("--start="):
            kept.append(word)
    return kept


LAUNCH = {
    "srun": """\
# The processes are those of the job. --mpi=pmi2 is for MPICH and its kin; Open MPI takes --mpi=pmix.
# One that ends does not end the others, which may be saving, but they must follow within a minute.
# If it says "mpi/pmi2: value not properly terminated": export MPIR_CVAR_CH4_NETMOD=ofi
srun --mpi=pmi2 --cpus-per-task="$SLURM_CPUS_PER_TASK" --kill-on-bad-exit=0 --wait=60 "${solve[@]}"
status=$?""",
    "mpiexec": """\
# Slurm warns this script, and mpiexec passes the warning to its processes. A warning also ends wait: wait again.
mpiexec -n "$SLURM_NTASKS" "${solve[@]}" &
run=$!
trap 'stopped=yes; kill -USR1 "$run"' USR1
wait "$run"
status=$?
while kill -0 "$run" 2> /dev/null; do
    wait "$run"
    status=$?
done""",
}


class _Template(string.Template):
    delimiter = "@"


TEMPLATE = _Template("""\
#!/bin/bash
# A Playout search as a Slurm job. Submit it in the folder its files are in: sbatch FILE
# An option of sbatch goes before what is written here, as in: sbatch --time=04:00:00 FILE
@directives

: "${SLURM_JOB_ID:?this is a job script; submit it: sbatch FILE}"
if ! command -v playout > /dev/null; then
    echo "playout is not found; submit from the environment it is installed in, or activate that here" >&2
    exit 127
fi

checkpoint=@checkpoint
output=@output
failures=$checkpoint.failures
stopped=no

solve=(
    playout solve @words
    @added
)
# The first turn begins the search, the others go on from the checkpoint.
if [[ -e $checkpoint ]]; then
    solve+=(--resume)@start
fi
rm -f -- "$checkpoint.DONE"
saved=$(stat -c %y -- "$checkpoint" 2> /dev/null)

@launch

# The search is done, even if something failed after that.
if [[ $status == 0 || -e $checkpoint.DONE ]]; then
    rm -f -- "$failures"
    echo "the search is done; its result is in $output"
    exit 0
fi

case $status in
    2 | 126 | 127)
        echo "the command cannot be used as it is (status $status); it is not tried again" >&2
        exit "$status" ;;
    130)
        echo "the search was interrupted; sbatch goes on from $checkpoint" >&2
        exit "$status" ;;
    138 | 143)
        stopped=yes ;;
esac

# A search that was warned and saved goes on for as many turns as it needs. Anything else is a failure: a process was
# killed, a machine was lost, or a turn ended before the search had begun. After the third in a row the job ends.
if [[ $stopped == yes && $SECONDS -ge 60 && $(stat -c %y -- "$checkpoint" 2> /dev/null) != "$saved" ]]; then
    rm -f -- "$failures"
else
    echo "job $SLURM_JOB_ID: status $status after $SECONDS seconds" >> "$failures" || exit "$status"
    if [[ $(wc -l < "$failures") -ge 3 ]]; then
        rm -f -- "$failures"
        echo "the search failed 3 times in a row (status $status); sbatch goes on from $checkpoint" >&2
        exit "$status"
    fi
fi
echo "status $status after $SECONDS seconds; the job queues again and goes on from $checkpoint"
scontrol requeue "$SLURM_JOB_ID" || exit "$status"
""")
