"""Trials with a known truth, without a run directory; their courses are simulated.

Enters: values per arm, block and load; recorded seconds. Leaves: plans, measures, series.
Never: measures anything.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from bench.validate.within_trials.courses import Array, inert_noise

from pgassay.analysis.model import LatencyCurve, StepMeasures, TrialMeasures
from pgassay.plan.model import Plan
from support.synthetic.designs import plan_of_spec

_DATA = Path(__file__).parents[2] / "data"


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
    return plan_of_spec(text)


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


def noise_of(source: np.random.Generator, n: int, correlation: float) -> Array:
    """One row of it."""
    row: Array = inert_noise(source, 1, n, correlation)[0]
    return row
