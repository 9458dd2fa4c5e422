"""Chunks: however a search is cut into them, wherever they run, it is the same search; damaged ones are refused."""

import json
import zlib
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import playout as po
from playout import GNRPA, Hybrid, InputError, Root, SameGame, envelope
from playout.cluster import travel
from playout.cluster.chunk import REPLY, REQUEST, Reply, Request, work
from playout.search import Wide

GAME = SameGame.standard(1)


def request(**changes) -> Request:
    usual = Request(
        name="test",
        problem=travel.pack(GAME),
        variant=0,
        search=GNRPA(level=2),
        wide=None,
        seed=5,
        job=0,
        start=None,
        adaptations=10,
        playouts=1000,
        target=None,
        seconds=60.0,
        threads=1,
        state=b"",
    )
    return replace(usual, **changes)


def done(asked: Request) -> Reply:
    reply = Reply.from_bytes(work(asked.to_bytes()))
    assert not reply.error, reply.error
    return reply


WIDE = [None, Wide(1, 3, "shared"), Wide(2, 2, "local"), Wide(2, 2, "local", True)]


@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.integers(1, 999), max_size=6), st.sampled_from(WIDE))
def test_a_search_in_chunks_is_the_search_in_one(ends, wide):
    whole = done(request(wide=wide))
    state = b""
    for end in sorted(ends):
        state = done(request(wide=wide, playouts=end, state=state)).state
    last = done(request(wide=wide, state=state, threads=2))
    assert (last.score, last.moves, last.playouts, last.state) == (whole.score, whole.moves, 1000, whole.state)


def test_chunks_are_the_jobs_of_one_machine():
    for parallel in (Root(3), Hybrid(3, 2)):
        here = po.solve(GAME, GNRPA(level=2), playouts=3000, parallel=parallel, seed=5)
        replies = [done(request(job=job, wide=parallel.wide)) for job in range(3)]
        best = max(replies, key=lambda reply: reply.score)
        assert (here.score, list(here.moves)) == (best.score, GAME.decode(best.moves))


def test_a_chunk_ends_in_time_or_at_its_target():
    short = done(request(playouts=2**40, seconds=0.2, search=GNRPA(level=4)))
    assert 0 < short.playouts < 2**40
    assert short.seconds >= 0.2
    found = done(request(playouts=2**40, target=short.history[0][2], search=GNRPA(level=4)))
    assert found.playouts <= short.playouts
    assert not found.stopped


def test_a_start_is_what_a_search_begins_with():
    start = po.solve(GAME, playouts=2000)
    reply = done(request(start=tuple(GAME.encode(start.moves)), playouts=1))
    assert reply.score >= start.score
    again = po.solve(GAME, GNRPA(level=2), playouts=500, start=start, seed=5)
    assert done(request(start=tuple(GAME.encode(start.moves)), playouts=500)).moves == tuple(GAME.encode(again.moves))


def resealed(asked: Request, content: bytes) -> bytes:
    header = json.loads(asked.to_bytes().partition(b"\n")[0])
    return envelope.seal(REQUEST, {key: header[key] for key in header if key not in ("format", "version")}, content)


def test_what_goes_wrong_is_in_the_reply():
    for wrong, kind, message in (
        (b"", "node", "it is damaged"),
        (request().to_bytes()[:-1], "node", "it is damaged"),
        (envelope.seal(REPLY, {}), "node", "written by version"),
        (envelope.seal(REQUEST, {}), "node", "it is not a chunk"),
        (resealed(request(), b""), "node", "its state is damaged"),
        (resealed(request(), zlib.compress(b"x")[:-1]), "node", "its state is damaged"),
        (resealed(request(), zlib.compress(b"x") + b"y"), "node", "its state is damaged"),
        (request(variant=3).to_bytes(), "input", "the problem has 1 variants"),
        (request(state=b"something").to_bytes(), "input", "damaged"),
    ):
        reply = Reply.from_bytes(work(wrong))
        assert reply.kind == kind
        assert message in reply.error


def test_a_chunk_of_another_version_is_refused():
    asked = request().to_bytes()
    line, _, rest = asked[:-32].partition(b"\n")
    header = json.loads(line)
    header.pop("format"), header.pop("version")
    other = envelope.seal(REQUEST, {**header, "version": "9.9"}, rest)
    assert 'written by version "9.9" of Playout' in Reply.from_bytes(work(other)).error


@settings(max_examples=200)
@given(st.data())
def test_any_other_header_is_refused_or_done(data):
    """With a digest that fits, whatever it says: an error in the reply, never another exception."""
    line = request(playouts=3).to_bytes()[:-32].partition(b"\n")[0]
    header = json.loads(line)
    header.pop("format"), header.pop("version")
    key = data.draw(st.sampled_from(sorted(header)))
    other = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(0, 3) | st.lists(st.integers())
    header[key] = data.draw(other | st.dictionaries(st.text(max_size=3), st.integers(), max_size=2))
    if key in ("playouts", "threads") and isinstance(header[key], int):
        header[key] %= 4
    header["seconds"] = min(header["seconds"], 0.2) if isinstance(header["seconds"], float) else header["seconds"]
    reply = Reply.from_bytes(work(envelope.seal(REQUEST, header, zlib.compress(b""))))
    assert reply.kind in ("", "node", "input"), reply.error


@given(st.data())
def test_any_other_reply_is_refused(data):
    line = Reply("here", 1, 2.0, (3,), ((0.1, 1, 2.0),)).to_bytes()[:-32].partition(b"\n")[0]
    header = json.loads(line)
    header.pop("format"), header.pop("version")
    key = data.draw(st.sampled_from(["playouts", "score", "moves", "history", "seconds"]))
    header[key] = data.draw(st.sampled_from([None, "x", {}, [[]], -1.5, ["a"]]))
    if (key, header[key]) != ("score", -1.5):
        with pytest.raises(InputError):
            Reply.from_bytes(envelope.seal(REPLY, header, zlib.compress(b"")))
