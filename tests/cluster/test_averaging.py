"""Trees of several ranks that share what they learn: as the plain twin does, every simulation counted exactly once."""

import math
from collections import Counter

import pytest

import playout as po
from playout import _core
from playout.cluster.ranks import RanksHere
from tests.own import problems as own
from tests.reference import averaging, games
from tests.reference.engine import BANDITS, engine_settings, tree_of
from tests.reference.rules import Board, GoBoard
from tests.reference.uct import Settings


def ranks(problem, plain, count, seed=0, width=0, others=None, network=None, broadcast=False, **share):
    settings = engine_settings(plain, **(others or {}))
    kind = po.Broadcast if broadcast else po.Averaged
    return RanksHere(problem.engine(), settings, seed, width, kind(**share), count, **(network or {}))


def think(trees, playouts, threads=1):
    trees.begin(playouts, threads)
    while not trees.wait(1.0):
        pass
    trees.stop()
    return trees


def rows(forest):
    return tree_of(forest.nodes())


@pytest.mark.parametrize("depth", [0, 1, 3])
@pytest.mark.parametrize("bandit", BANDITS)
def test_the_twin_has_the_same_trees(bandit, depth):
    """To the last visit of the last node, whatever is shared and whoever is faster."""
    for problem, plain in ((po.Hex(4), Board(games.Hex(4))), (po.ConnectFour(5, 4), Board(games.ConnectFour(5, 4)))):
        settings = Settings(bandit)
        twins = averaging.search(plain, settings, 5, ranks=3, playouts=70, every=20, depth=depth)
        engine = think(ranks(problem, settings, 3, 5, simulations=20, depth=depth, min_visits=1), 210)
        for twin, forest in zip(twins, engine.forests, strict=True):
            assert rows(forest) == twin.tree()


def test_the_twin_has_the_same_trees_of_go_with_superko():
    settings = Settings("rave", expand_after=2)
    plain = GoBoard(3, 3, komi=0.5)
    twins = averaging.search(plain, settings, 2, ranks=2, playouts=120, every=30, depth=2, least=5)
    engine = think(ranks(po.Go(3, komi=0.5), settings, 2, 2, simulations=30, depth=2, min_visits=5), 240)
    for twin, forest in zip(twins, engine.forests, strict=True):
        assert rows(forest) == twin.tree()


def check_level(trees, depth):
    """What any two ranks know of a state that is shared is the same."""
    known = [rows(forest) for forest in trees.forests]
    assert len({str(tree[()]) for tree in known}) == 1
    for path in {path for tree in known for path in tree if 0 < len(path) <= depth}:
        assert len({str(tree[path]) for tree in known if path in tree}) == 1


@pytest.mark.parametrize("graph", [False, True], ids=["tree", "graph"])
@pytest.mark.parametrize("network", [{}, {"delay": 0.003, "bandwidth": 1e6}], ids=["at once", "slow"])
@pytest.mark.parametrize("threads", [1, 3])
def test_visits_add_up_over_ranks_and_moves(threads, network, graph):
    """By the clock, on threads that share a tree, over a slow network: nothing is lost or counted twice."""
    plain = Settings("rave", graph=graph, solver=False)
    for depth in (0, 2):
        trees = ranks(po.Hex(5), plain, 4, 1, network=network, interval=0.01, depth=depth, min_visits=1)
        seen = 0
        for _ in range(3):
            think(trees, 4000, threads)
            assert trees.spent[0] == 4000
            report = trees.report()
            assert report.visits == seen + 4000 == sum(action.visits for action in report.actions)
            assert (report.playouts, report.ranks) == (4000, 4)
            assert sum(action.votes for action in report.actions) == 4
            if not graph:
                check_level(trees, depth)
            best = max(report.actions, key=lambda action: action.visits).move
            own = [rows(forest).get((best,), (0,))[0] for forest in trees.forests]
            trees.play(best)
            # What ranks knew of the next root: the same of all if it was shared, their own if not.
            seen = max(own) if depth else sum(own)


