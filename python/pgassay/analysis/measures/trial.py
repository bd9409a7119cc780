"""The estimates of one stored trial.

Enters: a trial's summary and tables, the plan. Leaves: `TrialMeasures`.
Never: compares trials, or replaces a missing measurement by a number.

A trial that did not run the planned load does not count: steps are compared across arms by their
level, so one that lacks a step, or ran it for another time, would be compared with different work.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pgassay.analysis.host.columns import HostColumns
from pgassay.analysis.host.model import HostWindow
from pgassay.analysis.measures.costs import (
    RUN,
    host_costs,
    server_costs,
    server_cpu,
    session_times,
    statement_costs,
)
from pgassay.analysis.measures.model import (
    Caveat,
    LatencyCurve,
    OtherUse,
    ScenarioMeasures,
    StepMeasures,
    TrialMeasures,
)
from pgassay.analysis.measures.parts import measure_scenarios, measure_slices
from pgassay.analysis.measures.query_trials import read_queries, with_times
from pgassay.analysis.measures.sources import TrialSources
from pgassay.analysis.measures.statements import statement_means
from pgassay.analysis.measures.variants import measure_variants
from pgassay.analysis.measures.within_run import throughput_variation
from pgassay.analysis.reading.histograms import CURVE_SHARES, QUANTILES, Histogram, Of
from pgassay.analysis.reading.metrics import PARALLEL, TO_BEGIN, UNACCOUNTED, WAIT_CLASSES
from pgassay.notes import Note, Value
from pgassay.plan.model import ALL_ARMS, Plan
from pgassay.refusals.refusal import DirectoryRefused
from pgassay.samples.forms.trial import Load, Step, TrialFile
from pgassay.samples.stored_parts import StoredTrial

_LENIENT = 0.1
_LENIENT_S = 0.1
"""Tolerance of a step's duration: a share of it, plus seconds."""

Level = tuple[float, float, float]
"""Clients, rate (0 in a closed loop), seconds."""


def other_steps(summary: TrialFile, plan: Plan) -> tuple[Note, ...]:
    """The reason, if the measured steps differ from the planned ones in any order."""
    planned = sorted(
        (step.clients, step.rate or 0.0, step.duration_s) for step in plan.steps if step.measured
    )
    stored = sorted(
        (step.clients, step.rate or 0.0, (step.end_ns - step.start_ns) / 1e9)
        for step in summary.load.measured
    )
    timed = summary.load.backend not in ("command", "replay", "queries")
    pairs = zip(stored, planned, strict=False)
    if len(stored) == len(planned) and all(_alike(*pair, timed=timed) for pair in pairs):
        return ()
    ran, wanted = (", ".join(map(_words, steps)) for steps in (stored, planned))
    return (Note("trials/run/other-steps", {"ran": ran, "wanted": wanted}),)


def _refuse_unplanned(trial: StoredTrial, summary: TrialFile, plan: Plan) -> None:
    arms = [*([ALL_ARMS] if plan.alternates else []), *(arm.id for arm in plan.arms)]
    if summary.arm not in arms:
        place = trial.folder / "trial.json"
        raise DirectoryRefused("arm-of-no-plan", place, arms=", ".join(arms))


def _alike(stored: Level, planned: Level, *, timed: bool) -> bool:
    near = abs(stored[2] - planned[2]) <= _LENIENT * planned[2] + _LENIENT_S
    return stored[0] == planned[0] and stored[1] == planned[1] and (near or not timed)


def _words(level: Level) -> str:
    clients, rate, seconds = level
    at = f" at {rate:g} a second" if rate else ""
    return f"{clients:g} clients{at} for {seconds:.3g} s"


def measure_trial(
    trial: StoredTrial, sources: TrialSources | None = None, *, plan: Plan | None = None
) -> TrialMeasures:
    """Estimates everything that is estimated from one trial.

    With the plan, a trial that ran another load than planned is invalid.
    """
    summary = trial.summary()
    if plan is not None:
        _refuse_unplanned(trial, summary, plan)
    sources = sources or TrialSources(trial)
    steps = summary.load.measured
    at_level: dict[float, list[Step]] = {}
    for step, level in zip(steps, summary.load.levels, strict=True):
        at_level.setdefault(level, []).append(step)
    of_set = summary.load.backend == "queries"
    measured = tuple(_measure(sources, own, at, of_set=of_set) for at, own in at_level.items())
    whole = measured[0] if len(measured) == 1 else _measure(sources, steps, None, of_set=of_set)
    values = {**whole.values, **server_cpu(summary)}
    if sources.are_of_the_only_server:
        values |= statement_costs(sources.postgres, summary)
    queries = read_queries(trial, plan.queries.parameters if plan and plan.queries else ())
    scenarios = with_times(measure_scenarios(steps, sources.load_of(steps)), queries)
    endpoints = {one.metric for one in plan.endpoints} if plan else set()
    values |= _of_scenarios(scenarios, endpoints)
    values |= statement_means(trial, sources, endpoints)
    values |= _of_writes(summary.writes)
    whole = replace(whole, level=None, values=values)
    reasons = trial.validity().notes
    return TrialMeasures(
        number=summary.number,
        block=summary.block,
        position=summary.position,
        arm=summary.arm,
        whole=whole,
        steps=measured,
        warnings=(*_warnings(summary, whole), *_damaged(sources)),
        variants=measure_variants(summary.load.slices),
        turns=measure_slices(summary, sources.load, endpoints),
        invalid=(*reasons, *(() if plan is None else other_steps(summary, plan))),
        repeats=summary.repeats,
        is_repeated=bool(reasons) and summary.repeats is None,
        host=_host(sources, whole),
        scenarios=scenarios,
        queries=queries,
        server=summary.server,
        set_by_load=tuple(summary.set_by_load.items()),
        others=_other_use(summary),
    )


