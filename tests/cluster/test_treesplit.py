"""One tree on several ranks: as the plain twin has it, every state in one place, every simulation counted once."""

import math
from pathlib import Path

import pytest

import playout as po
from playout import _core
from playout.cluster.ranks import RanksHere
from tests import program
from tests.own import problems as own
from tests.reference import games, treesplit
from tests.reference.engine import BANDITS, engine_settings, think
from tests.reference.rules import Board
from tests.reference.stream import fold
from tests.reference.uct import Settings


class KeyedHex(games.Hex):
    """With the engine's keys: they say which rank a state belongs to."""

    def key(self, state):
        key, side = 0, self.side
        for line in range(side):
            own = sum((state[line * side + i] == 1) << i for i in range(side))
            others = sum((state[i * side + line] == 2) << i for i in range(side))
            key = fold(key, own << 32 | others)
        return key


class KeyedConnectFour(games.ConnectFour):
    def key(self, state):
        key = 0
        for player in (1, 2):
            cells = [
                (i % self.width) * (self.height + 1) + i // self.width for i in range(len(state)) if state[i] == player
            ]
            key = fold(key, sum(1 << cell for cell in cells))
        return key


def in_turns(problem, plain, ranks, split=None, *, seed=0, network=0, delay=0.0, **more):
    settings = engine_settings(plain, **more)
    return _core.Forest(problem.engine(), settings, seed, _core.Network(ranks, delay, seed=network), ranks, cut(split))


def cut(split):
    """The engine's settings of a split tree, from the twin's."""
    out = _core.SplitSettings()
    for name, value in vars(split or treesplit.Split()).items():
        setattr(out, name, value)
    return out


def rows(forest):
    """The nodes of all ranks, as the twin has them."""

    def row(a):
        return a.visits, a.wins, a.amaf_visits, a.amaf_wins, a.bounds

    return sorted((node.key, node.visits, [row(a) for a in node.actions]) for node in forest.nodes())


@pytest.mark.parametrize("ranks", [1, 2, 3, 7])
@pytest.mark.parametrize("bandit", BANDITS)
def test_the_twin_has_the_same_nodes_on_all_ranks(bandit, ranks):
    """To the last visit of the last copy, also after a move that all ranks go on from."""
    for problem, plain in (
        (po.Hex(4), Board(KeyedHex(4))),
        (po.ConnectFour(5, 4), Board(KeyedConnectFour(5, 4))),
    ):
        for split in (treesplit.Split(4, 6, 3), treesplit.Split(0, 25, 2), treesplit.Split(10**9, 1, 5)):
            twin = treesplit.Ranks(plain, Settings(bandit), 5, ranks, split, network=3)
            engine = in_turns(problem, Settings(bandit), ranks, split, seed=5, network=3)
            for playouts in (250, 120)[: 2 if ranks < 3 else 1]:  # later the draws of the network differ
                twin.think(playouts)
                think(engine, playouts)
                assert engine.spent[0] == playouts == sum(rank.ended for rank in twin.ranks)
                assert rows(engine) == twin.rows()
                best = max(engine.report().actions, key=lambda action: action.visits).move
                engine.play(best)
                twin.play(best)


def check_whole(parts, ranks, copies=None):
    """Every state has one home, and every copy knows what its home knows; ``parts`` are the nodes of each rank."""
    homes = {}
    for rank, nodes in enumerate(parts):
        for node in nodes:
            if node.key % ranks == rank:
                assert node.key not in homes
                homes[node.key] = statistics(node)
    copied = [node for rank, nodes in enumerate(parts) for node in nodes if node.key % ranks != rank]
    assert all(homes[node.key] == statistics(node) for node in copied)
    if copies is not None:
        assert len(copied) == copies
    return homes


def statistics(node):
    return node.bounds, [(a.visits, a.wins, a.amaf_visits, a.amaf_wins, a.bounds) for a in node.actions]


