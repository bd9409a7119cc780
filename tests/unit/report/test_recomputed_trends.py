"""A report on a load with steps shows the trends of its Parquet files, fitted with a term for each
step.

Only pyarrow and numpy read the files here: nothing of pgassay's own reading or statistics.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray
from scipy import stats
from tools.archives import unpack

from pgassay.analysis.classic.model import Agreement
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Fold
from pgassay.report.document.table import Table
from pgassay.report.sections.classic import classic
from pgassay.samples.run_directory import RunDirectory
from pgassay.workflows.reporting import analyse_run
from support.runs.looks import half_pauses

Array = NDArray[np.float64]
Read = Callable[[Path, list[int]], Array]
GOLDEN = Path(__file__).parents[2] / "golden"
SECOND_NS = 10**9
OF_THE_LOAD = ("client backend", "parallel worker")
NOT_WAITING = (None, "Client", "Activity")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sales of four items, each by one session at a time, with 5, 10 and 22 clients for 4 s each,
    four blocks."""
    folder = tmp_path_factory.mktemp("ramp")
    unpack(GOLDEN / "recomputed-ramp.tar.xz", folder)
    return folder / "run"


@pytest.fixture(scope="module")
def context(run: Path) -> ReportContext:
    return analyse_run(RunDirectory(run))


def steps_of(trial: Path) -> tuple[str, list[tuple[int, int]]]:
    """The arm, and the beginning and end of each measured step."""
    summary = json.loads((trial / "trial.json").read_text("utf-8"))
    steps = [one for one in summary["load"]["steps"] if one["measured"]]
    assert [one["clients"] for one in steps] == [5, 10, 22]
    return summary["arm"], [(one["start_ns"], one["end_ns"]) for one in steps]


def waiting_sessions(trial: Path, edges: list[int]) -> Array:
    """Sessions of the load that wait, on average over each second."""
    rows = pq.read_table(trial / "waits.parquet").to_pylist()
    weights = half_pauses({row["tick_ns"] for row in rows})
    found = []
    for begin, end in itertools.pairwise(edges):
        inside = {tick: weight for tick, weight in weights.items() if begin <= tick < end}
        waiting = sum(
            inside[row["tick_ns"]]
            for row in rows
            if row["tick_ns"] in inside
            and row["backend_type"] in OF_THE_LOAD
            and row["wait_event_type"] not in NOT_WAITING
        )
        found.append(waiting / sum(inside.values()))
    return np.array(found)


def transactions(trial: Path, edges: list[int]) -> Array:
    """Of each second; the load is recorded by the second, from the same moment on."""
    done = dict.fromkeys(edges[:-1], 0)
    for row in pq.read_table(trial / "load.parquet").to_pylist():
        if row["measured"]:
            done[row["start_ns"]] += row["transactions"]
    return np.array(list(done.values()), np.float64)


def slope(values: Array, step: list[int], *, with_steps: bool) -> float:
    """Least squares on time, and on which step it is."""
    terms = [[float(one == of) for one in step] for of in sorted(set(step))]
    terms = terms if with_steps else [[1.0] * len(step)]
    model = np.array([*terms, np.arange(len(values))]).T
    return float(np.linalg.lstsq(model, values, rcond=None)[0][-1])


def recomputed(
    run: Path, arm: str, read: Read, *, with_steps: bool = True
) -> tuple[float, tuple[float, float]]:
    """The change over a trial in % of the trials' mean, and its interval over trials."""
    changes, means = [], []
    for trial in sorted((run / "trials").iterdir()):
        own, steps = steps_of(trial)
        if own != arm:
            continue
        edges = list(range(steps[0][0], steps[-1][1] + 1, SECOND_NS))
        values = read(trial, edges)
        step = [sum(begin <= edge for begin, _ in steps) for edge in edges[:-1]]
        changes.append(len(values) * slope(values, step, with_steps=with_steps))
        means.append(values.mean())
    pct = 100 * np.array(changes) / np.mean(means)
    low, high = stats.t.interval(0.95, len(pct) - 1, pct.mean(), stats.sem(pct))
    return float(pct.mean()), (float(low), float(high))


def test_a_trend_under_a_ramp_is_the_one_within_its_steps(
    run: Path, context: ReportContext
) -> None:
    view = context.analysis.classic
    assert view is not None
    claims = next(block for block in classic.blocks(context) if isinstance(block, Fold))
    claimed = next(block for block in claims.blocks if isinstance(block, Table))
    rows = {(row[0], row[1]): row for row in claimed.rows}
    for one in view.arms:
        trends = {trend.series: trend for trend in one.trends}
        shown = trends["WAITINGS"]
        change, ends = recomputed(run, one.arm, waiting_sessions)
        assert shown.change_pct == pytest.approx(change, rel=1e-6)
        assert shown.ci95_pct == pytest.approx(ends, rel=1e-6)
        words = (f"{change:+.1f}", f"{ends[0]:+.1f} to {ends[1]:+.1f}")
        row = rows["WAITINGS", context.labels[one.arm]]
        assert (row[5], row[6]) == tuple(word.replace("-", "−") for word in words)
        # What clients add from step to step would be taken for a trend.
        _, across = recomputed(run, one.arm, waiting_sessions, with_steps=False)
        assert across[0] > 50
        assert shown.claims
        assert shown.agreement is Agreement.UNCLEAR

        # Each trial's commits are scaled to those that its server has counted, a few % others.
        change, _ = recomputed(run, one.arm, transactions)
        assert trends["commits"].change_pct == pytest.approx(change, abs=2)
