"""One stored trial → its estimates.

Enters: a trial's summary and tables. Leaves: `TrialMeasures`.
Never: compares trials, and never turns what was not measured into a number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pgassay.analysis.costs import host_costs, server_costs, server_cpu
from pgassay.analysis.counters import CounterSeries
from pgassay.analysis.histograms import CURVE_SHARES, Histogram, Of
from pgassay.analysis.metrics import WAIT_CLASSES
from pgassay.analysis.model import Doubt, LatencyCurve, StepMeasures, TrialMeasures
from pgassay.analysis.turns import measure_turns
from pgassay.analysis.variants import measure_variants
from pgassay.analysis.wait_profile import WaitProfile
from pgassay.samples.run_directory import StoredTrial

_QUANTILES = {"p50": 0.50, "p95": 0.95, "p99": 0.99}


def measure_trial(trial: StoredTrial) -> TrialMeasures:
    """Everything that is estimated from one trial."""
    summary = trial.summary()
    sources = _Sources(trial)
    steps = [s for s in summary["load"]["steps"] if s["measured"]]
    by_rate = len({s.get("rate") for s in steps}) > 1
    level = "rate" if by_rate else "clients"
    measured = tuple(_measure(sources, (step,), step[level]) for step in steps)
    whole = measured[0] if len(measured) == 1 else _measure(sources, tuple(steps), None)
    values = {**whole.values, **server_cpu(summary)}
    whole = replace(whole, level=None, values=values)
    return TrialMeasures(
        number=summary["number"],
        block=summary["block"],
        position=summary["position"],
        arm=summary["arm"],
        whole=whole,
        steps=measured,
        warnings=tuple(_warnings(summary, whole)),
        variants=measure_variants(summary["load"].get("slices", ())),
        turns=measure_turns(summary, sources.load),
        invalid=trial.validity().reasons,
        repeats=summary.get("repeats"),
    )


class _Sources:
    """The tables of one trial, read once."""

    def __init__(self, trial: StoredTrial) -> None:
        self.load = trial.table("load")
        self.waits = WaitProfile(trial.table("waits"))
        self.postgres = CounterSeries(trial.table("postgres"))
        self.host = CounterSeries(trial.table("host"))
        self.checkpoints = trial.table("checkpoints")


def _measure(
    sources: _Sources, steps: tuple[Mapping[str, Any], ...], level: float | None
) -> StepMeasures:
    start, end = steps[0]["start_ns"], steps[-1]["end_ns"]
    seconds = (end - start) / 1e9
    rows = sources.load.filter(
        pc.is_in(sources.load["step"], pa.array([s["index"] for s in steps], pa.int32()))
    )
    transactions = sum(s["transactions"] for s in steps)
    failed = sum(s["failed"] for s in steps)
    values: dict[str, float | None] = {}
    curve: LatencyCurve | None = None
    if transactions and seconds > 0:
        values["tps"] = _rate(steps)
        latency, curve = _latency(rows, "latency")
        response, response_curve = _latency(rows, "response")
        curve = response_curve or curve
        values |= latency | response
        values |= server_costs(sources.postgres, start, end, transactions)
        values |= host_costs(sources.host, start, end, transactions)
        values["client_cpu_ms_per_tx"] = sum(s["client_cpu_s"] for s in steps) / transactions * 1e3
        sessions = sources.waits.average_sessions(start, end)
        if sessions is not None:
            for wait_class in WAIT_CLASSES:
                busy = sessions.get(wait_class.name, 0.0)
                values[wait_class.metric] = busy * seconds / transactions * 1e3
            waiting = sum(busy for name, busy in sessions.items() if name != "cpu")
            values["waiting_ms_per_tx"] = waiting * seconds / transactions * 1e3
    if transactions + failed:
        values["failed_share"] = 100.0 * failed / (transactions + failed)
    if seconds > 0:
        begun = sources.checkpoints["started_ns"].to_numpy()
        count = np.count_nonzero((begun >= start) & (begun < end))
        values["checkpoints_per_min"] = float(count) / seconds * 60
    present = {name: value for name, value in values.items() if value is not None}
    return StepMeasures(level, start, end, transactions, present, curve)


def _rate(steps: tuple[Mapping[str, Any], ...]) -> float:
    """Over the steps alone: a program of the user's needs time to start between two of them.

    It may also say its rate more finely than whole transactions do.
    """
    lengths = [s["end_ns"] - s["start_ns"] for s in steps]
    done = sum(s["tps"] * length for s, length in zip(steps, lengths, strict=True))
    return float(done / sum(lengths))


def _latency(rows: pa.Table, of: Of) -> tuple[dict[str, float | None], LatencyCurve | None]:
    """Mean and quantiles as metrics, and the whole curve."""
    histogram = Histogram.merged(rows, of)
    quantiles = histogram.quantiles_ns([*_QUANTILES.values(), *CURVE_SHARES])
    if quantiles is None:
        return {}, None
    found: dict[str, float | None] = {
        f"{of}_{name}": value / 1e6 for name, value in zip(_QUANTILES, quantiles, strict=False)
    }
    found[f"{of}_mean"] = pc.sum(rows[f"{of}_sum_ns"]).as_py() / histogram.total / 1e6
    curve = tuple(value / 1e6 for value in quantiles[len(_QUANTILES) :])
    return found, LatencyCurve(of, curve)


def _warnings(summary: Mapping[str, Any], whole: StepMeasures) -> list[Doubt]:
    found = [Doubt("trial", text) for text in summary["warnings"]]
    if whole.transactions == 0:
        found.append(Doubt("no-transactions", "not one transaction succeeded"))
    failed = whole.values.get("failed_share", 0.0)
    if failed > 1.0:
        found.append(Doubt("failures", f"{failed:.1f} % of transactions failed"))
    return found
