"""Games of GNU Go against itself, to learn priors from: `python experiments/go/collect.py [GAMES]`.

Game n is line n of games.jsonl, and n is its seed: what is there is not played again, so stop it when you like. One
game in six is on 13 x 13, the others on 9 x 9; both sides play at a level from 1 to 10, drawn for each, after 2 to 6
random moves.
"""

import json
import random
import subprocess
import sys
from pathlib import Path

import playout as po

GAMES = Path(__file__).parent / "games.jsonl"
KOMI = 7.5


class GnuGo:
    """GNU Go, spoken to by the Go Text Protocol; leave the `with` block to end it."""

    def __init__(self, seed: int) -> None:
        command = ["gnugo", "--mode", "gtp", "--chinese-rules", "--seed", str(seed)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> "GnuGo":
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.communicate()

    def ask(self, command: str) -> str:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        self.process.stdout.readline()
        if not answer.startswith("="):
            raise RuntimeError(f"gnugo answers {command!r} with {answer!r}")
        return answer[1:].strip()


def play(seed: int) -> dict[str, object]:
    """One game: the moves until two passes or a resignation."""
    numbers = random.Random(seed)
    size = 13 if seed % 6 == 5 else 9
    levels = [numbers.randint(1, 10) for _ in range(2)]
    game = po.Go(size, komi=KOMI, ko="simple")
    moves: list[str] = []
    with GnuGo(seed) as gnugo:
        gnugo.ask(f"boardsize {size}")
        gnugo.ask(f"komi {KOMI}")
        for turn in range(numbers.randint(2, 6)):
            points = [p for p, colour in enumerate(game.cells(moves)) if colour == 0]
            move = game.decode([numbers.choice(points)])[0]
            gnugo.ask(f"play {'bw'[turn % 2]} {move}")
            moves.append(move)
        opening = len(moves)
        while len(moves) < 3 * size * size and moves[-2:] != ["pass", "pass"]:
            side = len(moves) % 2
            gnugo.ask(f"level {levels[side]}")
            move = gnugo.ask(f"genmove {'bw'[side]}").upper()
            if move == "RESIGN":
                break
            moves.append("pass" if move == "PASS" else move)
    return {"size": size, "komi": KOMI, "opening": opening, "levels": levels, "moves": " ".join(moves)}


def main() -> None:
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 600
    lines = GAMES.read_text().splitlines(keepends=True) if GAMES.exists() else []
    if lines and not lines[-1].endswith("\n"):  # it was stopped while writing
        del lines[-1]
        GAMES.write_text("".join(lines))
    for seed in range(len(lines), wanted):
        line = json.dumps(play(seed), separators=(",", ":"))
        with GAMES.open("a") as stream:
            stream.write(line + "\n")
        print(seed + 1, flush=True)


if __name__ == "__main__":
    main()
