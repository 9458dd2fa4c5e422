"""Several machines search together: what launches work on them.

The strategy (playout.parallel) says what is searched: K islands, each with one thread (``Root``) or with several that
share a policy (``Hybrid``). A cluster only says where, and changes nothing in the result of a budget of playouts.

``driver`` hands out ``chunk`` after chunk of each ``island`` to ``nodes``: those of ``local`` (each a ``worker``),
``mpi`` or ``dask``. A problem of a user's gets there by ``travel``, its source by ``modules``, its attributes by
``values``. ``slurm`` prints job scripts. A new kind of cluster is a dataclass here and a file with its nodes.

Trees of games are another matter: they grow on all ranks at once and tell each other what they learn (playout.share).
``ranks`` has those in one process, ``job`` those of an MPI job, and ``link`` moves their messages.
"""

import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from playout.errors import ClusterError, InputError, check_integer, check_positive, short
from playout.parallel import MAX_JOBS, processors

if TYPE_CHECKING:
    from playout.cluster.nodes import Nodes

CHUNK_SECONDS = 5.0
MAX_CHUNK_SECONDS = 8.0  # a search that is told to end does so within ten


class Cluster(Protocol):
    """What every cluster offers besides its settings."""

    @property
    def name(self) -> str:
        """As the command line has it."""

    @property
    def exchange(self) -> float | None:
        """How often an island that lags behind may take over another's search, in seconds."""

    @property
    def chunk(self) -> float:
        """How long a chunk is, in seconds."""

    def open(self, threads: int) -> "Nodes":
        """Return the nodes, each for chunks of so many threads."""


