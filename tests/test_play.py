"""Player and Analysis, as whoever plays games uses them."""

import _thread
import copy
import threading
import time

import pytest

import playout as po
from playout import InputError
from tests.own import problems as own

GAMES = [po.TicTacToe(), po.MNK(5, 4, 3), po.ConnectFour(), po.Hex(4), po.Go(5, komi=0.5), po.Go(4, 3, ko="simple")]
BANDITS = [po.UCB1(), po.UCBTuned1(), po.UCBTuned2(), po.RAVE()]
STRATEGIES = [None, po.Tree(), po.Tree(virtual_loss=3), po.Tree(in_flight=True), po.Leaf(4), po.Root(3)]


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.describe())
@pytest.mark.parametrize("bandit", BANDITS, ids=lambda bandit: bandit.name)
def test_a_whole_game_is_played(game, bandit):
    player = po.Player(game, po.UCT(bandit), seed=1)
    for _ in range(200):
        if player.finished:
            break
        analysis = player.think(playouts=30)
        assert analysis.move in player.legal_moves()
        assert [one.move for one in analysis.moves[:1]] == [analysis.move] == list(analysis.principal_variation[:1])
        assert set(analysis.visits) == set(player.legal_moves())
        assert analysis.player == player.to_move
        player.play(analysis.move)
    score, detail = game.replay(player.moves)
    if player.finished:
        assert player.score == score
        assert player.winner == detail["winner"]
        over = player.think(seconds=1)
        assert (over.move, over.moves, over.playouts) == (None, (), 0)
        assert over.value is not None


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
@pytest.mark.parametrize("threads", [1, 3])
def test_every_simulation_is_counted(strategy, threads):
    with po.Player(po.ConnectFour(), po.UCT(early_stop=False), threads=threads, parallel=strategy) as player:
        analysis = player.think(playouts=1200)
        assert analysis.playouts == 1200 == analysis.simulations == sum(analysis.visits.values())
        assert analysis.nodes <= 1200 + 3
        player.play(analysis.move)
        kept = player.analysis().simulations
        assert 0 < kept < analysis.visits[analysis.move]
        assert player.think(playouts=600).simulations == kept + 600


@pytest.mark.parametrize("strategy", [None, po.Leaf(4), po.Root(3)], ids=str)
def test_the_same_seed_gives_the_same_analysis_on_any_number_of_threads(strategy):
    def think(threads, seed):
        player = po.Player(po.Hex(5), po.UCT(po.RAVE()), threads=threads, parallel=strategy, seed=seed)
        if strategy is None:
            player.parallel = None
        return player.think(playouts=900)

    one = think(1, 7)
    assert [think(1, 7).moves == one.moves, think(1, 8).moves == one.moves] == [True, False]
    if strategy is not None:
        assert think(2, 7).moves == think(5, 7).moves == one.moves


def test_trees_that_prove_the_result_are_the_same_on_any_number_of_threads():
    def think(threads):
        return po.Player(po.TicTacToe(), threads=threads, parallel=po.Root(4), seed=3).think(playouts=200_000)

    one = think(1)
    assert one.proven == "draw"
    assert one.playouts < 200_000
    assert think(2).moves == think(3).moves == one.moves


def test_a_win_in_one_is_found_and_proven():
    player = po.Player(po.TicTacToe())
    player.reset(["a1", "b1", "a2", "b2"])
    analysis = player.think(playouts=1000)
    assert (analysis.move, analysis.value, analysis.proven) == ("a3", 1.0, "win")
    assert analysis.playouts < 1000
    assert player.think(seconds=100).playouts == 0  # nothing is left to find
    assert "a proven win" in str(analysis)


def test_a_loss_is_seen():
    player = po.Player(po.TicTacToe())
    player.reset(["a1", "c1", "a3", "a2", "c3"])  # b3 and b2 both win for X
    analysis = player.think(playouts=2000)
    assert (analysis.value, analysis.proven, analysis.player) == (0.0, "loss", "O")


def test_without_the_solver_nothing_is_proven():
    analysis = po.Player(po.TicTacToe(), po.UCT(solver=False)).think(playouts=5000)
    assert analysis.proven is None
    assert all(one.proven is None for one in analysis.moves)


