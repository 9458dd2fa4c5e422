"""SGF: any file is read or refused in one line, what is written is read again, and sgfmill sees the same games."""

import dataclasses
import pickle
import random
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from sgfmill import boards, sgf, sgf_moves

import playout as po
from playout.sgf import parse_all
from playout.sgf_text import MAX_BYTES, Node, clean, escape, read_games, unescape, write_game
from tests.test_picture import browser, click, text  # noqa: F401, browser is a fixture

SAMPLE = Path(__file__).parent / "data" / "go-variations.sgf"
COLOUR = {None: 0, "b": 1, "w": 2}


def show(*arguments):
    command = [sys.executable, "-m", "playout", "show", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def cells(board, width, height):
    """Sgfmill's board as Go.cells has it."""
    return [COLOUR[board.get(row, column)] for row in range(height) for column in range(width)]


def boards_of(content):
    """The board of sgfmill after each number of moves, with what is set up before the next, along the main line."""
    game = sgf.Sgf_game.from_bytes(content)
    board, seen = boards.Board(game.get_size()), []
    for node in game.get_main_sequence():
        black, white, empty = node.get_setup_stones()
        if black or white or empty:
            board.apply_setup(black, white, empty)
        colour, point = node.get_move()
        if colour is not None:
            seen.append(cells(board, board.side, board.side))
            if point is not None:
                board.play(*point, colour)
    return [*seen, cells(board, board.side, board.side)]


def boards_by_us(record):
    return [game.cells(moves) for game, moves in map(record.upto, range(record.length + 1))]


# A file that has most of what files have


def test_the_sample_is_read():
    record = po.load_sgf(SAMPLE)
    assert record.game == po.Go(
        9, 7, komi=6.5, ko="situational", black=["C4", "D4", "C5", "D5", "G3"], white=["G5"], first="white"
    )
    assert record.moves == ("F3", "F2", "E3", "E2", "D2", "pass", "pass")
    assert (record.black, record.white) == ("Schwarz ] & Weiß", "two lines")
    assert (record.result, record.date, record.earlier) == ("B+2.5", "2024-02-29", ())
    assert record.comments == ("Root: with a colon, a \\ and a soft break.", "First")
    assert record.nodes[0].properties["EV"] == ("A test",)


def test_the_sample_has_three_lines():
    lines = list(po.load_sgf(SAMPLE).variations())
    assert [line.length for line in lines] == [7, 6, 5]
    assert lines[0] == po.load_sgf(SAMPLE)
    assert lines[1].nodes[-1].properties == {"B": ("aa",), "LB": ("aa:1", "bb:2"), "XX": ("kept",)}
    assert lines[2].earlier[0][1] == ("F3", "F2", "E2", "E3")
    assert set(lines[2].game.white) == {"G3", "H2", "G5", "F3", "E2"}
    assert lines[2].moves == ("H1",)
    assert lines[2].upto(4) == (lines[2].game, ())
    assert lines[2].comments[4] == "Set up"


def test_what_is_written_has_all_of_the_file(tmp_path):
    """Variations and unknown properties too; and a second time nothing changes."""
    record = po.load_sgf(SAMPLE)
    record.save(tmp_path / "again.sgf")
    again = po.load_sgf(tmp_path / "again.sgf")
    assert again == record
    assert [node.parent for node in again.nodes] == [node.parent for node in record.nodes]
    assert [dict(node.properties) for node in again.nodes[1:]] == [dict(node.properties) for node in record.nodes[1:]]
    assert again.to_sgf() == record.to_sgf()
    assert list(tmp_path.iterdir()) == [tmp_path / "again.sgf"]


def test_all_games_of_a_collection():
    first, second = parse_all(SAMPLE.read_bytes())
    assert first == po.load_sgf(SAMPLE)
    assert (second.game, second.moves) == (po.Go(5, komi=0, ko="simple"), ("C3",))


def test_records_are_values(tmp_path):
    record = po.load_sgf(SAMPLE)
    assert pickle.loads(pickle.dumps(record)) == record
    assert hash(record) == hash(po.load_sgf(SAMPLE))
    changed = dataclasses.replace(record, result="W+R")
    assert len(changed.nodes) == 1 + record.length
    assert "RE[W+R]" in changed.to_sgf()
    assert record._repr_html_().startswith("<svg")


# What files say in several ways


@pytest.mark.parametrize(
    ("text", "game", "moves"),
    [
        ("(;)", po.Go(19, komi=0, ko="simple"), ()),
        ("(;SZ[9]KM[7,5]RU[Chinese])", po.Go(9), ()),
        ("(;SZ[9]KM[])", po.Go(9, komi=0, ko="simple"), ()),
        ("(;SZ[9]KM[0]RU[New Zealand])", po.Go(9, komi=0, ko="situational", suicide=True), ()),
        ("(;SZ[9]KM[0]RU[Tromp-Taylor])", po.Go(9, komi=0, suicide=True), ()),
        ("(;SZ[9]KM[0]RU[koPOSITIONALscoreAREAtaxNONEsui0])", po.Go(9, komi=0), ()),
        ("(;SZ[5]RU[Japanese];B[aa];W[ee];B[tt];W[])", po.Go(5, komi=0, ko="simple"), ("A5", "E1", "pass", "pass")),
        ("(;SZ[20]RU[Chinese];B[tt])", po.Go(20, komi=0), ("U1",)),
        ("(;SZ[5]RU[AGA];W[ aa ])", po.Go(5, komi=0, ko="situational", first="white"), ("A5",)),
        ("(;SZ[5]RU[AGA];B[aa]W[bb])", po.Go(5, komi=0, ko="situational"), ("A5", "B4")),
        ("(;SZ[9]RU[CN]HA[2]AB[gc][cg])", po.Go(9, komi=0, handicap=2), ()),
        ("(;SZ[9]RU[CN]HA[2]AB[gc][cf])", po.Go(9, komi=0, black=["C4", "G7"], first="white"), ()),
        ("(;SZ[9]RU[CN]HA[2];W[gc])", po.Go(9, komi=0, first="white"), ("G7",)),
        ("(;SZ[9]RU[CN]AB[gc];AE[gc]AB[cc];B[aa])", po.Go(9, komi=0, black=["C7"]), ("A9",)),
        ("(;SZ[3]RU[CN]AB[aa:cb]AE[ba]PL[B])", po.Go(3, komi=0, black=["A2", "B2", "C2", "A3", "C3"]), ()),
        ("(;SZ[3]RU[CN]AB[cb:ba])", po.Go(3, komi=0, black=["B2", "C2", "B3", "C3"], first="white"), ()),
        ("(;FF[1]GaMe[1]SiZe[5]RUles[CN]\n;Black[aa];White[bb]Comment[x])", po.Go(5, komi=0), ("A5", "B4")),
        ("(;sz[5]ru[cn];b[aa])", po.Go(5, komi=0), ("A5",)),
        ("(;SZ[5]RU[CN](B[aa];W[bb])(W[cc]))", po.Go(5, komi=0), ("A5", "B4")),
    ],
)  # fmt: skip
def test_what_is_meant(text, game, moves):
    record = po.parse_sgf(text)
    assert (record.game, record.moves, record.earlier) == (game, moves, ())


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\n\r"])
def test_line_ends_of_all_kinds(end):
    text = "(;SZ[5]C[one\ntwo \\\nstill two\tand\nthree];B[aa]\n;W[bb])".replace("\n", end)
    record = po.parse_sgf(text)
    assert record.comments == ("one\ntwo still two and\nthree",)
    assert record.moves == ("A5", "B4")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("UTF-8", "名".encode()),
        ("utf8", b"\xe5\x90\x8d"),
        ("GB2312", "名".encode("gb18030")),
        ("Big5", "功".encode("big5")),  # its second byte is a backslash
        ("Shift_JIS", "ソ".encode("shift_jis")),  # and so is that of this
        ("EUC-KR", "한".encode("euc-kr")),
        ("ISO-8859-1", "ß".encode("latin-1")),
        ("no such set", "名".encode()),
        ("idna", "名".encode()),
        ("", "ß".encode("latin-1")),
        ("UTF-8", "ß".encode("latin-1")),
    ],
)
def test_character_sets(name, content):
    record = po.parse_sgf(b"(;CA[" + name.encode() + b"]PB[" + content + b"]SZ[5];B[aa])")
    assert record.black in ["名", "功", "ソ", "한", "ß"]
    assert record.moves == ("A5",)
    assert po.parse_sgf(record.to_sgf().encode()) == record


