"""``python -m playout`` is ``playout``."""

import signal
import sys


def main() -> None:
    """Run the command line; Ctrl-C while it is still being imported is no traceback either."""
    try:
        from playout.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)


if __name__ == "__main__":
    main()
