"""Playout: Monte Carlo search for puzzles, tours, schedules and games.

>>> import playout as po
>>> result = po.solve(po.SameGame.standard(1), po.GNRPA(level=2), playouts=10_000, seed=7)
>>> result.score
1736.0
"""

from playout import version as _version
from playout.check import Report
from playout.check import check
from playout.cluster import Dask
from playout.cluster import Local
from playout.cluster import MPI
from playout.errors import ClusterError
from playout.errors import InputError
from playout.library import get_include
from playout.library import load_problem
from playout.match import SPRT
from playout.match import Contestant
from playout.match import MatchGame
from playout.match import MatchResult
from playout.match import SPRTState
from playout.match import match
from playout.parallel import Hybrid
from playout.parallel import Leaf
from playout.parallel import Node
from playout.parallel import Root
from playout.parallel import Tree
from playout.play import Analysis
from playout.play import MoveAnalysis
from playout.play import Player
from playout.plot import plot
from playout.problem import Problem
from playout.problem import python
from playout.problems import problem
from playout.problems.connect_four import ConnectFour
from playout.problems.hex import Hex
from playout.problems.mnk import MNK
from playout.problems.mnk import TicTacToe
from playout.problems.go import Go
from playout.problems.same_game import SameGame
from playout.problems.tsptw import TSPTW
from playout.progress import Progress
from playout.result import Island
from playout.result import Result
from playout.result import load
from playout.search import GNRPA
from playout.search import NMCS
from playout.search import NRPA
from playout.sgf import GameRecord
from playout.sgf import load_sgf
from playout.sgf import parse_sgf
from playout.share import Averaged
from playout.share import Broadcast
from playout.share import Sharing
from playout.share import Treesplit
from playout.solve import solve
from playout.solve import watch
from playout.uct import RAVE
from playout.uct import UCB1
from playout.uct import UCBTuned1
from playout.uct import UCBTuned2
from playout.uct import UCT
from playout.uct import Widening


__all__ = [
    "GNRPA",
    "MNK",
    "MPI",
    "NMCS",
    "NRPA",
    "RAVE",
    "SPRT",
    "TSPTW",
    "UCB1",
    "UCT",
    "Analysis",
    "Averaged",
    "Broadcast",
    "ClusterError",
    "ConnectFour",
    "Contestant",
    "Dask",
    "GameRecord",
    "Go",
    "Hex",
    "Hybrid",
    "InputError",
    "Island",
    "Leaf",
    "Local",
    "MatchGame",
    "MatchResult",
    "MoveAnalysis",
    "Node",
    "Player",
    "Problem",
    "Progress",
    "Report",
    "Result",
    "Root",
    "SPRTState",
    "SameGame",
    "Sharing",
    "TicTacToe",
    "Tree",
    "Treesplit",
    "UCBTuned1",
    "UCBTuned2",
    "Widening",
    "check",
    "get_include",
    "load",
    "load_problem",
    "load_sgf",
    "match",
    "parse_sgf",
    "plot",
    "problem",
    "python",
    "solve",
    "watch",
]
__version__ = _version.VERSION
