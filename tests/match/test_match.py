"""Matches: real programs, programs that do everything wrong, and our own players; nothing that was played is lost."""

import io
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console

import playout as po
from playout.match.openings import openings
from playout.match.table import GameLines, LiveTable
from playout.stop import interrupt
from tests.match.players import SMALL, STRONG, WEAK, engine, played

# Openings


def test_openings_are_legal_and_never_the_same_twice():
    game = po.Go(9)
    first = list(itertools.islice(openings(game, 2, 7), 40))
    assert first == list(itertools.islice(openings(game, 2, 7), 40))
    assert first != list(itertools.islice(openings(game, 2, 8), 40))
    for opening in first:
        game.replay(opening)
        assert all(vertex[0] in "CDEFG" and vertex[1] in "34567" for vertex in opening)
    mirrored = [tuple(f"{'JHGFEDCBA'['ABCDEFGHJ'.index(v[0])]}{v[1]}" for v in opening) for opening in first]
    turned = [tuple(f"{'ABCDEFGHJ'[int(v[1]) - 1]}{'JHGFEDCBA'.index(v[0]) + 1}" for v in opening) for opening in first]
    for number in range(40):
        others = {*first[:number], *mirrored[:number], *turned[:number]}
        assert not others & {first[number], mirrored[number], turned[number]}


def test_openings_come_to_an_end_where_there_is_no_room():
    assert list(itertools.islice(openings(po.Go(9), 0, 1), 3)) == [(), (), ()]
    small = list(itertools.islice(openings(po.Go(2), 40, 1), 50))
    for opening in small:
        assert len(opening) >= 2
        po.Go(2).replay(opening)


# Our own players


def test_the_stronger_player_wins_and_every_move_is_legal():
    result = po.match(STRONG, WEAK, games=10, seed=3, **SMALL)
    assert result.wins >= 8
    assert result.wins + result.losses == result.counted == 10
    assert (result.failures, result.voids, result.interrupted) == ((0, 0), 0, False)
    assert result.interval[0] < result.win_rate <= result.interval[1]
    assert result.elo > 0
    for game in result.games:
        assert game.black == ("strong" if game.number % 2 else "weak")
        assert game.moves[:2] == game.opening == result.games[(game.number - 1) // 2 * 2].opening
        _, detail = po.Go(**{"width": 5, "komi": 0.5}).replay(game.moves)
        assert detail["finished"] or game.result.endswith("+R")
        if detail["finished"]:
            assert detail["winner"] == game.winner


def test_the_same_seed_is_the_same_match_whatever_the_jobs():
    alone = po.match(STRONG, WEAK, games=6, seed=1, **SMALL)
    together = po.match(STRONG, WEAK, games=6, seed=1, jobs=3, **SMALL)
    other = po.match(STRONG, WEAK, games=6, seed=2, **SMALL)
    assert played(alone) == played(together)
    assert played(alone) != played(other)
    assert len({game.moves for game in alone.games}) == 6


def test_a_name_with_settings_is_a_player():
    named = po.Contestant.parse("playout:playouts=150,policy=light,memory=16,expand_after=1,bandit=ucb1,name=strong")
    assert named == STRONG
    assert po.Contestant.parse("playout:seconds=1,threads=2,parallel=root").parallel == po.Root(2)
    assert po.Contestant(playouts=1000).title() == "playout RAVE 1,000 playouts"


@pytest.mark.parametrize(
    ("player", "said"),
    [
        ("playout:", "no budget"),
        ("playout:playouts=0", "playouts is 0"),
        ("playout:playouts=many", "playouts is 'many'"),
        ("playout:speed=2", "'speed=2' is no setting"),
        ("playout:playouts=2,policy=clever", "policy is 'clever'"),
        ("", "not a command line"),
        ("gnugo 'half", "not a command line"),
        (7, "7 cannot play"),
    ],
)
def test_what_cannot_play_is_refused(player, said):
    with pytest.raises(po.InputError, match=said):
        po.match(player, WEAK, games=2)


@pytest.mark.parametrize(
    "settings",
    [dict(games=0), dict(size=1), dict(openings=-1), dict(jobs=0), dict(patience=0), dict(ko="none"), dict(sprt=5)],
)
def test_impossible_settings_are_refused(settings):
    with pytest.raises(po.InputError, match=next(iter(settings))):
        po.match(WEAK, WEAK, **settings)


# The record


def test_a_match_goes_on_from_its_record(tmp_path):
    whole = po.match(STRONG, WEAK, games=6, **SMALL)
    record = tmp_path / "match.jsonl"
    part = po.match(STRONG, WEAK, games=3, record=record, **SMALL)
    assert played(part) == played(whole)[:3]
    with open(record, "a") as file:
        file.write('{"number": 4, "bla')
    with pytest.warns(RuntimeWarning, match="half-written"):
        rest = po.match(STRONG, WEAK, games=6, record=record, jobs=2, **SMALL)
    assert played(rest) == played(whole)
    assert rest.games[:3] == part.games
    assert len(record.read_text().splitlines()) == 7
    assert po.match(STRONG, WEAK, games=6, record=record, **SMALL).games == rest.games
    assert po.match(STRONG, WEAK, games=2, record=record, **SMALL).games == rest.games[:2]


def test_the_record_of_something_else_is_left_alone(tmp_path):
    record = tmp_path / "match.jsonl"
    po.match(WEAK, WEAK, games=1, record=record, **SMALL)
    kept = record.read_text()
    with pytest.raises(po.InputError, match="record of another match, with seed 0, not 1"):
        po.match(WEAK, WEAK, games=1, record=record, seed=1, **SMALL)
    assert record.read_text() == kept
    header, game = kept.splitlines()
    for content, said in (
        ("Dear diary", "is not the record of a match"),
        ("Dear diary\n", "is not the record of a match"),
        ("[]\n", "is not the record of a match"),
        (f"{header}\n[\n", "line 2 is not JSON"),
        (f"{header}\n[]\n", "line 2: is not a game"),
        (f"{header}\n{json.dumps({**json.loads(game), 'result': 'B+'})}\n", "line 2: result is 'B\\+'"),
        (f"{header}\n{json.dumps({**json.loads(game), 'moves': 7})}\n", "line 2: moves is 7"),
    ):
        record.write_text(content)
        with pytest.raises(po.InputError, match=said):
            po.match(WEAK, WEAK, games=2, record=record, **SMALL)
        assert record.read_text() == content


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "playout", "match", *map(str, words)]


