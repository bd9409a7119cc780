"""The parts of a trial: its scenarios, and the slices of a switchback or duet.

Enters: a trial's summary and load table. Leaves: `ScenarioMeasures`; one `SliceMeasures` per slice
of whole rounds. Never: shares a counter of the server out among scenarios, counts the first quarter
of a slice, which the slice before may still affect, or a transaction of an earlier slice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pgassay.analysis.measures.model import CUT, ScenarioMeasures, SliceMeasures
from pgassay.analysis.reading.histograms import QUANTILES, Histogram, Of
from pgassay.plan.model import ALL_ARMS
from pgassay.samples.forms.trial import Slice, Step, TrialFile
from pgassay.spec.endpoints import OF_A_SCENARIO

_LATE = 0.75


def measure_slices(
    summary: TrialFile, load: pa.Table, endpoints: Collection[str] = ()
) -> tuple[SliceMeasures, ...]:
    """The slices of all complete rounds, in order; none of a trial of a single arm.

    `endpoints` are metrics; those of scenarios are measured in each slice.
    """
    if summary.arm != ALL_ARMS:
        return ()
    slices = summary.load.slices
    arms = {found.variant for found in slices}
    whole_ns = max(found.end_ns - found.start_ns for found in slices)
    rows = load.filter(pc.is_valid(load["slice"])).sort_by("slice")
    numbers = rows["slice"].to_numpy()
    present = pc.unique(rows["scenario"].cast(pa.string())).to_pylist()
    scenarios = [one for one in present if any(f"{one}.{m}" in endpoints for m in OF_A_SCENARIO)]
    turns: list[SliceMeasures] = []
    for first in range(0, len(slices) - len(arms) + 1, len(arms)):
        own = slices[first : first + len(arms)]
        # The end of the step may cut the last round short.
        if {found.variant for found in own} != arms or _shortest_ns(own) < 0.99 * whole_ns:
            break
        for found in own:
            low, high = np.searchsorted(numbers, [found.index, found.index + 1])
            own_rows = rows.slice(low, high - low)
            turns.append(_turn(first // len(arms), found, own_rows, scenarios))
    return tuple(turns)


def _shortest_ns(slices: Sequence[Slice]) -> int:
    return min(found.end_ns - found.start_ns for found in slices)


def _turn(number: int, found: Slice, rows: pa.Table, scenarios: Sequence[str]) -> SliceMeasures:
    start, length = found.start_ns, found.end_ns - found.start_ns
    # Intervals are placed by their middle, because their edges are rounded to nanoseconds.
    middle = (rows["start_ns"].to_numpy() - start) / length + CUT / 2
    kept = rows.filter(pa.array(middle > CUT))
    values = _values(kept, (1.0 - CUT) * length / 1e9, True)
    for name in scenarios:
        own = _quantiles(_of_scenario(kept, name))
        values |= {f"{name}.{measure}": value for measure, value in own.items()}
    return SliceMeasures(
        round=number,
        arm=found.variant,
        start_ns=start,
        values=values,
        early=_values(
            rows.filter(pa.array((middle > CUT) & (middle < 2 * CUT))), CUT * length / 1e9, False
        ),
        late=_values(rows.filter(pa.array(middle > _LATE)), (1.0 - _LATE) * length / 1e9, False),
        transactions=found.transactions,
        failed=found.failed,
    )


def _values(rows: pa.Table, seconds: float, quantiles: bool) -> dict[str, float]:
    done = pc.sum(rows["transactions"]).as_py() or 0
    if not done:
        return {}
    values = {"tps": done / seconds}
    kinds: tuple[Of, ...] = ("latency", "response")
    for of in kinds:
        total = pc.sum(rows[f"{of}_sum_ns"]).as_py() or 0
        if not total:
            continue
        values[f"{of}_mean"] = total / done / 1e6
        if quantiles:
            found = Histogram.merged(rows, of).quantiles_ns(list(QUANTILES.values()))
            names = (f"{of}_{name}" for name in QUANTILES)
            values |= {n: v / 1e6 for n, v in zip(names, found or (), strict=False)}
    return values


def measure_scenarios(steps: Sequence[Step], rows: pa.Table) -> tuple[ScenarioMeasures, ...]:
    """Measures the scenarios of these steps, in the order of their names; empty where nothing was
    measured."""
    seconds = sum(step.end_ns - step.start_ns for step in steps) / 1e9
    names = sorted(pc.unique(rows["scenario"].cast(pa.string())).to_pylist())
    if seconds <= 0.0:
        return ()
    if len(names) == 1:
        return (_scenario(names[0], rows, seconds),)
    return tuple(_scenario(name, _of_scenario(rows, name), seconds) for name in names)


def _of_scenario(rows: pa.Table, name: str) -> pa.Table:
    return rows.filter(pc.equal(rows["scenario"].cast(pa.string()), name))


def _scenario(name: str, rows: pa.Table, seconds: float) -> ScenarioMeasures:
    done, failed = (pc.sum(rows[column]).as_py() or 0 for column in ("transactions", "failed"))
    errors: Counter[str] = Counter()
    failing = rows.filter(pc.greater(rows["failed"], 0))
    for row in failing.select(["error_sqlstate", "error_count"]).to_pylist():
        for sqlstate, count in zip(
            row["error_sqlstate"] or (), row["error_count"] or (), strict=True
        ):
            errors[sqlstate] += count
    quantiles, by_code = _quantiles(rows), dict(sorted(errors.items()))
    return ScenarioMeasures(name, done, failed, done / seconds, by_code, _timed_by(rows), quantiles)


def _timed_by(rows: pa.Table) -> Of:
    return "response" if pc.sum(rows["response_sum_ns"]).as_py() else "latency"


def _quantiles(rows: pa.Table) -> dict[str, float]:
    of = _timed_by(rows)
    histogram = Histogram.merged(rows, of)
    quantiles = histogram.quantiles_ns([*QUANTILES.values()])
    if quantiles is None:
        return {}
    mean = pc.sum(rows[f"{of}_sum_ns"]).as_py() / histogram.total / 1e6
    return {"mean": mean} | {
        share: value / 1e6 for share, value in zip(QUANTILES, quantiles, strict=True)
    }
