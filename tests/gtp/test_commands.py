"""The commands of the Go Text Protocol, as its specification has them."""

import os
import re
import time

import pytest

import playout as po
from playout import InputError
from playout.gtp import Engine, Settings
from playout.gtp.commands import COMMANDS
from tests.gtp.others import gnugo_answers
from tests.gtp.talk import SMALL, ask, board, serve_bytes, stones

ASKED_FOR = (
    "boardsize clear_board komi play genmove undo final_score final_status_list loadsgf reg_genmove time_settings "
    "kgs-time_settings time_left fixed_handicap place_free_handicap set_free_handicap showboard known_command "
    "list_commands protocol_version name version quit lz-analyze lz-genmove_analyze kgs-genmove_cleanup"
)


def test_what_it_knows():
    said = ask("protocol_version", "name", "version", "list_commands", "known_command genmove", "known_command GENMOVE")
    assert said[:3] == ["= 2", "= Playout", f"= {po.__version__}"]
    assert set(said[3][2:].split("\n")) == set(COMMANDS) >= set(ASKED_FOR.split())
    assert said[4:] == ["= true", "= false"]


def test_lines_are_read_as_the_specification_says():
    raw = b"1 name\r\n\n# only a comment\n \t \n22\tname # more\n\x00na\x07me\x7f\n007 name\nname"
    out = serve_bytes(raw, Engine(Settings(size=5, memory=16)))
    assert out == b"=1 Playout\n\n=22 Playout\n\n= Playout\n\n=007 Playout\n\n= Playout\n\n"


def test_nothing_is_answered_after_quit():
    assert ask("name", "3 quit", "name") == ["= Playout", "=3 "]


def test_bytes_that_are_no_text_are_answered():
    out = serve_bytes(b"\xff\xfe\nplay b \xc3\x28\n99999999999 name\n12\n", Engine(Settings(size=5, memory=16)))
    assert out == b"? unknown command\n\n? syntax error\n\n? unknown command\n\n?12 unknown command\n\n"


FAILS = [
    ("frobnicate", "unknown command"),
    ("Name", "unknown command"),
    ("name please", "syntax error"),
    ("boardsize", "syntax error"),
    ("boardsize x", "syntax error"),
    ("boardsize 9.5", "syntax error"),
    ("boardsize 0", "unacceptable size"),
    ("boardsize 26", "unacceptable size"),
    ("boardsize -9", "unacceptable size"),
    ("komi", "syntax error"),
    ("komi nan", "syntax error"),
    ("komi 1e9", "syntax error"),
    ("play b", "syntax error"),
    ("play x A1", "syntax error"),
    ("play b I1", "syntax error"),
    ("play b A0", "syntax error"),
    ("play b A26", "syntax error"),
    ("play b A1 A2", "syntax error"),
    ("play b F1", "illegal move"),
    ("play b Z25", "illegal move"),
    ("genmove", "syntax error"),
    ("genmove red", "syntax error"),
    ("reg_genmove 5", "syntax error"),
    ("undo", "cannot undo"),
    ("undo 2", "syntax error"),
    ("fixed_handicap 2", "invalid number of stones"),
    ("fixed_handicap two", "syntax error"),
    ("place_free_handicap 1", "invalid number of stones"),
    ("place_free_handicap 25", "invalid number of stones"),
    ("set_free_handicap A1", "syntax error"),
    ("set_free_handicap A1 A1", "bad vertex list"),
    ("set_free_handicap A1 pass", "bad vertex list"),
    ("set_free_handicap A1 F9", "bad vertex list"),
    ("set_free_handicap A1 hello", "syntax error"),
    ("time_settings 1 2", "syntax error"),
    ("time_settings 1 2 -3", "syntax error"),
    ("time_settings -1 2 3", "syntax error"),
    ("time_left b x 0", "syntax error"),
    ("time_left 10 0 b", "syntax error"),
    ("kgs-time_settings", "syntax error"),
    ("kgs-time_settings sudden 10", "syntax error"),
    ("kgs-time_settings none 1", "syntax error"),
    ("kgs-time_settings byoyomi 10 5", "syntax error"),
    ("final_status_list", "syntax error"),
    ("final_status_list sleepy", "syntax error"),
    ("lz-analyze x", "syntax error"),
    ("lz-analyze interval", "syntax error"),
    ("lz-analyze b 10 20", "syntax error"),
    ("lz-analyze -1", "syntax error"),
    ("loadsgf", "syntax error"),
    ("loadsgf missing.sgf x", "syntax error"),
    ("loadsgf missing.sgf 0", "syntax error"),
]


