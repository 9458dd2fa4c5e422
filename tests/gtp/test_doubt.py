"""Time by self-assessment: where ranks agree on the move it takes less, where they do not, more; never too much."""

import math
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

import playout as po
from playout.clock import Clock
from playout.gtp import Engine, Settings
from playout.play import Analysis, Player

RANKS = {"share": po.Averaged(interval=math.inf), "ranks": 3}


def asked_for(monkeypatch, clock, doubt, **settings):
    """The seconds that an engine asks its player for, one move after another, if that share of its ranks disagrees."""
    asked, think, now = [], Player.think, [100.0]

    def recorded(player, *, seconds=None, playouts=None, on_event=None):
        asked.append(seconds)
        now[0] += seconds
        return replace(think(player, playouts=30), seconds=seconds)

    monkeypatch.setattr(Player, "think", recorded)
    monkeypatch.setattr("playout.gtp.engine.time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(Analysis, "disagreement", property(lambda analysis: doubt if analysis.ranks > 1 else 0.0))
    engine = Engine(Settings(size=5, threads=1, memory=16, **{**RANKS, **settings}))
    engine.set_clock(clock)
    engine.genmove("black", now[0])
    engine.close()
    monkeypatch.undo()
    return asked


def test_agreement_saves_time_and_doubt_spends_it(monkeypatch):
    clock = Clock.absolute(300)
    (sure,) = asked_for(monkeypatch, clock, 0.0)
    usual, more = asked_for(monkeypatch, clock, 2 / 3)
    assert usual == sure
    (planned,) = asked_for(monkeypatch, clock, 2 / 3, share=None, ranks=None)  # one rank thinks as it always has
    assert sure == pytest.approx(0.8 * planned)
    assert more == pytest.approx(2 / 3 * 1.2 * planned)
    assert planned < sure + more < 2 * planned


def test_doubt_spends_no_more_than_the_clock_allows(monkeypatch):
    for clock in (Clock.byoyomi(0, 5, 1), Clock.absolute(3), Clock.canadian(0, 5, 1)):
        assert sum(asked_for(monkeypatch, clock, 2 / 3)) <= clock.limit()


def test_a_time_for_each_move_is_no_longer_for_doubt(monkeypatch):
    assert sum(asked_for(monkeypatch, Clock.absolute(300), 2 / 3, seconds=1.0)) <= 1.0
    assert asked_for(monkeypatch, Clock(), 2 / 3, seconds=1.0) == [1.0]


def test_time_given_to_doubt_is_no_lag(monkeypatch):
    """Else the next moves would be hurried for it."""
    engine = Engine(Settings(size=5, threads=1, memory=16, **RANKS))
    monkeypatch.setattr(Analysis, "disagreement", property(lambda analysis: 2 / 3 if analysis.ranks > 1 else 0.0))
    said = []
    engine.note = said.append
    engine.set_clock(Clock.absolute(20))
    planned = engine._plan("black")
    engine.genmove("black", time.monotonic())
    assert any("67% of the ranks disagree" in line for line in said)
    assert engine.clocks["black"].left < 20 - planned
    assert engine._lag < engine._doubt
    engine.close()
