"""How all tests run: no test fails because a machine is slow, and in CI every run makes the same examples."""

import os
import re
import shutil
import signal
import subprocess
import tarfile
from collections.abc import Callable
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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for mark in item.iter_markers("slow"):
            if not (mark.args and isinstance(mark.args[0], str)):
                raise pytest.UsageError(f"{item.nodeid} is slow and does not say why")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """With PLAYOUT_SKIPS=fail, where everything is installed, a skipped test is a fault."""
    if os.environ.get("PLAYOUT_SKIPS") == "fail" and terminalreporter.stats.get("skipped"):
        terminalreporter.write_line("tests were skipped, though PLAYOUT_SKIPS=fail", red=True)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter is not None and reporter.stats.get("skipped")
    if os.environ.get("PLAYOUT_SKIPS") == "fail" and skipped and session.exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture
def ctrl_c() -> Callable[[], None]:
    """Return a function that sends SIGINT on its first call only: a second SIGINT would end a search differently."""
    left = [signal.SIGINT]

    def press() -> None:
        if left:
            signal.raise_signal(left.pop())

    return press


@pytest.fixture(scope="session")
def gnugo() -> str:
    """Return where GNU Go is."""
    found = shutil.which("gnugo", path=f"{os.environ.get('PATH', '')}:/usr/games")
    if found is None:
        pytest.skip("GNU Go is not installed (gnugo)")
    return found


@pytest.fixture(scope="session")
def gnugo_source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """GNU Go's source package: its own regression tests and clients. It lies beside the package that apt knows."""
    helper = Path("/usr/lib/apt/apt-helper")
    if shutil.which("apt-get") is None or not helper.exists():
        pytest.skip("there is no apt to fetch GNU Go's source with")
    folder = tmp_path_factory.mktemp("gnugo")
    archive = folder / "source.tar.gz"
    try:
        known = subprocess.run(
            ["apt-get", "download", "--print-uris", "gnugo"], cwd=folder, capture_output=True, text=True, timeout=120
        )
        place = re.search(r"'(\S+/)gnugo_([0-9.]+)-[^/']*'", known.stdout)
        if place is None:
            pytest.skip("apt does not know where GNU Go is")
        address = f"{place[1]}gnugo_{place[2]}.orig.tar.gz"
        patience = ["-o", "Acquire::http::Timeout=20", "-o", "Acquire::https::Timeout=20", "-o", "Acquire::Retries=1"]
        fetch = [helper, *patience, "download-file", address, archive]
        subprocess.run(fetch, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
        with tarfile.open(archive) as files:
            files.extractall(folder, filter="data")
    except (OSError, subprocess.SubprocessError, tarfile.TarError) as error:
        pytest.skip(f"GNU Go's source cannot be fetched: {error}")
    return next(path for path in folder.iterdir() if path.is_dir())
