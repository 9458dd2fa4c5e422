"""How all tests run: no test fails because a machine is slow, and in CI every run makes the same examples."""

import os
import shutil
import signal
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")

# Whoever started the tests may ignore signals, as nohup does, and programs that tests start would ignore them too.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the tests on several hosts, unless they are asked for: they take minutes (make test-cluster)."""
    hosts = Path(__file__).parent / "hosts"
    asked = any((config.invocation_params.dir / arg.partition("::")[0]).is_relative_to(hosts) for arg in config.args)
    return True if collection_path == hosts and not asked else None


@pytest.fixture(scope="session")
def gnugo() -> str:
    """Return where GNU Go is."""
    found = shutil.which("gnugo", path=f"{os.environ.get('PATH', '')}:/usr/games")
    if found is None:
        pytest.skip("GNU Go is not installed (gnugo)")
    return found
