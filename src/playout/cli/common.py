"""What several commands use: the application, its groups of options, and how things are said."""

import json
import sys
from collections.abc import Sequence
from typing import Any

from cyclopts import App, Group, Token
from rich.console import RenderableType
from rich.text import Text

import playout
from playout import cluster as clusters
from playout import terminal
from playout.errors import whole_number

HELP = """Find good sequences of decisions by Monte Carlo search.

Try it: *playout solve samegame:1 --seconds 30*

Exit status: 0 done; 1 a result is wrong (verify); 2 the command cannot be used as it is; 3 the cluster failed; 130, 138
or 143 stopped by Ctrl-C, SIGUSR1 or SIGTERM, with the best so far printed and saved all the same.
"""

app = App(name="playout", help=HELP, help_format="markdown", version=playout.__version__)
app.register_install_completion_command(help="Install completion for your shell (bash, zsh or fish).")

BUDGET = Group("Budget (at least one)", sort_key=1)
SEARCH = Group("Search", sort_key=2)
PARALLEL = Group("Parallel", sort_key=3)
CLUSTER = Group("Cluster", sort_key=4)
OUTPUT = Group("Output", sort_key=5)


def strictly_whole(_: type, tokens: Sequence[Token]) -> int:
    """Convert a word to a whole number: 2.6 is a mistake, not 3."""
    return whole_number("it", tokens[0].value)


def print_parts(*parts: RenderableType) -> None:
    """Print on standard output, in colour where it can, and never cut off at the right."""
    console = terminal.plain_console()
    with console.capture() as capture:
        for part in parts:
            console.width = terminal.width_for(console, part)
            console.print(part, soft_wrap=isinstance(part, Text), crop=False, highlight=False)
    sys.stdout.write(capture.get())
    sys.stdout.flush()  # here, where a reader who has left is heard of; rich would say 1


def print_json(value: Any) -> None:
    """Print a line of JSON on standard output."""
    print(json.dumps(value))


def mistake(message: str) -> int:
    """Say what is wrong with the command, once, and return its exit status."""
    if clusters.launched()[0] == 0:  # all ranks of a job make the same mistake
        note(message)
    return 2


def note(message: str) -> None:
    """Say a line on standard error."""
    print(f"playout: {message}", file=sys.stderr, flush=True)
