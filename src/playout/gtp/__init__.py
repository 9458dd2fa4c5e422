"""Go over the Go Text Protocol, version 2: what ``playout gtp`` is."""

from playout.gtp.engine import Engine, Settings
from playout.gtp.serve import serve

__all__ = ["Engine", "Settings", "serve"]
