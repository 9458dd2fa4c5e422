"""Features and priors of moves in Go: the engine's against plain ones, and ladders drawn by hand."""

import random

import pytest

import playout as po
from playout import _core
from tests.reference import go_features, uct
from tests.reference.engine import BANDITS, engine_settings, forest, think, tree_of
from tests.reference.go import PlainGo
from tests.reference.rules import HeavyGoBoard
from tests.reference.uct import Settings

KO = {"simple": _core.Ko.simple, "positional": _core.Ko.positional}


class Both:
    """A game in the engine and by the plain rules, with the last two moves."""

    def __init__(self, width, height, ko="positional", suicide=False, **stones):
        self.plain = PlainGo(width, height, ko=ko, suicide=suicide, **stones)
        first = stones.pop("player", 0)
        self.position = _core.Position(_core.go(width, height, 7.5, KO[ko], suicide, first=first, **stones))
        self.last = self.before = None

    def play(self, move):
        self.plain.play(move)
        self.position.play(move)
        self.before, self.last = self.last, None if move == self.plain.last else move

    def features(self):
        """Of all moves; those of the engine, when it is sure that they are the plain ones."""
        found = self.position.features()
        for move, features in found:
            twin = go_features.features(self.plain, move, self.last, self.before)
            assert names(features) == names(twin), (move, self.plain)
        return {move: names(features) for move, features in found}


def names(features):
    return {go_features.GO_FEATURES[feature] for feature in features}


def drawn(*rows, player=0, **options):
    """A position drawn from above: X black, O white. Black moves, unless it is said otherwise."""
    rows = [row.split() for row in reversed(rows)]
    cells = [cell for row in rows for cell in row]
    black, white = (tuple(i for i, cell in enumerate(cells) if cell == colour) for colour in "XO")
    return Both(len(rows[0]), len(rows), black=black, white=white, player=player, **options)


def at(both, vertex):
    """The features of a move."""
    row, column = int(vertex[1:]) - 1, "ABCDEFGHJ".index(vertex[0])
    return both.features()[row * both.plain.width + column]


