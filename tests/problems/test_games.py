"""The built-in games: against plain Python, against OpenSpiel, known counts, what is refused, and how they look."""

import pickle
import random
from collections import Counter

import pytest
from rich.console import Console

import playout as po
from playout import MNK, ConnectFour, Hex, InputError, TicTacToe, _core
from playout.problems import from_json
from tests.reference import games as plain
from tests.reference.stream import Stream, fold

GAMES = [
    (TicTacToe(), plain.TicTacToe()),
    (MNK(1, 1, 1), plain.Mnk(1, 1, 1)),
    (MNK(7, 8, 4), plain.Mnk(7, 8, 4)),  # the largest in one word
    (MNK(8, 8, 5), plain.Mnk(8, 8, 5)),  # the smallest in six
    (MNK(2, 19, 4), plain.Mnk(2, 19, 4)),
    (MNK(19, 3, 3), plain.Mnk(19, 3, 3)),
    (MNK(5, 4, 6), plain.Mnk(5, 4, 6)),  # nobody can win
    (MNK(19, 19, 5), plain.Mnk(19, 19, 5)),
    (ConnectFour(), plain.ConnectFour()),
    (ConnectFour(1, 20), plain.ConnectFour(1, 20)),
    (ConnectFour(20, 2), plain.ConnectFour(20, 2)),
    (ConnectFour(3, 20), plain.ConnectFour(3, 20)),
    (ConnectFour(8, 7), plain.ConnectFour(8, 7)),
    (ConnectFour(4, 4), plain.ConnectFour(4, 4)),
    (Hex(1), plain.Hex(1)),
    (Hex(2), plain.Hex(2)),
    (Hex(5), plain.Hex(5)),
    (Hex(19), plain.Hex(19)),
]
NAMES = [game.describe() for game, _ in GAMES]


def cells(game, position):
    return tuple(position.cell(column, row) for row in range(game.height) for column in range(game.width))


@pytest.mark.parametrize(("game", "twin"), GAMES, ids=NAMES)
def test_random_games_are_those_of_the_plain_rules(game, twin):
    dice, keys = random.Random(1), {}
    for _ in range(3 if game.width * game.height > 100 else 30):
        position, state = _core.Position(game.engine()), twin.initial()
        while True:
            moves = twin.moves(state)
            assert [move for move, _, _ in position.moves()] == moves
            assert position.moves() == position.moves(all=True) == position.moves(fresh=True)
            assert cells(game, position) == state
            assert (position.player(), position.score()) == (twin.player(state), twin.score(state))
            assert keys.setdefault(position.key(), state) == state
            if not moves:
                break
            move = dice.choice(moves)
            position.play(move)
            state = twin.play(state, move)


@pytest.mark.parametrize(("game", "twin"), GAMES, ids=NAMES)
def test_rollouts_draw_as_the_headers_say(game, twin):
    """From the start and from later positions, to the end of them; and many at once are the same ones."""
    position, state = _core.Position(game.engine()), twin.initial()
    for seed in range(3 if game.width * game.height > 100 else 20):
        played, score = twin.rollout(state, Stream(seed))
        assert position.rollout(seed) == ([move for _, move in played], score)
        players = [player for player, _ in played]
        assert players == [(twin.player(state) + i) % 2 for i in range(len(players))]
        if moves := twin.moves(state):
            move = moves[seed % len(moves)]
            position.play(move)
            state = twin.play(state, move)
    position, state, count = _core.Position(game.engine()), twin.initial(), 3
    won = [twin.rollout(state, Stream(fold(9, i)))[1] > 0 for i in range(count)]
    assert position.rollouts(9, count) == sum(won)


def test_the_stream_is_the_engines():
    assert [Stream.of(7, 1, 2, 3).uniform()] == _core.uniforms(7, 1, 2, 3, 1)
    stream = Stream(5)
    assert Counter(stream.below(3) for _ in range(3000)).keys() == {0, 1, 2}


def levels(game, depth):
    """Yield, for each depth, how many sequences of moves and how many positions there are, and how many are the end."""
    level = {_core.Position(game.engine()).key(): ([], 1)}  # a way to each position, and how many ways there are
    for current in range(depth + 1):
        following, over = {}, 0
        for sequence, ways in level.values():
            moves = after(game, sequence).moves()
            over += 0 if moves else ways
            for move, _, _ in moves if current < depth else []:
                key = after(game, [*sequence, move]).key()
                way, before = following.get(key, ([*sequence, move], 0))
                following[key] = (way, before + ways)
        yield sum(ways for _, ways in level.values()), len(level), over
        level = following


