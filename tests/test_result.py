"""Results: saved whole, loaded as they were, damaged files refused."""

import copy
import dataclasses
import json
import os
import pickle
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import playout as po
from playout import GNRPA, NMCS, InputError, SameGame


@pytest.fixture(scope="module")
def result():
    return po.solve(SameGame.standard(1, tabu=3), GNRPA(level=2, temperature=1.2), playouts=500, seed=3)


def test_a_saved_result_is_loaded_as_it_was(result, tmp_path):
    file = tmp_path / "run.json"
    result.save(file)
    assert po.load(file) == result
    assert list(tmp_path.iterdir()) == [file]
    assert stat.S_IMODE(file.stat().st_mode) == 0o666 & ~current_umask()


def current_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_board_from_a_file_is_saved_whole(tmp_path):
    board = tmp_path / "board.txt"
    board.write_text("0 1 1\n1 0 0\n")
    result = po.solve(SameGame.load(board, leftover_penalty="total"), NMCS(level=1), playouts=5)
    result.save(tmp_path / "run.json")
    board.unlink()
    assert po.load(tmp_path / "run.json").problem == result.problem


def test_the_file_has_the_documented_fields(result, tmp_path):
    result.save(tmp_path / "run.json")
    data = json.loads((tmp_path / "run.json").read_text())
    assert list(data) == [
        "format", "problem", "search", "parallel", "seed", "score", "moves", "detail", "playouts", "seconds",
        "interrupted", "history", "provenance",
    ]  # fmt: skip
    assert data["format"] == "playout-result/1"
    assert data["problem"] == "samegame:1,tabu=3"
    assert data["search"]["name"] == "GNRPA"
    assert set(data["provenance"]) == {"version", "cpu", "threads", "ranks"}


