"""Matches of Go: two players, many games, and what they say of who is stronger."""

from playout.match.contestants import Contestant
from playout.match.result import MatchGame, MatchResult
from playout.match.runner import match
from playout.match.statistics import SPRT, SPRTState

__all__ = ["SPRT", "Contestant", "MatchGame", "MatchResult", "SPRTState", "match"]