def after(game, sequence):
    position = _core.Position(game.engine())
    for move in sequence:
        position.play(move)
    return position


def test_tic_tac_toe_has_as_many_games_and_positions_as_is_known():
    sequences, positions, over = zip(*levels(TicTacToe(), 9), strict=True)
    assert sum(over) == 255168
    assert sum(positions) == 5478
    assert sequences[:6] == (1, 9, 72, 504, 3024, 15120)


def test_connect_four_has_as_many_sequences_and_positions_as_is_known():
    sequences, positions, over = zip(*levels(ConnectFour(), 7), strict=True)
    assert sequences == (1, 7, 49, 343, 2401, 16807, 117649, 823536)
    assert positions == (1, 7, 49, 238, 1120, 4263, 16422, 54859)
    assert over[:7] == (0,) * 7
    assert over[7] > 0


@pytest.mark.parametrize("side", [1, 2, 3, 7, 11, 19])
def test_a_full_hex_board_has_one_winner(side):
    twin, engine = plain.Hex(side), Hex(side).engine()
    for seed in range(10):
        moves, score = _core.Position(engine).rollout(seed)
        assert sorted(moves) == list(range(side * side))
        state = tuple(1 + moves.index(cell) % 2 for cell in range(side * side))
        assert [twin.won(state, 0), twin.won(state, 1)] == [score > 0, score < 0]
        played = []
        while after(Hex(side), played).moves():
            played.append(moves[len(played)])
        assert after(Hex(side), played).score() == score  # and stopping at the decision gives the same


@pytest.mark.parametrize(
    ("game", "name"),
    [
        (TicTacToe(), "tic_tac_toe"),
        (MNK(7, 6, 4), "mnk(m=7,n=6,k=4)"),
        (MNK(15, 15, 5), "mnk(m=15,n=15,k=5)"),
        (ConnectFour(), "connect_four"),
        (ConnectFour(5, 4), "connect_four(rows=4,columns=5)"),
        (Hex(5), "hex(board_size=5)"),
        (Hex(11), "hex(board_size=11)"),
    ],
)
def test_random_games_are_those_of_open_spiel(game, name):
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed; make test-all does it")
    theirs, dice = pyspiel.load_game(name), random.Random(2)
    for _ in range(10 if game.width > 10 else 100):
        state, position = theirs.new_initial_state(), _core.Position(game.engine())
        while not state.is_terminal():
            assert [move for move, _, _ in position.moves()] == state.legal_actions()
            assert position.player() == state.current_player()
            move = dice.choice(state.legal_actions())
            state.apply_action(move)
            position.play(move)
        assert position.moves() == []
        assert position.score() == state.returns()[0]


def test_positions_of_another_order_of_moves_have_the_same_key():
    game = TicTacToe()
    one, other, third = (game.position(moves).key() for moves in (["a1", "b2", "c3"], ["c3", "b2", "a1"], ["a1", "b2"]))
    assert one == other != third


def test_results_and_winners():
    assert TicTacToe().replay([]) == (0.0, {"finished": False, "winner": None})
    assert TicTacToe().replay(["a1", "a2", "b1", "b2", "c1"]) == (1.0, {"finished": True, "winner": "X"})
    assert TicTacToe().replay(["a1", "a2", "b1", "b2", "C3", "c2"]) == (-1.0, {"finished": True, "winner": "O"})
    draw = ["a1", "b1", "c1", "b2", "a2", "c2", "b3", "a3", "c3"]
    assert TicTacToe().replay(draw) == (0.0, {"finished": True, "winner": None})
    assert ConnectFour().replay([1, 2, 1, 2, 1, 2, 1]) == (1.0, {"finished": True, "winner": "red"})
    assert Hex(2).replay(["a1", "b1", "a2"]) == (1.0, {"finished": True, "winner": "red"})
    assert Hex(2).replay(["a1", "a2", "b2", "b1"]) == (-1.0, {"finished": True, "winner": "blue"})


@pytest.mark.parametrize(("game", "twin"), GAMES, ids=NAMES)
def test_moves_names_and_pickles_come_back(game, twin):
    numbers = twin.moves(twin.initial())
    written = game.decode(numbers)
    assert game.encode(written) == numbers
    assert len(set(written)) == len(numbers)
    for again in (po.problem(game.to_json()), from_json(game.to_json()), pickle.loads(pickle.dumps(game))):
        assert again == game
        assert again.engine() is again.engine()
    assert game.variants() == [game]
    assert game.describe() == game.to_json()


