"""``playout bench``: measure this machine."""

from typing import Annotated

from cyclopts import Parameter
from rich.table import Table
from rich.text import Text

from playout import bench as benchmark
from playout import terminal
from playout.cli.common import app, note, print_json, print_parts, strictly_whole
from playout.errors import check_integer
from playout.parallel import MAX_THREADS, processors


@app.command
def bench(
    *,
    seconds: float = 2.0,
    threads: Annotated[int | None, Parameter(converter=strictly_whole)] = None,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Measure this machine: playouts per CPU second on one thread, and how the parallel strategies scale.

    Parameters
    ----------
    seconds
        Time for each measurement.
    threads
        The most threads to measure with (as many as this process may use).
    json
        Print JSON instead of tables.
    """
    tell = None if json else note
    threads = processors() if threads is None else check_integer("threads", threads, 1, MAX_THREADS)
    rows = benchmark.measure(seconds, tell)
    scaling = benchmark.scaling(threads, seconds, tell)
    if json:
        print_json({"rates": rows, "scaling": scaling})
        return 0
    table = Table("problem", "search", "playouts per CPU second", title="One thread")
    table.columns[0].no_wrap = True
    table.columns[2].justify = "right"
    for row in rows:
        table.add_row(Text(row["problem"]), Text(row["search"]), f"{row['playouts_per_cpu_second']:,.0f}")
    print_parts(table, terminal.scaling_table(scaling))
    return 0
