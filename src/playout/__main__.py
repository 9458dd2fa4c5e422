"""``python -m playout`` is ``playout``."""

from playout.cli import main

main()
