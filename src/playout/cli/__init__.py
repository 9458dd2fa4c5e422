"""The command line: ``playout solve | gtp | match | check | verify | show | plot | bench | problems`` and others."""

import io
import os
import signal
import sys
import warnings
from importlib import import_module
from typing import Any

from cyclopts import CycloptsError

from playout.cli.common import app, mistake, note
from playout.errors import ClusterError, InputError

__all__ = ["app", "import_commands", "main"]

# The module of this package that has each command.
MODULES = {
    "bench": "bench",
    "check": "problems",
    "experiment": "experiment",
    "gtp": "gtp",
    "include": "problems",
    "match": "match",
    "plot": "show",
    "problems": "problems",
    "show": "show",
    "slurm": "slurm",
    "solve": "solve",
    "verify": "show",
}


def import_commands(command: str | None = None) -> None:
    """Import the module of a command, or of all if there is no such command; modules add their commands to the app."""
    for module in {MODULES[command]} if command in MODULES else sorted(set(MODULES.values())):
        import_module(f"playout.cli.{module}")


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; a user's mistake is one line on standard error and exit status 2."""
    warnings.showwarning = _show_warning
    warnings.simplefilter("always", RuntimeWarning)  # each time a checkpoint cannot be written
    sys.stdout = sys.stdout or io.TextIOWrapper(open(os.devnull, "wb"))  # noqa: SIM115, closed: nobody reads it
    sys.stderr = sys.stderr or io.TextIOWrapper(open(os.devnull, "wb"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without Unicode shows a question mark, not a traceback
    arguments = sys.argv[1:] if arguments is None else arguments
    import_commands(arguments[0] if arguments else None)
    try:
        status = app(arguments, exit_on_error=False, print_error=False, result_action="return_value")
        sys.stdout.flush()
    except CycloptsError as error:
        status = mistake(" ".join(str(error).split()))
    except InputError as error:
        status = mistake(str(error))
    except ClusterError as error:
        note(f"the cluster failed: {error} (with --checkpoint, --resume goes on)")
        status = 3
    except KeyboardInterrupt:
        status = 128 + signal.SIGINT
    except BrokenPipeError:  # whoever read our output has left; there is nobody to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 128 + signal.SIGPIPE
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = mistake(f"{error.filename or 'standard output'}: {error.strerror}")
    sys.exit(status)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    note(str(message))