GAMES = {
    "connect four": po.ConnectFour(),
    "go": po.Go(5, komi=0.5),
    "go, heavy": po.Go(7, komi=0.5, playouts="heavy"),
    "own": own.Take(40),
}


def ranks_here(problem, plain, count, share=None, network=None, seed=0, **more):
    return RanksHere(
        problem.engine(),
        engine_settings(plain, **more),
        seed,
        0,
        share or po.Treesplit(),
        count,
        **(network or {}),
    )


def think_here(trees, playouts, threads=1):
    trees.begin(playouts, threads)
    while not trees.wait(1.0):
        pass
    trees.stop()


@pytest.mark.parametrize("delay", [0.0, 3.0])
@pytest.mark.parametrize("ranks", [1, 2, 3, 7])
@pytest.mark.parametrize("game", GAMES)
def test_visits_add_up_and_each_state_has_one_home(game, ranks, delay):
    """In turns, messages of different ranks in any order and late, over several moves."""
    plain = Settings("rave", solver=False, expand_after=2)
    forest = in_turns(GAMES[game], plain, ranks, treesplit.Split(8, 20, 4), seed=2, network=4, delay=delay)
    seen = 0
    for _ in range(3):
        think(forest, 1500)
        report = forest.report()
        assert forest.spent[0] == 1500 == report.playouts
        assert report.visits == seen + 1500 == sum(action.visits for action in report.actions)
        assert forest.sharing.lost == 0
        homes = check_whole(tables(forest, ranks), ranks)
        assert len(homes) == report.nodes
        best = max(report.actions, key=lambda action: action.visits)
        forest.play(best.move)
        if not forest.legal_moves():
            break
        think(forest, 1)  # what the home knew of the new root is everybody's then
        seen = forest.report().visits


def tables(forest, ranks):
    """The nodes of each rank."""
    parts = [[] for _ in range(ranks)]
    for node in forest.nodes():
        parts[node.rank].append(node)
    return parts


@pytest.mark.parametrize("network", [{}, {"delay": 0.002, "bandwidth": 2e6}], ids=["at once", "slow"])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("count", [2, 5])
def test_visits_add_up_on_threads(count, threads, network):
    """Ranks with threads of their own, over a network in real time; also when the thinking is stopped."""
    trees = ranks_here(po.Hex(7), Settings("rave", solver=False), count, network=network)
    seen = 0
    for playouts in (3000, 10**9):
        trees.begin(playouts, threads)
        while not trees.wait(0.2) and playouts < 10**9:
            pass
        trees.stop()
        spent = trees.spent[0]
        assert spent == playouts or spent < 10**9
        assert spent > 0
        for forest in trees.forests:
            report = forest.report()
            assert report.visits == seen + spent == sum(action.visits for action in report.actions)
            assert report.playouts == spent
            assert report.complete
            assert forest.sharing.lost == 0
        check_whole([forest.nodes() for forest in trees.forests], count)
        seen += spent


def test_what_ranks_find_in_turns_is_always_the_same():
    """However a thinking is looked at; with a budget of playouts."""

    def found(look):
        with po.Player(po.Hex(7), po.UCT(po.RAVE()), share=po.Treesplit(), ranks=4, seed=3) as player:
            analyses = []
            for _ in range(2):
                analysis = player.think(playouts=3000, on_event=look)
                analyses.append([(one.move, one.visits, one.value, one.amaf_visits) for one in analysis.moves])
                player.play(analysis.move)
            return analyses

    assert found(None) == found(lambda analysis: None)


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_small_games_are_solved(count):
    """As by the sequential search; proofs go from rank to rank."""
    for game, moves, proven in (
        (po.TicTacToe(), [], "draw"),
        (po.ConnectFour(4, 4), [], "draw"),
        (own.Take(12), [], "win"),
        (po.ConnectFour(), [4, 1, 4, 1, 4, 2], "win"),
    ):
        alone = po.Player(game, po.UCT(graph=True))
        alone.reset(moves)
        assert alone.think(playouts=500_000).proven == proven
        forest = in_turns(game, Settings("ucb1"), count)
        forest.go_to(list(game.encode(moves)))
        think(forest, 500_000)
        report = forest.report()
        assert {"win": (2, 2), "draw": (1, 1)}[proven] == (
            report.bounds if not report.player else tuple(2 - x for x in report.bounds[::-1])
        )
        assert forest.spent[0] < 500_000
        assert report.visits == forest.spent[0]
        known = {}
        for node in forest.nodes():  # what is proven of a copy may be more: a state after it is there
            visits = [(one.visits, one.wins) for one in node.actions]
            assert known.setdefault(node.key, visits) == visits


