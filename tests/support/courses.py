"""Trials with a known truth, without a run directory.

Enters: values per arm, block and load; recorded seconds. Leaves: plans, measures, series.
Never: measures anything.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import signal

from pgassay.analysis.course import StepSpan, TrialCourse
from pgassay.analysis.model import LatencyCurve, StepMeasures, TrialMeasures
from pgassay.plan.design import make_plan
from pgassay.plan.model import Plan
from pgassay.spec.parse import parse_spec

Array = NDArray[np.float64]
_DATA = Path(__file__).parent.parent / "data"


def recorded_tps(load: str) -> Array:
    """Throughput of 150 real seconds of `select-only` or `simple-update`."""
    with (_DATA / f"seconds-pg18-{load}-8-clients-150s.csv").open(encoding="utf-8") as rows:
        return np.array([float(row["tps"]) for row in csv.DictReader(rows)])


def plan_with(
    *, clients: Sequence[int] = (8,), blocks: int = 6, levels: Sequence[str] = ("off", "on")
) -> Plan:
    """Arms a1, a2, … of one factor; no factor where there is one level."""
    factor = f"[factors.postgres]\nwal_compression = {json.dumps(list(levels))}\n"
    text = f"""
        {factor if len(levels) > 1 else ""}
        [load]
        clients = {list(clients)}
        step = "60s"
        [design]
        seed = 1
        min_blocks = {blocks}
        max_blocks = {blocks}
    """
    return make_plan(parse_spec(text, source="lab.toml", beside=Path()))


def trials_with(
    plan: Plan,
    tps: Mapping[str, Array] | None = None,
    curves: Mapping[str, Array] | None = None,
) -> list[TrialMeasures]:
    """By arm: throughput as blocks × loads, latency curves as blocks × quantiles."""
    found = []
    levels = plan.step_levels()
    for trial in plan.trials:
        row = trial.block - 1
        values = None if tps is None else tps[trial.arm][row]
        steps = tuple(
            StepMeasures(level, 0, 1, 1, {} if values is None else {"tps": float(values[at])})
            for at, level in enumerate(levels)
        )
        curve = None if curves is None else tuple(curves[trial.arm][row].tolist())
        whole = StepMeasures(
            None, 0, 1, 1, {}, None if curve is None else LatencyCurve("latency", curve)
        )
        found.append(
            TrialMeasures(trial.number, trial.block, trial.position, trial.arm, whole, steps, ())
        )
    return found


def course_with(
    tps: Array,
    *,
    number: int = 1,
    arm: str = "a1",
    checkpoints_s: Sequence[float] = (),
    series: Mapping[str, Array] | None = None,
) -> TrialCourse:
    """One trial of one step, an interval a second."""
    n = len(tps)
    rows = series or {}
    return TrialCourse(
        number=number,
        block=number,
        arm=arm,
        open_loop=False,
        edges_s=np.arange(n + 1.0),
        transactions=tps,
        latency_ms=np.full(n, np.nan),
        steps=(StepSpan(8.0, 0, n),),
        checkpoints_s=np.array(checkpoints_s, dtype=np.float64),
        names=tuple(rows),
        series=np.array(list(rows.values())).reshape(len(rows), n),
    )


def inert(source: np.random.Generator, n: int, correlation: float) -> Array:
    """A first-order autoregression with a standard deviation of 1."""
    found: Array = signal.lfilter([1.0], [1.0, -correlation], source.standard_normal(n + 300))
    return found[300:] * math.sqrt(1 - correlation**2)
