"""A fixed piece of work to count instructions of: 2,000 playouts of GNRPA level 2 on each of boards 1, 9 and 16."""

from playout import GNRPA, SameGame

for board in (1, 9, 16):
    search = GNRPA(level=2).begin(SameGame.standard(board), seed=1)
    while search.playouts < 2000:
        search.advance(2000 - search.playouts)
    print(board, search.score)
