"""The clock: no game is lost on time, by a referee who counts in another way, though every move is late."""

import math
from dataclasses import dataclass, replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from playout import InputError
from playout.clock import A_MOVE, MARGIN, Clock


@dataclass
class Referee:
    """Counts tenths of a millisecond, one rule after the other."""

    kind: str
    main: int
    period: int = 0
    count: int = 0
    lost: bool = False

    def __post_init__(self):
        self.in_period, self.left = self.period, self.count

    def move(self, seconds):
        ticks = round(seconds * 10_000)
        used = min(ticks, self.main)
        self.main -= used
        ticks -= used
        if ticks == 0 and (self.main > 0 or used > 0):
            return
        if self.kind == "absolute":
            self.lost |= ticks > 0
        elif self.kind == "canadian":
            self.in_period -= ticks
            self.left -= 1
            self.lost |= self.in_period < 0
            if self.left == 0:
                self.in_period, self.left = self.period, self.count
        else:
            while ticks > self.period and self.left:
                ticks -= self.period
                self.left -= 1
            self.lost |= self.left == 0


def clock_and_referee(kind, main, period, count):
    if kind == "absolute":
        return Clock.absolute(main), Referee(kind, main * 10_000)
    make = Clock.byoyomi if kind == "byoyomi" else Clock.canadian
    return make(main, period, count), Referee(kind, main * 10_000, period * 10_000, count)


SETTINGS = [
    ("absolute", 60, 0, 0),
    ("absolute", 600, 0, 0),
    ("byoyomi", 60, 10, 3),
    ("byoyomi", 0, 5, 1),
    ("byoyomi", 0, 1, 1),
    ("canadian", 30, 30, 10),
    ("canadian", 0, 60, 25),
    ("canadian", 0, 2, 1),
]