@pytest.mark.parametrize("end", [")", "", " \n", "))", "(", ";", "(;"])
def test_a_file_that_ends_before_its_last_bracket(end):
    record = po.parse_sgf(f"(;SZ[5];B[aa](;W[bb];B[cc])(;W[dd](;B[ee]{end}")
    assert record.moves == ("A5", "B4", "C3")
    assert [line.moves for line in record.variations()][1:] == [("A5", "D2", "E1")]
    assert po.parse_sgf(record.to_sgf()) == record


def test_a_byte_order_mark_is_no_text():
    assert po.parse_sgf("(;PB[Weiß])".encode("utf-8-sig")).black == "Weiß"


# Play that is not regular begins afresh


def test_a_player_who_moves_twice():
    record = po.parse_sgf("(;SZ[5];B[aa];B[bb];W[cc])")
    assert record.length == 3
    assert record.earlier == ((po.Go(5, komi=0, ko="simple"), ("A5",)),)
    assert record.game == po.Go(5, komi=0, ko="simple", black=["A5"])
    assert record.moves == ("B4", "C3")
    assert record.upto(1) == (record.game, ())


def test_play_after_two_passes():
    record = po.parse_sgf("(;SZ[5];B[aa];W[];B[];W[];B[bb])")
    assert [moves for _, moves in record.parts] == [("A5", "pass", "pass"), ("pass", "B4")]
    assert record.game.cells(record.moves).count(1) == 2


