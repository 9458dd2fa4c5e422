"""A fixed piece of work to count instructions of: 2,000 playouts of GNRPA level 2 on board 1, or what is given.

    valgrind --tool=callgrind --branch-sim=yes python benchmarks/profile_search.py [PROBLEM] [PLAYOUTS]

Python's own start is in the count: run it with 0 playouts too, and subtract. Counts go into benchmarks/profile.csv.
"""

import sys

from playout import GNRPA, problem

name, playouts = (*sys.argv[1:], *("samegame:1", 2000)[len(sys.argv) - 1 :])
search = GNRPA(level=2).begin(problem(name), seed=1)
while search.playouts < int(playouts):
    search.advance(int(playouts) - search.playouts)
print(name, search.playouts, search.score)
