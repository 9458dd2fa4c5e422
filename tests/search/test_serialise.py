"""A search as bytes: it goes on from them as if nothing had been; damaged bytes are refused."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from playout import GNRPA, NMCS, NRPA, RAVE, UCT, SameGame, Widening
from tests.reference.tsptw import random_instance
from tests.search.test_nested import advance

TOUR = random_instance(10, seed=8, tightness=0.7, avoid_late=True)
GAME = SameGame.random(7, 7, 3, seed=2, tabu=1)
SEARCHES = [
    GNRPA(level=0),
    GNRPA(level=1, iterations=30),
    GNRPA(level=3, iterations=6),
    GNRPA(level=2, iterations=20, initial="bias", temperature=0.7),
    GNRPA(level=2, iterations=9, playouts_per_call=4, repetitions=1),
    NRPA(level=2, iterations=15, alpha=2.0),
    NMCS(level=0),
    NMCS(level=1),
    NMCS(level=3),
    GNRPA(level=3, iterations=6, improve=True),
    NRPA(level=2, iterations=9, playouts_per_call=4, repetitions=1, improve=True),
    UCT(),
    UCT(RAVE(), widening=Widening(first=3), expand_after=2),
]


def game_of(search):
    return TOUR if getattr(search, "improve", False) else GAME


@pytest.mark.parametrize("search", SEARCHES, ids=str)
@pytest.mark.parametrize("playouts", [0, 1, 7, 100])
def test_a_resumed_search_finds_what_an_uninterrupted_one_does(search, playouts):
    whole = advance(search.begin(game_of(search), 5), playouts)
    resumed = search.begin(game_of(search), 5)
    resumed.deserialise(whole.serialise())
    assert (resumed.playouts, resumed.score, resumed.moves) == (whole.playouts, whole.score, whole.moves)
    for _ in range(5):
        advance(whole, 60)
        advance(resumed, 60)
        assert (resumed.playouts, resumed.score, resumed.moves) == (whole.playouts, whole.score, whole.moves)
        assert resumed.serialise() == whole.serialise()


@pytest.mark.parametrize("search", [GNRPA(level=2, iterations=9), NMCS(level=2)], ids=str)
def test_a_search_that_began_from_a_start_resumes_too(search):
    """With a start that plays moves the selective policy leaves out."""
    free = advance(GNRPA(level=2).begin(GAME.with_options(tabu="none"), 1), 300)
    whole = search.begin(GAME, 5)
    whole.start_from(free.moves, 10)
    advance(whole, 20)
    resumed = search.begin(GAME, 5)
    resumed.deserialise(whole.serialise())
    assert advance(resumed, 500).serialise() == advance(whole, 500).serialise()


@settings(suppress_health_check=[HealthCheck.too_slow])
@pytest.mark.parametrize("search", [SEARCHES[2], SEARCHES[8], SEARCHES[9], SEARCHES[12]], ids=str)
@given(data=st.data())
def test_damaged_bytes_are_refused_or_harmless(search, data):
    """Cut short, or with a few bytes changed: ValueError, and the search is as it was; or it goes on without harm."""
    content = bytearray(advance(search.begin(game_of(search), 5), 50).serialise())
    assert_refused_or_harmless(content, search.begin(game_of(search), 5), data)


def assert_refused_or_harmless(content, reader, data):
    """Damage a state in some way and give it to a search of the same kind."""
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    else:
        for _ in range(data.draw(st.integers(1, 4))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    before = reader.serialise()
    try:
        reader.deserialise(bytes(content))
    except ValueError as error:
        assert str(error) == "the saved state of the search is damaged"
        assert reader.serialise() == before
    else:
        start = reader.playouts
        reader.advance(30)
        assert reader.playouts != start


def test_a_longer_file_is_damaged():
    content = GNRPA(level=1).begin(GAME, 5).serialise()
    with pytest.raises(ValueError, match="damaged"):
        GNRPA(level=1).begin(GAME, 5).deserialise(content + b"\0")
