"""Problems on other nodes: the same problem and the same search there, or one line that says why not."""

import copy
import importlib.util
import json
import os
import pickle
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import playout as po
from playout.cluster import modules, travel, values
from playout.own import is_loading
from tests.own.test_library import COMPILER, KNIGHTS, build

TSPTW = Path(__file__).parents[1] / "data" / "tsptw-5.txt"
MINE = """
from dataclasses import dataclass

import numpy as np

import playout as po


class Picks(po.Problem):
    compiled = False

    def __init__(self, worth, length=6):
        self.State = dict(step="i8", total=np.float64, seen=("i8", (2, len(worth))))
        self.worth, self.length, self.max_moves = worth, length, len(worth)
        self.notes = {"b": (1, None), "a": ["x", np.float32(0.1), float("inf")]}

    def moves(self, s, out):
        if s.step == self.length:
            return 0
        for i in range(len(self.worth)):
            out[i] = i
        return len(self.worth)

    def play(self, s, move):
        s.total += self.worth[move] * (1 + (s.step + move) % 2)
        s.step += 1

    def score(self, s):
        return s.total


@dataclass(frozen=True)
class Frozen(Picks):
    worth: "list[float]"
    length: int
    max_moves = 3
    State = dict(step="i8", total="f8")


def make():
    class Hidden(Picks):
        pass

    return Hidden([3.0, 5.0])


problem = Picks(np.array([1.5, 2.25, 1.0]))
frozen = Frozen([1.0, 2.0, 0.5], 4)
"""

WORKER = """
import json, pickle, sys
import playout as po
from playout.cluster.travel import unpack
try:
    problem = unpack(json.load(sys.stdin))
    result = po.solve(problem, po.GNRPA(level=1), playouts=60, seed=3)
    kind = type(problem)
    assert pickle.loads(pickle.dumps(problem)).to_json() == problem.to_json()
    file = getattr(sys.modules[kind.__module__], "__file__", "")
    print(json.dumps([result.score, result.moves, problem.describe(), kind.__module__, file]))
except po.InputError as error:
    print(json.dumps(str(error)))
"""