@pytest.mark.parametrize("share", [{"depth": 0}, {"depth": 2, "min_visits": 3}, {"broadcast": True}], ids=str)
def test_in_step_nothing_depends_on_the_clock(share):
    def found(network, threads, width=0):
        trees = ranks(po.Hex(5), Settings("rave"), 5, 3, width, network=network, simulations=24, **share)
        first = [rows(forest) for forest in think(trees, 611, threads).forests]
        trees.play(max(trees.report().actions, key=lambda action: action.visits).move)
        return first, [rows(forest) for forest in think(trees, 300, threads).forests]

    assert found({}, 1) == found({"delay": 0.001, "bandwidth": 1e5}, 1)
    assert found({}, 1, width=4) == found({}, 3, width=4)  # leaf parallelization inside a rank


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("graph", [False, True], ids=["tree", "graph"])
@pytest.mark.parametrize("bandit", ["ucb1", "rave"])
def test_broadcast_has_every_simulation_in_every_tree(bandit, graph, threads):
    plain = Settings(bandit, graph=graph, solver=False)
    trees = ranks(po.ConnectFour(6, 5), plain, 3, 1, broadcast=True, interval=0.005)
    seen = [0, 0, 0]
    for _ in range(3):
        think(trees, 3000, threads)
        reports = [forest.report() for forest in trees.forests]
        assert [report.visits - before for report, before in zip(reports, seen, strict=True)] == [3000] * 3
        if not any(seen):
            roots = [[(a.move, a.visits, a.wins, a.amaf_visits, a.amaf_wins) for a in one.actions] for one in reports]
            assert roots[0] == roots[1] == roots[2]
        assert [forest.sharing.heard % 2000 for forest in trees.forests] == [0, 0, 0]
        trees.play(max(reports[0].actions, key=lambda action: action.visits).move)
        # Whoever came first to a state did not count there: trees may be a step apart.
        seen = [forest.report().visits for forest in trees.forests]
        assert min(seen) > 0
        assert max(seen) - min(seen) < 10


def test_what_broadcast_tells_is_what_the_twin_of_one_tree_counts():
    """A rank that only listens has, of all that it heard, the statistics of the tree that told it."""
    plain = Settings("rave", solver=False)
    trees = ranks(po.Hex(4), plain, 2, 4, broadcast=True, interval=10)
    trees.begin(401, 1)  # 201 and 200
    while not trees.wait(1.0):
        pass
    trees.stop()
    reports = [forest.report() for forest in trees.forests]
    for action, other in zip(*(report.actions for report in reports), strict=True):
        assert (action.visits, action.wins, action.amaf_visits, action.amaf_wins) == (
            other.visits,
            other.wins,
            other.amaf_visits,
            other.amaf_wins,
        )
    heard = [forest.sharing.heard for forest in trees.forests]
    assert heard == [200, 201]


@pytest.mark.parametrize("share", [po.Averaged(simulations=20), po.Averaged(simulations=20, depth=2), po.Broadcast()])
@pytest.mark.parametrize("count", [2, 3, 7])
def test_ranks_decide_as_one_tree_does_where_a_move_is_clearly_best(count, share):
    """Equal simulations in all; the positions have one move that wins or saves the game."""
    for game, moves, best in (
        (po.ConnectFour(), [4, 1, 4, 1, 4], 4),  # three in a column: the other must stop it
        (po.ConnectFour(), [4, 1, 4, 1, 4, 2], 4),  # ... or did not
        (po.Go(5, komi=0.5), ["C3", "C2", "B2", "D2", "D3", "C1", "B1", "E2", "E3"], None),
    ):
        search = po.UCT(po.UCB1(0.5), solver=False, early_stop=False)
        with po.Player(game, search) as alone, po.Player(game, search, share=share, ranks=count) as player:
            for one in (alone, player):
                one.reset(moves)
            decision = alone.think(playouts=2100).move
            analysis = player.think(playouts=2100)
            assert analysis.move == decision
            assert best is None or decision == best
            assert analysis.simulations == analysis.playouts == 2100


def test_proofs_are_shared():
    """What one rank proves ends the search of all, by all ways to share."""
    for share in (po.Averaged(simulations=10), po.Averaged(interval=0.01), po.Broadcast(interval=0.01)):
        with po.Player(po.TicTacToe(), share=share, ranks=3) as player:
            analysis = player.think(playouts=100_000)
            assert analysis.proven == "draw"
            assert analysis.playouts < 100_000


def test_games_of_users_are_shared():
    for share in (po.Averaged(simulations=10, depth=2, min_visits=1), po.Broadcast(simulations=10)):
        with po.Player(own.Take(12), po.UCT(po.RAVE()), share=share, ranks=3) as player:
            analysis = player.think(playouts=6000)
            assert analysis.proven == "win"


def test_a_thinking_may_be_stopped_and_looked_at_any_time():
    with po.Player(po.Hex(7), po.UCT(po.RAVE()), share=po.Averaged(simulations=50), ranks=3) as player:
        for _ in range(5):
            player.ponder()
            while player.analysis().simulations < 100:
                pass
            player.play(player.analysis().move)
        analysis = player.think(seconds=0.3, on_event=lambda analysis: None)
        assert analysis.simulations == sum(one.visits for one in analysis.moves)
        player.undo()
        assert player.think(playouts=90).simulations == 90