@pytest.mark.parametrize("suicide", [False, True])
@pytest.mark.parametrize(("width", "height"), [(1, 1), (2, 2), (1, 7), (6, 1), (3, 3), (5, 4), (7, 7), (9, 9)])
def test_random_games(width, height, suicide):
    """Positions of random games with passes, ko and suicide."""
    numbers = random.Random(f"{width}x{height} {suicide}")
    area = width * height
    for game in range(1 + 30 // area):
        both = Both(width, height, ko=("simple", "positional")[game % 2], suicide=suicide)
        for number in range(2 * area):
            if number % max(1, area // 6) == 0:
                both.features()
            moves = [move for move, _, _ in both.position.moves()]
            if not moves:
                break
            both.play(numbers.choice(moves[:-1] or moves) if numbers.random() < 0.93 else area)
        both.features()


@pytest.mark.parametrize(("width", "height"), [(13, 13), (19, 7), (25, 25)])
def test_large_boards(width, height):
    """One position in the middle of a random game."""
    numbers, both = random.Random(width), Both(width, height)
    for _ in range(width * height * 3 // 5):
        both.play(numbers.choice([move for move, _, _ in both.position.moves()][:-1]))
    found = both.features()
    assert len({name for features in found.values() for name in features}) > 50


def test_every_feature_has_a_name_and_a_weight():
    assert len(set(go_features.GO_FEATURES)) == len(go_features.GO_FEATURES) == len(go_features.weights())
    assert max(map(abs, go_features.weights())) < 10_000


def test_shapes():
    """All neighbourhoods there are, each once; one lies in eight ways, and colours are seen by who moves."""
    shapes = [name for name in go_features.GO_FEATURES if name.startswith("shape ")]
    assert len(shapes) == 954 + 135 + 18 + 6 + 3 + 1
    name = "shape ox......"
    assert name in at(drawn("X . .", "O . .", ". . ."), "B2")
    assert name in at(drawn(". . .", ". . .", ". O X"), "B2")
    assert name in at(drawn("O . .", "X . .", ". . .", player=1), "B2")
    assert name not in at(drawn("O . .", "X . .", ". . ."), "B2")


def test_passes():
    both = Both(5, 5)
    assert both.features()[25] == {"pass"}
    assert both.features()[12] == {"open line 3", "shape ........"}
    both.play(12)
    assert both.features()[11] >= {"last 2", "enemy sides 1", "liberties 3", "line 2"}
    both.play(25)
    assert both.features()[25] == {"pass again"}
    assert not any("last" in name for name in both.features()[11])
    assert both.features()[11] >= {"before 2", "own sides 1"}


LADDER = (
    ". . . . . . .",
    ". . X X . . .",
    ". X O . . . .",
    ". . X . . . .",
    ". . . . . . .",
    ". . . . . . .",
    ". . . . . . .",
)


def with_stone(rows, vertex, stone):
    rows = [row.split() for row in rows]
    rows[len(rows) - int(vertex[1:])]["ABCDEFGHJ".index(vertex[0])] = stone
    return [" ".join(row) for row in rows]


def test_a_ladder_works():
    """The white stone has one liberty; it runs to the edge and is caught, unless a friend waits on the way."""
    broken, elsewhere = with_stone(LADDER, "F2", "O"), with_stone(LADDER, "B2", "O")
    for rows, extend, capture in (
        (LADDER, "extend caught", "capture caught"),
        (broken, "extend", "capture free"),
        (elsewhere, "extend caught", "capture caught"),
    ):
        assert extend in at(drawn(*rows, player=1), "D5")
        assert capture in at(drawn(*rows), "D5")


def test_a_ladder_is_begun():
    """White has two liberties: one atari catches it, unless a friend waits; the other lets it run."""
    rows = with_stone(LADDER, "C4", ".")
    broken = with_stone(rows, "F2", "O")
    assert "atari ladder" in at(drawn(*rows), "C4")
    assert "atari" in at(drawn(*broken), "C4")
    assert "atari" in at(drawn(*with_stone(rows, "D6", ".")), "D5")
    assert "defend" in at(drawn(*rows, player=1), "C4")
    assert "defend" not in at(drawn(*with_stone(rows, "D6", "."), player=1), "D5")


def test_the_attacker_in_atari():
    """White's run puts two of the stones that drive it in atari: it takes them before it is taken."""
    rows = with_stone(with_stone(with_stone(LADDER, "C7", "O"), "B6", "O"), "E6", "O")
    assert "extend caught" in at(drawn(*LADDER, player=1), "D5")
    assert "extend" in at(drawn(*rows, player=1), "D5")


def test_a_capture_saves_a_friend():
    both = drawn(". . . . .", "X X X . .", "O O X . .", "X . O . .")
    assert at(both, "B1") >= {"capture saves", "capture 2", "extend"}
    both = drawn(". . . . .", "X X X . .", "O O X . .", ". . O . .", player=1)
    both.play(0)
    assert at(both, "B1") >= {"capture last", "capture 2"}


def test_at_the_edge():
    """A stone on the second line has nowhere to run but to the edge."""
    rows = (". . . . . .", ". . . . . .", ". X X . . .", "X O . . . .", ". X . . . .")
    assert "extend caught" in at(drawn(*rows, player=1), "C2")
    assert "extend" in at(drawn(*with_stone(with_stone(rows, "D1", "O"), "E2", "O"), player=1), "C2")


def test_snapback():
    """The stone thrown in is captured, and then what captured it is."""
    rows = (". . . . .", "X X X X .", "O O O X .", ". . O X .")
    for vertex in ("A1", "B1"):
        assert at(drawn(*rows), vertex) >= {"atari ladder", "self-atari 1"}
    alive = with_stone(rows, "C1", ".")
    assert "atari ladder" not in at(drawn(*alive), "B1")


def test_ko():
    """What takes it, what retakes it, and atari meanwhile."""
    ko = drawn(". . . . .", ". X O . .", "X O . O .", ". X O . .", ". . . . X")
    assert at(ko, "C3") >= {"capture free", "takes ko", "self-atari 1", "cut 3"}
    ko.play(12)
    assert 11 not in ko.features()  # not at once
    assert at(ko, "D1") >= {"atari", "atari ko"} or at(ko, "D1") >= {"atari ladder", "atari ko"}
    ko.play(25)
    ko.play(20)
    assert at(ko, "B3") >= {"takes ko", "self-atari 1"}
    assert "atari ko" not in at(ko, "D1")


def test_the_board_may_be_turned():
    """Features of a position that is mirrored or turned are those of the points where they come to lie."""
    numbers, size = random.Random(5), 9
    ways = [lambda c, r: (r, c), lambda c, r: (size - 1 - c, r), lambda c, r: (size - 1 - r, c)]
    for way in ways:

        def moved(move, way=way):
            column, row = way(move % size, move // size)
            return move if move == size * size else row * size + column

        one, other = Both(size, size), Both(size, size)
        for _ in range(60):
            move = numbers.choice([move for move, _, _ in one.position.moves()][:-1])
            one.play(move)
            other.play(moved(move))
            found = dict(one.position.features())
            assert {moved(move): features for move, features in found.items()} == dict(other.position.features())


def test_priors_reach_the_tree():
    """As many won simulations as the weight says, besides the even ones."""
    problem, rules = po.Go(5, playouts="heavy"), HeavyGoBoard(5, 5)
    engine = think(forest(problem, engine_settings(Settings("rave")), 1), 50)
    root = next(node for node in engine.nodes() if not node.path)
    twin = uct.Uct(rules, Settings("rave"), 1).root
    assert [(a.prior_visits, a.prior_wins) for a in root.actions] == [
        (10 + a.prior[0], 5 + a.prior[1]) for a in twin.actions
    ]
    assert max(a.prior_visits for a in root.actions) == 10 + go_features.PRIOR_WINS
    light = think(forest(po.Go(5), engine_settings(Settings("rave")), 1), 50)
    assert {a.prior_visits for node in light.nodes() for a in node.actions} == {10}


@pytest.mark.parametrize(
    "settings",
    [
        Settings("rave"),
        Settings("rave", expand_after=3, exploration=0.1),
        Settings("rave", graph=True, even_prior=0.0),
        Settings("rave", widening=True, widening_first=4.0, widening_growth=1.3),
        Settings("ucb1"),
        Settings("ucb1", widening=True, widening_first=4.0, widening_growth=1.3),
        Settings("tuned1", widening=True, widening_first=3.0, widening_growth=1.5, graph=True),
    ],
    ids=["rave", "expand after 3", "graph", "widening", "ucb1", "ucb1 widening", "tuned1 widening"],
)
@pytest.mark.parametrize(("width", "height"), [(3, 3), (4, 3), (5, 5)])
def test_trees_are_the_plain_ones(width, height, settings):
    """The whole search with priors and heavy playouts, to the last bit."""
    playouts = 20 if width == 5 else 60
    twin = uct.Uct(HeavyGoBoard(width, height, komi=0.5), settings, 7).advance(playouts)
    engine = think(forest(po.Go(width, height, komi=0.5, playouts="heavy"), engine_settings(settings), 7), playouts)
    assert tree_of(engine.nodes()) == twin.tree()


@pytest.mark.parametrize("bandit", BANDITS)
def test_widening_opens_the_moves_with_the_best_priors(bandit):
    """In an open position after some moves: one move for the first 39 simulations, four by 300."""
    game = po.Go(9, playouts="heavy")
    moves = list(game.encode(["E5", "C3", "G4", "F3"]))

    def searched(plain, seed, playouts):
        engine = forest(game, engine_settings(plain), seed)
        engine.go_to(moves)
        return think(engine, playouts).report().actions

    priors = {one.move: one.prior_wins / one.prior_visits for one in searched(Settings("rave"), 0, 1)}
    best = sorted(priors.values(), reverse=True)
    assert best[0] > best[4] > best[-1]
    for seed in range(3):
        for playouts, count in ((39, 1), (300, 4)):
            actions = searched(Settings(bandit, widening=True), seed, playouts)
            tried = [priors[one.move] for one in actions if one.visits]
            assert sorted(tried, reverse=True) == best[:count]


def test_only_go_has_features():
    with pytest.raises(ValueError, match="Go"):
        _core.Position(po.ConnectFour().engine()).features()