def test_a_move_that_ends_with_the_main_time_may_be_a_stone_or_not():
    """A referee who rounds may see it otherwise: time is planned for both, until the referee says what is left."""
    for seconds in (29.9999, 30.0, 30.0001):
        clock = Clock.canadian(30, 30, 10).after(seconds)
        assert {clock.count_left, clock.instead.count_left} == {10, 9}
        for _ in range(8):
            clock = clock.after(1.0)
        assert clock.instead.count_left == 1
        assert clock.budget(20) == min(replace(clock, instead=None).budget(20), clock.instead.budget(20))
        assert clock.limit() == min(replace(clock, instead=None).limit(), clock.instead.limit())
        clock = clock.after(10.0)
        assert (clock.count_left, clock.left, clock.instead.count_left) == (1, pytest.approx(12.0), 10)
        assert clock.budget(20) == clock.instead.budget(20) < 3 < replace(clock, instead=None).budget(20)
        assert clock.told(20, 5).instead is None
    assert Clock.canadian(30, 30, 10).after(30.01).instead is None


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@example(late=[0.18675696788851553], quick=1, told=False)
@given(late=st.lists(st.floats(0, 0.45), min_size=1, max_size=20), quick=st.integers(1, 10), told=st.booleans())
def test_no_game_is_lost_though_every_move_is_late(setting, late, quick, told):
    clock, referee = clock_and_referee(*setting)
    lag = 0.0
    for move in range(60):
        planned = clock.budget(max(18, 30 - move * 3 // 4), lag)
        took = (planned if move % quick == 0 else planned / 2) + late[move % len(late)]
        lag = max(0.8 * lag, took - planned)
        clock = clock.after(took)
        referee.move(took)
        assert not referee.lost
        assert not clock.lost
        if told and setting[0] != "byoyomi":
            counts = (referee.main / 10_000, 0) if referee.main else (referee.in_period / 10_000, referee.left)
            clock = clock.told(*counts)


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@given(st.lists(st.integers(0, 40).map(lambda seconds: seconds + 0.01), max_size=30))  # none ends a period
def test_its_own_count_is_the_referees(setting, moves):
    clock, referee = clock_and_referee(*setting)
    for seconds in moves:
        clock = clock.after(seconds)
        referee.move(seconds)
        assert clock.lost == referee.lost
        if clock.lost:
            return
        if not clock.overtime:
            assert clock.left == pytest.approx(referee.main / 10_000, abs=1e-3)
        elif setting[0] == "canadian":
            assert (clock.count_left, clock.left) == (referee.left, pytest.approx(referee.in_period / 10_000, abs=1e-3))
        else:
            assert clock.count_left == referee.left


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_most_of_the_time_is_used(setting):
    clock, _ = clock_and_referee(*setting)
    spent, moves = 0.0, 60
    for move in range(moves):
        planned = clock.budget(max(18, 30 - move * 3 // 4))
        spent += planned
        clock = clock.after(planned)
    kind, main, period, count = setting
    overtime = 0 if kind == "absolute" else (period if kind == "byoyomi" else period / count) - 0.6
    assert spent >= 0.8 * main + 0.5 * max(0, overtime) * moves


def test_without_a_limit_there_is_no_budget():
    assert Clock().budget(30) is None
    assert Clock().after(1e6) == Clock()
    assert Clock().told(0, 0) == Clock()


def test_no_time_at_all_is_a_budget_of_nothing():
    for clock in (Clock.absolute(0), Clock.absolute(MARGIN), Clock.byoyomi(0, 0.3, 5), Clock.canadian(0, 0.5, 10)):
        assert clock.budget(30) == 0
        assert clock.budget(30, lag=5) == 0
    assert Clock.absolute(0).after(0.1).lost
    assert Clock.absolute(0.1).after(0.2).after(0.1).lost


def test_byoyomi_gives_a_move_its_period_and_main_time_on_top():
    clock = Clock.byoyomi(60, 10, 3)
    assert 10 < clock.budget(30) < 13
    assert 9 < Clock.byoyomi(0, 10, 3).budget(30) < 10 - MARGIN
    clock = clock.after(65)
    assert (clock.overtime, clock.count_left, clock.left) == (True, 3, 10)
    assert clock.after(25).count_left == 1
    assert clock.after(31).lost
    assert clock.told(7, 2).count_left == 2
    assert clock.told(7, 2).budget(30) < 7 - MARGIN
    assert clock.told(30, 0).overtime is False


def test_canadian_shares_a_period_among_its_stones():
    clock = Clock.canadian(0, 60, 20)
    assert 2 < clock.budget(1) < 3
    for _ in range(20):
        clock = clock.after(1.0)
    assert (clock.left, clock.count_left) == (60, 20)
    assert clock.told(5, 10).budget(99) < 0.5
    assert clock.told(0, 0) == clock


def test_what_a_referee_tells_is_believed_without_settings():
    assert Clock().told(100, 0) == Clock.absolute(100)
    assert 4 < Clock().told(50, 10).budget(30) < 5
    assert 4 < Clock.absolute(10).told(50, 10).budget(30) < 5
    assert Clock().told(0, 5).budget(30) == 0
    assert not Clock.absolute(1).after(2).told(5, 0).lost


def test_overtime_without_time_or_stones_is_none():
    assert Clock.canadian(10, 0, 5) == Clock.byoyomi(10, 5, 0) == Clock.absolute(10)


@pytest.mark.parametrize("wrong", [-1, math.nan, math.inf, "10"])
def test_wrong_times_are_refused(wrong):
    for make in (lambda: Clock.absolute(wrong), lambda: Clock().told(wrong, 0), lambda: Clock.canadian(1, wrong, 1)):
        with pytest.raises(InputError, match="seconds is"):
            make()
    with pytest.raises(InputError, match="count is -1"):
        Clock.canadian(1, 1, -1)


def test_the_most_that_a_move_may_take():
    assert Clock().limit() is None
    assert Clock.absolute(10).limit() == pytest.approx(10 - MARGIN - A_MOVE)
    assert Clock.absolute(10).limit(lag=2.0) == pytest.approx(8 - MARGIN - A_MOVE)
    assert Clock.absolute(0.1).limit() == 0.0
    assert Clock.byoyomi(0, 5, 3).limit() == pytest.approx(5 - MARGIN - A_MOVE)
    assert Clock.byoyomi(60, 5, 3).limit() == pytest.approx(65 - MARGIN - A_MOVE)
    for clock in (Clock.absolute(60), Clock.byoyomi(60, 5, 3), Clock.canadian(60, 20, 4), Clock.canadian(0, 20, 4)):
        for moves in (1, 10, 40):
            assert clock.budget(moves) <= clock.limit()