def test_disagreement_is_the_share_of_ranks_that_would_play_otherwise():
    with po.Player(po.Hex(7), po.UCT(), share=po.Averaged(interval=math.inf), ranks=8) as player:
        analysis = player.think(playouts=800)
    votes = {one.move: one.votes for one in analysis.moves if one.votes}
    assert sum(votes.values()) == 8
    assert analysis.disagreement == 1 - max(votes.get(analysis.move, 0), 1) / 8
    assert analysis.disagreement > 0.5  # a hundred simulations of 49 moves
    with po.Player(po.ConnectFour(), share=po.Averaged(simulations=50), ranks=4) as player:
        player.reset([4, 1, 4, 1, 4, 2])
        assert player.think(playouts=2000).disagreement == 0.0


def test_votes_are_of_one_thinking():
    """With one simulation a rank these are the votes, whatever the ranks tried before at what is now the root."""
    trees = ranks(po.Hex(4), Settings(exploration=3.0, solver=False), 3, 1, simulations=1000)
    for _ in range(3):
        before = Counter()
        for forest in trees.forests:
            before.update({one.move: one.visits for one in forest.report().actions})
        actions = think(trees, 3).report().actions
        assert {one.move: one.votes for one in actions} == {one.move: one.visits - before[one.move] for one in actions}
        think(trees, 900)
        trees.play(max(trees.report().actions, key=lambda action: action.visits).move)


def test_players_that_broadcast_have_a_graph():
    """As the engine of Go has: a state that is reached in several ways is one node, whatever the search says."""
    with po.Player(po.Hex(4), po.UCT(solver=False), share=po.Broadcast(simulations=50), ranks=2) as player:
        assert player.search.graph
        player.think(playouts=2000)
        for forest in player._forest.forests:
            keys = [node.key for node in forest.nodes()]
            assert len(set(keys)) == len(keys) > 500


def test_memory_of_news_that_waits_and_full_trees():
    """A full tree adds no node; what others tell of nodes it lacks is kept within bounds, and roots are exact."""
    plain = Settings("rave", solver=False)
    small = {"memory": 1 << 20}
    trees = ranks(po.ConnectFour(), plain, 3, 1, others=small, interval=0.01, depth=20, min_visits=1)
    for _ in range(2):
        before = trees.report().visits
        think(trees, 60_000, 2)
        report = trees.report()
        assert report.full
        assert report.visits == before + 60_000
        check_level(trees, 0)


# A network that moves when it is told, so that a rank can be late.


def late(share, **more):
    """Two ranks and the network between them."""
    network = _core.Network(2, seed=1)
    settings = engine_settings(Settings("rave", solver=False))
    sharing = share.engine_settings()
    forests = [_core.Forest(po.Hex(5).engine(), settings, 1, 0, network.port(rank), sharing) for rank in (0, 1)]
    return network, forests


def search(forest, playouts):
    forest.begin(playouts, 1)
    while not forest.wait(1.0):
        pass
    forest.stop()


def level(network, forests):
    """Deliver everything, until all have heard all."""
    for _ in range(20):
        network.deliver()
        heard = [forest.finish(0.0) for forest in forests]
        if all(heard):
            return
    raise AssertionError("somebody still waits")


def best_of(forest):
    return max(forest.report().actions, key=lambda action: action.visits).move


def test_simulations_of_a_position_that_was_left_do_not_count():
    network, (one, other) = late(po.Broadcast())
    for forest in (one, other):
        search(forest, 300)
    move = best_of(one)
    assert not one.finish(0.0)  # nothing has come
    one.play(move)
    before = one.report().visits
    network.deliver()  # of the position before
    one.finish(0.0)
    assert one.report().visits == before
    assert one.sharing.lost > 0
    assert all(action.votes == 0 for action in one.report().actions)
    other.finish(0.0)
    other.play(move)
    for forest in (one, other):
        search(forest, 200)
    level(network, [one, other])
    assert one.report().visits == before + 400


def test_simulations_of_the_same_position_count_though_they_are_late():
    network, (one, other) = late(po.Broadcast())
    for _ in range(3):
        for forest in (one, other):
            search(forest, 100)
            forest.finish(0.0)
    level(network, [one, other])
    assert [forest.report().visits for forest in (one, other)] == [600, 600]


@pytest.mark.parametrize("share", [po.Averaged(interval=1e-9), po.Averaged(interval=math.inf)], ids=str)
def test_what_is_not_told_in_one_thinking_is_told_in_the_next(share):
    """Rounds of the first are still open when the second and the third begin and end."""
    network, (one, other) = late(share)
    for playouts in (2000, 3000, 1000):
        for forest in (one, other):
            search(forest, playouts)
            forest.finish(0.0)
    level(network, [one, other])
    assert [forest.report().visits for forest in (one, other)] == [12_000, 12_000]


