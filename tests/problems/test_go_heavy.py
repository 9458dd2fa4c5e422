"""Heavy playouts of Go: the engine's against the plain ones, and what they find on boards drawn by hand."""

import random

import pytest

import playout as po
from playout import _core
from tests.reference.go_heavy import HeavyGo
from tests.reference.stream import Stream

SIZES = [(1, 1), (1, 2), (5, 1), (2, 2), (3, 3), (4, 3), (5, 5), (6, 9), (9, 9), (10, 7), (13, 13)]


class Always(Stream):
    """No step is left out, nothing is turned down unless it must be, and of several moves the first is taken."""

    def below(self, n):
        return 0


def plain_of(*rows, player=0):
    """A position drawn from above: X black, O white."""
    rows = [row.split() for row in reversed(rows)]
    width, cells = len(rows[0]), [cell for row in rows for cell in row]
    black, white = (tuple(i for i, cell in enumerate(cells) if cell == colour) for colour in "XO")
    return HeavyGo(width, len(rows), black=black, white=white, player=player)


def point(vertex, width):
    return (int(vertex[1:]) - 1) * width + "ABCDEFGHJ".index(vertex[0])


def twin_after(width, height, played, **options):
    plain = HeavyGo(width, height, **options)
    for move in played:
        plain.play(move)
    return plain


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_rollouts_are_the_plain_ones(width, height):
    """From the beginning and from positions of random games."""
    numbers, area = random.Random(f"{width}x{height}"), width * height
    for seed in range(6 if area < 60 else 2):
        for suicide in (False, True):
            position = _core.Position(
                _core.go(width, height, 7.5, _core.Ko.positional, suicide, heavy=True, first=seed % 2)
            )
            played = []
            for _ in range(numbers.randint(0, area)):
                moves = [move for move, _, _ in position.moves()]
                if not moves:
                    break
                played.append(numbers.choice(moves))
                position.play(played[-1])
            plain = twin_after(width, height, played, suicide=suicide, player=seed % 2)
            assert position.rollout(seed) == plain.rollout(seed, played)


