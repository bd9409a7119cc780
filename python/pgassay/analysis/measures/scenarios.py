"""Each scenario of a trial: its rate, its errors, its latency.

Enters: the measured steps and load.parquet. Leaves: `ScenarioMeasures`.
Never: shares a counter of the server out among scenarios.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from pgassay.analysis.measures.model import ScenarioMeasures
from pgassay.analysis.reading.histograms import QUANTILES, Histogram, Of
from pgassay.samples.forms.trial import Step


def measure_scenarios(steps: Sequence[Step], rows: pa.Table) -> tuple[ScenarioMeasures, ...]:
    """Of the rows of these steps, in the order of their names; empty where nothing was measured."""
    seconds = sum(step.end_ns - step.start_ns for step in steps) / 1e9
    names = sorted(pc.unique(rows["scenario"].cast(pa.string())).to_pylist())
    if seconds <= 0.0:
        return ()
    if len(names) == 1:
        return (_measure(names[0], rows, seconds),)
    return tuple(
        _measure(name, rows.filter(pc.equal(rows["scenario"].cast(pa.string()), name)), seconds)
        for name in names
    )


def _measure(name: str, rows: pa.Table, seconds: float) -> ScenarioMeasures:
    done, failed = (pc.sum(rows[column]).as_py() or 0 for column in ("transactions", "failed"))
    errors: Counter[str] = Counter()
    failing = rows.filter(pc.greater(rows["failed"], 0))
    for row in failing.select(["error_sqlstate", "error_count"]).to_pylist():
        for sqlstate, count in zip(
            row["error_sqlstate"] or (), row["error_count"] or (), strict=True
        ):
            errors[sqlstate] += count
    of: Of = "response" if pc.sum(rows["response_sum_ns"]).as_py() else "latency"
    return ScenarioMeasures(
        name, done, failed, done / seconds, dict(sorted(errors.items())), of, _quantiles(rows, of)
    )


def _quantiles(rows: pa.Table, of: Of) -> dict[str, float]:
    histogram = Histogram.merged(rows, of)
    quantiles = histogram.quantiles_ns([*QUANTILES.values()])
    if quantiles is None:
        return {}
    mean = pc.sum(rows[f"{of}_sum_ns"]).as_py() / histogram.total / 1e6
    return {"mean": mean} | {
        share: value / 1e6 for share, value in zip(QUANTILES, quantiles, strict=True)
    }