OWN = ("playout:playouts=20,policy=light,memory=16", "playout:playouts=10,policy=light,memory=16")


def begun(words: list[str], record: Path) -> "subprocess.Popen[str]":
    """Start a match that is long, and wait for its first games."""
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 120
    while not record.exists() or record.read_text().count("\n") < 4:
        assert time.monotonic() < end
        assert process.poll() is None
        time.sleep(0.02)
    return process


def test_what_was_played_before_a_kill_is_kept(tmp_path):
    record = tmp_path / "match.jsonl"
    with begun(command(*OWN, "--games", 5000, "--size", 5, "--jobs", 2, "--record", record), record) as process:
        process.kill()
        process.communicate(timeout=60)
    kept = [json.loads(line)["number"] for line in record.read_text().splitlines()[1:]]
    assert len(kept) >= 3
    whole = po.match(*OWN, games=6, size=5)
    rest = po.match(*OWN, games=6, size=5, record=record)
    assert played(rest) == played(whole)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_match_with_the_games_so_far(number, status, tmp_path):
    record = tmp_path / "match.jsonl"
    with begun(
        command(*OWN, "--games", 5000, "--size", 5, "--jobs", 2, "--record", record, "--json"), record
    ) as process:
        process.send_signal(number)
        output, errors = process.communicate(timeout=60)
    assert process.returncode == status
    assert "Traceback" not in errors
    result = json.loads(output)
    assert result["interrupted"]
    assert 3 <= len(result["games"]) == record.read_text().count("\n") - 1


def test_an_interrupted_match_returns_what_there_is():
    def stop(result: po.MatchResult) -> None:
        if len(result.games) >= 2:
            interrupt()

    slow = engine("genmove=pass")
    result = po.match(slow, WEAK, games=1000, on_event=stop, **SMALL)
    assert result.interrupted
    assert 2 <= len(result.games) < 1000
    assert f"Stopped after {len(result.games)} of 1,000 games" in str(result)


def test_an_interrupt_reaches_a_program_that_hangs(tmp_path):
    def stop(result: po.MatchResult) -> None:
        if result.seconds > 1:
            interrupt()

    hung = engine("genmove=hang", f"pid={tmp_path / 'pid'}")
    result = po.match(hung, WEAK, games=4, patience=600, on_event=stop, **SMALL)
    assert (result.interrupted, result.games) == (True, ())


def test_an_exception_of_the_caller_ends_the_match_and_keeps_what_has_ended(tmp_path):
    seen = []

    def fail(result: po.MatchResult) -> None:
        if result.games:
            seen.extend(result.games)
            time.sleep(2)  # the games under way end meanwhile
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        po.match(WEAK, WEAK, games=1000, jobs=2, on_event=fail, record=tmp_path / "match.jsonl", **SMALL)
    lines = (tmp_path / "match.jsonl").read_text().splitlines()
    assert len(lines) - 1 == len(seen) + 2


# The sequential test


