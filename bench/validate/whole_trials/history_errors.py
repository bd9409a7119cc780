"""How often a history of runs shows a change of level that is none, and how soon a real one.

Enters: a number of series a row; in OTAVA the path of a Python that has apache-otava, the peer, if
it is to be asked about the same series. Leaves: docs/measured/validation-history.md.
Never: touches a server.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from subprocess import PIPE

import numpy as np
from numpy.typing import NDArray

from bench.tables import page, rate, table
from bench.validate.parallel import counted
from pgassay.analysis.history.levels import FEWEST_RUNS, levels_of

OUTPUT = Path("docs/measured/validation-history.md")
RUNS = 1000
PART = 50
SD = 0.015
"""Of a run, as a share; about what nights on a host of its own differ by."""
NEAR = 2
"""A change is found if it is placed within so many runs of its true place."""
OTAVA = os.environ.get("OTAVA", "")
_ASK = """
import json, sys
from otava.analysis import compute_change_points
for line in sys.stdin:
    found, _ = compute_change_points(json.loads(line), max_pvalue=0.001)
    print(json.dumps([int(one.index) for one in found]), flush=True)
"""
"""Asks the peer, with the defaults of its command."""


@dataclass(frozen=True)
class World:
    """Series of runs with at most one change of level, or one that ends again."""

    runs: int
    step: float = 0.0
    """A share."""
    since: int = 0
    """The first run of the new level."""
    lasts: int = 0
    """Runs after which it ends; 0: it stays."""
    correlation: float = 0.0
    """Of neighbouring runs."""
    tails: str = "normal"
    looks: bool = False
    """Whether somebody looks after each run."""


QUIET = tuple(
    World(runs, correlation=rho, tails=tails)
    for runs in (10, 20, 30, 60, 120, 250)
    for rho, tails in (
        (0.0, "normal"),
        (0.0, "Student's t, 3 degrees"),
        (0.3, "normal"),
        (0.6, "normal"),
    )
)
STEPS = tuple(
    World(runs, step, runs - after)
    for runs, after in ((30, 5), (60, 3), (60, 5), (60, 10), (60, 30), (120, 10))
    for step in (-0.02, -0.03, -0.05, -0.10)
)
ENDED = tuple(World(60, step, 30, 8) for step in (-0.03, -0.05, -0.10))
NIGHTLY = tuple(
    World(90, step, 60, correlation=rho, looks=True)
    for rho in (0.0, 0.3)
    for step in (0.0, -0.03, -0.05, -0.10)
)


def series_of(world: World, source: np.random.Generator) -> NDArray[np.float64]:
    """Returns logarithms of the means of runs."""
    if world.tails == "normal":
        shocks = source.standard_normal(world.runs)
    else:
        shocks = source.standard_t(3, world.runs) / np.sqrt(3.0)
    values = np.empty(world.runs)
    values[0] = shocks[0]
    for at in range(1, world.runs):
        rest = np.sqrt(1.0 - world.correlation**2)
        values[at] = world.correlation * values[at - 1] + rest * shocks[at]
    values *= SD
    end = world.since + world.lasts if world.lasts else world.runs
    values[world.since : end] += np.log1p(world.step)
    return values


def simulate(task: tuple[World, int], series: int = PART) -> Counter[str]:
    """Counts what is found in one part of a world, by pgassay and by the peer."""
    world, part = task
    source = np.random.default_rng([part, world.runs, round(1000 * abs(world.step)), world.since])
    counts = Counter[str]()
    with _peer() as ask:
        for _ in range(series):
            values = series_of(world, source)
            counts["series"] += 1
            if world.looks:
                _look_each_time(values, world, counts)
                continue
            _count("", [one.at for one in levels_of(values.tolist()).shifts], world, counts)
            if OTAVA:
                _count("peer ", ask(values), world, counts)
    return counts


def _count(who: str, places: list[int], world: World, counts: Counter[str]) -> None:
    true = [world.since] if world.step else []
    true += [world.since + world.lasts] if world.lasts else []
    found = all(any(abs(one - place) <= NEAR for one in places) for place in true)
    counts[f"{who}found"] += bool(true) and found
    counts[f"{who}false"] += any(all(abs(one - p) > NEAR for p in true) for one in places)


def _look_each_time(values: NDArray[np.float64], world: World, counts: Counter[str]) -> None:
    """What a reader sees who looks after each run from the first on that can show a change."""
    first_false = first_true = None
    for runs in range(FEWEST_RUNS, world.runs + 1):
        places = [one.at for one in levels_of(values[:runs].tolist()).shifts]
        is_near = [bool(world.step) and abs(one - world.since) <= NEAR for one in places]
        if not all(is_near) and first_false is None:
            first_false = runs
        if any(is_near) and first_true is None:
            first_true = runs
    counts["false"] += first_false is not None
    if first_true is not None:
        for within in (3, 5, 10, 20):
            counts[f"within {within}"] += first_true - world.since <= within


@contextmanager
def _peer() -> Iterator[Callable[[NDArray[np.float64]], list[int]]]:
    """The peer in a process of its own: asks where it finds changes of throughput."""
    command = [OTAVA or sys.executable, "-c", _ASK if OTAVA else ""]
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True) as process:

        def places(values: NDArray[np.float64]) -> list[int]:
            if process.stdin is None or process.stdout is None:
                raise RuntimeError
            print(json.dumps((1000.0 * np.exp(values)).tolist()), file=process.stdin, flush=True)
            found: list[int] = json.loads(process.stdout.readline())
            return found

        yield places


_PEER = ("by Otava",) if OTAVA else ()


def main(runs: int = RUNS) -> None:
    """Writes the page."""
    about = (
        "This page shows how often [a history of runs](../history.md) shows a change of level that"
        f" is none, and how soon it shows a real one. {datetime.now(UTC):%Y-%m-%d}; {runs} series a"
        " row, a quarter of them in the last table."
        f" Runs differ by a standard deviation of {100 * SD:g} %; a change is found if it is"
        f" placed within {NEAR} runs of its true place. `by Otava` is apache-otava 0.8.0 with its"
        " own defaults (p 0.001, windows of 50) on the same series. Made by `make validate`, with"
        " OTAVA as the path of a Python that has it."
    )
    found = {
        "No change: series in which one is found": table(
            ("runs", "neighbours", "distribution", "by pgassay", *_PEER), _quiet(runs)
        ),
        "A change that stays": table(
            (
                "runs",
                "of the new level",
                "change",
                "found",
                *_PEER,
                "another, or misplaced",
                *_PEER,
            ),
            _steps(runs),
        ),
        "A change for 8 of 60 runs: both ends found": table(
            ("change", "by pgassay", *_PEER), _ended(runs)
        ),
        "Somebody looks after each of 90 runs, the change comes with the 61st": table(
            (
                "neighbours",
                "change",
                "ever a false one",
                *(f"found within {n} runs" for n in (3, 5, 10, 20)),
            ),
            _nightly(max(PART, runs // 4)),
        ),
    }
    OUTPUT.write_text(page("Validation of histories", about, found), "utf-8")


def _shares(counts: Counter[str], *what: str) -> Iterator[str]:
    for name in what:
        yield rate(counts[name], counts["series"])
        if OTAVA:
            yield rate(counts[f"peer {name}"], counts["series"])


def _quiet(runs: int) -> Iterator[list[str]]:
    for world, counts in counted(simulate, QUIET, -(-runs // PART)).items():
        correlation = f"correlation {world.correlation:g}"
        yield [str(world.runs), correlation, world.tails, *_shares(counts, "false")]


def _steps(runs: int) -> Iterator[list[str]]:
    for world, counts in counted(simulate, STEPS, -(-runs // PART)).items():
        size = [str(world.runs), str(world.runs - world.since), f"{100 * world.step:g} %"]
        yield [*size, *_shares(counts, "found", "false")]


def _ended(runs: int) -> Iterator[list[str]]:
    for world, counts in counted(simulate, ENDED, -(-runs // PART)).items():
        yield [f"{100 * world.step:g} %", *_shares(counts, "found")]


def _nightly(runs: int) -> Iterator[list[str]]:
    for world, counts in counted(simulate, NIGHTLY, -(-runs // PART)).items():
        every = counts["series"]
        found = [rate(counts[f"within {n}"], every) if world.step else "" for n in (3, 5, 10, 20)]
        change = f"{100 * world.step:g} %" if world.step else "none"
        yield [f"correlation {world.correlation:g}", change, rate(counts["false"], every), *found]


if __name__ == "__main__":
    main()
