"""Watch three searches of the same board for a second each."""

import playout as po

board = po.SameGame.random(width=12, height=12, colours=4, seed=3)
for search in (po.GNRPA(level=3), po.NRPA(level=3), po.NMCS(level=2)):
    for progress in po.watch(board, search, seconds=1):
        print(f"\r{search.name:>6} {progress.score:g} {progress.playouts_per_second:,.0f}/s", end="   ")
    print()