def test_a_turn_that_is_given_away():
    record = po.parse_sgf("(;SZ[5];B[aa];PL[B])")
    assert (record.game.starter(), record.moves, record.length) == ("black", (), 1)
    assert po.parse_sgf("(;SZ[5];B[aa];PL[W])").earlier == ()


def test_upto_says_what_is_allowed():
    record = po.parse_sgf("(;SZ[5];B[aa])")
    assert record.upto() == record.upto(1) == (record.game, ("A5",))
    for count in (-1, 2, 1.5, "1"):
        with pytest.raises(po.InputError, match="count is"):
            record.upto(count)


# What cannot be read


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no game: a game begins with '(;'"),
        ("(B[aa])", "there is no game"),
        ("(;\n;B", "line 2, column 3: property 'B' has no value"),
        ("(;B[aa](;W[bb", "line 1, column 11: the value that begins here has no ']' at its end"),
        ("(;\n\n  ;C[a\nb\\]", "line 3, column 5: the value that begins here has no ']' at its end"),
        ("(;B)", "line 1, column 4: property 'B' has no value"),
        ("(;\n[aa])", "line 2, column 1: there is a value without the name of a property"),
        ("(;B[aa]~)", "line 1, column 8: '~' is none of ( ) ; [ ] or a name"),
        ("(;GM[2])", "GM is '2'; only 1, which is Go, can be read"),
        ("(;SZ[big])", "SZ is 'big'; a size such as 19 or 9:13 is needed"),
        ("(;SZ[26])", "line 1, column 2: width is 26; allowed are whole numbers from 1 to 25"),
        ("(;KM[many])", "KM is 'many'; a number such as 7.5 is needed"),
        ("(;KM[inf])", "KM is 'inf'"),
        ("(;SZ[9];B[jj])", "line 1, column 8: a point is 'jj'; allowed are 'aa' to 'ii', and nothing for a pass"),
        ("(;SZ[9];B[a])", "a point is 'a'"),
        ("(;SZ[9:3];B[cd])", "a point is 'cd'; allowed are 'aa' to 'ic'"),
        ("(;SZ[9]AB[aa:zz])", "a point is 'zz'"),
        ("(;SZ[9]AB[])", "a point is ''"),
        ("(;SZ[3]AB[aa:cc])", "the black stone on A1 has no liberty; all stones need one"),
        ("(;SZ[9]\n;B[aa]\n;W[aa])", "line 3, column 1: move 2, A9, is not legal there: there is a stone"),
        ("(;SZ[9];B[aa];B[bb];W[aa])", "column 20: move 3, A9, is not legal there: there is a stone"),
        ("(;SZ[2]AB[ab][ba];W[aa])", "move 1, A2, is not legal there: ko or suicide"),
        ("(;" + ";" * 500_000 + ")", "the game has too many nodes"),
        ("(;" + ";B[];W[]" * 10_001 + ")", "begins afresh too often"),
        ("(;C[" + "a" * MAX_BYTES + "])", "it has 4,000,006 characters; allowed are up to 4,000,000"),
        (b" " * (MAX_BYTES + 1), "it has more than 4,000,000 bytes"),
        (7, "an SGF text is 7; a text is needed"),
    ],
)
def test_what_cannot_be_read_is_named(text, message):
    with pytest.raises(po.InputError) as caught:
        po.parse_sgf(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_very_long_games_are_refused():
    stones = ["B[aa]", "W[bb]"] * 10_001
    text = "(;SZ[5]RU[koSIMPLEscoreAREAtaxNONEsui1];" + ";".join(stones) + ")"
    with pytest.raises(po.InputError, match=r"there are too many moves; allowed are 20,000"):
        po.parse_sgf(text)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(po.InputError, match=r"cannot read .*No such file"):
        po.load_sgf(tmp_path / "no.sgf")
    with pytest.raises(po.InputError, match="Is a directory"):
        po.load_sgf(tmp_path)
    (tmp_path / "bad.sgf").write_text("(;B")
    with pytest.raises(po.InputError, match=r"bad.sgf' cannot be read as SGF: line 1, column 4"):
        po.load_sgf(tmp_path / "bad.sgf")


def test_a_deep_tree_does_not_overflow():
    text = "(;SZ[5];B[aa]" + "(;C[x](;C[y])" * 50_000 + ")" * 50_001
    record = po.parse_sgf(text)
    assert len(record.nodes) == 100_002
    assert record.moves == ("A5",)
    again = po.parse_sgf(record.to_sgf())
    assert [node.parent for node in again.nodes] == [node.parent for node in record.nodes]
    assert sum(1 for line, _ in zip(record.variations(), range(3), strict=False)) == 3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: po.GameRecord("go:9"), "a playout.Go and its moves are needed"),
        (lambda: po.GameRecord(po.Go(5), ["A1", "A1"]), "move 2, A1, is not legal there"),
        (lambda: po.GameRecord(po.Go(5), black=7), "black is 7; a text is needed"),
        (lambda: po.GameRecord(po.Go(5), comments=["a", "b"]), "there are 2 comments"),
        (lambda: po.GameRecord(po.Go(5), earlier=((po.Go(6), ()),)), "earlier games of a record need"),
    ],
)
def test_impossible_records_are_named(make, message):
    with pytest.raises(po.InputError, match=message):
        make()


