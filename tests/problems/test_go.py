"""Go as users see it: names, vertices, positions made by hand, scores, handicap, and what is refused."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import playout as po
from playout import Go, InputError
from playout.problems import from_json
from playout.problems.go import Score


def stones(*rows: str) -> dict[str, tuple[str, ...]]:
    """Set-up stones out of a picture, the top row first: X black, O white."""
    letters = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
    found: dict[str, list[str]] = {"X": [], "O": []}
    for line, row in enumerate(rows):
        for column, sign in enumerate(row.replace(" ", "")):
            if sign != ".":
                found[sign].append(f"{letters[column]}{len(rows) - line}")
    return {"black": tuple(found["X"]), "white": tuple(found["O"])}


def board(*rows: str, **options) -> Go:
    return Go(len(rows[0].replace(" ", "")), len(rows), **stones(*rows), **options)


def picture(game: Go, moves=()) -> list[str]:
    cells = game.cells(moves)
    rows = [cells[row * game.width : (row + 1) * game.width] for row in reversed(range(game.height))]
    return ["".join(".XO"[colour] for colour in row) for row in rows]


def is_legal(game: Go, *moves: str) -> bool:
    game.replay(moves[:-1])
    try:
        game.replay(moves)
    except InputError as error:
        assert "is not legal there" in str(error)
        return False
    return True


def test_names_rebuild_games():
    for name in (
        "go:9",
        "go:9x7",
        "go:19,komi=6.5,ko=simple,suicide=yes",
        "go:13,handicap=9",
        "go:5,komi=-3.0,ko=situational",
    ):
        game = po.problem(name)
        assert game.to_json() == name == game.describe()
        assert from_json(name) == game == pickle.loads(pickle.dumps(game))
    assert po.problem("go:9,komi=6") == Go(9, komi=6) == Go(9, 9, komi=6.0)
    assert Go(7, 5) == po.problem("go:7x5")
    assert Go() == po.problem("go:19")
    for game in (Go(9, black=["d4", "C3"], first="white"), Go(2, 3, white=("A1",), suicide=True, komi=0)):
        assert from_json(game.to_json()) == game
        assert game.variants() == [game]


@given(st.integers(1, 25), st.integers(1, 25), st.data())
def test_vertices_there_and_back(width, height, data):
    game = Go(width, height)
    move = data.draw(st.integers(0, width * height))
    (vertex,) = game.decode([move])
    assert game.encode([vertex, vertex.lower(), vertex.upper()]) == [move] * 3
    assert "I" not in vertex


def test_vertices_count_from_the_bottom_left_and_leave_out_i():
    game = Go(19)
    assert game.encode(["A1", "B1", "A2", "H1", "J1", "T19", "pass"]) == [0, 1, 19, 7, 8, 360, 361]
    assert Go(25).encode(["Z25"]) == [624]
    assert picture(Go(3, 2), ["A1", "C2"]) == ["..O", "X.."]


def test_capture_and_simple_ko():
    game = board(".XO.", "XO.O", ".XO.", "....", ko="simple")
    moves = ["C3"]
    assert picture(game, moves) == [".XO.", "X.XO", ".XO.", "...."]
    assert not is_legal(game, "C3", "B3")
    assert is_legal(game, "C3", "D1", "A1", "B3")
    assert is_legal(game, "C3", "pass", "A1", "B3")


@pytest.mark.parametrize("ko", ["simple", "positional", "situational"])
def test_snapback(ko):
    """White takes one stone, and Black retakes two at once."""
    game = board(".....", "XXXOO", "XO..O", ko=ko)
    assert picture(game, ["D1", "C1"])[2] == "XOO.O"
    assert picture(game, ["D1", "C1", "D1"])[2] == "X..XO"


def test_send_two_return_one_tells_the_superkos_apart():
    """After three moves the board is as before, but White is to move; after a pass Black cannot begin again."""
    rows = ("....", "OOXX", ".X.X")
    moves = ["A1", "C1", "B1"]
    simple, positional, situational = (board(*rows, ko=ko) for ko in ("simple", "positional", "situational"))
    assert picture(simple, moves[:1])[2] == "XX.X"
    assert picture(simple, moves[:2])[2] == "..OX"
    assert picture(simple, moves) == list(rows)
    assert not is_legal(positional, *moves)
    assert is_legal(situational, *moves)
    assert is_legal(simple, *moves, "pass", "A1")
    assert not is_legal(situational, *moves, "pass", "A1")


def test_superko_forbids_longer_cycles_and_the_simple_rule_does_not():
    """Three kos, taken in turn: after six captures everything is as at the start."""
    ko = (".XO.", "XO.O", ".XO.")
    other = (".XO.", "X.XO", ".XO.")
    rows = [*ko, "....", *other, "....", *ko]
    game = board(*rows, ko="simple")
    taken = ["C10", "B6", "C2", "B10", "C6", "B2"]
    assert picture(game, taken) == [row.replace(" ", "") for row in rows]
    for rule in ("positional", "situational"):
        assert is_legal(board(*rows, ko=rule), *taken[:-1])
        assert not is_legal(board(*rows, ko=rule), *taken)


def test_suicide():
    rows = ("X.O", "OOO", "...")
    assert not is_legal(board(*rows), "B3")
    allowed = board(*rows, suicide=True)
    assert picture(allowed, ["B3"]) == ["..O", "OOO", "..."]
    # Of a single stone: nothing changes, which the positional rule forbids.
    single = (".O", "O.")
    assert not is_legal(board(*single, suicide=True), "A2")
    assert not is_legal(board(*single), "A2")
    for ko in ("simple", "situational"):
        game = board(*single, suicide=True, ko=ko)
        assert is_legal(game, "A2")
        assert picture(game, ["A2"]) == [".O", "O."]
        assert not game.replay(["A2", "pass"])[1]["finished"]
    assert is_legal(board(*single, suicide=True, ko="simple"), "A2", "pass", "A2")
    assert not is_legal(board(*single, suicide=True, ko="situational"), "A2", "pass", "A2")


@pytest.mark.parametrize(
    ("rows", "black", "white"),
    [
        (("...", "...", "..."), 0, 0),
        (("...", ".X.", "..."), 9, 0),
        (("..", "XO"), 1, 1),
        (("XO.", "XO.", ".O."), 2, 6),
        ((".XO.", ".XO.", ".XO."), 6, 6),
        ((".X.", "X.X", ".X."), 9, 0),
        # Seki: a black and a white chain share two liberties, which are nobody's.
        ((".O.O.O.", "OOOOOOO", "XXXXXO.", ".OO.XOO"), 6, 20),
    ],
)
def test_area(rows, black, white):
    game = board(*rows, komi=0.5)
    assert game.score([]) == Score(black, white, black - white - 0.5)
    assert game.replay([])[0] == black - white - 0.5


def test_dead_stones_are_taken_off_by_chains():
    game = board(".....", "XXXXX", "OOOOO", "..XX.", ".....", komi=0.5)
    assert game.score([]) == Score(12, 5, 6.5)
    assert game.score([], dead=["C2"]) == game.score([], dead=["d2", "C2"]) == Score(10, 15, -5.5)
    assert game.score([], dead=["A3"]) == Score(25, 0, 24.5)
    with pytest.raises(InputError, match="a dead stone is 'A1'; there is no stone"):
        game.score([], dead=["A1"])
    with pytest.raises(InputError, match="a dead stone is 'pass'; allowed are vertices"):
        game.score([], dead=["pass"])


def test_replay_says_who_won():
    game = Go(3, komi=0.5)
    assert game.replay([]) == (-0.5, {"finished": False, "winner": None, "next": "black"})
    assert game.replay(["B2"]) == (8.5, {"finished": False, "winner": None, "next": "white"})
    assert game.replay(["b2", "PASS", "pass"]) == (8.5, {"finished": True, "winner": "black", "next": "white"})
    assert game.replay(["pass", "pass"])[1]["winner"] == "white"
    assert Go(3, komi=0).replay(["pass", "pass"])[1]["winner"] is None


@pytest.mark.parametrize(
    ("moves", "message"),
    [
        (["A1", "A1"], "move 2, A1, is not legal there: there is a stone"),
        (["pass", "pass", "A1"], "move 3, A1, is not legal there: two passes have ended the game"),
        (["pass", "pass", "pass"], "move 3, pass, is not legal there: two passes have ended the game"),
        (["A2", "C3", "B1", "C2", "C1", "A1"], "move 6, A1, is not legal there: ko or suicide"),
        (["I1"], "a move is 'I1'; allowed are vertices from 'A1' to 'C3', without I, or 'pass'"),
        (["D1"], "a move is 'D1'; allowed are vertices from 'A1' to 'C3', without I, or 'pass'"),
        (["A4"], "a move is 'A4'; allowed are vertices"),
        (["A0"], "a move is 'A0'; allowed are vertices"),
        ([7], "a move is 7; allowed are vertices"),
    ],
)
def test_moves_that_cannot_be_played_are_named(moves, message):
    with pytest.raises(InputError, match=r"^[^\n]*$") as error:
        Go(3).replay(moves)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("size", "number", "vertices"),
    [
        (7, 4, "C3 E5 C5 E3"),
        (8, 2, "C3 F6"),
        (9, 2, "C3 G7"),
        (9, 3, "C3 G7 C7"),
        (9, 5, "C3 G7 C7 G3 E5"),
        (11, 6, "C3 J9 C9 J3 C6 J6"),
        (12, 4, "C3 K10 C10 K3"),
        (13, 7, "D4 K10 D10 K4 D7 K7 G7"),
        (19, 2, "D4 Q16"),
        (19, 8, "D4 Q16 D16 Q4 D10 Q10 K4 K16"),
        (19, 9, "D4 Q16 D16 Q4 D10 Q10 K4 K16 K10"),
    ],
)
def test_handicap_stones_are_where_the_go_text_protocol_puts_them(size, number, vertices):
    game = Go(size, handicap=number)
    assert game.handicap_stones() == vertices.split()
    assert [p for p, colour in enumerate(game.cells()) if colour == 1] == sorted(game.encode(vertices.split()))
    assert game.replay([])[1]["next"] == "white"
    assert Go(size, handicap=number, first="black").replay([])[1]["next"] == "black"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Go(0), "width is 0; allowed are whole numbers from 1 to 25"),
        (lambda: Go(26), "width is 26; allowed are whole numbers from 1 to 25"),
        (lambda: Go(9, 0), "height is 0; allowed are whole numbers from 1 to 25"),
        (lambda: Go("9"), "width is '9'; allowed are whole numbers"),
        (lambda: Go(9, komi=float("nan")), "komi is nan; allowed are finite numbers from -10000 to 10000"),
        (lambda: Go(9, komi=10_001), "komi is 10001; allowed are finite numbers"),
        (lambda: Go(9, ko="super"), "ko is 'super'; allowed are simple, positional, situational"),
        (lambda: Go(9, suicide="no"), "suicide is 'no'; allowed are True and False"),
        (lambda: Go(9, handicap=1), "handicap is 1; allowed are 0 and 2 to 9 on 9 x 9"),
        (lambda: Go(10, handicap=5), "handicap is 5; allowed are 0 and 2 to 4 on 10 x 10"),
        (lambda: Go(7, handicap=5), "handicap is 5; allowed are 0 and 2 to 4 on 7 x 7"),
        (lambda: Go(6, handicap=2), "handicap is 2; allowed are 0, and more on square boards from 7 on"),
        (lambda: Go(9, 8, handicap=2), "handicap is 2; allowed are 0, and more on square boards from 7 on"),
        (lambda: Go(9, handicap=2, black=["A1"]), "handicap is 2; it does not go with stones of black or white"),
        (lambda: Go(9, first="red"), "first is 'red'; allowed are black, white"),
        (lambda: Go(9, black="D4"), "black is 'D4'; allowed are vertices such as ('D4', 'E5')"),
        (lambda: Go(9, white=["K1"]), "a stone of white is 'K1'; allowed are vertices from 'A1' to 'J9', without I"),
        (lambda: Go(9, black=["D4", "d4"]), "there are two stones on D4"),
        (lambda: Go(9, black=["D4"], white=["D4"]), "there are two stones on D4"),
        (lambda: Go(2, black=["A2"], white=["A1", "B2"]), "the black stone on A2 has no liberty"),
        (lambda: Go(1, black=["A1"]), "the black stone on A1 has no liberty"),
        (lambda: po.problem("go"), "'go' does not say which go; write one of go:9"),
        (lambda: po.problem("go:x"), "the width of go:WIDTH is ''; a whole number is needed"),
        (lambda: po.problem("go:9,komi=much"), "komi is 'much'; a number such as 7.5 is needed"),
        (lambda: po.problem("go:9,komi=inf"), "komi is inf; allowed are finite numbers"),
        (lambda: po.problem("go:9,suicide=maybe"), "suicide is 'maybe'; allowed are yes, no"),
        (lambda: po.problem("go:9,rules=chinese"), "unknown option 'rules'"),
        (lambda: from_json({"kind": "go"}), "'problem' has no width of a Go board"),
        (lambda: from_json({"kind": "go", "width": 5, "black": 3}), "black is 3; allowed are vertices"),
        (lambda: from_json("go:/etc/passwd"), "names a file"),
        (
            lambda: po.solve(Go(9), playouts=1),
            "go:9 is a game for two players: it is played with playout.Player, not solved",
        ),
    ],
)
def test_impossible_values_are_named(make, message):
    with pytest.raises(InputError, match=r"^[^\n]*$") as error:
        make()
    assert message in str(error.value)


def drawn(game: Go, *arguments) -> str:
    console = Console(width=80, record=True, file=None, force_terminal=False)
    with console.capture() as capture:
        console.print(game.draw(*arguments))
    return capture.get()


def test_a_board_in_a_terminal():
    game = Go(4, 3, black=["B2"])
    assert [line.rstrip() for line in drawn(game, ["D3", "C1"]).splitlines()] == [
        "2 moves, C1 the last; black is next",
        "    A B C D",
        "  3 . . . X 3",
        "  2 . X . . 2",
        "  1 . .(O). 1",
        "    A B C D",
    ]
    assert "(X)3" in drawn(game, ["D3", "C1"], 1)
    assert drawn(game, ["pass", "pass"]).startswith("2 moves; black wins by 4.5")
    with pytest.raises(InputError, match="step is 3; the game has moves 1 to 2"):
        game.draw(["D3", "C1"], 3)


def test_a_board_in_a_notebook():
    text = Go(5, white=["A1"]).to_html(["C3", "D4"])
    assert text.count("<circle") == 4
    assert "2 moves, D4 the last; black is next" in text
    assert Go(5)._repr_html_().startswith("<svg")