def test_names():
    assert po.problem("tictactoe") == po.problem("mnk:3x3x3") == TicTacToe() == MNK(3, 3, 3)
    assert po.problem("mnk:15x14x5") == MNK(m=15, n=14, k=5)
    assert po.problem("connectfour") == po.problem("connectfour:7x6") == ConnectFour()
    assert po.problem("hex:5") == Hex(5)
    assert po.problem("hex") == Hex(11)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MNK(20, 3, 3), "m is 20; allowed are whole numbers from 1 to 19"),
        (lambda: MNK(3, 0, 3), "n is 0; allowed are whole numbers from 1 to 19"),
        (lambda: MNK(3, 3, 2.5), "k is 2.5; allowed are whole numbers from 1 to 19"),
        (lambda: ConnectFour(9, 7), "the board is 9 x 7; width * (height + 1) may be 64 at most"),
        (lambda: ConnectFour(0), "width is 0; allowed are whole numbers from 1 to 20"),
        (lambda: Hex("5"), "side is '5'; allowed are whole numbers from 1 to 19"),
        (lambda: po.problem("mnk"), "'mnk' does not say which mnk; write one of mnk:15x15x5"),
        (lambda: po.problem("mnk:3x3"), "'3x3' is not which game; write it as in mnk:15x15x5"),
        (lambda: po.problem("hex:five"), "a number of hex:11 is 'five'; a whole number is needed"),
        (lambda: po.problem("hex:5,komi=1"), "unknown option 'komi'"),
        (lambda: po.problem("connectfour:,a=1"), "unknown option 'a'"),
        (lambda: po.problem("tictactoe:4"), "there is one tictactoe, without options"),
        (lambda: from_json("mnk:secret.txt"), "'problem' is 'mnk:secret.txt', which names a file"),
        (lambda: from_json({"kind": "hex", "side": 5}), "a game is named by a string"),
        (lambda: TicTacToe().replay(["d1"]), "there is no move 'd1'; moves are a1 to c3"),
        (lambda: TicTacToe().replay(["a0"]), "there is no move 'a0'; moves are a1 to c3"),
        (lambda: TicTacToe().replay([4]), "there is no move 4; moves are a1 to c3"),
        (lambda: TicTacToe().replay([None]), "there is no move None; moves are a1 to c3"),
        (lambda: TicTacToe().replay(["a1", "a1"]), "move 2, 'a1', is not legal there"),
        (lambda: MNK(1, 2, 1).replay(["a1", "a2"]), "move 2, 'a2', comes after the end of the game"),
        (lambda: ConnectFour().replay([0]), "column, is 0; allowed are whole numbers from 1 to 7"),
        (lambda: ConnectFour().replay(["1"]), "column, is '1'; allowed are whole numbers from 1 to 7"),
        (lambda: ConnectFour().replay([3] * 7), "move 7, 3, is not legal there"),
        (lambda: Hex(5).draw(["a1"], 2), "step is 2; allowed are whole numbers from 0 to 1"),
    ],
)
def test_what_cannot_be_used_is_named(make, message):
    with pytest.raises(InputError, match=r"^[^\n]*$") as error:
        make()
    assert message in str(error.value)


def shown(drawing):
    console = Console(width=80)
    with console.capture() as capture:
        console.print(drawing)
    return [line.rstrip() for line in capture.get().splitlines()]


def test_boards_in_a_terminal():
    assert shown(TicTacToe().draw(["b2", "a1", "c3"])) == [
        " 3  . .[X]",
        " 2  . X .",
        " 1  O . .",
        "    a b c",
        "after 3 moves: O to move",
    ]
    assert shown(ConnectFour(4, 2).draw([2, 2, 3], step=2)) == [
        " 2  .[Y]. .",
        " 1  . R . .",
        "    1 2 3 4",
        "after 2 moves: red to move",
    ]
    assert shown(Hex(3).draw(["b1", "a1", "b2", "a3", "b3"])) == [
        "    a b c",
        " 1  B R .",
        "  2  . R .",
        "   3  B[R].",
        "after 5 moves: red wins",
    ]
    assert shown(MNK(1, 2, 2).draw(["a1", "a2"]))[-1] == "after 2 moves: a draw"


@pytest.mark.parametrize(("game", "twin"), GAMES, ids=NAMES)
def test_every_game_draws_itself(game, twin):
    moves = game.decode([move for _, move in twin.rollout(twin.initial(), Stream(1))[0]][:1])
    assert len(shown(game.draw())) == len(shown(game.draw(moves))) == game.height + 2
    assert game.to_html(moves).count("<circle") == len(moves)
    assert game._repr_html_() == game.to_html()