def test_a_forced_move_is_answered_at_once():
    player = po.Player(po.MNK(3, 1, 3))
    player.play("a1")
    player.play("b1")
    analysis = player.think(seconds=1000)
    assert analysis.move == "c1"
    assert analysis.playouts == player.least_playouts


def test_a_full_tree_goes_on_searching():
    player = po.Player(po.ConnectFour(), po.UCT(memory=1, early_stop=False))
    analysis = player.think(playouts=30_000)
    assert analysis.full
    assert analysis.memory <= analysis.most_memory <= 1 << 20
    assert analysis.simulations == 30_000
    assert analysis.nodes < 10_000
    assert 0.9 * analysis.nodes <= analysis.capacity <= 1.1 * analysis.nodes
    for _ in range(4):  # what a move leaves is room for more
        player.play(player.think(playouts=30_000).move)
    assert player.think(playouts=10_000).simulations >= 10_000


def test_a_table_of_4_gb_says_what_it_holds():
    analysis = po.Player(po.ConnectFour(), po.UCT(memory=4096)).think(playouts=1000)
    assert analysis.most_memory == pytest.approx(4 << 30, rel=0.01)
    assert 20e6 < analysis.capacity < 40e6


@pytest.mark.parametrize("bandit", [po.UCB1(), po.RAVE()], ids=lambda bandit: bandit.name)
def test_memory_a_node(bandit):
    analysis = po.Player(po.Hex(7), po.UCT(bandit, early_stop=False)).think(playouts=2000)
    an_action = 16 if bandit.name == "UCB1" else 32
    assert analysis.memory <= analysis.nodes * (64 + 49 * an_action)


def test_thinking_ends_early_once_the_decision_is_taken():
    player = po.Player(po.ConnectFour(), seed=1)
    player.reset([4, 1, 4, 1])
    one, all_of_it = (
        po.Player(po.ConnectFour(), po.UCT(early_stop=early, solver=False), seed=3) for early in (True, False)
    )
    for player in (one, all_of_it):
        player.reset([4, 1, 4, 1, 3])
    early, late = one.think(playouts=5000), all_of_it.think(playouts=5000)
    assert early.playouts < 5000 == late.playouts
    assert early.move == late.move
    visits = sorted(early.visits.values(), reverse=True)
    assert visits[0] - visits[1] > 5000 - early.playouts


@pytest.mark.parametrize("decision", ["visits", "value", "lower_bound"])
def test_decisions(decision):
    analysis = po.Player(po.ConnectFour(), po.UCT(decision=decision, solver=False), seed=2).think(playouts=3000)
    key = {
        "visits": lambda one: one.visits,
        "value": lambda one: one.value,
        "lower_bound": lambda one: one.value - one.visits**-0.5,
    }[decision]
    assert analysis.move == max(analysis.moves, key=key).move
    assert len(analysis.top(3)) == 3


def test_pondering():
    with po.Player(po.Hex(5), threads=2) as player:
        player.ponder()
        deadline = time.monotonic() + 60
        while player.analysis().simulations < 100 and time.monotonic() < deadline:
            time.sleep(0.01)
        first = player.analysis()
        assert first.simulations >= 100
        player.play(first.move)  # which ends it
        assert player.analysis().simulations > 0
        player.ponder()
        player.ponder()
        player.stop()
        assert player.think(playouts=10).playouts == 10
        player.ponder()


@pytest.mark.parametrize("threads", [1, 2])
def test_another_thread_may_stop_it(threads):
    player = po.Player(po.Hex(11), threads=threads)
    timer = threading.Timer(1.0, player.stop)
    timer.start()
    analysis = player.think(seconds=600)
    assert analysis.interrupted
    assert analysis.move is not None
    assert player.think(playouts=10).interrupted is False


def test_ctrl_c_returns_what_is_known():
    player = po.Player(po.Hex(11))
    timer = threading.Timer(1.0, _thread.interrupt_main)
    timer.start()
    assert player.think(seconds=600).interrupted