def test_small_games_are_solved_on_threads():
    for count in (2, 4):
        with po.Player(po.TicTacToe(), share=po.Treesplit(), ranks=count, threads=2) as player:
            analysis = player.think(playouts=500_000)
            assert analysis.proven == "draw"
            assert analysis.playouts < 500_000


def test_duplicating_at_once_and_telling_at_the_end_is_slow_tree_parallelization():
    """Each rank goes its own way in copies, and what it learns is added up at the end."""
    ends = treesplit.Split(0, 2**31, 3)
    forest = in_turns(po.Hex(7), Settings("rave", solver=False), 4, ends, seed=1)
    think(forest, 4000)
    usual = in_turns(po.Hex(7), Settings("rave", solver=False), 4, seed=1)
    think(usual, 4000)
    nodes = [len(part) for part in tables(forest, 4)]
    homes = check_whole(tables(forest, 4), 4)
    passed = sum(1 for bounds, actions in homes.values() if sum(row[0] for row in actions))
    assert min(nodes) >= passed  # all of them hold every state that a simulation has selected at
    assert min(nodes) > 2 * max(len(part) for part in tables(usual, 4))
    assert forest.sharing.exchanges <= forest.sharing.nodes  # once, at the end


def test_never_duplicating_is_tree_parallelization():
    """Of all states but the first there is one node, and simulations go where it is."""
    forest = in_turns(po.Hex(7), Settings("ucb1", solver=False), 4, treesplit.Split(2**31, 1, 3), seed=1)
    think(forest, 4000)
    assert forest.sharing.nodes == 1
    check_whole(tables(forest, 4), 4, copies=3)
    usual = in_turns(po.Hex(7), Settings("ucb1", solver=False), 4, seed=1)
    think(usual, 4000)
    assert forest.sharing.told > usual.sharing.told


@pytest.mark.parametrize("bandit", ["ucb1", "rave"])
@pytest.mark.parametrize("count", [2, 3, 5])
def test_ranks_have_the_memory_of_all(bandit, count):
    """N tables of one size hold N times the states of one, within 5 %."""

    def held(ranks):
        forest = in_turns(po.Hex(9), Settings(bandit, solver=False), ranks, seed=1, memory=1 << 20)
        think(forest, 30_000 * ranks)
        report = forest.report()
        assert report.full
        assert report.bytes <= report.most_bytes <= ranks << 20
        assert report.visits == 30_000 * ranks
        check_whole(tables(forest, ranks), ranks)
        return report.nodes

    assert held(count) == pytest.approx(count * held(1), rel=0.05)


def test_a_full_tree_gives_back_what_the_game_has_left():
    """After moves: states that nothing has passed make room, on all ranks alike, and the search goes on in them."""
    count = 3
    forest = in_turns(po.Hex(9), Settings("rave", solver=False), count, seed=1, memory=1 << 20)
    for _ in range(6):
        think(forest, 20_000)
        report = forest.report()
        check_whole(tables(forest, count), count)
        full = report.bytes
        forest.play(max(report.actions, key=lambda action: action.visits).move)
        assert forest.report().bytes < full
        before = forest.report().visits
        think(forest, 100)
        assert forest.report().visits >= before + 100
    assert forest.sharing.lost == 0
    forest.go_to([])
    think(forest, 500)
    assert forest.report().visits == 500