# Whatever comes


PIECES = st.sampled_from(
    ["(", ")", ";", "[", "]", "\\", ":", " ", "\n", "\r", "(;", "B[aa]", "W[bb]", ";B[", ";W[]", "AB[aa:bb]", "AE[aa]",
     "PL[W]", "C[x]", "SZ[3]", "SZ[2:3]", "KM[1]", "HA[2]", "RU[NZ]", "CA[GBK]", "tt", "ba", "é", "\x00", "FF[1]",
     "AddWhite[cc]", "PB[a\nb]"]
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=40).map(lambda pieces: "(;SZ[3]" + "".join(pieces)) | st.text() | st.binary())
def test_any_text_is_read_or_refused_in_one_line(text):
    try:
        record = po.parse_sgf(text)
    except po.InputError as error:
        assert "\n" not in str(error)
    else:
        assert po.parse_sgf(record.to_sgf()) == record
        changed = dataclasses.replace(record)
        assert boards_by_us(po.parse_sgf(changed.to_sgf())) == boards_by_us(record)


VALUES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=20).map(escape)
NAMES = st.from_regex("[A-Z]{1,3}", fullmatch=True)


@st.composite
def trees(draw):
    """Nodes in the order of a file: each follows the one before, or one that that one follows."""
    nodes, path = [], [-1]
    for place in range(draw(st.integers(1, 15))):
        back = draw(st.integers(0, len(path) - 2)) if place else 0
        path = path[: len(path) - back]
        properties = draw(st.dictionaries(NAMES, st.lists(VALUES, min_size=1, max_size=3).map(tuple), max_size=3))
        nodes.append(Node(path[-1], properties))
        path.append(place)
    return nodes


@given(trees())
def test_trees_there_and_back(nodes):
    (again,) = read_games(write_game(nodes))
    assert list(again) == nodes


@given(st.text())
def test_texts_there_and_back(text):
    assert unescape(escape(clean(text))) == clean(text)
    assert clean(clean(text)) == clean(text)


# Against sgfmill


