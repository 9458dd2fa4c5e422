"""Playout's own players of a match: the engine of ``playout gtp`` without the protocol."""

import shlex
import threading

import pytest

import playout as po
from playout.match.process import Stopped
from playout.match.seats import OwnSeat, Rules, seed_of
from tests.gtp.others import gnugo_answers
from tests.gtp.talk import COMMAND, stones
from tests.match.players import SMALL, played

FIRST, SECOND = (po.Contestant(playouts=50, name=name) for name in ("first", "second"))
RULES = Rules(7, 18.5, "positional", 147, 60.0)


@pytest.mark.parametrize("policy", ["light", "heavy"])
@pytest.mark.parametrize("side", [0, 1])
def test_a_contestant_plays_what_playout_gtp_plays(side, policy):
    """The whole game, its end included, against the same opponent."""
    opponent = po.Contestant(playouts=40, policy="light", name="opponent")
    program = [*COMMAND, "--playouts", "120", f"--{policy}", "--seed", f"{seed_of(5, 1, side)}"]
    ours = po.Contestant(playouts=120, policy=policy), shlex.join(program)
    one, other = (po.match(*(us, opponent)[:: 1 - 2 * side], games=1, size=7, seed=5) for us in ours)
    assert one.games[0].moves == other.games[0].moves
    assert one.games[0].result == other.games[0].result
    assert len(one.games[0].moves) > 10


def final_score(moves: tuple[str, ...], gnugo: str) -> str:
    """What GNU Go says of a game of 7 x 7."""
    lines = ["boardsize 7", "clear_board", "komi 7.5"]
    lines += [f"play {'bw'[number % 2]} {move}" for number, move in enumerate(moves)]
    said = gnugo_answers(gnugo, [*lines, "final_score"], "--chinese-rules", "--level", "10")
    return said[-1].split()[1]


def test_games_come_to_an_end_and_gnu_go_scores_them_the_same(gnugo):
    result = po.match(FIRST, SECOND, games=8, jobs=2, size=7, seed=2)
    passed = [game for game in result.games if not game.result.endswith("+R")]
    assert len(passed) >= 4
    for game in passed:
        assert "the players agree" in game.reason
        assert len(game.moves) < 100
        assert final_score(game.moves, gnugo)[0] == game.result[0]


def test_dead_stones_do_not_count():
    """White's D6 is dead; as the board is Black is ahead by 16, without that stone by 21."""
    seat = OwnSeat(FIRST, 0, RULES, threading.Event(), 1)
    for line in stones(".X..XO. XX.OXOO XXXXXO. .XXXXOO XXXXXO. .XXXXOO XXXXXO.")[1:]:
        _, mover, vertex = line.split()
        seat.play("bw".index(mover), vertex)
    assert seat.engine.history.score() == -2.5
    assert seat.score() == "B+2.5"
    seat.close()


def test_the_rules_and_the_search_are_those_that_were_given():
    search = po.UCT(bandit=po.UCB1(0.7), memory=16, decision="value")
    player = po.Contestant(search, playouts=9, parallel=po.Root(3), threads=2, policy="light", resign=0.2)
    seat = OwnSeat(player, 0, Rules(5, 0.5, "situational", 75, 60.0), threading.Event(), 4)
    seat.choose()
    inside = seat.engine._player
    assert inside.game == po.Go(5, komi=0.5, ko="situational", playouts="light")
    assert (inside.search, inside.parallel, inside.threads, inside.seed) == (search, po.Root(3), 2, 4)
    assert seat.engine.settings.resign == 0.2
    seat.close()


def test_many_trees_are_no_obstacle_to_the_end_of_a_game():
    """The short searches before a pass have as many trees, and are the same again."""
    many = po.Contestant(po.UCT(memory=40), playouts=40, threads=2, parallel=po.Root(40), policy="light", name="many")
    first, again = (po.match(many, FIRST, games=2, seed=1, **SMALL) for _ in range(2))
    assert played(first) == played(again)
    assert first.counted == 2


def test_a_tree_is_small_unless_told_otherwise():
    assert FIRST.search.memory == po.Contestant.parse("playout:playouts=50").search.memory == 256
    assert po.Contestant.parse("playout:playouts=50,memory=2000").search.memory == 2000
    assert po.Contestant.parse("playout:playouts=50,name=first") == FIRST


@pytest.mark.parametrize("begun", [False, True])
def test_a_match_that_is_stopped_is_heard_of_at_once(begun):
    stopped = threading.Event()
    seat = OwnSeat(po.Contestant(seconds=3000), 0, RULES, stopped, 0)
    timer = threading.Timer(0.5 if begun else 0.0, stopped.set)
    timer.start()
    with pytest.raises(Stopped):
        seat.choose()
    timer.join()
    seat.close()
