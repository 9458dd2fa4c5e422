"""SameGame boards: where they come from, their text, what is refused, and how they look."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import playout as po
from playout import InputError, SameGame
from playout.problems.same_game_picture import removal

boards = st.integers(1, 20).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(0, 8), min_size=width, max_size=width).map(tuple), min_size=1, max_size=20
    ).map(tuple)
)


def test_the_standard_boards_are_twenty_of_15_by_15_and_five_colours():
    games = [SameGame.standard(number) for number in range(1, 21)]
    assert {(game.width, game.height) for game in games} == {(15, 15)}
    assert all({colour for row in game.rows for colour in row} == set(range(5)) for game in games)
    assert len({game.rows for game in games}) == 20
    assert str(games[0]).splitlines()[0] == "311410404411023"


@given(boards)
def test_a_board_can_be_written_and_read_in_both_forms(rows):
    digits = "\n".join("".join(map(str, row)) for row in rows)
    numbers = "\n".join(" ".join(map(str, row)) for row in rows)
    assert SameGame.parse(digits).rows == rows == SameGame(rows).rows
    if len(rows[0]) > 1:
        assert SameGame.parse(f"# a comment\n\n{numbers}\n").rows == rows


def test_random_boards_are_the_same_everywhere():
    game = SameGame.random(5, 3, 4, seed=7)
    assert str(game) == "03333\n11131\n11302"
    assert game == po.problem("samegame:random:7,width=5,height=3,colours=4")
    assert game != SameGame.random(5, 3, 4, seed=8)


def test_random_boards_use_all_colours_evenly():
    """400 cells of 9 colours, 20 boards: each share within five standard deviations of a ninth."""
    count = Counter(c for seed in range(20) for row in SameGame.random(20, 20, 9, seed=seed).rows for c in row)
    assert all(abs(count[c] / 8000 - 1 / 9) < 5 * (8 / 81 / 8000) ** 0.5 for c in range(9))


def test_the_dominant_colour_is_the_lowest_of_equals():
    assert SameGame.parse("2211\n0000").tabu_colour == 0
    assert SameGame.parse("2211").tabu_colour == 1
    assert SameGame.parse("2211", tabu="none").tabu_colour is None
    assert SameGame.parse("2211", tabu=2).tabu_colour == 2


def test_names_rebuild_boards(tmp_path):
    file = tmp_path / "a,b.txt"
    file.write_text("board 3\n001\nboard 4\n110\n")
    for name in (
        "samegame:1",
        "samegame:20,tabu=2",
        "samegame:1,tabu=none,leftover_penalty=total",
        "samegame:random:7,width=20,colours=9,tabu=0",
    ):
        game = po.problem(name)
        assert po.problem(game.to_json()) == game
        assert game.to_json() == name
    game = po.problem(f"samegame:{file},board=4,tabu=1")
    assert game.rows == ((1, 1, 0),)
    assert SameGame.from_json(game.to_json()) == game


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the board has no cells; a board is rows of colours 0 to 8"),
        ("# nothing\n\n", "the board has no cells; a board is rows of colours 0 to 8"),
        ("board 1\n", "the board has no cells; a board is rows of colours 0 to 8"),
        ("012\n01\n", "the board, line 2: this row has 2 cells, the rows above have 3"),
        ("01x\n", "the board, line 1: 'x' is not a colour; allowed are 0 to 8"),
        ("019\n", "the board, line 1: '9' is not a colour; allowed are 0 to 8"),
        ("0 1 12\n", "the board, line 1: '12' is not a colour; allowed are 0 to 8"),
        ("0 -1 1\n", "the board, line 1: '-1' is not a colour; allowed are 0 to 8"),
        ("0" * 21, "the board is 21 x 1; at most 20 x 20 is allowed"),
        ("0\n" * 21, "the board is 1 x 21; at most 20 x 20 is allowed"),
        ("board x\n01", "the board, line 1: the number of the board is 'x'; a whole number is needed"),
        ("board 1\n01\nboard 1\n10", "the board, line 3: board 1 is there twice"),
        ("board 1\n01\nboard 2\n10", "the text has 2 boards; choose one of 1, 2 by board=N"),
        ("0٣1\n", "the board, line 1: '٣' is not a colour; allowed are 0 to 8"),
    ],
)
def test_a_malformed_board_says_what_is_wrong_and_where(text, message):
    with pytest.raises(InputError) as error:
        SameGame.parse(text)
    assert str(error.value) == message


@given(st.text(max_size=200))
def test_any_text_is_a_board_or_a_clear_error(text):
    try:
        game = SameGame.parse(text)
    except InputError as error:
        assert "\n" not in str(error)
    else:
        assert game.width * game.height > 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SameGame.standard(21), "no standard board 21; allowed are 1 to 20"),
        (lambda: SameGame.standard(0), "no standard board 0; allowed are 1 to 20"),
        (lambda: SameGame.standard(1, tabu=9), "tabu is 9; allowed are whole numbers from 0 to 8"),
        (lambda: SameGame.standard(1, tabu="red"), "tabu is 'red'; allowed are auto, dominant, none or a colour"),
        (lambda: SameGame.standard(1, leftover_penalty="x"), "leftover_penalty is 'x'; allowed are none, total"),
        (lambda: SameGame.random(21, 1), "width is 21; allowed are whole numbers from 1 to 20"),
        (lambda: SameGame.random(colours=10), "colours is 10; allowed are whole numbers from 1 to 9"),
        (lambda: SameGame(((0, 1), (0,))), "rows of 2 and of 1 cells"),
        (lambda: SameGame(((0, 10),)), "a colour is 10; allowed are whole numbers from 0 to 8"),
        (lambda: SameGame(()), "no cells"),
        (lambda: SameGame.load("/does/not/exist"), "cannot read '/does/not/exist': No such file"),
        (lambda: po.problem("chess:1"), "unknown problem 'chess:1'; there is samegame:1"),
        (lambda: po.problem("samegame"), "'samegame' does not say which samegame; write one of samegame:1"),
        (lambda: po.problem("samegame:1,colour=2"), "unknown option 'colour'"),
        (lambda: po.problem("samegame:-3"), "no standard board -3; allowed are 1 to 20"),
        (lambda: po.problem("samegame:random:x"), "the seed of samegame:random:SEED is 'x'; a whole number is needed"),
    ],
)
def test_impossible_values_are_named(make, message):
    with pytest.raises(InputError, match=r"^[^\n]*$") as error:
        make()
    assert message in str(error.value)


def test_points_and_penalties():
    """0011 over 0011 in four ways: cleared for 4 + 4 + 1000, and what is left over costs what it should."""
    game = SameGame.parse("0011\n0011\n2345")
    moves = [(0, 1), (2, 1)]
    assert game.replay(moves) == (8.0, {"cleared": False, "left": 4, "finished": True})
    assert game.with_options(leftover_penalty="total").replay(moves)[0] == 8 - 4
    assert game.with_options(leftover_penalty="per_colour").replay(moves)[0] == 8 - 4
    assert SameGame.parse("0011\n0011").replay([(0, 0), (0, 0)])[0] == 4 + 4 + 1000
    many = SameGame.parse("01010\n10101", leftover_penalty="total")
    assert many.replay([])[0] == -(8**2)
    assert many.with_options(leftover_penalty="per_colour").replay([])[0] == -(3**2) * 2


@pytest.mark.parametrize(
    ("moves", "message"),
    [
        ([(2, 0)], r"move 1, \[2, 0\], is not legal there"),
        ([(0, 2), (2, 0)], r"move 2, \[2, 0\], is not legal there"),
        ([(1, 2)], r"move 1, \[1, 2\], should name its group as \[0, 2\]"),
        ([(19, 19)], "not legal there"),
        ([(0, 20)], "the row of a move is 20"),
        ([(0,)], r"a SameGame move is \[column, row\]"),
        ([5], r"a SameGame move is \[column, row\]"),
    ],
)
def test_wrong_moves_are_named(moves, message):
    with pytest.raises(InputError, match=message):
        SameGame.standard(1).replay(moves)


def test_every_cell_is_numbered_by_the_move_that_removes_it():
    """Counted by the numbers in the drawing, each move has as many cells as its group, and the rest stays."""
    game = SameGame.standard(3)
    result = po.solve(game, po.GNRPA(level=1), playouts=100)
    removed = Counter(removal(game, result.moves).values())
    assert sorted(removed) == list(range(1, len(result.moves) + 1))
    assert sum((n - 2) ** 2 for n in removed.values()) == result.score - 1000 * result.detail["cleared"]
    assert sum(removed.values()) == 225 - result.detail["left"]


def render(drawing) -> str:
    console = Console(width=100, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    with console.file:
        console.print(drawing)
    return console.export_text()


def test_the_drawing_has_the_board_and_the_moves():
    game = SameGame.parse("0011\n0011\n2345")
    text = render(game.draw([(0, 1), (2, 1)]))
    assert " 1   1   1   2   2 \n 0   .   .   .   . \n" in text
    assert "1.  0,1    4 cells    +4" in text
    assert "After 1 of 2 moves, 4 points" in render(game.draw([(0, 1), (2, 1)], step=1))
    with pytest.raises(InputError, match="step is 3"):
        game.draw([(0, 1), (2, 1)], step=3)


def test_a_notebook_shows_the_board():
    game = SameGame.parse("01\n10")
    assert game._repr_html_().count("<td") == 4
