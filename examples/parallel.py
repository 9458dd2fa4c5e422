"""Two threads, four ways: the same playouts on one board, with each parallel strategy."""

import playout as po

board = po.SameGame.standard(10, tabu="auto")
search = po.GNRPA(level=3)

for strategy in (po.Root(jobs=2), po.Leaf(width=4), po.Node(level=2, width=4), po.Hybrid(jobs=2, width=4)):
    result = po.solve(board, search, playouts=60_000, threads=2, parallel=strategy, seed=1)
    print(f"{strategy}: score {result.score:,g}, {result.playouts / result.seconds:,.0f} playouts a second")