# A network that moves when it is told, so that a rank can be late.


def late(game, plain, split=None):
    network = _core.Network(2, seed=1)
    settings = engine_settings(plain)
    return network, [_core.Forest(game.engine(), settings, 1, network.port(rank), cut(split)) for rank in (0, 1)]


def end(network, forests):
    for _ in range(1000):
        network.deliver()
        have_ended = [forest.finish(0.0) for forest in forests]
        if all(have_ended):
            return
    raise AssertionError("somebody still waits")


def test_a_silent_rank_keeps_nobody_from_stopping_and_loses_no_visit():
    """Simulations that travel when the other rank has gone on are taken back, everywhere."""
    network, (one, other) = late(po.Hex(5), Settings("rave", solver=False))
    one.begin(1000, 1)
    assert not one.wait(0.05)  # all that may be under way are on their way to the other
    one.stop()
    assert not one.finish(0.01)
    one.play(12)
    one.begin(300, 1)  # the next thinking, without the other
    other.begin(1000, 1)
    assert not other.wait(0.02)
    other.stop()
    assert not other.finish(0.0)
    other.play(12)
    other.begin(300, 1)
    while not (one.wait(0.001) and other.wait(0.001)):
        network.deliver()
    one.stop(), other.stop()
    end(network, (one, other))
    visits = {forest.report().visits for forest in (one, other)}
    assert len(visits) == 1
    assert min(visits) >= 600
    assert one.sharing.lost + other.sharing.lost > 0
    check_whole([one.nodes(), other.nodes()], 2)


def test_packages_of_another_game_are_counted_and_change_nothing():
    network, (one, other) = late(po.Hex(5), Settings("ucb1", solver=False))
    one.begin(500, 1), other.begin(500, 1)
    one.wait(0.02), other.wait(0.02)
    for forest in (one, other):
        forest.stop()
        forest.go_to([3])
    one.begin(200, 1), other.begin(200, 1)
    while not (one.wait(0.001) and other.wait(0.001)):
        network.deliver()
    one.stop(), other.stop()
    end(network, (one, other))
    assert [forest.report().visits for forest in (one, other)] == [400, 400]
    assert one.sharing.lost + other.sharing.lost > 0


def test_tables_of_ranks_must_be_equal():
    network = _core.Network(2, seed=1)
    split = cut(None)
    forests = [
        _core.Forest(po.Hex(5).engine(), engine_settings(Settings(), memory=size << 20), 1, network.port(rank), split)
        for rank, size in ((0, 4), (1, 8))
    ]
    for forest in forests:
        forest.begin(100, 1)
    with pytest.raises(ValueError, match=r"tables of ranks must be equal: \d+ bytes on rank \d, \d+ on rank \d"):
        network.deliver()
    for forest in forests:
        forest.stop()


def test_damaged_messages_are_refused():
    """Whatever comes from a network: an error, or nothing; and no crash."""
    refused = 0
    contents = (b"", b"\x01", b"\x01" * 30, b"\x01" + bytes(range(200)), b"\x01" + b"\xff" * 40)
    for kind in range(1, 7):
        for content in contents:
            network, (one, _) = late(po.Hex(5), Settings("rave"))
            one.begin(10**6, 1)
            network.port(1).send(0, kind, content)
            try:
                network.deliver()
                one.wait(0.1)
            except ValueError as error:
                assert "damaged" in str(error)
                refused += 1
            one.stop()
    assert refused > 20