@pytest.mark.parametrize(("line", "message"), FAILS)
def test_what_fails_says_so_and_changes_nothing(line, message):
    before, said, after = ask("showboard", f"8 {line}", "showboard")
    assert said == f"?8 {message}"
    assert before == after


def test_the_smallest_board():
    said = ask("boardsize 1", "komi 0.5", "play b A1", "genmove b", "reg_genmove w", "genmove w", "final_score")
    assert said[2:] == ["? illegal move", "= PASS", "= PASS", "= PASS", "= W+0.5"]
    assert board(ask("boardsize 1", "showboard")[1]) == ["."]


def test_a_board_that_nobody_has_thought_about_is_no_game():
    """What a client says before the first move changes nothing of the seed."""
    engine = Engine(Settings(**{**SMALL, "seed": 7}))
    for _ in range(2):
        engine.clear(4)
    assert engine.seed == 7
    engine.genmove("black", time.monotonic())
    engine.clear()
    assert engine.seed == 8
    engine.close()


def test_vertices_and_colours_in_any_case():
    said = ask("play B a1", "play WHITE B2", "play black C3", "play w PASS", "play b Pass", "showboard")
    assert said[:5] == ["= "] * 5
    assert board(said[5]) == [".....", ".....", "..X..", ".O...", "X...."]
    assert "the game is over; komi is 7.5" in said[5]


def test_boards_from_2_to_25():
    for size in range(2, 26):
        said = ask(f"boardsize {size}", "play b B2", "genmove w", "showboard", playouts=2)
        assert said[0] == "= "
        assert len(board(said[3])) == size
        assert re.fullmatch(r"= ([A-HJ-Z]\d+|PASS)", said[2])


def test_ko_superko_suicide_and_taken_points():
    ko = ["boardsize 5", *(f"play {m}" for m in ("b B1", "w C1", "b A2", "w D2", "b B3", "w C3", "b C2", "w B2"))]
    assert ask(*ko, "play b C2")[-1] == "? illegal move"
    assert ask(*ko, "play b D5", "play w D4", "play b C2")[-1] == "= "
    assert ask("play b A2", "play b B1", "play w A1")[-1] == "? illegal move"
    assert ask("play b A2", "play w A2")[-1] == "? illegal move"
    twice = ["boardsize 2", "play b A1", "play w B2", "play b B1", "play w A2", "play b A1", "play w A2"]
    assert ask(*twice)[1:] == ["= "] * 5 + ["? illegal move"]  # the third position again


def test_either_colour_may_play_at_any_time_and_all_of_it_is_taken_back():
    moves = ["play w A1", "play w B2", "play b pass", "play b C3", "play w pass", "play b pass", "play b D4"]
    said = ask(*moves, "showboard", *["undo", "showboard"] * 7, "undo")
    assert said[: len(moves)] == ["= "] * len(moves)
    boards = ["".join(board(one)) for one in said if "captured" in one]
    assert [("".join(b)).count("X") + b.count("O") for b in boards] == [4, 3, 3, 3, 2, 2, 1, 0]
    assert said[-1] == "? cannot undo"


def test_prisoners_are_counted():
    said = ask("play w A1", "play b A2", "play b B1", "showboard", "undo", "showboard")
    assert "Black (X) has captured 1" in said[3]
    assert "White (O) has captured 0" in said[3]
    assert "Black (X) has captured 0" in said[5]


def test_genmove_for_either_colour_and_taken_back():
    said = ask("genmove w", "genmove w", "genmove b", "undo", "undo", "undo", "showboard", "undo")
    assert board(said[6]) == ["....."] * 5
    assert said[7] == "? cannot undo"


def test_reg_genmove_leaves_the_board_alone_and_gives_the_same_again():
    said = ask("reg_genmove b", "clear_board", "showboard")
    assert said[0] != "= PASS"
    assert board(said[2]) == ["....."] * 5
    assert ask("reg_genmove b")[0] == said[0]


def test_games_after_one_another_differ_and_the_seed_gives_them_again():
    lines = [line for _ in range(4) for line in ("clear_board", "genmove b", "genmove w", "genmove b")]
    games = [tuple(ask(*lines, size=9, seed=3)[i + 1 : i + 4]) for i in range(0, 16, 4)]
    assert len(set(games)) > 1
    assert [tuple(ask(*lines, size=9, seed=3)[i + 1 : i + 4]) for i in range(0, 16, 4)] == games


