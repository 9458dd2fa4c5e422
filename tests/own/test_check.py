"""check(): every mistake it knows, in one page, and what solve() makes of it."""

import re

import pytest

import playout as po
from tests.own import problems as own

MISTAKES = [
    (own.TooLong, r"moves lists 5 moves, but max_moves is 3, at the beginning"),
    (own.SaysTooMany, r"moves lists 9 moves, but max_moves is 3"),
    (own.Twice, r"moves lists the move 1 more than once"),
    (own.Unchanged, r"play leaves the state unchanged: move \d, at the beginning"),
    (own.Endless, r"a playout goes on after 500 moves"),
    (own.PlayRaises, r"play raises IndexError: index 8 is out of bounds.*after the moves (\d, ){6}\d"),
    (own.Nan, r"score returns nan, after the moves"),
    (own.NanBias, r"bias returns inf, at the beginning"),
    (own.Random, r"play calls a random generator: random\.random\(\)"),
    (own.NumpyRandom, r"score calls a random generator: np\.random\.rand\(\)"),
    (own.OwnGenerator, r"score calls a random generator: self\.rng\.normal\(\)"),
    (own.Outside, r"the same moves, played again, give other moves, codes, biases or another score"),
    (own.MovesChange, r"moves, code or bias changes the state"),
    (own.Wraps, r"compiled methods differ from plain Python: the score is"),
    (own.CallsAnother, r"CallsAnother\.score uses self\.helper .*compiled methods cannot call each other"),
    (own.UsesText, r"UsesText\.score uses self\.names .*numbers, arrays and lists of numbers"),
    (own.Untyped, r"Untyped\.score cannot be compiled: "),
    (own.NoCount, r"moves returned None; it should return how many"),
    (own.NewField, r"play raises AttributeError: 'State' object has no attribute 'other'"),
    (own.FloatInField, r"the field 'count' of the state is for whole numbers and was given 0\.5"),
    (own.SmallField, r"the field 'last' of the state, 'i4', cannot hold 1099511627776"),
    (own.ThreePlayers, r"player returned 2; allowed are 0 and 1, after the moves \d, \d"),
    (own.HalfAPlayer, r"player returned 0\.5; allowed are 0 and 1, after the moves \d, \d"),
    (own.PlayerRaises, r"player raises ValueError: nobody, after the moves"),
    (own.PlayerPlays, r"player changes the state, at the beginning"),
    (own.PlayerWraps, r"compiled methods differ from plain Python: player is [01], and compiled [01], after"),
    (own.ChangesConstant, r"a method changes a number or an array of self"),
    (own.Rebinds, r"the field 'chosen' of the state is an array and stays where it is; write s\.chosen\[:\] = "),
    (own.RandomCode, r"the same moves, played again, give other moves, codes, biases"),
    (own.NoScore, r"NoScore has no method score"),
    (own.ImprovedBadly, r"improve raises InputError: move 1, 7, is not legal there"),
    (own.ImprovedShort, r"improve returns a sequence after which the playout goes on"),
]


@pytest.mark.parametrize(("kind", "message"), MISTAKES, ids=[kind.__name__ for kind, _ in MISTAKES])
def test_a_mistake_is_found_and_solve_refuses(kind, message):
    report = po.check(kind())
    assert not report
    assert re.search(message, str(report)), report
    assert str(report).startswith(f"tests.own.problems:{kind.__name__}: ")
    assert len(str(report).splitlines()) < 40
    with pytest.raises(po.InputError, match=message):
        po.solve(kind(), po.NRPA(level=1, improve=hasattr(kind, "improve")), playouts=10)


@pytest.mark.parametrize("kind", [own.PlayRaises, own.NewField])
def test_an_exception_has_its_line(kind):
    code = kind.play.__code__
    lines = range(code.co_firstlineno, code.co_firstlineno + 4)
    assert any(f"problems.py, line {line}: s." in str(po.check(kind())) for line in lines)


@pytest.mark.parametrize("kind", [own.RaisesLate, own.IndexesLate])
def test_exceptions_that_few_games_see_are_found_compiled(kind):
    assert "a compiled method raises" in str(po.check(kind(), playouts=3))


def test_clashing_codes_are_a_warning():
    report = po.check(own.Clashes())
    assert not report
    assert report.mistakes == []
    assert re.search(r"warning: the moves 0 and 1 have the same code 0, at the beginning", str(report))
    with pytest.warns(RuntimeWarning, match="the same code 0"):
        po.solve(own.Clashes(), po.NRPA(level=1), playouts=10)


def test_a_sound_problem_has_a_page_too():
    report = po.check(own.Digits(), playouts=20)
    assert report
    assert "nothing wrong in 20 random playouts" in str(report)
    assert "moves in a playout: 8 to 8" in str(report)
    assert re.search(r"compiled: the same moves and scores; [\d,]+ random playouts a second", repr(report))


def test_a_sound_problem_in_plain_python():
    problem = own.Digits()
    problem.compiled = False
    assert "compiled" not in str(po.check(problem, playouts=5))
    assert po.check(own.Scored(), playouts=5)


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (own.Digits, "problem is the class Digits"),
        (po.SameGame.standard(1), "check is for problems of your own"),
        (3, "check is for problems of your own"),
    ],
)
def test_what_cannot_be_checked(problem, message):
    with pytest.raises(po.InputError, match=message):
        po.check(problem)


@pytest.mark.parametrize("kind", [own.Seeded, own.Counted, own.TwoPlayers])
def test_what_is_no_mistake(kind):
    """A generator or a counter of a score in Python; players."""
    assert po.check(kind(), playouts=5)


@pytest.mark.parametrize("compiled", [True, False])
def test_the_page_of_a_game_says_who_won(compiled):
    game = own.Take()
    game.compiled = compiled
    report = po.check(game, playouts=20)
    assert report, report
    found = re.search(r"a game for two players: player 0 won (\d+), player 1 (\d+); 0 drawn", str(report))
    assert sum(map(int, found.groups())) == 20
    assert ("compiled: the same" in str(report)) == compiled
    assert "two players" not in str(po.check(own.Digits(), playouts=5))


def test_check_plays_at_least_one_game():
    with pytest.raises(po.InputError, match="playouts is 0"):
        po.check(own.Digits(), playouts=0)