# What users type.


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (dict(overload=0.5), "overload is 0.5"),
        (dict(overload=0), "overload is 0"),
        (dict(overload=math.nan), "overload is nan"),
        (dict(duplicate_after=-1), "duplicate_after is -1"),
        (dict(duplicate_after=1.5), "duplicate_after is 1.5"),
        (dict(sync_every=0), "sync_every is 0"),
        (dict(sync_every="often"), "sync_every is 'often'"),
    ],
)
def test_impossible_settings(settings, message):
    with pytest.raises(po.InputError, match=message.replace(".", r"\.")):
        po.Treesplit(**settings)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(ranks=1), "ranks is 1; there must be two at least"),
        (dict(ranks=2, parallel=po.Root(2)), r"parallel is Root"),
        (
            dict(ranks=2, parallel=po.Leaf(2)),
            r"parallel is Leaf\(.*the threads of a split tree work together as Tree\(\)",
        ),
        (dict(ranks=2, threads=2, parallel=po.Tree(virtual_loss=3)), r"parallel is Tree\(virtual_loss=3"),
        (
            dict(ranks=2, search=po.UCT(po.RAVE(), memory=1), game=po.Go(19)),
            "a table of 1024 kB on each of 2 ranks has no room for the 362 states after the root; at least .* kB",
        ),
    ],
)
def test_players_that_cannot_be(options, message):
    game = options.pop("game", po.Hex(5))
    with pytest.raises(po.InputError, match=message):
        po.Player(game, options.pop("search", None), share=po.Treesplit(), **options)


def test_ways_to_share_are_written_and_read():
    for share in (po.Treesplit(), po.Treesplit(None, None, 1.5)):
        assert po.share.from_json(po.share.to_json(share)) == share


@pytest.mark.parametrize("threads", [1, 2])
def test_a_player_thinks_ponders_plays_and_takes_back(threads):
    with po.Player(po.Hex(7), po.UCT(po.RAVE()), share=po.Treesplit(), ranks=3, threads=threads) as player:
        for _ in range(3):
            player.ponder()
            while player.analysis().simulations < 100:
                pass
            player.play(player.analysis().move)
        analysis = player.think(seconds=0.2, on_event=lambda analysis: None)
        assert analysis.simulations == sum(one.visits for one in analysis.moves)
        assert (analysis.ranks, analysis.disagreement) == (3, 0.0)
        assert "3 ranks" in analysis.summary()
        assert analysis.most_memory > 2 * analysis.nodes
        player.undo()
        assert player.think(playouts=90).simulations == 90
        assert player.sharing.nodes > 0
        assert 0 < player.sharing.load <= 1
        with pytest.raises(po.InputError, match="playouts is 2, too few"):
            player.think(playouts=2)


def test_thinking_ends_early_where_a_move_is_clear():
    for threads in (1, 2):
        with po.Player(
            po.ConnectFour(), po.UCT(po.UCB1(0.1), solver=False), share=po.Treesplit(), ranks=2, threads=threads
        ) as player:
            player.reset([4, 1, 4, 1, 4, 2])
            analysis = player.think(seconds=3)
        assert analysis.move == 4
        assert analysis.seconds < 3


SCORES = []


class Tires(own.Take):
    """Its scores raise, after a while."""

    compiled = False

    def score(self, s):
        SCORES.append(1)
        if len(SCORES) > 400:
            raise RuntimeError("tired")
        return 1 if s.turn else -1


@pytest.mark.parametrize("threads", [1, 2])
def test_a_game_of_a_user_that_fails_says_so_on_any_rank(threads):
    SCORES.clear()
    player = po.Player(Tires(20), po.UCT(solver=False), share=po.Treesplit(), ranks=3, threads=threads)
    with player, pytest.raises(RuntimeError, match="tired"):
        player.think(playouts=10_000)


@program.needs_compiler
@pytest.mark.slow("makes a million simulations, and under a sanitizer")
@pytest.mark.parametrize(
    ("simulations", "sanitizer"),
    [
        pytest.param(1_000_000, [], id="plain"),
        pytest.param(300_000, program.THREADS, id="tsan"),  # a million take five minutes
        pytest.param(1_000_000, program.ADDRESSES, id="asan"),
    ],
)
def test_a_million_simulations(simulations, sanitizer, tmp_path):
    program.run(Path(__file__).with_name("treesplit_test.cpp"), tmp_path, simulations, sanitizer=sanitizer)