def random_game(seed):
    """A game by random moves, as a record of ours."""
    chance = random.Random(seed)
    side = chance.choice([3, 5, 9, 13])
    handicap = chance.choice([0, 2, 4]) if side >= 9 else 0
    game = po.Go(
        side,
        komi=chance.choice([0, 0.5, 7.5, -3, 6.25]),
        ko=chance.choice(["simple", "positional", "situational"]),
        suicide=chance.random() < 0.5,
        handicap=handicap,
        first=chance.choice([None, "black" if handicap else "white"]),
    )
    position, moves = po._core.Position(game.engine()), []
    for _ in range(chance.randrange(120)):
        legal = position.moves()
        if not legal:
            break
        moves.append(chance.choice(legal)[0])
        position.play(moves[-1])
    comments = [chance.choice(["", "a [b] \\ c:\nd", "ß名"]) for _ in range(len(moves) + 1)]
    names = (chance.choice(["", "one", "a]b\\"]) for _ in range(4))
    return po.GameRecord(game, game.decode(moves), *names, comments=comments)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_sgfmill_reads_what_we_write(seed):
    record = random_game(seed)
    content = record.to_sgf().encode()
    assert po.parse_sgf(content) == record
    theirs = sgf.Sgf_game.from_bytes(content)
    root = theirs.get_root()
    assert (theirs.get_size(), theirs.get_komi()) == (record.game.width, record.game.komi)
    assert (theirs.get_handicap() or 0) == record.game.handicap
    assert [root.get(name) if root.has_property(name) else "" for name in ("PB", "PW", "RE", "DT")] == [
        record.black, record.white, record.result, record.date
    ]  # fmt: skip
    comments = [node.get("C") if node.has_property("C") else "" for node in theirs.get_main_sequence()]
    assert comments == [*record.comments, *[""] * (record.length + 1 - len(record.comments))]
    assert boards_of(content) == boards_by_us(record)
    _, plays = sgf_moves.get_setup_and_moves(theirs)
    firsts = ["bw"[(count + (record.game.starter() == "white")) % 2] for count in range(record.length)]
    assert [colour for colour, _ in plays] == firsts


def irregular(seed):
    """A file by sgfmill in which anything may be played or set up at any time, with a variation for each node."""
    chance = random.Random(seed)
    side = chance.choice([3, 5, 7])
    game = sgf.Sgf_game(side)
    game.get_root().set_raw("RU", b"koSIMPLEscoreAREAtaxNONEsui1")
    board = boards.Board(side)
    for _ in range(chance.randrange(30)):
        node = game.extend_main_sequence()
        node.parent.new_child().set("C", "other")
        point = chance.randrange(side), chance.randrange(side)
        if chance.random() < 0.2:
            stones = [[], [], []]
            stones[chance.randrange(3)].append(point)
            if not board.copy().apply_setup(*stones):
                continue
            board.apply_setup(*stones)
            node.set_setup_stones(*stones)
        elif board.get(*point) is None:
            colour = chance.choice("bw")
            board.play(*point, colour)
            node.set_move(colour, point)
        else:
            node.set_move(chance.choice("bw"), None)
    return game.serialise()


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32))
def test_we_read_what_sgfmill_writes(seed):
    """The same boards after every move, and the same tree when it is written again."""
    content = irregular(seed)
    try:
        record = po.parse_sgf(content)
    except po.InputError as error:
        assume("ko" not in str(error))
        raise
    theirs = boards_of(content)
    assert boards_by_us(record) == theirs
    assert boards_of(record.to_sgf().encode()) == theirs
    assert boards_of(dataclasses.replace(record).to_sgf().encode()) == theirs
    assert len(list(record.variations())) == sum(not node for node in _nodes(sgf.Sgf_game.from_bytes(content)))


def _nodes(game):
    todo = [game.get_root()]
    while todo:
        todo += (node := todo.pop())
        yield list(node)


def test_sgfmill_sees_our_sample_as_we_do():
    """On a square board, which is all that it knows."""
    square = SAMPLE.read_bytes().replace(b"9:7", b"9").replace(b"[tt]", b"[]").split(b"\n", 1)[1].split(b"(;SZ[5]")[0]
    again = po.parse_sgf(square).to_sgf().encode()
    assert boards_of(again) == boards_of(square) == boards_by_us(po.parse_sgf(square))


# Shown


@pytest.fixture
def record():
    """A game with a capture, a pass, stones that are set up later, and comments."""
    return po.parse_sgf(
        "(;SZ[5]PB[<b>One</b>]PW[Two]RE[W+R]DT[2025-01-01]KM[0.5]C[The start]AB[cc]"
        ";W[ba];B[aa];W[ab]C[Takes];B[];AW[ee];W[dd])"
    )


