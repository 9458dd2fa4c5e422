"""The referee: programs that do everything wrong have lost, and no more; who has won after passes."""

import time
from pathlib import Path

import pytest

import playout as po
from playout.match.seats import tidy_score
from tests.match.players import SMALL, WEAK, engine

# Programs that do something wrong


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["genmove=die"], "died at 'genmove black' with status 3 (no more of this)"),
        (["genmove=silent"], "closed its pipes at 'genmove black' and goes on"),
        (["genmove=garbage"], "answered 'genmove black' with 'Hello!', which is not GTP"),
        (["genmove=refuse"], "refused 'genmove black': 'no'"),
        (["genmove=Z99"], "answered 'genmove' with 'Z99'"),
        (["genmove=I1"], "answered 'genmove' with 'I1'"),
        (["genmove="], "answered 'genmove' with ''"),
        (["genmove=C3"], "played an illegal move: move 3, C3, is not legal there: there is a stone"),
        (["play=refuse"], "refused 'play white "),
        (["leave="], "died at 'play white "),
    ],
)
def test_a_program_that_does_wrong_has_lost(words, said):
    result = po.match(engine(*words), WEAK, games=2, openings=0, **SMALL)
    first, second = result.games
    assert first.result == "W+F"
    assert first.reason.startswith(f"black {said}")
    assert (second.result, second.failed) == ("B+F", "white")
    assert (result.losses, result.failures) == (2, (2, 0))
    assert "failed in 2 games" in str(result)


def test_what_hangs_is_ended_with_all_it_has_started(tmp_path):
    pid = tmp_path / "pid"
    result = po.match(WEAK, engine("genmove=hang", f"pid={pid}"), games=1, patience=2, **SMALL)
    assert result.games[0].result == "B+F"
    assert "white did not answer 'genmove white' in 2 s" in result.games[0].reason
    status = Path(f"/proc/{pid.read_text()}/stat")
    for _ in range(100):  # whoever inherits it may be slow to bury it
        if not status.exists() or " Z " in status.read_text():
            return
        time.sleep(0.1)
    pytest.fail("the child of a program that hung is still there")


def test_a_program_that_never_starts_ends_the_match_at_once(tmp_path):
    for command, said in (
        ("no-such-program --gtp", "did not start: no such program"),
        (str(tmp_path), "did not start"),
        (engine("boardsize=die"), "died at 'boardsize 5' with status 3"),
        (engine("boardsize=refuse"), "refused 'boardsize 5'"),
        (engine("komi=garbage"), "not GTP"),
        (engine("known_command=false"), "does not know 'genmove'"),
    ):
        with pytest.raises(po.InputError, match=said):
            po.match(WEAK, command, games=4, **SMALL)
    with pytest.raises(po.InputError, match="no-judge"):
        po.match(WEAK, WEAK, judge="no-judge", games=4, **SMALL)


def test_a_program_that_does_not_start_later_has_lost_those_games(tmp_path):
    """It runs when it is tried out, and never again."""
    result = po.match(engine(f"once={tmp_path / 'started'}"), WEAK, games=3, **SMALL)
    assert (result.losses, result.failures) == (3, (3, 0))
    assert "black died at 'boardsize 5' with status 1 (not again)" in result.games[0].reason


# Who has won


def passing(*words: str) -> str:
    return engine("genmove=pass", *words)


@pytest.mark.parametrize(
    ("one", "other", "judge", "result", "said"),
    [
        ("B+2", "B+3.0", None, "B+2", "the players agree"),
        ("0", "0", None, "0", "the players agree"),
        ("W+1.5", "B+3", None, "W+0.5", "black says W+1.5, white says B+3"),
        ("die", "B+3", None, "W+0.5", "black says nothing, white says B+3"),
        ("W+1.5", "W+1.5", "B+12.5 (upper bound)", "B+12.5", "the judge's score"),
        ("W+1.5", "W+1.5", "cannot say", "Void", "the judge answered 'final_score' with 'cannot say'"),
        ("W+1.5", "W+1.5", "die", "Void", "the judge died"),
    ],
)
def test_who_has_won(one, other, judge, result, said):
    judge = None if judge is None else engine(f"final_score={judge}")
    players = [passing(f"final_score={score}") for score in (one, other)]
    game = po.match(*players, games=1, openings=0, judge=judge, **SMALL).games[0]
    assert (game.moves, game.result) == (("pass", "pass"), result)
    assert said in game.reason
    assert game.score == {"B": 1.0, "W": 0.0, "0": 0.5, "V": None}[result[0]]


def test_a_game_that_goes_on_and_on_is_scored_by_a_judge_or_not_at_all():
    players = engine("genmove=resign"), WEAK
    assert po.match(*players, games=1, **SMALL).games[0].result == "W+R"
    endless = po.match(WEAK, passing("final_score=?"), games=2, max_moves=5, openings=4, **SMALL)
    assert [len(game.moves) for game in endless.games] == [5, 5]
    assert [game.result for game in endless.games] == ["Void", "Void"]
    assert (endless.counted, endless.voids, endless.win_rate, endless.elo) == (0, 2, None, None)
    assert "without a result" in str(endless)


def test_scores_as_programs_say_them():
    said = {"B+3.5": "B+3.5", "w+10.0": "W+10", "0": "0", "Jigo": "0", "B+0": "0", "W+2.5 (W wins)": "W+2.5"}
    assert {text: tidy_score(text) for text in said} == said
    assert [tidy_score(text) for text in ("", "?", "B", "B+", "B+R", "black wins", "B+99999999999")] == [None] * 7
