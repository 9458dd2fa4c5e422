"""Recorded games on three boards pin the rules: every line of tests/data/playthrough-*.txt is played again.

`python -m tests.problems.test_playthroughs` writes the files anew; read the difference before you keep it.
"""

from pathlib import Path

import pytest

from playout import SameGame, _core
from playout.problems.same_game import MOVE_BASE

DATA = Path(__file__).parent.parent / "data"
GAMES = {
    "standard-1": SameGame.standard(1),
    "standard-16": SameGame.standard(16, leftover_penalty="total"),
    "random-20x20": SameGame.random(20, 20, 4, seed=5, tabu=2, leftover_penalty="per_colour"),
}


def playthrough(game: SameGame) -> str:
    """A game that plays its legal moves in turn, the k-th of them at the k-th step, as the engine sees it."""
    position, moves, lines = _core.Position(game.engine()), [], [str(game), ""]
    while legal := position.moves():
        move, code, bias = legal[len(moves) % len(legal)]
        names = " ".join(f"{m // MOVE_BASE},{m % MOVE_BASE}" for m, _, _ in legal)
        position.play(move)
        moves.append(move)
        column, row = divmod(move, MOVE_BASE)
        lines += [
            f"legal {names}",
            f"{len(moves)}. play {column},{row} code {code:016x} bias {bias:g} score {position.score():g}",
        ]
        cells = [[position.cell(c, r) for c in range(game.width)] for r in reversed(range(game.height))]
        lines += ["".join(".012345678"[cell] for cell in row) for row in cells if any(row)] + [""]
    return "\n".join(lines)


@pytest.mark.parametrize("name", GAMES)
def test_the_recorded_game_is_played_again(name):
    recorded = (DATA / f"playthrough-{name}.txt").read_text().splitlines()
    played = playthrough(GAMES[name]).splitlines()
    for number, (expected, found) in enumerate(zip(recorded, played, strict=True), 1):
        assert found == expected, f"line {number}"


@pytest.mark.parametrize("name", GAMES)
def test_the_plain_rules_agree_with_the_record(name):
    """The last score of the file is what the replay without the engine gives."""
    game = GAMES[name]
    plays = [line.split() for line in (DATA / f"playthrough-{name}.txt").read_text().splitlines() if " play " in line]
    moves = [tuple(map(int, words[2].split(","))) for words in plays]
    score, detail = game.replay(moves)
    assert score == float(plays[-1][-1])
    assert detail["finished"]


if __name__ == "__main__":
    for name, game in GAMES.items():
        (DATA / f"playthrough-{name}.txt").write_text(playthrough(game))