def test_an_old_file_survives_a_write_that_fails(result, tmp_path, monkeypatch):
    file = tmp_path / "run.json"
    file.write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        result.save(file)
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_links_are_followed_and_devices_written_to(result, tmp_path):
    (tmp_path / "link.json").symlink_to("target.json")
    result.save(tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert po.load(tmp_path / "target.json") == result
    result.save("/dev/null")
    assert not Path("/dev/null").is_file()


def test_results_and_boards_can_be_pickled_and_copied(result):
    assert pickle.loads(pickle.dumps(result)) == copy.deepcopy(result) == result
    assert (
        po.solve(pickle.loads(pickle.dumps(result.problem)), result.search, playouts=500, seed=3).moves == result.moves
    )


def test_a_changed_board_does_not_keep_its_name():
    """Else a result of another board would be saved under that name."""
    changed = dataclasses.replace(SameGame.standard(1), rows=((0, 0), (1, 1)))
    assert changed.to_json()["rows"] == [[0, 0], [1, 1]]
    assert SameGame.standard(1).with_options(tabu=2).to_json() == "samegame:1,tabu=2"


def test_verify_notices_a_wrong_detail(result):
    wrong = dataclasses.replace(result, detail={**result.detail, "left": 999})
    with pytest.raises(InputError, match="the moves end with"):
        wrong.verify()


def test_a_result_prints_itself(result):
    assert repr(result).startswith("<Result samegame:1,tabu=3: score ")
    html = result._repr_html_()
    assert html.count("<td") == 225
    assert "samegame:1,tabu=3" in html


DAMAGE = [
    ("", "it is not JSON"),
    ("{", "it is not JSON"),
    ("[" * 100_000, "it is not JSON"),
    ("[]", "'format' should be 'playout-result/1'"),
    ({"format": "playout-result/2"}, "'format' should be 'playout-result/1'"),
    ({"problem": None}, "'problem' is neither the name of a problem nor an instance"),
    ({"problem": "samegame:99"}, "no standard board 99"),
    ({"problem": {"kind": "samegame", "rows": [[0, 1], [1]]}}, "rows of 2 and of 1 cells"),
    ({"problem": {"kind": "samegame", "rows": [["0"]]}}, "a colour is '0'"),
    ({"problem": {"kind": "samegame", "rows": "01"}}, "'problem' has no rows"),
    ({"search": {"name": "MCTS"}}, "search is 'mcts'; allowed are gnrpa, nrpa, nmcs"),
    ({"search": {"name": "GNRPA", "level": "4"}}, "level is '4'"),
    ({"search": {"name": "GNRPA", "speed": 1}}, "gnrpa has no setting 'speed'"),
    ({"search": None}, "'search' is not a search"),
    ({"problem": {"kind": []}}, "'problem' is neither the name of a problem nor an instance"),
    ({"problem": "samegame:a\0b"}, "names a file; a result has the whole instance"),
    ({"problem": "samegame:\ud800"}, "names a file; a result has the whole instance"),
    ({"score": None}, "'score' is None; allowed are finite numbers"),
    ({"score": "1"}, "'score' is '1'; allowed are finite numbers"),
    ({"score": 10**400}, "'score' is 1000"),
    ({"seconds": -5}, "'seconds' is -5"),
    ({"interrupted": "no"}, "'interrupted' is neither true nor false"),
    ({"history": [[1, 2, 10**400]]}, "a score in 'history' is 1000"),
    ({"search": {"name": "GNRPA", "alpha": 10**400}}, "alpha is 1000"),
    ({"moves": {}}, "'moves' is not a list"),
    ({"moves": [[1, 2, 3]]}, "a SameGame move is [column, row]"),
    ({"moves": [[1, 99]]}, "the row of a move is 99"),
    ({"seed": -1}, "'seed' is -1"),
    ({"playouts": 1.5}, "'playouts' is 1.5"),
    ({"history": [[1, 2]]}, "'history' is not a list of [seconds, playouts, score]"),
    ({"detail": []}, "'detail' is not an object"),
]


@pytest.mark.parametrize(("damage", "message"), DAMAGE)
def test_a_damaged_file_is_refused_with_what_is_wrong(result, tmp_path, damage, message):
    file = tmp_path / "run.json"
    file.write_text(damage if isinstance(damage, str) else json.dumps({**result.to_json(), **damage}))
    with pytest.raises(InputError) as error:
        po.load(file)
    assert message in str(error.value)
    assert str(file) in str(error.value)
    assert "\n" not in str(error.value)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.just(10**400) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def damaged(data, value):
    """The value with something in it, at any depth, replaced."""
    if isinstance(value, dict) and value and data.draw(st.booleans()):
        key = data.draw(st.sampled_from(sorted(value)))
        return {**value, key: damaged(data, value[key])}
    if isinstance(value, list) and value and data.draw(st.booleans()):
        index = data.draw(st.integers(0, len(value) - 1))
        return [*value[:index], damaged(data, value[index]), *value[index + 1 :]]
    return data.draw(values)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_change_of_a_field_is_a_result_or_a_clear_error(result, tmp_path, data):
    """What the file says may come from anywhere: load() answers with a Result or an InputError, never another."""
    content = result.to_json()
    if data.draw(st.booleans()):
        content["problem"] = {"kind": "samegame", "rows": [[0, 1], [1, 0]], "tabu": 1, "leftover_penalty": "none"}
    key = data.draw(st.sampled_from(list(content)))
    content[key] = damaged(data, content[key])
    file = tmp_path / "run.json"
    file.write_text(json.dumps(content))
    try:
        loaded = po.load(file)
    except InputError as error:
        assert "\n" not in str(error)
    else:
        assert isinstance(loaded, po.Result)


def test_a_result_with_illegal_moves_still_shows_something(result):
    wrong = dataclasses.replace(result, moves=((2, 0),))
    assert "is not legal there" in wrong._repr_html_()


def test_a_long_name_can_be_written(result, tmp_path):
    result.save(tmp_path / ("x" * 250))
    assert po.load(tmp_path / ("x" * 250)) == result


def test_bytes_that_are_no_text_are_refused(tmp_path):
    file = tmp_path / "run.json"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not JSON"):
        po.load(file)
    with pytest.raises(InputError, match="cannot read"):
        po.load(tmp_path)


@pytest.mark.parametrize(
    "name",
    [
        "tsptw:/etc/passwd",
        "tsptw:./pipe",
        "tsptw:rc_204.1",
        "tsptw:random:1,./pipe",
        "tsptw:random:1,./pipe,n=3",
        "samegame:/etc/passwd",
        "samegame:board.txt,board=1",
        "samegame:1,/etc/passwd",
        "samegame:1\n,/etc/passwd",
        "samegame:",
    ],
)
def test_a_result_never_says_which_file_is_opened(name, monkeypatch):
    monkeypatch.setattr("builtins.open", None)
    with pytest.raises(po.InputError, match=r"^'problem' is .* names a file; a result has the whole instance$"):
        po.problems.from_json(name)


@pytest.mark.parametrize(
    "name",
    ["samegame:3,tabu=2", "samegame:random:7,width=4", "tsptw:random:1", "tsptw:random:1,n=3,objective=makespan"],
)
def test_a_result_may_name_what_needs_no_file(name):
    assert po.problems.from_json(name).to_json() == name
