"""Who plays in the tests of matches."""

import shlex
import sys
from pathlib import Path

import playout as po

WEAK = po.Contestant(po.UCT(memory=16), playouts=2, policy="light", name="weak")
STRONG = po.Contestant(po.UCT(memory=16, early_stop=False), playouts=150, policy="light", name="strong")
SMALL = dict(size=5, komi=0.5)


def engine(*words: str) -> str:
    """Return the command line of a program that answers so; see gtp_engine.py."""
    return shlex.join([sys.executable, "-ISE", str(Path(__file__).with_name("gtp_engine.py")), *words])


def played(result: po.MatchResult) -> list[tuple]:
    """Return what does not depend on time."""
    return [(game.number, game.black, game.opening, game.moves, game.result, game.reason) for game in result.games]
