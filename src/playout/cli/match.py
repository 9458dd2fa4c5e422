"""``playout match``: two players, many games, and which is stronger."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter
from rich.text import Text

from playout import match as run_match
from playout import terminal
from playout.cli.common import OUTPUT, app, print_json, print_parts, strictly_whole
from playout.errors import InputError, short
from playout.match.statistics import SPRT
from playout.match.table import match_view, result_table
from playout.stop import StopSignals

GAMES = Group("Games", sort_key=1)
END = Group("Who has won", sort_key=2)


@app.command
def match(
    one: str,
    other: str,
    /,
    *,
    games: Annotated[int, Parameter(group=GAMES, converter=strictly_whole)] = 100,
    size: Annotated[int, Parameter(group=GAMES, converter=strictly_whole)] = 9,
    komi: Annotated[float, Parameter(group=GAMES)] = 7.5,
    ko: Annotated[Literal["simple", "positional", "situational"], Parameter(group=GAMES)] = "positional",
    openings: Annotated[int, Parameter(group=GAMES, converter=strictly_whole)] = 2,
    seed: Annotated[int, Parameter(group=GAMES, converter=strictly_whole)] = 0,
    jobs: Annotated[int, Parameter(group=GAMES, converter=strictly_whole)] = 1,
    patience: Annotated[float, Parameter(group=GAMES)] = 60.0,
    max_moves: Annotated[int | None, Parameter(group=GAMES, converter=strictly_whole)] = None,
    judge: Annotated[str | None, Parameter(group=END)] = None,
    sprt: Annotated[str | None, Parameter(group=END)] = None,
    record: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
    sgf: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
    json: Annotated[bool, Parameter(group=OUTPUT, negative="")] = False,
    quiet: Annotated[bool, Parameter(group=OUTPUT, negative="")] = False,
) -> int:
    """Have two players play games of Go against each other, and say which is the stronger one.

    A player is a program that speaks the Go Text Protocol, as you would type it, or one of Playout's own:
    *playout:playouts=1000*. Colours alternate. Every move is checked; a program that dies, hangs, or plays what it may
    not has lost the game, and the match goes on.

    **Examples**

    - *playout match playout:playouts=1000 "gnugo --mode gtp --chinese-rules" --games 20*
    - *playout match playout:playouts=1000 playout:playouts=1000,policy=light --jobs 2*: two settings of our own
    - *playout match "A" "B" --judge "gnugo --mode gtp --chinese-rules --level 10" --sgf games*: another program scores
    - *playout match "A" "B" --games 1000 --record night.jsonl*: stop it when you like; the same command goes on
    - *playout match "A" "B" --games 5000 --sprt 0,20*: until it is clear whether A is 20 Elo stronger, or not at all

    Parameters
    ----------
    one
        The first player: a command line, or *playout:* and settings with commas between. These are playouts=1000 or
        seconds=1 for a move, policy=heavy|light, threads=2, parallel=tree|root|leaf, exploration=0.5, expand_after=4,
        bandit=rave|ucb1|ucbtuned1|ucbtuned2, graph=yes, memory=256, share=averaged|broadcast|treesplit with ranks=4,
        resign=0.1
        and name=NAME.
    other
        The other one.
    games
        How many; the first player is Black in the odd ones.
    size
        Of the board.
    komi
        Points for White.
    ko
        What may not come again: a position, one with the same player to move, or a ko that was just taken.
    openings
        Random moves that a game begins with. Two games, one with each colour, begin with the same.
    seed
        Of the openings and of Playout's own players.
    jobs
        Games at the same time. Players that think for a time take it from each other.
    patience
        Seconds that a program has for an answer.
    max_moves
        The longest game (3 times the points of the board).
    judge
        A program that scores games. Without it the players do, by *final_score*; where they disagree, the board counts
        as it stands.
    sprt
        A sequential test, as 0,50: stop as soon as it is clear whether the first player is 0 or 50 Elo stronger, each
        wrong in 5 % of matches. 0,50,0.01,0.01 for 1 %.
    record
        Keep the games in this file, a line each, and go on from it if it is there.
    sgf
        Write each game to this folder.
    json
        Print the result and all games as JSON on standard output, and nothing else there.
    quiet
        Show no progress.
    """
    test = None if sprt is None else _test(sprt)
    with StopSignals() as signals, match_view(terminal.plain_console(stderr=True), quiet) as show:
        result = run_match(
            one,
            other,
            games=games,
            size=size,
            komi=komi,
            ko=ko,
            openings=openings,
            seed=seed,
            jobs=jobs,
            judge=judge,
            record=record,
            sgf=sgf,
            patience=patience,
            max_moves=max_moves,
            sprt=test,
            on_event=lambda result: signals.repeat() or show(result),
        )
    if json:
        print_json(result.to_json())
    else:
        kept = [] if record is None else [f"The games are in {record}; the same command goes on from there."]
        print_parts(result_table(result, terminal.plain_console().width), *map(Text, [*result.notes(), *kept]))
    return 128 + signals.received if signals.received and result.interrupted else 0


def _test(text: str) -> SPRT:
    """Return the test that ELO0,ELO1 or ELO0,ELO1,ALPHA,BETA names."""
    try:
        numbers = [float(word) for word in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (2, 4):
        raise InputError(f"--sprt is {short(text)}; write it as 0,50 or 0,50,0.05,0.05")
    return SPRT(*numbers)