def test_handicap_by_the_specification():
    def fixed(size, count):
        return set(ask(f"boardsize {size}", f"fixed_handicap {count}")[1].split()[1:])

    assert fixed(19, 9) == {c + r for c in "DKQ" for r in ("4", "10", "16")}
    assert fixed(19, 2) == {"D4", "Q16"}
    assert fixed(19, 3) == {"D4", "Q16", "D16"}
    assert fixed(9, 5) == {"C3", "G7", "C7", "G3", "E5"}
    assert fixed(9, 6) == {"C3", "G7", "C7", "G3", "C5", "G5"}
    assert fixed(13, 8) == {"D4", "K10", "D10", "K4", "D7", "K7", "G4", "G10"}
    assert fixed(12, 4) == {"C3", "K10", "C10", "K3"}
    assert fixed(7, 4) == {"C3", "E5", "C5", "E3"}
    for size, count in ((19, 10), (12, 5), (7, 5), (6, 2)):
        assert ask(f"boardsize {size}", f"fixed_handicap {count}")[1] == "? invalid number of stones"


def test_after_handicap_white_is_next_and_the_stones_stay():
    said = ask("boardsize 9", "fixed_handicap 2", "fixed_handicap 2", "showboard", "undo", "genmove w", "play b E5")
    assert said[2] == "? board not empty"
    assert "white is next" in said[3]
    assert said[4] == "? cannot undo"
    assert said[6] in ("= ", "? illegal move")
    said = ask("boardsize 9", "set_free_handicap E5 c3 D4", "showboard", "clear_board", "place_free_handicap 30")
    assert sum(row.count("X") for row in board(said[2])) == 3
    assert len(said[4].split()) == 10


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6, 8, 25])
def test_free_handicap_on_any_board(size):
    for count in range(2, min(size * size, 12)):
        said = ask(f"boardsize {size}", f"place_free_handicap {count}", "showboard")
        placed = said[1].split()[1:]
        assert 2 <= len(set(placed)) == len(placed) <= count
        assert sum(row.count("X") for row in board(said[2])) == len(placed)


def test_handicap_stones_are_where_gnu_go_puts_them(gnugo):
    sizes = [*range(7, 12), *range(13, 20)]  # on 12 x 12 its stones are on the fourth line, as on larger boards
    lines = [line for size in sizes for n in range(2, 10) for line in (f"boardsize {size}", f"fixed_handicap {n}")]
    ours, theirs = ask(*lines), gnugo_answers(gnugo, lines)
    assert len(ours) == len(theirs) == len(lines)
    for one, other in zip(ours[1::2], theirs[1::2], strict=True):
        assert one[0] == other[0]
        assert one[0] == "?" or set(one[1:].split()) == set(other[1:].split())


def test_loading_games(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "game.sgf").write_text("(;SZ[5]KM[3]AB[aa]AW[ee];W[cc];B[bb];W[tt];B[dd])")
    (tmp_path / "wide.sgf").write_text("(;SZ[5:7];B[cc])")
    (tmp_path / "broken.sgf").write_text("(;SZ[5];B[cc")
    said = ask("loadsgf game.sgf", "showboard", "loadsgf game.sgf 2", "showboard", "loadsgf game.sgf 1", "showboard")
    assert [board(said[i]) for i in (1, 3, 5)] == [
        ["X....", ".X...", "..O..", "...X.", "....O"],
        ["X....", ".....", "..O..", ".....", "....O"],
        ["X....", ".....", ".....", ".....", "....O"],
    ]
    assert "move 5: white is next; komi is 3" in said[1]
    said = ask("loadsgf game.sgf 99", "undo", "undo", "undo", "undo", "undo", "reg_genmove b", "genmove w")
    assert said[:6] == ["= "] * 5 + ["? cannot undo"]
    os.mkfifo(tmp_path / "pipe.sgf")  # nobody will ever write to it
    for name in ("wide.sgf", "broken.sgf", "missing.sgf", ".", "pipe.sgf", "x" * 5000):
        before, failed, after = ask("showboard", f"loadsgf {name}", "showboard")
        assert failed.startswith("? cannot load file: ")
        assert before == after


def test_komi_counts():
    settled = stones(".XXO. XXXOO .XXO. XXXOO XXXO.")
    said = ask(*settled, "komi 0.5", "final_score", "komi 6.5", "final_score", "komi 5", "final_score")
    assert (said[-5], said[-3], said[-1]) == ("= B+4.5", "= W+1.5", "= 0")


@pytest.mark.parametrize(
    "wrong",
    [{"size": 0}, {"playouts": 0}, {"seconds": 0}, {"threads": 0}, {"memory": 0}, {"resign": 0.9}, {"seed": -1}],
)
def test_settings_are_checked(wrong):
    with pytest.raises(InputError, match=f"{next(iter(wrong))} is "):
        Settings(**wrong)