def run(words, folder, text="", **variables):
    """Run Python on what could be another node: in an empty folder, with a home of its own."""
    folder.mkdir(exist_ok=True)
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "NUMBA", "XDG"))}
    done = subprocess.run(
        [sys.executable, *words],
        input=text,
        cwd=folder,
        env={**kept, "HOME": str(folder), **variables},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def on_a_node(data, folder, **variables):
    return json.loads(run(["-c", WORKER], folder, json.dumps(data), **variables))


def here(problem):
    """Return what a node should find."""
    result = po.solve(problem, po.GNRPA(level=1), playouts=60, seed=3)
    return json.loads(json.dumps([result.score, result.moves, problem.describe()]))


def imported(path):
    """Import a file as the module of its name, for the time of a test."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    exec(compile(path.read_text(), path, "exec"), vars(module))  # not what is kept of what was there a moment ago
    return module


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    """Forget what a test has loaded; write to its own cache."""
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]
    travel._unpacked.clear()
    modules._loaded.clear()


@pytest.fixture
def mine(tmp_path):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "mine.py").write_text(MINE)
    return tmp_path / "here" / "mine.py"


def through_json(problem):
    """Pack and unpack a problem in this process."""
    return travel.unpack(json.loads(json.dumps(travel.pack(problem), allow_nan=False)))


def forget(path):
    """Make this process one that has never seen a file."""
    sys.path[:] = [folder for folder in sys.path if folder != str(path.parent)]
    sys.modules.pop(path.stem, None)


# Built-in problems and libraries


@pytest.mark.parametrize(
    "name", ["samegame:1,tabu=auto", "samegame:random:7,width=5", f"tsptw:{TSPTW}", "tsptw:random:3"]
)
def test_built_in_problems(name):
    problem = po.problem(name)
    assert through_json(problem) == problem
    assert through_json(problem) is through_json(problem)  # kept


def test_a_built_in_problem_on_a_node(tmp_path):
    problem = po.problem("samegame:random:7,width=6,height=6")
    assert on_a_node(travel.pack(problem), tmp_path / "node")[:3] == here(problem)


@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
def test_a_library_is_at_its_path_on_every_node(tmp_path, monkeypatch):
    library = build(KNIGHTS, tmp_path / "knights.so")
    monkeypatch.chdir(tmp_path)
    problem = po.load_problem("./knights.so", "5")
    monkeypatch.chdir("/")
    data = travel.pack(problem)
    assert on_a_node(data, tmp_path / "node")[:2] == here(problem)[:2]
    with pytest.raises(po.InputError, match="the problem on this node is another"):
        travel.unpack({**data, "argument": "6"})
    with library.open("ab") as file:
        file.write(b"\0")
    with pytest.raises(po.InputError, match="is another file on this node; it must be at that path on every node"):
        travel.unpack(data)
    library.unlink()
    with pytest.raises(po.InputError, match=r"is not there on this node.*on a shared file system or copied"):
        travel.unpack(data)
    with pytest.raises(po.InputError, match="cannot read"):
        travel.pack(problem)
    with pytest.raises(po.InputError, match="is not there"):
        travel.unpack({**data, "path": "knights.so"})


# Problems in Python


def test_an_object_travels_with_its_attributes(mine, tmp_path):
    """And its source: the node has no such file."""
    module = imported(mine)
    problem = module.Picks(np.array([1.0, 4.0, 2.5]), length=5)
    expected, data = here(problem), travel.pack(problem)
    mine.unlink()
    *found, name, file = on_a_node(data, tmp_path / "node")
    assert found == expected
    assert name == "mine"
    assert Path(file) == tmp_path / "node" / ".cache" / "playout" / "shipped" / data["sha256"] / "mine.py"
    assert stat.S_IMODE(Path(file).parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(Path(file).parents[1].stat().st_mode) == 0o700


def test_what_arrives_has_the_same_types_and_bits(mine):
    problem = imported(mine).Picks([1.0, 4.0], length=np.int16(5))
    problem.matrix = np.arange(6, dtype=">i4").reshape(2, 3).T
    data = travel.pack(problem)
    forget(mine)
    other = travel.unpack(json.loads(json.dumps(data)))
    assert type(other) is not type(problem)
    assert other.matrix.dtype == problem.matrix.dtype
    assert (other.matrix == problem.matrix).all()
    assert (type(other.length), other.worth, other.compiled) == (np.int16, [1.0, 4.0], False)
    assert other.State == problem.State
    assert list(other.State) == ["step", "total", "seen"]
    assert other.notes == problem.notes
    assert list(other.notes) == ["b", "a"]
    assert type(other.notes["b"]) is tuple
    assert here(other) == here(problem)
    assert travel.pack(other) == data  # and can go on to the next node


def test_a_frozen_dataclass_and_one_with_slots(mine):
    mine.write_text(MINE.replace("frozen=True", "frozen=True, slots=True"))
    problem = imported(mine).frozen
    data = travel.pack(problem)
    assert [name for name, _ in data["values"]] == ["length", "worth"]
    forget(mine)
    assert through_json(problem) == travel.unpack(data)
    assert here(travel.unpack(data)) == here(problem)


@pytest.mark.parametrize("attribute", ["problem", "make", "frozen"])
def test_a_problem_that_was_loaded_by_name_is_made_again(mine, monkeypatch, attribute):
    mine.write_text(MINE + "\nproblem.open = open\n")  # which cannot travel, and need not
    monkeypatch.chdir(mine.parent)
    problem = po.problem(f"./mine.py:{attribute},compiled=no")
    monkeypatch.chdir("/")
    data = json.loads(json.dumps(travel.pack(problem)))
    expected = here(problem)
    assert "values" not in data
    mine.unlink()
    forget(mine)
    other = travel.unpack(data)
    assert here(other) == expected
    assert travel.pack(other)["attribute"] == attribute


def test_the_setting_compiled_travels(mine):
    mine.write_text(MINE.replace("compiled = False", ""))
    plain = po.problem(f"{mine}:problem,compiled=no")
    data = travel.pack(plain)
    assert data["methods"] is None
    forget(mine)
    assert travel.unpack(data).compiled is False
    object.__setattr__(plain, "compiled", None)
    second = travel.pack(plain)
    assert len(second["methods"]) == 16
    assert travel.unpack(second).compiled is None
    assert travel.unpack(data).compiled is False  # still


def test_a_script_travels_as_a_module_of_its_name(mine, tmp_path):
    """The node does not run what is for the script alone; its names there do not make it another problem."""
    script = mine.with_name("my-script.py")
    pack = "import json\nfrom playout.cluster.travel import pack\nprint(json.dumps(pack(Picks([1.0, 2.0]))))\n"
    text = MINE.replace("compiled = False", "") + f"\nif __name__ == '__main__':\n    total = 7\n    exec({pack!r})\n"
    script.write_text(text)
    data = json.loads(run([script], tmp_path / "here"))
    script.unlink()
    assert data["methods"] is not None
    assert data["name"] == "./my-script.py:Picks"
    other = travel.unpack(data)
    assert type(other).__module__ == "my-script"
    assert other.describe() == "./my-script.py:Picks"


def test_a_module_of_a_package(tmp_path):
    package = tmp_path / "here" / "outer" / "inner"
    package.mkdir(parents=True)
    (package / "mine.py").write_text(MINE.replace("import numpy", "from . import beside\nimport numpy"))
    (package / "beside.py").touch()
    sys.path.insert(0, str(tmp_path / "here"))
    problem = importlib.import_module("outer.inner.mine").Picks([1.0, 2.0])
    data = travel.pack(problem)
    *found, name, file = on_a_node(data, tmp_path / "node")
    assert found == here(problem)
    assert (name, file) == ("outer.inner.mine", str(package / "mine.py"))
    (package / "mine.py").unlink()
    said = on_a_node(data, tmp_path / "node")
    assert "attempted relative import" in said
    assert "only the problem's own file is sent: what it imports must be there" in said


# Which module is used


def test_a_module_that_is_there_is_used_if_it_is_the_same(mine, tmp_path):
    problem = imported(mine).Picks([1.0, 2.0])
    data, node = travel.pack(problem), tmp_path / "node"
    assert on_a_node(data, node)[3:] == ["mine", str(mine)]  # at its path
    node.joinpath("mine.py").write_text(MINE)
    assert on_a_node(data, node)[3:] == ["mine", str(node / "mine.py")]  # by its name
    assert not (node / ".cache").exists()
    mine.unlink()
    node.joinpath("mine.py").write_text(MINE.replace("s.total +=", "s.total -="))
    *found, name, file = on_a_node(data, node)
    assert found == here(problem)
    assert name == f"mine_{data['sha256'][:16]}"
    assert str(node / ".cache") in file


def test_another_module_of_that_name_stays_what_it_is(mine):
    problem = imported(mine).Picks([1.0, 2.0])
    data = travel.pack(problem)
    mine.write_text(MINE.replace("s.total +=", "s.total -="))
    forget(mine)
    changed = imported(mine)
    other = travel.unpack(data)
    assert sys.modules["mine"] is changed
    assert type(other).__module__ == f"mine_{data['sha256'][:16]}"
    assert here(other)[:2] == here(problem)[:2]
    assert pickle.loads(pickle.dumps(other)).fingerprint() == problem.fingerprint()
    later = travel.unpack(travel.pack(changed.Picks([1.0, 2.0])))
    assert here(later)[0] < 0


def test_a_file_that_changes_while_a_process_goes_on(mine):
    for sign in "+-+":
        mine.write_text(MINE.replace("s.total +=", f"s.total {sign}="))
        module = imported(mine)
        data = travel.pack(module.Picks([1.0, 2.0]))
        sys.modules.pop("mine")
        assert here(travel.unpack(data))[0] * (1 if sign == "+" else -1) > 0


@pytest.mark.parametrize("damage", ["text", "link", "folder"])
def test_what_was_written_is_not_trusted(mine, tmp_path, damage):
    data = travel.pack(imported(mine).Picks([1.0, 2.0]))
    forget(mine)
    text = mine.read_text()
    mine.unlink()
    folder = tmp_path / "cache" / "playout" / "shipped" / data["sha256"]
    folder.mkdir(parents=True, mode=0o700)
    folder.parent.chmod(0o700)
    if damage == "text":
        folder.joinpath("mine.py").write_text(text.replace("+=", "-="))
    elif damage == "link":
        (tmp_path / "elsewhere.py").write_text(text)
        folder.joinpath("mine.py").symlink_to(tmp_path / "elsewhere.py")
    else:
        folder.joinpath("mine.py").mkdir()
    with pytest.raises(po.InputError, match=r"mine\.py is not the file that was written there; remove it"):
        travel.unpack(data)


@pytest.mark.parametrize("way", ["no home", "others can write"])
def test_where_nothing_can_be_kept_a_folder_for_the_process_will_do(mine, tmp_path, way):
    data = travel.pack(imported(mine).Picks([1.0, 2.0]))
    mine.unlink()
    cache = tmp_path / "cache"
    if way == "no home":
        cache.write_text("a file")
    else:
        (cache / "playout" / "shipped").mkdir(parents=True)
        (cache / "playout" / "shipped").chmod(0o777)
    (tmp_path / "temporary").mkdir()
    places = {"XDG_CACHE_HOME": str(cache), "TMPDIR": str(tmp_path / "temporary")}
    *_, file = on_a_node(data, tmp_path / "node", **places)
    assert file.startswith(str(tmp_path / "temporary" / "playout-"))
    assert not list((tmp_path / "temporary").iterdir())


COUNTED = """
from playout.compile import _compiled
(functions,) = _compiled.values()
print(json.dumps([sum(bool(function.cache_hits) for function in functions.values()), len(functions)]))
"""


def test_the_second_process_on_a_node_does_not_compile(mine, tmp_path):
    mine.write_text(MINE.replace("compiled = False", "compiled = True"))
    problem = imported(mine).Picks(np.array([1.0, 2.0]))
    data = travel.pack(problem)
    problem.compiled = False
    mine.unlink()
    for hits in (0, 5):
        first, second = run(["-c", WORKER + COUNTED], tmp_path / "node", json.dumps(data)).splitlines()
        assert json.loads(first)[:2] == here(problem)[:2]
        assert json.loads(second) == [hits, 5]


# What cannot be sent


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (open, "built-in function open"),
        ({1: 2}, "{1: 2}"),
        ({1, 2}, "{1, 2}"),
        ([[1, b"x"]], "b'x'"),
        (np.array(["text"]), "array"),
        (np.zeros(2, "f8,i4"), "array"),
        (np.zeros(2, "M8[s]"), "array"),
        (np.zeros(2, object), "array"),
        (np.ma.array([1, 2]), "masked_array"),
        (1j, "1j"),
        (np.dtype("f8,i4"), "dtype"),
        (type("Text", (str,), {})("x"), "'x'"),
    ],
    ids=repr,
)
def test_attributes_that_cannot_travel(mine, value, shown):
    problem = imported(mine).Picks([1.0, 2.0])
    problem.thing = value
    message = r"Picks\.thing is .*, which cannot be sent to other nodes; what can is numbers.*\./file\.py:problem"
    with pytest.raises(po.InputError, match=message) as caught:
        travel.pack(problem)
    assert shown in str(caught.value)


def test_a_list_in_itself_cannot_travel(mine):
    problem = imported(mine).Picks([1.0, 2.0])
    problem.thing = [1]
    problem.thing.append(problem.thing)
    with pytest.raises(po.InputError, match=r"Picks\.thing has lists in lists"):
        travel.pack(problem)


def test_classes_that_cannot_travel(mine, tmp_path):
    module = imported(mine)
    with pytest.raises(po.InputError, match="it is inside a function; put it at a file's top level"):
        travel.pack(module.make())
    mine.write_bytes(MINE.encode() + b"# \xff")
    with pytest.raises(po.InputError, match="not a text in UTF-8"):
        travel.pack(module.problem)
    mine.unlink()
    with pytest.raises(po.InputError, match="No such file"):
        travel.pack(module.problem)
    problem, module.Picks = module.problem, None
    with pytest.raises(po.InputError, match="it is not in its module by that name"):
        travel.pack(problem)
    for one in (3, po.SameGame, module.Frozen, None):
        with pytest.raises(po.InputError, match="allowed are problems such as"):
            travel.pack(one)
    missing = po.problems.from_json({"kind": "user", "name": "./x.py:p", "digest": "0"})
    with pytest.raises(po.InputError, match="name the problem to run its code"):
        travel.pack(missing)


def test_a_class_that_was_typed_in_cannot_travel(tmp_path):
    tail = "from playout.cluster.travel import pack\ntry: pack(problem)\nexcept po.InputError as error: print(error)"
    said = run(["-c", MINE + tail], tmp_path / "node")
    assert said == "__main__.Picks cannot be sent to other nodes: it has no file; put the class in one and import it\n"


# What cannot be made of what was sent


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("po.solve(problem, playouts=1)", "mine.py calls solve() when it is imported; put the call under if __name__"),
        ("next(po.watch(problem, playouts=1))", "mine.py calls solve() when it is imported; put the call under if"),
        ("raise SystemExit(3)", "mine.py ends the program when it is imported; put that under if __name__"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("import not_there", "No module named 'not_there'"),
        ("def", "SyntaxError"),
        ("del Picks", "Picks is not at the top level of"),
        ("Picks.length = property(lambda self: 3)", "AttributeError"),
        ("Picks.extra = 3", "the problem on this node is another: mine:Picks has other constants"),
        ("Picks.play = lambda self, s, move: None", "is another: the methods of mine:Picks"),
    ],
)
def test_files_that_cannot_be_used(mine, line, message):
    """The sender is taken to have run them in another way, as a script runs what is under its guard."""
    problem = imported(mine).Picks([1.0, 2.0])
    problem.compiled = True
    data = travel.pack(problem)
    forget(mine)
    mine.write_text(MINE + "\n" + line + "\n")
    source = modules.Source.read("mine", mine)
    with pytest.raises(po.InputError) as caught:
        travel.unpack({**data, "source": source.text, "sha256": source.digest})
    assert message in str(caught.value)
    assert not is_loading()
    assert "mine" not in sys.modules or "Picks" in line


def test_another_python_is_said_to_be_one(mine):
    problem = imported(mine).Picks([1.0, 2.0])
    problem.compiled = True
    with pytest.raises(po.InputError, match=r"is another: mine:Picks comes from Python '2\.7', here is 3"):
        travel.unpack({**travel.pack(problem), "python": "2.7", "methods": "0"})


def test_a_problem_that_was_changed_after_it_was_made_by_name(mine):
    problem = po.problem(f"{mine}:make")
    problem.length = 3
    with pytest.raises(po.InputError, match="what is made by name must not be changed afterwards"):
        through_json(problem)


@pytest.mark.parametrize("file", ["mine.py", "../mine.py", "/", "/tmp/..", "", "/a\0b", "/a\nb"])
def test_names_of_files_that_are_none(mine, file):
    data = travel.pack(imported(mine).Picks([1.0, 2.0]))
    with pytest.raises(po.InputError, match="file"):
        travel.unpack({**data, "file": file})


def test_a_file_never_leaves_its_folder(mine, tmp_path):
    data = travel.pack(imported(mine).Picks([1.0, 2.0]))
    forget(mine)
    travel.unpack({**data, "file": "/nowhere/../../../deep/x.py"})
    written = [path for path in (tmp_path / "cache").rglob("*.py") if path.is_file()]
    assert written == [tmp_path / "cache" / "playout" / "shipped" / data["sha256"] / "x.py"]


def paths(data, path=()):
    """Yield where something can be damaged."""
    yield path
    if isinstance(data, (list, dict)):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from paths(value, (*path, key))


def damaged(data, path, value):
    if not path:
        return value
    data = copy.copy(data)
    data[path[0]] = damaged(data[path[0]], path[1:], value)
    return data


KINDS = ["tuple", "dict", "array", "scalar", "int", "float", "type", "dtype"]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["<f8", "|b1", "AAAA", "nan"]),
    lambda inside: st.lists(inside) | st.dictionaries(st.text() | st.sampled_from(KINDS), inside, max_size=2),
    max_leaves=6,
)


@settings(max_examples=300, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_damage_is_an_input_error(data, mine):
    """Or does no harm: what arrives is the problem, or something that has its fingerprint."""
    problem = sys.modules["mine"].problem if "mine" in sys.modules else imported(mine).problem
    packed = travel.pack(problem)
    path = data.draw(st.sampled_from(sorted(paths(packed), key=str)))
    try:
        other = travel.unpack(damaged(packed, path, data.draw(JSON)))
    except po.InputError as error:
        assert "\n" not in str(error)
        return
    assert other.fingerprint() == problem.fingerprint()


@settings(max_examples=300)
@given(JSON)
def test_any_json_is_a_value_or_an_input_error(data):
    try:
        kept = values.to_json(values.from_json(data), "it")
    except po.InputError as error:
        assert "\n" not in str(error)
    else:
        assert values.to_json(values.from_json(kept), "it") == kept


PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
PLAIN |= st.sampled_from([np.int8(-3), np.bool_(True), np.float32(0.1), np.dtype(">u2"), int, np.int64, np.arange(0.0)])


@given(
    st.recursive(
        PLAIN,
        lambda inside: st.lists(inside) | st.lists(inside).map(tuple) | st.dictionaries(st.text(), inside),
        max_leaves=10,
    )
)
def test_any_value_comes_back(value):
    assert repr(values.from_json(json.loads(json.dumps(values.to_json(value, "it"), allow_nan=False)))) == repr(value)
