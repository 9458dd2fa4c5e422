"""Games of one's own: whose turn it is, and what names a state, compiled and in plain Python."""

import copy
import itertools
import pickle

import pytest

import playout as po
from playout import _core
from playout.compile import explained
from playout.problems import is_game
from tests.own import problems as own


def made(problem, compiled):
    problem.compiled = compiled
    return problem


def after(game, moves=()):
    """The position after some moves."""
    position = _core.Position(game.engine())
    for move in moves:
        position.play(move)
    return position


def states(game):
    """Every position of a small game, with the moves to it."""
    ways = [()]
    for way in ways:
        position = after(game, way)
        yield way, position
        ways += [(*way, move) for move, _, _ in position.moves()]


@pytest.mark.parametrize("compiled", [True, False])
def test_what_has_a_player_is_a_game(compiled):
    for kind, answer in ((own.Take, True), (own.TwoPlayers, True), (own.Digits, False), (own.Scored, False)):
        assert is_game(made(kind(), compiled)) is answer
    assert not is_game(po.SameGame.standard(1))


def test_a_number_that_is_called_player_makes_no_game():
    for compiled in (True, False):
        problem = made(own.Digits(), compiled)
        problem.player = 1
        assert not is_game(problem)
        assert po.solve(problem, po.NRPA(level=1), playouts=10)


def test_compiled_and_plain_games_are_the_same():
    compiled, plain = made(own.Take(5), True), made(own.Take(5), False)
    for way, position in states(compiled):
        other = after(plain, way)
        assert position.player() == other.player() == len(way) % 2
        assert position.key() == other.key()
        assert position.moves() == other.moves()
        assert position.score() == other.score()


@pytest.mark.parametrize("compiled", [True, False])
def test_a_key_names_what_is_the_same_state(compiled):
    game = made(own.Take(6), compiled)
    keys = {}
    for _, position in states(game):
        keys.setdefault(position.state(), set()).add(position.key())
    assert all(len(names) == 1 for names in keys.values())
    assert len({name for names in keys.values() for name in names}) == len(keys)
    assert after(game, (1, 3)).key() == after(game, (3, 1)).key()


@pytest.mark.parametrize("compiled", [True, False])
def test_a_key_changes_with_the_player(compiled):
    """Where the bytes of the state are the same."""

    class Other(own.Take):
        def player(self, s):
            return not s.turn

    game, other = made(own.Take(), compiled), made(Other(), compiled)
    for way in ((), (1,), (4, 2), (3, 3, 3, 1)):
        assert after(game, way).state() == after(other, way).state()
        assert after(game, way).key() != after(other, way).key()


@pytest.mark.parametrize("size", range(1, 20))
def test_every_byte_of_the_state_is_in_the_key(size):
    class Bytes(po.Problem):
        State = dict(byte=("i1", size), count="i1")
        max_moves = size
        compiled = False

        def moves(self, s, out):
            out[:size] = range(size)
            return size if s.count == 0 else 0

        def play(self, s, move):
            s.byte[move] = s.count = 1

        def score(self, s):
            return 0.0

        def player(self, s):
            return s.count

    game = Bytes()
    keys = {after(game, (move,)).key() for move in range(size)}
    assert len(keys | {after(game).key()}) == size + 1


def test_neighbours_have_different_keys():
    """A turn that is the last bit of the first number: as if made to cancel out."""
    game = made(own.TwoPlayers(), True)
    positions = [after(game, way) for n in range(5) for way in itertools.product(range(3), repeat=n)]
    assert len({position.key() for position in positions}) == len({position.state() for position in positions})


@pytest.mark.parametrize("compiled", [True, False])
def test_a_player_that_there_is_not(compiled):
    game = made(own.ThreePlayers(), compiled)
    position = after(game, (0, 1))
    for ask in (position.player, position.key):
        with pytest.raises(_core.ProblemError, match="player returned 2; allowed are 0 and 1"):
            ask()


def test_a_plain_player_that_is_no_number():
    class Nobody(own.Take):
        def player(self, s):
            return None

    game = made(Nobody(), False)
    with pytest.raises(_core.ProblemError, match="player returned None; allowed are 0 and 1"):
        after(game).player()


def test_an_exception_in_player():
    plain, compiled = made(own.PlayerRaises(5), False), made(own.PlayerRaises(5), True)
    with pytest.raises(ValueError, match="nobody"):
        after(plain, (2, 3)).player()
    with pytest.raises(po.InputError, match="a compiled method raises ValueError: nobody"), explained(compiled):
        after(compiled, (2, 3)).player()


@pytest.mark.parametrize("compiled", [True, False])
def test_a_game_is_not_solved(compiled):
    problem = made(own.Take(), compiled)
    message = r"tests\.own\.problems:Take is a game for two players: it is played with playout\.Player, not solved"
    for search in (None, po.NRPA(level=1), po.NMCS(level=1)):
        with pytest.raises(po.InputError, match=message):
            po.solve(problem, search, playouts=10)
        with pytest.raises(po.InputError, match=message):
            next(po.watch(problem, search, playouts=10))


def test_a_game_with_a_score_in_python():
    class Judged(own.Take):
        @po.python
        def score(self, s):
            return {True: 1.0, False: -1.0}[bool(s.turn)]

    game = Judged()
    position = after(game, (3, 3, 4, 3, 1))
    assert is_game(game)
    assert (position.moves(), position.player(), position.score()) == ([], 1, 1.0)


def test_a_copy_is_a_game_too():
    assert is_game(copy.deepcopy(own.Take()))
    assert is_game(pickle.loads(pickle.dumps(own.Take())))