@pytest.mark.parametrize("size", [19, 25])
def test_large_boards(size):
    position = _core.Position(_core.go(size, size, 7.5, _core.Ko.positional, heavy=True))
    numbers, played = random.Random(size), []
    for _ in range(size * size * 2 // 3):
        played.append(numbers.choice([move for move, _, _ in position.moves()][:-1]))
        position.play(played[-1])
    moves, score = position.rollout(1)
    assert len(moves) > 20
    begun = twin_after(size, size, played).rollout(1, played)
    assert (moves, score) == begun


def test_more_captures_than_usual():
    """A black chain in atari, two combs joined at the right, can capture each of fifty stones between its teeth."""

    def stone(column, row):
        if row in (3, 9) or (column == 24 and 3 < row < 9):
            return "X"
        if row in (2, 4, 8, 10):
            return "OX"[column % 2]
        return "O" if row in (1, 5, 7, 11) and column % 2 else "."

    cells = [stone(column, row) for row in range(25) for column in range(25)]
    last = 7 * 25 + 23
    cells[last] = "."
    black, white = (tuple(i for i, cell in enumerate(cells) if cell == colour) for colour in "XO")
    position = _core.Position(_core.go(25, 25, 7.5, _core.Ko.positional, False, black, white, first=1, heavy=True))
    position.play(last)
    plain = twin_after(25, 25, [last], black=black, white=white, player=1)
    assert len(plain.answer_atari(plain.near(last))) == 50
    for seed in range(20):
        answer = plain.answer([last], Stream(seed))
        assert answer is None or position.rollout(seed)[0][0] == answer


def test_a_board_without_stones_has_no_vital_point():
    """All stones are taken off by suicide; three points are left that nobody surrounds."""
    played = [0, 3, 1, 3, 2]
    position = _core.Position(_core.go(3, 1, 0.5, _core.Ko.simple, True, heavy=True))
    for move in played:
        position.play(move)
    for seed in range(20):
        plain = twin_after(3, 1, played, komi=0.5, ko="simple", suicide=True)
        assert not any(plain.board)
        assert position.rollout(seed) == plain.rollout(seed, played)


def test_the_last_stone_is_captured():
    plain = plain_of(". . . . .", ". X . . .", "X O . . .", ". X . . .", ". . . . .")
    assert plain.answer([point("B3", 5)], Always(0)) == point("C3", 5)


def test_a_chain_in_atari_captures_or_extends():
    plain = plain_of(". . . . . .", ". O . . . .", "O X . . . .", ". O . . . .", ". . . . . .", player=0)
    assert plain.answer_atari(plain.near(point("B2", 6))) == {point("C3", 6)}
    plain = plain_of(". X . . . .", "X O X . . .", "O X O . . .", ". O . . . .", ". . . . . .", player=0)
    assert plain.answer_atari({point("B3", 6)}) == set()  # there is no way out


def test_counter_capture():
    """Black's stone may run, or capture a white stone that holds it and is in atari itself."""
    plain = plain_of(". . . . . .", ". . O . . .", ". O X . O .", ". X O X O .", ". . . . . .", player=0)
    assert plain.answer_atari({point("C3", 6)}) == {point("C1", 6), point("D3", 6)}


def test_two_liberties_are_attacked_and_defended():
    """A chain at the edge has few liberties to gain; one in the middle of nowhere needs no answer."""
    rows = (". . . . . .", ". . . . . .", ". . X X . .", ". X O O . .", ". . . . . .")
    assert plain_of(*rows, player=0).answer_two({point("D2", 6)}) == set()  # it has three
    attacked = plain_of(". . . . .", ". . . . .", ". . . . .", "X X . . .", "O O . . .", player=0)
    assert attacked.liberties(point("B1", 5)) == {point("C1", 5)}
    attacked = plain_of(". . . . .", ". . . . .", "X . . . .", "O O X . .", ". X . . .", player=0)
    assert attacked.answer_two({point("A2", 5)}) == {point("B3", 5)}  # on A1 Black himself would be in atari
    assert attacked.answer_two({point("A3", 5)}) == {point("A4", 5), point("B3", 5)}  # his own stone, in danger
    defended = plain_of(". . . . .", ". . . . .", "O . . . .", "X X O . .", ". O . . .", player=0)
    assert defended.answer_two({point("B2", 5)}) == {point("B3", 5)}
    free = plain_of(". . . . .", ". . X . .", ". X O . .", ". . . . .", ". . . . .", player=0)
    assert free.answer_two({point("C3", 5)}) == set()


@pytest.mark.parametrize(
    ("rows", "vital"),
    [
        ((". . . O", "O O O O", "X X X X", ". X . X"), "B4"),  # three in a row
        ((". . O .", ". O O .", "O O X X", "X X . X"), "A4"),  # three around a corner
        ((". . . O", "O . O O", "O O O X", "X X X ."), "B4"),  # the pyramid
        ((". . . . O", "O O O O O", "X X X X X", ". . . . ."), None),  # four in a row live anyhow
        ((". . O .", ". . O .", "O O O X", "X X X ."), None),  # the square four is dead anyhow
        ((". . O .", ". . . O", "O O O O", "X . . ."), "B3"),  # the bulky five
        ((". . X .", ". X X .", "X X O O", "O O . O"), "A4"),  # one's own eye
    ],
)
def test_nakade(rows, vital):
    """The last stone was played below the region at the top left."""
    plain = plain_of(*rows, player=0)
    region, _ = plain.fill(plain.board, plain.last - plain.width)
    stones = [p for p in plain.around(region) if p // plain.width == plain.height - 2 or p % plain.width > 1]
    found = plain.nakade(stones[0]) & region
    assert found == (set() if vital is None else {point(vital, plain.width)})


def test_self_atari_is_seen():
    corner = plain_of(". . O .", "X O . .", ". O . .", ". . . .", player=0)
    assert corner.is_self_atari(point("A2", 4)) is False  # A2 and A3 have A4 and A1
    corner = plain_of(". O . .", "X O . .", ". O . .", "O . . .", player=0)
    assert corner.is_self_atari(point("A2", 4))
    capture = plain_of("X . . .", "O X . .", ". O . .", "X . . .", player=0)
    assert not capture.is_self_atari(point("A2", 4))


def test_heavy_playouts_know_more():
    """A big chain in atari is captured in more of the heavy playouts."""
    black = ("D4", "D5", "D6", "E7", "F7", "G6", "G5", "G4", "F3")
    white = ("E4", "E5", "E6", "F4", "F5", "F6")
    won = {}
    for kind in ("light", "heavy"):
        game = po.Go(9, komi=0.5, playouts=kind, first="white", black=black, white=white)
        won[kind] = game.ownership(["A1"], playouts=300)[game.encode(["E5"])[0]]
    assert won["heavy"] > won["light"]


def test_ownership():
    wall = tuple(f"{column}{row}" for column in "DF" for row in range(1, 10))
    game = po.Go(9, black=wall[:9], white=wall[9:], playouts="heavy")
    owners = game.ownership(["pass", "pass"], playouts=50, seed=3)
    assert owners == game.ownership(["pass", "pass"], playouts=50, seed=3)
    assert owners[game.encode(["D5"])[0]] > 0.7
    assert owners[game.encode(["F5"])[0]] < -0.7
    with pytest.raises(po.InputError, match="playouts"):
        game.ownership(playouts=0)
    with pytest.raises(ValueError, match="Go"):
        _core.Position(po.ConnectFour().engine()).ownership(1, 1)


def test_a_wrong_kind_of_playouts_is_refused():
    with pytest.raises(po.InputError, match=r"playouts.*light.*heavy"):
        po.Go(9, playouts="strong")
    assert po.problem("go:9,playouts=heavy") == po.Go(9, playouts="heavy")
    assert po.Go(9, playouts="heavy").to_json() == "go:9,playouts=heavy"