def _of_scenarios(
    scenarios: Sequence[ScenarioMeasures], endpoints: Collection[str]
) -> dict[str, float]:
    """The endpoints that are of single scenarios, over whole trials."""
    return {
        name: value
        for one in scenarios
        for measure, value in one.quantiles_ms.items()
        if (name := f"{one.scenario}.{measure}") in endpoints
    }


def _of_writes(found: Load | None) -> dict[str, float]:
    """The rate and the latency of the writes that follow a set of queries."""
    if found is None:
        return {}
    values = {"writes_tps": _rate(found.measured), "writes_mean": found.latency_ms.mean}
    return {name: value for name, value in values.items() if value is not None}


def _other_use(summary: TrialFile) -> OtherUse | None:
    """Runs of older versions have no names, and the share of the processors in their split."""
    used, split = summary.fingerprint.other_programs, summary.fingerprint.processors
    if used is not None:
        named = tuple((one.name, 100.0 * one.processors) for one in used.programs)
        return OtherUse(100.0 * used.processors, named)
    if split is None or not split.all_s or split.foreign_user_s is None:
        return None
    return OtherUse(100.0 * split.foreign_user_s / split.all_s)


def _host(sources: TrialSources, whole: StepMeasures) -> HostWindow | None:
    columns = HostColumns(sources.host)
    return columns.window(whole.start_ns, whole.end_ns) if columns.readings("vmstat") else None


def _measure(
    sources: TrialSources, steps: Sequence[Step], level: float | None, *, of_set: bool
) -> StepMeasures:
    rows = sources.load_of(steps)
    transactions = sum(s.transactions for s in steps)
    failed = sum(s.failed for s in steps)
    windows = _windows(steps) if level is not None else _windows(steps, gaps=True)
    values: dict[str, float | None] = {}
    curve: LatencyCurve | None = None
    if transactions and all(window.seconds > 0 for window in windows):
        if not of_set:  # arms take turns, and all execute equally often
            values["tps"] = _rate(steps)
            values["tps_variation"] = throughput_variation(steps, rows)
        latency, curve = _latency(rows, "latency")
        response, response_curve = _latency(rows, "response")
        curve = response_curve or curve
        values |= latency | response
        values["client_cpu_ms_per_tx"] = sum(s.client_cpu_s for s in steps) / transactions * 1e3
    values |= _averaged(windows, [_costs(sources, window) for window in windows])
    values |= _rest_of_time(values)
    values.pop(RUN, None)
    if transactions + failed:
        values["failed_share"] = 100.0 * failed / (transactions + failed)
    present = {name: value for name, value in values.items() if value is not None}
    clients = _clients(steps)
    return StepMeasures(
        level=level,
        start_ns=windows[0].start_ns,
        end_ns=windows[-1].end_ns,
        transactions=transactions,
        values=present,
        latency_curve=curve,
        clients=clients,
        tps_by_duration=_by_duration(present, clients, transactions),
    )


def _clients(steps: Sequence[Step]) -> float:
    """The mean number of clients; 0 where a rate sets the load."""
    lengths = [step.end_ns - step.start_ns for step in steps]
    if any(step.rate or step.rate_asked for step in steps) or not sum(lengths):
        return 0.0
    return float(np.average([step.clients for step in steps], weights=lengths))


_MOST_IDLE = 2.0
"""How many mean durations of each client's time transactions may leave or exceed: those that the
edges of the window cut, two for each client."""


def _by_duration(values: Mapping[str, float], clients: float, transactions: int) -> float | None:
    """Clients ÷ mean duration: in a closed loop the throughput, however few transactions ended.

    Only where durations fill the time of all clients.
    """
    duration, tps = values.get("latency_mean"), values.get("tps")
    if not (clients and transactions and duration and tps):
        return None
    found = 1e3 * clients / duration
    idle = abs(1.0 - tps / found)
    return found if idle <= _MOST_IDLE * clients / transactions else None


