"""A fixed piece of work to count instructions of: 2,000 playouts of GNRPA level 2 on board 1, or on the one given.

    valgrind --tool=callgrind --branch-sim=yes python benchmarks/profile_samegame.py [BOARD] [PLAYOUTS]

Python's own start is in the count: run it with 0 playouts too, and subtract. Counts go into benchmarks/profile.csv.
"""

import sys

from playout import GNRPA, SameGame

board, playouts = (*map(int, sys.argv[1:]), *(1, 2000)[len(sys.argv) - 1 :])
search = GNRPA(level=2).begin(SameGame.standard(board), seed=1)
while search.playouts < playouts:
    search.advance(playouts - search.playouts)
print(board, search.playouts, search.score)
