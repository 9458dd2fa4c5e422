"""``playout problems | check | include``: what can be searched, and problems of your own."""

from typing import Annotated

from cyclopts import Parameter
from rich.table import Table
from rich.text import Text

import playout
from playout import problems
from playout.cli.common import app, print_parts, strictly_whole


@app.command(name="problems")
def problems_command() -> int:
    """List what can be searched, how to name it, and its options."""
    listed = [(kind.title, (*kind.forms, *kind.options)) for kind in problems.KINDS.values()]
    for title, rows in [*listed, problems.OWN]:
        table = Table.grid(padding=(0, 3))
        table.add_column(no_wrap=True)
        for form, meaning in rows:
            table.add_row(Text(f"  {form}"), meaning)
        print_parts(Text(title, style="bold"), table)
    return 0


@app.command
def check(problem: str, /, *, playouts: Annotated[int, Parameter(converter=strictly_whole)] = 100) -> int:
    """Say what is wrong with a problem of your own. Exit status 1 if anything is.

    Parameters
    ----------
    problem
        Where it is: ./file.py:problem, module:problem, ./libmygame.so.
    playouts
        How many random games to play.
    """
    report = playout.check(problems.problem(problem), playouts)
    print(report)
    return 0 if report else 1


@app.command
def include() -> int:
    """Print the folder of playout.h, for compilers: *cc -shared -fPIC -I$(playout include) game.c -o libgame.so*."""
    print(playout.get_include())
    return 0