@pytest.mark.parametrize("share", [po.Averaged(simulations=10), po.Broadcast(simulations=10)], ids=str)
def test_in_step_a_silent_rank_does_not_keep_another_from_stopping(share):
    _, (one, _) = late(share)
    for _ in range(3):
        one.begin(1000, 1)
        assert not one.wait(0.05)
        one.stop()
        assert not one.finish(0.0)
        one.play(best_of(one))


def test_a_thinking_that_cannot_begin_everywhere_is_an_error_and_no_hang(monkeypatch):
    with po.Player(po.Hex(5), share=po.Averaged(), ranks=3) as player:
        forests = player._forest.forests

        class Fails:
            def __init__(self, forest):
                self.forest = forest

            def begin(self, playouts, threads):
                raise _core.NoThreads("none left")

            def __getattr__(self, name):
                return getattr(self.forest, name)

        player._forest.forests = [forests[0], forests[1], Fails(forests[2])]
        with pytest.raises(po.InputError, match="cannot start so many threads"):
            player.think(playouts=100)
        with pytest.raises(po.InputError, match="a new player is needed"):
            player.think(playouts=100)


def test_thinking_ends_early_only_when_all_ranks_have_told():
    """Rank 0 alone may be sure; with everybody's word a clear move ends it before the time is up."""
    for interval, seconds, ends in ((0.02, 6.0, True), (math.inf, 0.5, False)):
        share = po.Averaged(interval=interval)
        with po.Player(po.ConnectFour(), po.UCT(po.UCB1(0.1), solver=False), share=share, ranks=2) as player:
            player.reset([4, 1, 4, 1, 4, 2])
            analysis = player.think(seconds=seconds)
        assert analysis.move == 4
        assert (analysis.seconds < seconds) == ends


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (dict(interval=-1e-9), "interval is -1e-09; allowed are finite numbers from 0"),
        (dict(interval=math.nan), "interval is nan"),
        (dict(interval=1, simulations=1), "give interval or simulations, not both"),
        (dict(simulations=0), "simulations is 0"),
        (dict(depth=-1), "depth is -1"),
        (dict(min_visits=-1), "min_visits is -1"),
        (dict(min_visits=-0.5), "min_visits is -0.5"),
        (dict(min_visits=2.5), "min_visits is 2.5"),
    ],
)
def test_impossible_settings(settings, message):
    with pytest.raises(po.InputError, match=message.replace(".", r"\.")):
        po.Averaged(**settings)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(share=po.Averaged(), ranks=1), "ranks is 1; there must be two at least"),
        (dict(share=po.Averaged(), ranks=1000), "ranks is 1000"),
        (dict(share="averaged", ranks=2), r"share is 'averaged'; allowed are Averaged"),
        (dict(ranks=2), "nothing says how they share"),
        (dict(share=po.Averaged(), ranks=2, parallel=po.Root(2)), r"parallel is Root\(\)"),
    ],
)
def test_players_that_cannot_be(options, message):
    with pytest.raises(po.InputError, match=message):
        po.Player(po.Hex(5), **options)


def test_each_rank_needs_a_playout():
    with po.Player(po.Hex(5), share=po.Averaged(), ranks=3) as player:
        with pytest.raises(po.InputError, match="playouts is 2, too few"):
            player.think(playouts=2)
        assert player.think(playouts=3).playouts == 3


def test_simulations_of_hours_are_not_kept_for_one_message():
    with pytest.raises(po.InputError, match="interval is inf; simulations pile up: at most 10 s are allowed"):
        po.Broadcast(interval=math.inf)


def test_what_sharing_costs_is_counted():
    with po.Player(po.Hex(5), po.UCT(po.RAVE()), share=po.Averaged(simulations=10), ranks=2) as player:
        player.think(playouts=200)
        sharing = player.sharing
    assert sharing.exchanges == 11
    assert sharing.nodes == 1
    assert sharing.told >= 100
    assert sharing.heard >= 100
    assert sharing.messages_sent == sharing.messages_received == sharing.exchanges
    assert sharing.bytes_sent > sharing.messages_sent
    assert sharing.seconds > 0
    with po.Player(po.Hex(5)) as player:
        assert player.sharing is None


def test_ways_to_share_are_written_and_read():
    for share in (po.Averaged(), po.Averaged(interval=math.inf), po.Averaged(depth=3, min_visits=10), po.Broadcast()):
        assert po.share.from_json(po.share.to_json(share)) == share
    for wrong in (None, {"name": "none"}, {"name": "averaged", "what": 1}):
        with pytest.raises(po.InputError, match="share"):
            po.share.from_json(wrong)