def test_a_test_ends_a_match_early():
    result = po.match(STRONG, engine("genmove=resign"), games=500, jobs=2, sprt=po.SPRT(0, 400), **SMALL)
    assert result.sprt.accepted == "H1"
    assert 2 * result.sprt.pairs <= len(result.games) < 50
    assert not result.interrupted
    assert "H1 (+400 Elo) accepted" in str(result)


def test_who_is_faster_changes_nothing_of_a_test():
    """Only whole pairs count, up to the first that is missing."""
    result = po.match(STRONG, WEAK, games=8, sprt=po.SPRT(0, 10), **SMALL)
    games = [game for game in result.games if game.number not in (6,)]
    part = po.MatchResult(result.one, result.other, {}, 8, tuple(games), test=result.test)
    assert (result.sprt.pairs, part.sprt.pairs) == (4, 2)


# Real programs, and how it all looks


def test_gnu_go_plays_us_and_judges(gnugo, tmp_path):
    program = f"{gnugo} --mode gtp --chinese-rules --level 0 --seed 1"
    events = []
    result = po.match(
        program,
        WEAK,
        games=4,
        jobs=2,
        size=7,
        judge=program,
        sgf=tmp_path / "games",
        on_event=events.append,
    )
    assert (result.one, result.failures, result.voids) == ("gnugo", (0, 0), 0)
    assert result.wins >= 2  # against two random playouts a move
    assert [game.black for game in result.games] == ["gnugo", "weak"] * 2
    assert len(events[-1].games) == 4
    for game in result.games:
        record = po.load_sgf(tmp_path / "games" / f"{game.number:05}.sgf")
        assert (record.black, record.white, record.result, record.moves) == (
            game.black,
            game.white,
            game.result,
            game.moves,
        )


def test_gnu_go_agrees_with_itself(gnugo):
    program = f"{gnugo} --mode gtp --chinese-rules --level 0 --seed"
    result = po.match(f"{program} 1", f"{program} 2", games=2, size=5, openings=2)
    assert all("resigned" in game.reason or "agree" in game.reason for game in result.games)
    assert result.one.endswith("--seed 1")
    assert result.other.endswith("--seed 2")


def test_the_table(tmp_path):
    result = po.match(STRONG, WEAK, games=2, **SMALL)
    assert result.to_markdown().startswith("|  | games | won | lost | drawn | win rate | Elo |\n|---|---:|")
    assert "strong against weak." in result.to_markdown()
    assert "strong against weak" in repr(result)
    json.dumps(result.to_json(), allow_nan=False)
    out = io.StringIO()
    console = Console(file=out, width=150)
    lines, live = GameLines(console), LiveTable(150)
    empty = po.MatchResult("strong", "weak", {}, 2)
    for event in (empty, result, result):
        lines(event)
        console.print(live.render(event))
    text = out.getvalue()
    assert text.count("2/2  strong") == 2
    assert "0 of 2 games" in text
    assert "game 2: weak - strong" in text


def test_the_command_line(tmp_path):
    words = command(engine("genmove=resign"), OWN[0], "--games", 4, "--size", 5, "--sgf", tmp_path / "games")
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, env={**os.environ, "COLUMNS": "150"})
    assert done.returncode == 0
    assert "0.0% (0.0-49.0)" in done.stdout
    assert "4/4" in done.stderr
    assert len(list((tmp_path / "games").iterdir())) == 4


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*OWN, "--sprt", "0"), "--sprt is '0'; write it as 0,50"),
        ((*OWN, "--sprt", "50,0"), "elo0 has to be the smaller one"),
        ((OWN[0], "no-such-program"), "'no-such-program' did not start: no such program"),
        ((*OWN, "--sgf", "/dev/null/games"), "cannot make the folder"),
    ],
)
def test_mistakes_are_one_line(words, said):
    done = subprocess.run(command(*words), capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("playout: ")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_ranks_that_share_play_a_match(tmp_path):
    """By name and by settings; a record of players without ranks is as it always was."""
    share = po.Averaged(simulations=10)
    one = po.Contestant(playouts=40, policy="light", share=share, ranks=2)
    result = po.match(one, "playout:playouts=40,policy=light,share=broadcast,ranks=3", games=2, size=5)
    assert len(result.games) == 2
    assert one.title() == "playout RAVE light 40 playouts 2 ranks"
    assert one.to_json()["share"] == {**po.share.to_json(share)}
    assert "share" not in po.Contestant(playouts=40).to_json()
    for wrong, message in (
        ({"share": share}, "needs ranks, all in this process"),
        ({"ranks": 2}, r"share is None; allowed are Averaged"),
        ({"share": share, "ranks": 1}, "ranks is 1; there must be two at least"),
    ):
        with pytest.raises(po.InputError, match=message):
            po.Contestant(playouts=40, **wrong)
