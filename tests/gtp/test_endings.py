"""How games end: passing, dead stones, the score, resigning."""

import pytest

from playout.gtp import Engine, Settings
from playout.gtp.board import is_eye
from playout.gtp.history import History
from playout.problems.go import Go
from tests.gtp.others import gnugo_answers
from tests.gtp.talk import ask, board, stones

# All is settled: Black has 15 points, White 10.
SETTLED = stones(".XXO. XXXOO .XXO. XXXOO XXXO.")
# White's D6 is dead. As the board is Black is ahead by 16; without that stone by 21.
DEAD = stones(".X..XO. XX.OXOO XXXXXO. .XXXXOO XXXXXO. .XXXXOO XXXXXO.")
# Whoever plays B7 decides whether White's stones live; if they do, Black is ahead by 33, else by 49.
OPEN = stones("...OXXX OOOOXXX XXXXXXX XXXXXXX .XXXXX. XXXXXXX XXXXXXX")
SEARCH = {"playouts": 300}


def last(*lines, **settings):
    return ask(*lines, **{**SEARCH, **settings})[-1]


def test_the_score_without_dead_stones():
    said = ask(*DEAD, "komi 18.5", "final_score", "final_status_list dead", "final_status_list seki")
    assert said[-3:] == ["= B+2.5", "= D6", "= "]
    alive = ask(*DEAD, "final_status_list alive")[-1][2:].split()
    assert len(alive) == len(set(alive)) == len(DEAD) - 2
    assert "D6" not in alive


def test_the_score_after_two_passes():
    said = ask(*DEAD, "komi 18.5", "play w pass", "play b pass", "final_score", "final_status_list dead")
    assert said[-2:] == ["= B+2.5", "= D6"]


def test_the_score_agrees_with_gnu_go(gnugo):
    for position, komi in ((DEAD, 18.5), (SETTLED, 0.5), (SETTLED, 6.5)):
        lines = [position[0], f"komi {komi}", *position[1:], "final_score", "final_status_list dead"]
        ours, theirs = ask(*lines), gnugo_answers(gnugo, lines, "--chinese-rules")
        assert ours[-1].split() == theirs[-1].split()
        assert ours[-2].split()[1][0] == theirs[-2].split()[1][0]


def test_a_pass_that_wins_answers_a_pass():
    for colour, other, komi in (("b", "w", 4.5), ("w", "b", 5.5)):
        assert last(*SETTLED, f"komi {komi}", f"play {other} pass", f"genmove {colour}") == "= PASS"


def test_the_game_is_over_and_won():
    assert last(*SETTLED, "komi 0.5", "genmove b") == "= PASS"
    assert last(*SETTLED, "komi 9.5", "genmove w") == "= PASS"


def test_without_a_sensible_move_it_passes_though_it_loses():
    assert last(*SETTLED, "komi 9.5", "genmove b") == "= PASS"
    assert last(*SETTLED, "komi 9.5", "play w pass", "genmove b") == "= PASS"


def test_a_pass_ends_a_game_that_is_lost_beyond_doubt():
    """There are moves left, none of them worth anything."""
    assert last(*DEAD, "komi 0.5", "play b pass", "genmove w") == "= PASS"


def test_dead_stones_are_captured_where_they_stand_between_the_board_and_a_win():
    lines = [*DEAD, "komi 18.5"]
    for _ in range(2):
        lines += ["play w pass", "genmove b"]
    said = ask(*lines, "showboard", "play w pass", "genmove b", "final_score", **SEARCH)
    assert board(said[-4])[1][3] == "."
    assert said[-2:] == ["= PASS", "= B+2.5"]
    assert {said[-7], said[-5]} <= {"= C6", "= D7", "= C7"}


def test_where_players_agree_on_dead_stones_they_may_stay():
    assert last(*DEAD, "komi 18.5", "play w pass", "genmove b", agree=True) == "= PASS"
    assert last(*DEAD, "komi 18.5", "play b pass", "genmove w") == "= PASS"  # as the board is White wins


def test_where_players_agree_on_dead_stones_those_that_may_live_are_looked_after():
    assert last(*OPEN, "komi 40.5", "play b pass", "genmove w", agree=True) == "= B7"
    assert last(*OPEN, "komi 40.5", "play b pass", "genmove w") == "= PASS"  # as the board is White wins


def test_the_first_pass_needs_a_win_with_and_without_dead_stones():
    assert last(*DEAD, "komi 0.5", "genmove b") == "= PASS"
    assert last(*DEAD, "komi 18.5", "genmove b") != "= PASS"


def test_cleanup_captures_all_dead_stones_before_it_passes():
    said = ask(*DEAD, "komi 0.5", *["play w pass", "kgs-genmove_cleanup b"] * 3, "showboard", **SEARCH)
    assert board(said[-1])[1][3] == "."
    assert said[-2] == "= PASS"
    assert last(*SETTLED, "kgs-genmove_cleanup b") == "= PASS"
    assert last(*SETTLED, "komi 90", "kgs-genmove_cleanup b") == "= PASS"


def test_it_never_fills_an_eye_of_its_own_instead_of_passing():
    said = ask(*SETTLED, "komi 0.5", *["genmove b", "genmove w"] * 3, "showboard", **SEARCH)
    assert board(said[-1]) == [".XXO.", "XXXOO", ".XXO.", "XXXOO", "XXXO."]


def test_a_hopeless_game_is_given_up_after_five_moves():
    lines = ["komi 200", *["genmove b", "play w pass"] * 5]
    said = [one for one in ask(*lines, size=9, playouts=150)[1:] if one != "= "]
    assert said[-1] == "= resign"
    assert "= resign" not in said[:-1]
    assert len(said) == 5
    assert "= resign" not in ask(*lines, size=9, playouts=150, resign=0)
    assert "= resign" not in ask(*lines, size=9, playouts=50)  # too little to tell


def test_after_a_new_game_nothing_is_hopeless_yet():
    lines = ["komi 200", *["genmove b", "play w pass"] * 4, "clear_board", *["genmove b", "play w pass"] * 4]
    assert "= resign" not in ask(*lines, size=9, playouts=150)


def test_eyes():
    cells = [0, 1, 0, 1, 1, 0, 2, 0, 0]  # A1 of 3 x 3 is Black's eye
    assert is_eye(cells, 3, 0, 1)
    assert not is_eye(cells, 3, 0, 2)
    assert not is_eye(cells, 3, 2, 1)
    false = [0, 1, 0, 1, 2, 0, 0, 0, 0]  # a white stone on the diagonal at the edge
    assert not is_eye(false, 3, 0, 1)


def test_two_engines_come_to_an_end():
    """Both play to the end, and agree on the score that the board has."""
    engine = Engine(Settings(size=5, komi=0.5, playouts=100, threads=1, memory=16))
    for number in range(300):
        move = engine.genmove(("black", "white")[number % 2], 0.0)
        if move == "resign" or engine.history.finished:
            break
    assert engine.history.finished or move == "resign"
    if engine.history.finished:
        margin = engine.history.score()
        assert (margin > 0) == (engine.judge().score().margin > 0)


@pytest.mark.parametrize("colour", ["black", "white"])
def test_a_history_knows_who_has_passed(colour):
    other = {"black": "white", "white": "black"}[colour]
    history = History(Go(5))
    assert not history.has_passed(colour)
    history.play(colour, "pass")
    assert history.has_passed(colour)
    assert not history.has_passed(other)
    history.play(other, "A1")
    assert not history.has_passed(colour)
    history.undo()
    assert history.has_passed(colour)