def test_watching_it_think():
    seen = []
    po.Player(po.Hex(9), po.UCT(early_stop=False)).think(seconds=2, on_event=seen.append)
    assert [one.simulations for one in seen] == sorted(one.simulations for one in seen)
    assert len(seen) >= 1

    def complain(analysis):
        raise RuntimeError("enough")

    player = po.Player(po.Hex(9))
    with pytest.raises(RuntimeError, match="enough"):
        player.think(seconds=600, on_event=complain)
    assert player.think(playouts=5).playouts == 5


def test_taking_back_and_beginning_anew():
    player = po.Player(po.ConnectFour())
    player.play(4)
    player.play(4)
    player.undo()
    assert player.moves == (4,)
    player.reset()
    assert (player.moves, player.to_move) == ((), "red")
    with pytest.raises(InputError, match="there is no move to take back"):
        player.undo()
    with pytest.raises(InputError, match="move 7, 4, is not legal there"):
        player.reset([4] * 7)
    assert player.moves == ()


def test_superko_is_minded_in_trees_and_graphs():
    for graph in (False, True):
        game = po.Go(2, 2, komi=0)
        player = po.Player(game, po.UCT(graph=graph, early_stop=False), seed=1)
        for _ in range(60):
            if player.finished:
                break
            analysis = player.think(playouts=200)
            assert set(analysis.visits) == set(player.legal_moves())
            player.play(analysis.move)
        game.replay(player.moves)


def test_graph_mode_shares_states():
    tree, graph = (
        po.Player(po.ConnectFour(), po.UCT(graph=graph, early_stop=False), seed=1).think(playouts=20_000)
        for graph in (False, True)
    )
    assert graph.nodes < 20_000  # one for every simulation, if none were shared
    assert graph.simulations == tree.simulations == 20_000


def opened(player, playouts):
    """The moves that a search of so many simulations has tried."""
    analysis = player.think(playouts=playouts)
    return {one.move for one in analysis.moves if one.visits}


def test_widening_considers_few_moves_at_first():
    search = po.UCT(po.RAVE(), widening=po.Widening(), early_stop=False)
    # t(k) = 0, 40, 112, 241.6, 474.9: four moves by 300
    assert len(opened(po.Player(po.Hex(7), search), 300)) == 4


def test_widening_opens_the_moves_with_the_greatest_bias():
    game = own.Take(11)  # the bias is for a move that leaves a multiple of four
    for bandit in (po.UCB1(), po.RAVE()):
        player = po.Player(game, po.UCT(bandit, widening=po.Widening(), solver=False, early_stop=False))
        assert opened(player, 39) == {3}


def test_widening_without_priors_goes_by_what_playouts_show():
    """The first move is drawn at random, the second is the one that has won most often wherever it was played."""
    bandit = po.RAVE(exploration=1.0)  # that tries what is opened
    search = po.UCT(bandit, widening=po.Widening(first=1000), solver=False, early_stop=False)
    firsts = set()
    for seed in range(8):
        player = po.Player(po.Hex(5), search, seed=seed)
        [first] = opened(player, 1000)
        firsts.add(first)
        closed = [one for one in player.analysis().moves if one.move != first]
        estimates = {one.move: one.amaf_value if one.amaf_visits else 0.5 for one in closed}
        [second] = opened(player, 1000) - {first}
        assert estimates[second] == max(estimates.values())
    assert len(firsts) > 3


@pytest.mark.parametrize("game", [po.Hex(5), po.Go(5, playouts="light"), po.ConnectFour()], ids=str)
def test_widening_with_nothing_to_go_by_is_refused(game):
    with pytest.raises(InputError, match="has no priors that say which these are, and UCBTuned1 counts no AMAF values"):
        po.Player(game, po.UCT(po.UCBTuned1(), widening=po.Widening()))


def test_first_play_urgency_leaves_moves_untried():
    analysis = po.Player(po.Hex(7), po.UCT(first_play=0.4, early_stop=False), seed=1).think(playouts=60)
    tried = [one for one in analysis.moves if one.visits]
    assert len(tried) < 49
    assert {one.value for one in analysis.moves if not one.visits} == {None}


