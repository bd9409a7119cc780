"""Trials are read in several processes where that pays, with the same result."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from pgassay.language import in_language
from pgassay.readings import trial_readings
from pgassay.readings.trial_readings import in_processes, processes_for
from support.refusals import refused
from support.synthetic.directories import synthetic_run

MB = 1_000_000


def test_trials_read_elsewhere_are_the_same_whatever_the_language(tmp_path: Path) -> None:
    run, _, plan = synthetic_run(tmp_path / "run", blocks=3)
    numbers = run.finished()
    with in_language("ru"):
        here = in_processes(0, run.path, numbers, plan)
        there = in_processes(2, run.path, numbers, plan)
    assert sorted(there) == numbers
    for number in numbers:
        assert there[number].measures == here[number].measures
        assert repr(there[number].series) == repr(here[number].series)


def test_what_one_raises_is_raised(tmp_path: Path) -> None:
    run, _, plan = synthetic_run(tmp_path / "run", blocks=3)
    last = run.finished()[-1]
    table = run.trial(last).folder / "load.parquet"
    table.write_bytes(b"no table")
    with refused("cannot-be-read", str(table)):
        in_processes(1, run.path, run.finished(), plan)


def test_a_killed_process_leaves_its_trials_to_this_one(tmp_path: Path) -> None:
    run, _, plan = synthetic_run(tmp_path / "run", blocks=3)
    before, ended, killed = set(psutil.Process().children()), threading.Event(), list[int]()

    def kill() -> None:
        while not ended.wait(0.002):
            for one in set(psutil.Process().children()) - before:
                with suppress(psutil.Error):  # it has ended
                    if "popen_loky" in " ".join(one.cmdline()):
                        one.kill()
                        killed.append(one.pid)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        found = in_processes(1, run.path, run.finished(), plan)
    finally:
        ended.set()
        killer.join()
    assert killed
    assert sorted(found) == run.finished()


@pytest.mark.parametrize(
    ("sizes_mb", "processors", "free_mb", "further"),
    [
        ([], 8, 8000, 0),
        ([1.5] * 24, 2, 8000, 1),
        ([1.5] * 24, 8, 8000, 2),
        ([1.5] * 24, 1, 8000, 0),
        ([1.5] * 6, 8, 8000, 0),
        ([80.0] * 4, 8, 24_000, 3),
        ([80.0] * 4, 8, 4_000, 1),
        ([80.0] * 4, 8, 1_500, 0),
        ([80.0], 8, 24_000, 0),
        ([20.0] * 100, 64, 64_000, 7),
    ],
)
def test_processes_are_started_where_they_pay(
    sizes_mb: list[float],
    processors: int,
    free_mb: int,
    further: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(processors)))
    monkeypatch.setattr(trial_readings, "_free_memory_bytes", lambda: free_mb * MB)
    assert processes_for([int(one * MB) for one in sizes_mb]) == further
