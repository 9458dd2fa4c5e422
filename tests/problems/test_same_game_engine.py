"""The engine's SameGame against the plain Python rules."""

import random

import pytest

from playout import SameGame, _core
from playout.problems.same_game import LEFTOVER
from tests.reference.same_game import PlainSameGame

BOARDS = 3000


def random_game(numbers: random.Random) -> SameGame:
    """A board of any size; small and few-coloured ones more often, since they have the odd cases."""
    side = numbers.choice([2, 4, 8, 16, 20])
    width, height = numbers.randint(1, side), numbers.randint(1, side)
    colours = numbers.randint(1, 9)
    rows = tuple(tuple(numbers.randrange(colours) for _ in range(width)) for _ in range(height))
    tabu = numbers.choice(["dominant", "none", numbers.randrange(9)])
    return SameGame(rows, tabu, numbers.choice(list(LEFTOVER)))


def tall_engine(game: SameGame) -> _core.Problem:
    """The same board with 128-bit columns."""
    cells = [colour + 1 for row in reversed(game.rows) for colour in row]
    tabu = 0 if game.tabu_colour is None else game.tabu_colour + 1
    return _core.same_game(game.width, game.height, cells, tabu, LEFTOVER[game.leftover_penalty], tall=True)


MANY = pytest.mark.slow("plays thousands of games in plain Python")


@pytest.mark.parametrize("part", [0, 1, 2, *(pytest.param(part, marks=MANY) for part in range(3, 10))])
def test_random_games_on_random_boards(part):
    """Moves, their order, biases, codes, cells, score and end, at every step of a random game on each board."""
    numbers = random.Random(part)
    code_of: dict[tuple, int] = {}
    for _ in range(BOARDS // 10):
        game = random_game(numbers)
        plain, state, moves = PlainSameGame(game), PlainSameGame(game).initial(), []
        for engine in (game.engine(), tall_engine(game)):
            position = _core.Position(engine)
            state, moves = plain.initial(), []
            while all_moves := plain.all_moves(state):
                for found, expected in (
                    (position.moves(all=True), all_moves),
                    (position.moves(), plain.moves(state)),
                    (position.moves(fresh=True), plain.moves(state)),
                ):
                    assert [(m, b) for m, _, b in found] == [(e.move, e.bias) for e in expected]
                    for (_, code, _), e in zip(found, expected, strict=True):
                        assert code_of.setdefault(e.code, code) == code
                for column in range(game.width):
                    for row in range(game.height):
                        inside = column < len(state.columns) and row < len(state.columns[column])
                        assert position.cell(column, row) == (state.columns[column][row] + 1 if inside else 0)
                move = numbers.choice(all_moves)
                position.play(move.move)
                state = plain.play(state, move)
                moves.append(move.move)
            assert position.moves() == position.moves(all=True) == []
            score, detail = game.replay(game.decode(moves))
            assert position.score() == score
            assert detail["finished"]
    assert len(set(code_of.values())) == len(code_of) > 1000


def test_an_illegal_move_is_refused():
    position = _core.Position(SameGame.standard(1).engine())
    with pytest.raises(ValueError, match="not a legal move"):
        position.play(31)
