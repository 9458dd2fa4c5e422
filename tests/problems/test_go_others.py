"""The engine's Go against OpenSpiel's and sgfmill's, and counts that others have published."""

import random

import pytest
from sgfmill.boards import Board

from playout import _core


@pytest.fixture(scope="session")
def pyspiel():
    return pytest.importorskip("pyspiel", reason="OpenSpiel is not installed; make test-all does it")


@pytest.mark.parametrize(
    ("side", "games"), [(2, 400), (3, 600), (4, 600), (5, 400), (6, 200), (7, 100), (9, 60), (13, 12), (19, 4)]
)
def test_openspiel_has_the_same_legal_moves_boards_and_winners(side, games, pyspiel):
    """With simple ko and without suicide; OpenSpiel ends a game that repeats a position, where we stop comparing."""
    numbers = random.Random(side)
    theirs = pyspiel.load_game("go", {"board_size": side, "komi": 0.5, "max_game_length": 10_000})
    ours = _core.go(side, side, 0.5, _core.Ko.simple)
    ends = 0
    for _ in range(games):
        state, position = theirs.new_initial_state(), _core.Position(ours)
        passes = 0
        while not state.is_terminal():
            moves = [move for move, _, _ in position.moves()]
            assert moves == state.legal_actions()
            assert position.player() == state.current_player()
            for row, line in enumerate(reversed(str(state).splitlines()[2 : side + 2])):
                assert [position.cell(column, row) for column in range(side)] == ["+XO".index(c) for c in line[-side:]]
            move = numbers.choice(moves[:-1] or moves) if numbers.random() < 0.97 else side * side
            passes = passes + 1 if move == side * side else 0
            state.apply_action(move)
            position.play(move)
        if passes == 2:
            assert position.moves() == []
            assert state.returns()[0] == (1 if position.score() > 0 else -1)
            ends += 1
    assert ends > 0


@pytest.mark.parametrize("side", [2, 3, 5, 9, 13, 19])
def test_sgfmill_has_the_same_boards_ko_points_and_areas(side):
    """With suicide, and without superko: any empty point but the one of the ko is legal."""
    numbers = random.Random(side)
    engine = _core.go(side, side, 0, _core.Ko.simple, suicide=True)
    for _ in range(max(1, 1000 // side**2)):
        board, position, ko = Board(side), _core.Position(engine), None
        for _ in range(3 * side * side):
            empty = [row * side + column for row in range(side) for column in range(side) if not board.get(row, column)]
            legal = [point for point in empty if divmod(point, side) != ko]
            assert [move for move, _, _ in position.moves()] == [*legal, side * side]
            if not legal:
                break
            move = numbers.choice(legal)
            ko = board.play(*divmod(move, side), "bw"[position.player()])
            position.play(move)
            for row in range(side):
                for column in range(side):
                    assert position.cell(column, row) == (None, "b", "w").index(board.get(row, column))
        assert position.score() == board.area_score()


@pytest.mark.parametrize(
    ("width", "height", "count"),
    [(1, 1, 1), (1, 2, 5), (1, 3, 15), (1, 4, 41), (2, 2, 57), (2, 3, 489), (3, 3, 12_675), (4, 4, 24_318_165)],
)
def test_numbers_of_legal_positions(width, height, count):
    assert _core.GoCounter(width, height, suicide=False).count_legal() == count
    if count < 20_000:
        assert _core.GoCounter(height, width, suicide=False).count_legal() == count
        assert len(_core.GoCounter(width, height, suicide=False).graph()) == count


@pytest.mark.parametrize(
    ("width", "height", "without", "with_suicide"), [(2, 2, 184, 192), (2, 3, 2220, 2312), (3, 3, 83_502, 86_200)]
)
def test_numbers_of_moves_between_positions(width, height, without, with_suicide):
    assert sum(map(len, _core.GoCounter(width, height, suicide=False).graph())) == without
    assert sum(map(len, _core.GoCounter(width, height, suicide=True).graph())) == with_suicide


@pytest.mark.parametrize("suicide", [False, True])
@pytest.mark.parametrize(("length", "count"), [(1, 1), (2, 9), (3, 907)])
def test_numbers_of_games(length, count, suicide):
    assert _core.GoCounter(1, length, suicide).count_games() == count


@pytest.mark.slow("counts hundreds of millions of games")
def test_the_number_of_games_on_four_points():
    """The published number is of the rules that allow suicide."""
    assert _core.GoCounter(1, 4, suicide=True).count_games() == 2_098_407_841