@dataclass(frozen=True)
class _Window:
    """A part of a trial whose samples are averaged together."""

    start_ns: int
    end_ns: int
    transactions: int

    @property
    def seconds(self) -> float:
        return (self.end_ns - self.start_ns) / 1e9


def _windows(steps: Sequence[Step], *, gaps: bool = False) -> tuple[_Window, ...]:
    """One per step, because steps of one level may have others in between; or one over all."""
    parts = [steps] if gaps else [(step,) for step in steps]
    return tuple(
        _Window(part[0].start_ns, part[-1].end_ns, sum(s.transactions for s in part))
        for part in parts
    )


def _costs(sources: TrialSources, window: _Window) -> dict[str, float | None]:
    """The metrics of server and host over a window."""
    start, end, seconds = window.start_ns, window.end_ns, window.seconds
    values: dict[str, float | None] = {}
    if window.transactions and seconds > 0:
        values |= host_costs(sources.host, start, end, window.transactions)
    if not sources.are_of_the_only_server:
        # A duet has several servers, but the transactions are of all of them.
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
            if in_parallel := sources.waits.parallel_sessions(start, end):
                values[PARALLEL.metric] = -in_parallel * each_ms
        # The kernel counts running time exactly. On a busy host the sampler, which needs a
        # processor itself, meets running sessions too seldom.
        counted = session_times(sources.host, start, end, window.transactions)
        values |= {name: value for name, value in counted.items() if value is not None}
    if seconds > 0:
        begun = sources.checkpoints["started_ns"].to_numpy()
        count = np.count_nonzero((begun >= start) & (begun < end))
        values["checkpoints_per_min"] = float(count) / seconds * 60
    return values


def _rest_of_time(values: Mapping[str, float | None]) -> dict[str, float | None]:
    """What the waits leave of a transaction's time: before it began, and unaccounted."""
    latency, response = values.get("latency_mean"), values.get("response_mean")
    sampled = {one.name: values.get(one.metric) for one in WAIT_CLASSES}
    known = {name: value for name, value in sampled.items() if value is not None}
    if latency is None or not known:
        return {}
    # Parallel workers work at the same time: together the sessions take more than the transaction.
    taken = latency - (values.get(PARALLEL.metric) or 0.0)
    found: dict[str, float | None] = {}
    if "cpu" in known and (run := values.get(RUN)) is not None:
        left = taken - sum(value for name, value in known.items() if name != "cpu")
        # A session may run while it reports a wait, in a system call: this is in the wait.
        known["cpu"] = max(known["cpu"], min(run, left))
        found[WAIT_CLASSES[0].metric] = known["cpu"]
    found[UNACCOUNTED.metric] = taken - sum(known.values())
    if response is not None:
        found[TO_BEGIN.metric] = response - latency
    return found


def _averaged(
    windows: Sequence[_Window], costs: Sequence[Mapping[str, float | None]]
) -> dict[str, float | None]:
    """Means over windows, of costs weighted by transactions; None where a window has none."""
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


def _rate(steps: Sequence[Step]) -> float:
    """Throughput over the steps alone, without the start-up of a program between two of them.

    A program may report its rate more precisely than whole transactions do.
    """
    lengths = [s.end_ns - s.start_ns for s in steps]
    done = sum(s.tps * length for s, length in zip(steps, lengths, strict=True))
    return float(done / sum(lengths))


def _latency(rows: pa.Table, of: Of) -> tuple[dict[str, float | None], LatencyCurve | None]:
    """Mean and quantiles as metrics, and the latency curve."""
    histogram = Histogram.merged(rows, of)
    quantiles = histogram.quantiles_ns([*QUANTILES.values(), *CURVE_SHARES])
    if quantiles is None:
        return {}, None
    found: dict[str, float | None] = {
        f"{of}_{name}": value / 1e6 for name, value in zip(QUANTILES, quantiles, strict=False)
    }
    found[f"{of}_mean"] = pc.sum(rows[f"{of}_sum_ns"]).as_py() / histogram.total / 1e6
    curve = tuple(value / 1e6 for value in quantiles[len(QUANTILES) :])
    return found, LatencyCurve(of, curve)


def _damaged(sources: TrialSources) -> Iterator[Caveat]:
    """A caveat for each table with stored values that are not finite."""
    for name, series in (("postgres", sources.postgres), ("host", sources.host)):
        if series.damaged:
            values: dict[str, Value] = {"damaged": series.damaged, "name": name}
            yield Caveat.of("damaged-samples", Note("analysis/measures/damaged-samples", values))


def _warnings(summary: TrialFile, whole: StepMeasures) -> list[Caveat]:
    found = [Caveat.of("trial", note) for note in summary.notes]
    if whole.transactions == 0:
        found.append(Caveat.of("no-transactions", Note("analysis/measures/no-transactions")))
    failed = whole.values.get("failed_share", 0.0)
    if failed > 1.0:
        note = Note("analysis/measures/failures", {"failed": failed})
        found.append(Caveat.of("failures", note))
    return found
