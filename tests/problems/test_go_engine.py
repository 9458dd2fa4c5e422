"""The engine's Go against plain rules, rules of others, and counts that are known."""

import random

import pytest

from playout import _core
from tests.reference.go import PlainGo

SIZES = [(1, 1), (1, 2), (5, 1), (2, 2), (3, 3), (4, 3), (5, 5), (9, 9), (10, 7), (14, 3)]
KO = {"simple": _core.Ko.simple, "positional": _core.Ko.positional, "situational": _core.Ko.situational}


def both(width, height, **options):
    """A game in the engine and by the plain rules."""
    plain = PlainGo(width, height, **options)
    ko, first = KO[options.pop("ko", "positional")], options.pop("player", 0)
    engine = _core.go(width, height, options.pop("komi", 7.5), ko, first=first, **options)
    return _core.Position(engine), plain


def cells(position, plain):
    return tuple(position.cell(c, r) for r in range(plain.height) for c in range(plain.width))


def assert_same(position, plain):
    found = [move for move, _, _ in position.moves()]
    assert found == plain.moves() == [move for move, _, _ in position.moves(fresh=True)]
    assert cells(position, plain) == plain.board
    assert position.score() == plain.score()
    assert position.player() == plain.player
    return found


def set_up(numbers, width, height):
    """A few stones of each colour that all have liberties."""
    points = [p for p in range(width * height) if numbers.random() < 0.3]
    numbers.shuffle(points)
    half = numbers.randint(0, len(points))
    plain = PlainGo(width, height, black=tuple(points[:half]), white=tuple(points[half:]))
    alive = all(0 in plain.fill(plain.board, p)[1] for p in points)
    return dict(black=plain.black, white=plain.white) if alive else {}


@pytest.mark.parametrize("suicide", [False, True])
@pytest.mark.parametrize("ko", KO)
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_random_games(width, height, ko, suicide):
    """Legal moves in order, boards, scores and rollouts, at every step; small boards are full of ko and suicide."""
    numbers = random.Random(f"{width}x{height} {ko} {suicide}")
    area = width * height
    for game in range(max(1, min(20, 200 // area))):
        options = set_up(numbers, width, height) if game % 2 else {}
        options.update(player=numbers.randint(0, 1), komi=numbers.choice([0, 7.5, -3]))
        position, plain = both(width, height, ko=ko, suicide=suicide, **options)
        played, keys = [], {}
        while moves := assert_same(position, plain):
            now = (plain.board, plain.player, plain.ko_point, plain.passes)
            assert keys.setdefault(position.key(), now) == now
            if len(played) >= 3 * area:
                break
            move = numbers.choice(moves[:-1] or moves) if numbers.random() < 0.95 else area
            played.append(move)
            position.play(move)
            plain.play(move)
            if numbers.random() < 8 / area:
                seed = numbers.getrandbits(64)
                copy = PlainGo(width, height, komi=plain.komi, black=plain.black, white=plain.white)
                copy.board, copy.player, copy.ko_point, copy.passes = (
                    plain.board,
                    plain.player,
                    plain.ko_point,
                    plain.passes,
                )
                assert position.rollout(seed) == copy.rollout(seed, played)


@pytest.mark.parametrize(("width", "height"), [(13, 13), (19, 19), (25, 25)])
def test_large_boards(width, height):
    """As above, every fortieth move of one game that random players fill the board in."""
    numbers = random.Random(width)
    position, plain = both(width, height)
    for number in range(3 * width * height // 2):
        moves = assert_same(position, plain) if number % 40 == 0 else [move for move, _, _ in position.moves()]
        move = numbers.choice(moves[:-1])
        position.play(move)
        plain.play(move)
    assert_same(position, plain)


def test_a_finished_game_has_no_rollout():
    position, plain = both(5, 5)
    for move in (12, 25, 25):
        position.play(move)
        plain.play(move)
    assert position.moves() == []
    assert position.rollout(1) == plain.rollout(1) == ([], 25 - 7.5)


def test_a_rollout_after_one_pass_ends_with_another():
    """Black lives on the whole board and cannot play; White has passed."""
    black = [p for p in range(9) if p not in (0, 8)]
    position, _ = both(3, 3, black=tuple(black), player=1)
    position.play(9)
    assert position.rollout(1) == ([9], 9 - 7.5)


@pytest.mark.parametrize(
    "arguments",
    [
        dict(width=0, height=5),
        dict(width=5, height=26),
        dict(width=5, height=5, black=[25]),
        dict(width=5, height=5, black=[-1]),
        dict(width=5, height=5, black=[3], white=[3]),
        dict(width=5, height=5, first=2),
    ],
)
def test_the_engine_refuses_what_it_cannot_play(arguments):
    with pytest.raises(ValueError, match=r"board|stone|first"):
        _core.go(komi=0, ko=_core.Ko.simple, **arguments)


@pytest.mark.parametrize(("width", "height"), [(9, 9), (13, 13), (19, 19), (25, 25), (12, 5)])
def test_rollouts_draw_as_the_plain_ones(width, height):
    for seed in range(3):
        position, plain = both(width, height)
        assert position.rollout(seed) == plain.rollout(seed)
    position, _ = both(width, height)
    scores = [position.rollout(seed)[1] for seed in range(50)]
    assert len(set(scores)) > 5
