"""Search a standard SameGame board, look at the result, go on from it."""

from rich import print

import playout as po

board = po.SameGame.standard(9)
result = po.solve(board, po.GNRPA(level=3), playouts=20_000, seed=1)
print(result)
print(board.draw(result.moves))

better = po.solve(board, po.GNRPA(level=3), playouts=20_000, seed=2, start=result)
print(f"{result.score:g}, then {better.score:g}")
