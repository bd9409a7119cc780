"""Set-up for every tier of tests."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import PurePosixPath

import pytest
from hypothesis import settings

from support.memory import memory_folder
from support.packages import lacking
from support.runs.bounds import keep_bounds
from support.runs.watch import watch_for_an_instant
from support.synthetic.kept import FOLDER

# A noisy machine must not fail a property; hypothesis' own health checks stay on.
settings.register_profile("pgassay", deadline=None, print_blob=True)
settings.load_profile("pgassay")

# In the background, as under nohup, Ctrl-C is ignored, which every program of a test would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)


# A second thread of numpy's algebra spins while it waits for a processor that others have. Read
# when numpy is loaded, in the processes of tests too.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

watch_for_an_instant()
keep_bounds()

# How far each kind of file is spread over a whole run, in which those with servers end at 1.
SERVERS_END, SLOW_END, QUICK_END = 1.0, 0.6, 1.25

# Where pytest makes its `tmp_path`.
if (_memory := memory_folder()) is not None:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_memory))


def pytest_configure(config: pytest.Config) -> None:
    """Make the folder of what tests make once for all processes, which end before this one."""
    if not hasattr(config, "workerinput"):
        os.environ[FOLDER] = tempfile.mkdtemp(prefix="pgassay-kept-", dir=memory_folder())
        config.add_cleanup(lambda: shutil.rmtree(os.environ[FOLDER]))


@pytest.fixture(scope="session", autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Change records and prior runs are in a folder of these tests, so that what this host knows
    of its own runs changes no forecast."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Keep the garbage collector from modules and tests, which stay to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spread the files that compute among those that wait for servers; short files end the run.

    While some processes wait the others compute. One after the other, each kind would leave
    processors idle or share them.
    """
    files: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        files[item.nodeid.partition("::")[0]].append(item)
    kinds: defaultdict[float, list[str]] = defaultdict(list)
    for file, tests in files.items():
        if not file.startswith("tests/unit/"):
            kinds[SERVERS_END].append(file)
        elif any(test.get_closest_marker("slow") for test in tests):
            kinds[SLOW_END].append(file)
        else:
            kinds[QUICK_END].append(file)
    places = {
        file: end * number / len(names)
        for end, names in kinds.items()
        for number, file in enumerate(names)
    }
    items[:] = [item for file in sorted(files, key=places.__getitem__) for item in files[file]]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show the packages that skipped tests lack, and the seconds of each folder's tests."""
    skipped = terminalreporter.stats.get("skipped", [])
    if lacks := lacking(str(report.longrepr) for report in skipped):
        terminalreporter.section("skipped for lack of a package")
        for package, tests in lacks.items():
            terminalreporter.line(f"{tests:7} {package}")
        terminalreporter.line(f"sudo apt-get install {' '.join(lacks)}")
    seconds: defaultdict[str, float] = defaultdict(float)
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                file = report.nodeid.partition("::")[0]
                seconds[str(PurePosixPath(file).parent)] += report.duration
    if sum(seconds.values()) > 60:
        terminalreporter.section("seconds of tests per folder")
        for folder, duration in sorted(seconds.items(), key=lambda one: -one[1]):
            terminalreporter.line(f"{duration:7.0f} {folder}")
