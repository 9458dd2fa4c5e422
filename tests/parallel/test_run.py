"""A search on a thread of its own: it ends when it should, and can be asked and stopped from any thread."""

import math
import threading

import pytest

from playout import GNRPA, SameGame
from playout._core import Run

ALL = 2**63


@pytest.fixture
def search():
    return GNRPA(level=2).begin(SameGame.standard(1), 1)


def test_it_plays_exactly_its_playouts(search):
    for playouts in (1, 2, 999):
        run = Run([search], playouts, math.inf)
        while not run.wait(10):
            pass
        assert run.progress().playouts == playouts


def test_the_search_it_was_given_stays_as_it_was(search):
    Run([search], 100, math.inf).wait(10)
    assert search.playouts == 0


def test_stopped_before_it_could_begin_it_has_still_found_something(search):
    for _ in range(50):
        run = Run([search], ALL, math.inf)
        run.stop()
        now = run.progress()
        assert now.playouts >= 1
        assert now.score > -math.inf
        assert run.wait(0)


def test_a_run_nobody_waits_for_ends_with_its_object(search):
    for _ in range(20):
        Run([search], ALL, math.inf)
    assert Run([search], 10, math.inf).wait(10)


def test_many_threads_may_ask_and_stop(search):
    """Progress never goes back, whoever looks; what is seen is whole."""
    run = Run([search], ALL, math.inf)
    problems = []

    def look():
        playouts, score = 0, -math.inf
        for _ in range(300):
            now = run.progress()
            if now.playouts < playouts or now.score < score or (now.history and now.history[-1][2] != now.score):
                problems.append((now.playouts, now.score, now.history))
            playouts, score = now.playouts, now.score

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stoppers = [threading.Thread(target=run.stop) for _ in range(4)]
    for thread in stoppers:
        thread.start()
    for thread in stoppers:
        thread.join()
    assert run.wait(0)
    assert problems == []
