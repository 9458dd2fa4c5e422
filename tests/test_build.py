"""The editable installation: Python finds each file by its path, without a list of files that could be out of date."""

import sys
from importlib.machinery import PathFinder
from pathlib import Path

import playout
from playout import _core

SOURCES = Path(__file__).parent.parent / "src" / "playout"


def test_python_finds_the_package_by_its_path_alone():
    """So a file that is added, or moved into a package, needs no new installation."""
    assert PathFinder.find_spec("playout").origin == str(SOURCES / "__init__.py")
    assert playout.__path__ == [str(SOURCES)]
    assert Path(_core.__file__).parent == SOURCES
    others = sys.meta_path[: sys.meta_path.index(PathFinder)]
    found = [finder for finder in others if finder.find_spec("playout", None) is not None]
    assert not found