WRONG = [
    (lambda: po.Player(po.SameGame.standard(1)), "is not a game for two players: playout.solve searches it"),
    (lambda: po.Player("go:9"), "game is 'go:9'; allowed are games such as"),
    (lambda: po.Player(po.Go), "allowed are games such as"),
    (lambda: po.Player(po.Hex(3), po.NRPA()), "a player needs UCT"),
    (lambda: po.Player(po.Hex(3), threads=0), "threads is 0"),
    (lambda: po.Player(po.Hex(3), seed=-1), "seed is -1"),
    (lambda: po.Player(po.Hex(3), parallel=po.Hybrid(2, 2)), "allowed are Tree"),
    (lambda: po.Player(po.Hex(3), parallel="tree"), "allowed are Tree"),
    (lambda: po.Player(po.Hex(3)).think(), "no budget: give seconds or playouts"),
    (lambda: po.Player(po.Hex(3)).think(playouts=0), "playouts is 0; allowed are whole numbers from 1"),
    (lambda: po.Player(po.Hex(3)).think(playouts=2.5), "playouts is 2.5"),
    (lambda: po.Player(po.Hex(3)).think(seconds=0), "seconds is 0; allowed are finite numbers greater than 0"),
    (lambda: po.Player(po.Hex(3)).think(seconds=float("nan")), "seconds is nan"),
    (lambda: po.Player(po.Hex(3), parallel=po.Root(8)).think(playouts=5), "playouts is 5, too few for Root"),
    (lambda: po.Player(po.Hex(3), parallel=po.Leaf(8)).think(playouts=5), "playouts is 5, too few for Leaf"),
    (lambda: po.Player(po.Hex(3)).play("z9"), "there is no move 'z9'"),
    (lambda: po.Player(po.Hex(3)).play(None), "there is no move None"),
    (lambda: po.Player(po.Hex(3), po.UCT(memory=5), parallel=po.Root(6)), "memory is 5 MB for 6 trees"),
    (lambda: po.UCT(memory=0), "memory is 0; allowed are whole numbers from 1 to 16,384"),
    (lambda: po.UCT(bandit="exp3"), "bandit is 'exp3'; allowed are ucb1"),
    (lambda: po.UCT(bandit=3), "bandit is 3; allowed are UCB1"),
    (lambda: po.UCT(widening=40), "widening is 40"),
    (lambda: po.UCT(expand_after=0), "expand_after is 0"),
    (lambda: po.UCT(graph=1), "graph is 1; allowed are True and False"),
    (lambda: po.UCT(decision="luck"), "decision is 'luck'"),
    (lambda: po.UCT(first_play=float("inf")), "first_play is inf"),
    (lambda: po.UCB1(-1), "exploration is -1"),
    (lambda: po.RAVE(k=0), "k is 0"),
    (lambda: po.RAVE(prior=-1), "prior is -1"),
    (lambda: po.Widening(growth=0.5), "growth is 0.5"),
    (lambda: po.Tree(virtual_loss=-1), "virtual_loss is -1"),
    (lambda: po.Tree(in_flight=1), "in_flight is 1"),
]


@pytest.mark.parametrize(("make", "message"), WRONG, ids=[message for _, message in WRONG])
def test_wrong_input_is_one_clear_line(make, message):
    with pytest.raises(InputError) as caught:
        make()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_illegal_moves_and_moves_after_the_end():
    player = po.Player(po.TicTacToe())
    player.play("a1")
    with pytest.raises(InputError, match="'a1' is not legal here; b1, c1, a2"):
        player.play("a1")
    assert player.moves == ("a1",)
    for move in ("b1", "a2", "b2", "a3"):
        player.play(move)
    with pytest.raises(InputError, match="'c3' cannot be played: the game is over"):
        player.play("c3")
    assert (player.finished, player.winner, player.score) == (True, "X", 1.0)


def test_how_they_show_themselves():
    player = po.Player(po.Hex(3), seed=1)
    analysis = player.think(playouts=100)
    assert repr(analysis).startswith(f"<Analysis red: {analysis.move}, ")
    assert len(repr(analysis)) < 200
    assert str(analysis).splitlines()[1].startswith(f"{analysis.move} ")
    assert player._repr_html_().startswith("<svg")
    assert "hex:3" in repr(player)


def test_settings_are_values():
    assert po.UCT("rave") == po.UCT(po.RAVE()) == copy.copy(po.UCT(bandit={"name": "RAVE"}))