def test_a_game_in_the_terminal(record, tmp_path):
    record.save(tmp_path / "game.sgf")
    done = show(tmp_path / "game.sgf")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "<b>One</b> against Two: W+R; 5 x 5, komi 0.5, 5 moves; 2025-01-01",
        "5 moves, D2 the last; black is next",
        "    A B C D E",
        "  5 . O . . . 5  ",
        "  4 O . . . . 4  ",
        "  3 . . X . . 3  ",
        "  2 . . .(O). 2  ",
        "  1 . . . . O 1  ",
        "    A B C D E",
    ]
    (tmp_path / "game.SGF").write_text(record.to_sgf())
    done = show(tmp_path / "game.SGF", "--step", 3)
    assert done.stdout.splitlines()[1] == "3 moves, A4 the last; black is next"
    assert done.stdout.splitlines()[-1] == "Takes"
    assert show(tmp_path / "game.sgf", "--step", 0).stdout.splitlines()[-1] == "The start"


def test_mistakes_with_show(record, tmp_path):
    file = tmp_path / "game.sgf"
    record.save(file)
    (tmp_path / "bad.sgf").write_text("(;SZ[5];B[aa];W[aa])")
    for arguments, message in (
        ([file, "--step", 6], "step is 6; the game has moves 1 to 5, and 0 is the start"),
        ([file, "--problem", "go:9"], "--problem does not go with a game of Go"),
        ([file, "--svg", tmp_path / "no" / "x.svg"], "cannot write"),
        ([tmp_path / "bad.sgf"], "move 2, A5, is not legal there: there is a stone"),
        ([tmp_path / "none.sgf"], "cannot read"),
    ):
        done = show(*arguments)
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
        assert message in done.stderr


def test_the_svg_has_the_numbers_of_the_stones(record, tmp_path):
    record.save(tmp_path / "game.sgf")
    done = show(tmp_path / "game.sgf", "--svg", tmp_path / "x.svg", "--html", tmp_path / "x.html")
    assert done.stdout.splitlines() == [f"wrote {tmp_path / 'x.svg'}", f"wrote {tmp_path / 'x.html'}"]
    root = ElementTree.fromstring((tmp_path / "x.svg").read_text())
    labels = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert labels[:2] == ["<b>One</b> against Two: W+R", "5 x 5, komi 0.5, 5 moves; 2025-01-01"]
    assert sorted(labels[2:]) == sorted([*"ABCDE12345", "1", "3", "5"])
    assert len(list(root.iter("{http://www.w3.org/2000/svg}circle"))) == 5


def test_go_itself_has_pictures():
    game = po.Go(9, handicap=2)
    ElementTree.fromstring(game.to_svg(["E5", "pass"], "TITLE & DATA; SCRIPT"))
    html = game.to_page(["E5", "pass"], "TITLE & DATA", "about SCRIPT")
    assert "<title>TITLE &amp; DATA</title>" in html
    assert '"about":"about SCRIPT"' in html
    assert "http" not in html


def test_the_page_replays_the_game(browser, record, tmp_path):  # noqa: F811, the fixture
    file = tmp_path / "game.html"
    file.write_text(record.to_page(), encoding="utf-8")
    browser.get(file.as_uri())
    expected = boards_by_us(record)
    said = ["The start.\nThe start", "Move 1 of 5: White B5.", "Move 2 of 5: Black A5.",
            "Move 3 of 5: White A4.\nTakes", "Move 4 of 5: Black pass.",
            "Move 5 of 5: White D2. Result: W+R."]  # fmt: skip
    for count, sentence in enumerate(said):
        assert text(browser, "status") == sentence
        stones = [colour for colour in expected[count] if colour]
        assert len(browser.find_elements(By.CSS_SELECTOR, "#board .stone")) == len(stones)
        label = browser.find_element(By.ID, "board").get_attribute("aria-label")
        assert f"{stones.count(1)} black stones, {stones.count(2)} white stones" in label
        assert len(browser.find_elements(By.ID, "mark")) == (count not in (0, 4))
        click(browser, "next")
    assert browser.find_element(By.TAG_NAME, "h1").text == "<b>One</b> against Two: W+R"
    browser.find_element(By.CSS_SELECTOR, "#rows tr:nth-child(2)").click()
    assert text(browser, "status") == said[2]
    browser.find_element(By.TAG_NAME, "body").send_keys(Keys.HOME)
    assert text(browser, "status") == said[0]
    assert browser.execute_script("return document.scrollingElement.scrollWidth <= innerWidth")
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