@dataclass(frozen=True)
class Local:
    """Processes of this machine.

    Parameters
    ----------
    workers
        How many; as many as there are processors for, if None.
    exchange
        Every so many seconds an island that lags far behind goes on from the policy of a better one, with random
        numbers of its own; at most half of the islands carry on the same search, so there must be four. None: never, as
        in the paper, and because measurement shows no gain (experiments/exchange).
    chunk
        How many seconds an island is searched before it is collected and handed out again, at most 8.
    """

    name: ClassVar[str] = "local"
    workers: int | None = None
    exchange: float | None = None
    chunk: float = CHUNK_SECONDS

    def __post_init__(self) -> None:
        if self.workers is not None:
            check_integer("workers", self.workers, 1, MAX_JOBS)
        _check(self)

    def open(self, threads: int) -> "Nodes":
        from playout.cluster.local import LocalNodes

        return LocalNodes(self.workers or max(1, processors() // threads))


@dataclass(frozen=True)
class MPI:
    """The ranks of an MPI job, ``mpiexec -n 4 python script.py``; rank 0 works too. Needs mpi4py, the ``mpi`` extra.

    All ranks must call ``solve``; all return the same Result.

    Parameters
    ----------
    exchange, chunk
        As in :class:`Local`.
    """

    name: ClassVar[str] = "mpi"
    exchange: float | None = None
    chunk: float = CHUNK_SECONDS

    def __post_init__(self) -> None:
        _check(self)

    def open(self, threads: int) -> "Nodes":
        from playout.cluster.mpi import MpiNodes

        check_mpi()
        return MpiNodes()


@dataclass(frozen=True)
class Dask:
    """The workers of a Dask cluster, which may come and go. Needs distributed, the ``dask`` extra.

    Parameters
    ----------
    scheduler
        Its address, ``"tcp://host:8786"``, or the file it wrote, ``"scheduler.json"``. If None, what
        ``DASK_SCHEDULER_ADDRESS`` says.
    exchange, chunk
        As in :class:`Local`.
    """

    name: ClassVar[str] = "dask"
    scheduler: str | None = None
    exchange: float | None = None
    chunk: float = CHUNK_SECONDS

    def __post_init__(self) -> None:
        if self.scheduler is not None and not isinstance(self.scheduler, str):
            raise InputError(f"scheduler is {short(self.scheduler)}; an address such as tcp://host:8786 is needed")
        _check(self)

    def open(self, threads: int) -> "Nodes":
        from playout.cluster.dask import DaskNodes

        scheduler = self.scheduler or os.environ.get("DASK_SCHEDULER_ADDRESS")
        if not scheduler:
            raise InputError("where is the Dask scheduler? Give its address: --scheduler tcp://host:8786")
        return DaskNodes(scheduler, threads)


def threads_of_a_rank() -> int:
    """Return how many threads a rank may have: Slurm's word, or its part of this machine's processors."""
    names = ("MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE", "SLURM_STEP_TASKS_PER_NODE")  # the last as in 4(x2),3
    ranks = [re.match(r"[1-9][0-9]{0,5}", os.environ.get(name, "")) for name in names]
    here = next((int(count[0]) for count in ranks if count), 1)
    return processors() if os.environ.get("SLURM_CPUS_PER_TASK") else max(1, processors() // here)


def is_helper(cluster: Any) -> bool:
    """Whether this process is a rank of an MPI job that does what rank 0 says."""
    if not isinstance(cluster, MPI):
        return False
    check_mpi()
    from mpi4py import MPI as LIBRARY

    return int(LIBRARY.COMM_WORLD.rank) != 0


def help_out() -> bytes:
    """Do what rank 0 says until it is done; return the result it then tells, as JSON."""
    from playout.cluster.mpi import MpiNodes

    outcome = MpiNodes().serve()
    if not outcome:
        raise ClusterError("the search failed; rank 0 has said why")
    return outcome


CLUSTERS: dict[str, type[Local] | type[MPI] | type[Dask]] = {"local": Local, "mpi": MPI, "dask": Dask}


@contextmanager
def opened(cluster: Cluster | None, threads: int) -> "Iterator[Nodes | None]":
    """Open the nodes of a cluster, if there is one, and close them."""
    if cluster is None:
        yield None
        return
    if isinstance(cluster, type) or not hasattr(cluster, "open"):
        raise InputError(f"cluster is {short(cluster)}; allowed are Local(), MPI() and Dask()")
    nodes = cluster.open(threads)
    try:
        yield nodes
    finally:
        nodes.close()


def to_json(cluster: Any) -> dict[str, Any]:
    """Return the name and the settings of a cluster."""
    return {"name": cluster.name, **asdict(cluster)}


def launched() -> tuple[int, int]:
    """Return the rank and the number of ranks that ``mpiexec`` or ``srun`` says this process has; (0, 1) if none."""
    environment = os.environ
    for rank, size in (
        ("PMI_RANK", "PMI_SIZE"),
        ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
        ("PMIX_RANK", "PMIX_SIZE"),
        ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
    ):
        if environment.get(rank, "").isdecimal() and environment.get(size, "").isdecimal():
            return int(environment[rank]), int(environment[size])
    return 0, 1


def check_mpi(example: str = "mpiexec -n 4 playout solve ...") -> None:
    """Raise unless this process is one of several ranks that know of each other."""
    _, size = launched()
    try:
        with warnings.catch_warnings():  # what mpi4py warns of is said below
            warnings.simplefilter("ignore")
            from mpi4py import MPI as LIBRARY
    except ImportError as error:
        what = "is not installed" if isinstance(error, ModuleNotFoundError) else f"does not work here ({error})"
        started = f"this was started as {size} ranks, but " if size > 1 else ""
        raise InputError(f"{started}mpi4py {what}; pip install 'playout[mpi]' brings it") from None
    found = LIBRARY.COMM_WORLD.size
    if found != size and size > 1:
        library = LIBRARY.Get_library_version().splitlines()[0].strip()
        raise InputError(
            f"this was started as {size} ranks, but MPI knows of {found}: mpiexec or srun belongs to another MPI than "
            f"mpi4py, which uses {library}; start with the mpiexec of that one ('srun --mpi=list' has those of Slurm)"
        )
    if found == 1:
        raise InputError(f"there is one rank only; start several: {example}")


def _check(cluster: Any) -> None:
    if cluster.exchange is not None:
        object.__setattr__(cluster, "exchange", check_positive("exchange", cluster.exchange))
    object.__setattr__(cluster, "chunk", check_positive("chunk", cluster.chunk))
    if cluster.chunk > MAX_CHUNK_SECONDS:
        raise InputError(f"chunk is {cluster.chunk:g}; at most {MAX_CHUNK_SECONDS:g} seconds are allowed")
