"""One stored trial → its estimates.

Enters: a trial's summary and tables. Leaves: `TrialMeasures`.
Never: compares trials, and never turns what was not measured into a number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pgassay.analysis.costs import host_costs, server_costs, server_cpu
from pgassay.analysis.histograms import CURVE_SHARES, Histogram, Of
from pgassay.analysis.host_columns import HostColumns
from pgassay.analysis.metrics import WAIT_CLASSES
from pgassay.analysis.model import Doubt, HostWindow, LatencyCurve, StepMeasures, TrialMeasures
from pgassay.analysis.planned_steps import other_steps
from pgassay.analysis.sources import TrialSources
from pgassay.analysis.turns import measure_turns
from pgassay.analysis.variants import measure_variants
from pgassay.plan.model import Plan
from pgassay.samples.run_directory import StoredTrial

_QUANTILES = {"p50": 0.50, "p95": 0.95, "p99": 0.99}


def measure_trial(
    trial: StoredTrial, sources: TrialSources | None = None, *, plan: Plan | None = None
) -> TrialMeasures:
    """Everything that is estimated from one trial; with its plan one that had another load than
    planned does not count."""
    summary = trial.summary()
    sources = sources or TrialSources(trial)
    steps = [s for s in summary["load"]["steps"] if s["measured"]]
    by_rate = len({s.get("rate") for s in steps}) > 1
    level = "rate" if by_rate else "clients"
    levels = dict.fromkeys(step[level] for step in steps)
    measured = tuple(
        _measure(sources, tuple(step for step in steps if step[level] == value), value)
        for value in levels
    )
    whole = measured[0] if len(measured) == 1 else _measure(sources, tuple(steps), None)
    values = {**whole.values, **server_cpu(summary)}
    whole = replace(whole, level=None, values=values)
    reasons = trial.validity().reasons
    return TrialMeasures(
        number=summary["number"],
        block=summary["block"],
        position=summary["position"],
        arm=summary["arm"],
        whole=whole,
        steps=measured,
        warnings=(*_warnings(summary, whole), *_damaged(sources)),
        variants=measure_variants(summary["load"].get("slices") or ()),
        turns=measure_turns(summary, sources.load),
        invalid=(*reasons, *(() if plan is None else other_steps(summary, plan))),
        repeats=summary.get("repeats"),
        is_repeated=bool(reasons) and summary.get("repeats") is None,
        host=_host(sources, whole),
    )


def _host(sources: TrialSources, whole: StepMeasures) -> HostWindow | None:
    columns = HostColumns(sources.host)
    return columns.window(whole.start_ns, whole.end_ns) if columns.readings("vmstat") else None


def _measure(
    sources: TrialSources, steps: tuple[Mapping[str, Any], ...], level: float | None
) -> StepMeasures:
    rows = sources.load.filter(
        pc.is_in(sources.load["step"], pa.array([s["index"] for s in steps], pa.int32()))
    )
    transactions = sum(s["transactions"] for s in steps)
    failed = sum(s["failed"] for s in steps)
    windows = _windows(steps) if level is not None else _windows(steps, gaps=True)
    values: dict[str, float | None] = {}
    curve: LatencyCurve | None = None
    if transactions and all(window.seconds > 0 for window in windows):
        values["tps"] = _rate(steps)
        latency, curve = _latency(rows, "latency")
        response, response_curve = _latency(rows, "response")
        curve = response_curve or curve
        values |= latency | response
        values["client_cpu_ms_per_tx"] = sum(s["client_cpu_s"] for s in steps) / transactions * 1e3
    values |= _averaged(windows, [_costs(sources, window) for window in windows])
    if transactions + failed:
        values["failed_share"] = 100.0 * failed / (transactions + failed)
    present = {name: value for name, value in values.items() if value is not None}
    start, end = windows[0].start_ns, windows[-1].end_ns
    return StepMeasures(level, start, end, transactions, present, curve)


@dataclass(frozen=True)
class _Window:
    """A stretch of a trial whose samples are taken together."""

    start_ns: int
    end_ns: int
    transactions: int

    @property
    def seconds(self) -> float:
        return (self.end_ns - self.start_ns) / 1e9


def _windows(steps: tuple[Mapping[str, Any], ...], *, gaps: bool = False) -> tuple[_Window, ...]:
    """One for each step, for a load that comes back has others in between; or one for all."""
    parts = [steps] if gaps else [(step,) for step in steps]
    return tuple(
        _Window(part[0]["start_ns"], part[-1]["end_ns"], sum(s["transactions"] for s in part))
        for part in parts
    )


def _costs(sources: TrialSources, window: _Window) -> dict[str, float | None]:
    """What server and host say of a window."""
    start, end, seconds = window.start_ns, window.end_ns, window.seconds
    values: dict[str, float | None] = {}
    if window.transactions and seconds > 0:
        values |= host_costs(sources.host, start, end, window.transactions)
    if not sources.tell_the_whole_server_side:
        # Of a duet: one server's figures over the transactions of all would be no cost of either.
        return values
    if window.transactions and seconds > 0:
        values |= server_costs(sources.postgres, start, end, window.transactions)
        sessions = sources.waits.average_sessions(start, end)
        if sessions is not None:
            each_ms = seconds / window.transactions * 1e3
            for wait_class in WAIT_CLASSES:
                busy = sessions.get(wait_class.name)
                values[wait_class.metric] = None if busy is None else busy * each_ms
            waiting = sum(busy for name, busy in sessions.items() if name != "cpu")
            values["waiting_ms_per_tx"] = waiting * each_ms
    if seconds > 0:
        begun = sources.checkpoints["started_ns"].to_numpy()
        count = np.count_nonzero((begun >= start) & (begun < end))
        values["checkpoints_per_min"] = float(count) / seconds * 60
    return values


def _averaged(
    windows: Sequence[_Window], costs: Sequence[Mapping[str, float | None]]
) -> dict[str, float | None]:
    """Over windows: costs by their transactions, the rest by their length; None where one lacks."""
    found: dict[str, float | None] = {}
    for name in costs[0]:
        values = [one.get(name) for one in costs]
        known = [value for value in values if value is not None]
        if len(known) < len(windows):
            found[name] = None
            continue
        per_transaction = name.endswith("_per_tx")
        weights = [w.transactions if per_transaction else w.seconds for w in windows]
        found[name] = float(np.average(known, weights=weights))
    return found


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


def _damaged(sources: TrialSources) -> Iterator[Doubt]:
    """Stored samples that are no numbers; what they are of is not told for that time."""
    for name, series in (("postgres", sources.postgres), ("host", sources.host)):
        if series.damaged:
            text = f"{series.damaged} values in {name}.parquet are no finite numbers: left out"
            yield Doubt("damaged-samples", text)


def _warnings(summary: Mapping[str, Any], whole: StepMeasures) -> list[Doubt]:
    found = [Doubt("trial", text) for text in summary["warnings"]]
    if whole.transactions == 0:
        found.append(Doubt("no-transactions", "not one transaction succeeded"))
    failed = whole.values.get("failed_share", 0.0)
    if failed > 1.0:
        found.append(Doubt("failures", f"{failed:.1f} % of transactions failed"))
    return found
