"""Two whole games over GTP against GNU Go: `python experiments/treesplit/game.py`.

Four ranks under mpiexec that have one tree, a thread each, a second a move, 9 x 9; GNU Go of level 10 scores. What rank
0 says of its moves, with messages a second and the load of its threads, is in game.log.
"""

import os
import sys
from pathlib import Path

import playout as po

FOLDER = Path(__file__).resolve().parent
GTP = "mpiexec -n 4 playout gtp --share treesplit --threads 1 --memory 64 --seconds 1"
GNUGO = "gnugo --mode gtp --chinese-rules --level"


def main() -> None:
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}:/usr/games"
    os.chdir(FOLDER.parent.parent)
    engine = f"sh -c '{GTP} 2>>experiments/treesplit/game.log'"
    result = po.match(engine, f"{GNUGO} 1", games=2, seed=1, judge=f"{GNUGO} 10", record=FOLDER / "game.jsonl")
    print(result)


if __name__ == "__main__":
    main()
