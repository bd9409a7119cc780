"""Everything sampled of a trial, each series as one figure: what diagnosis looks for signs in.

Enters: a stored trial. Leaves: `TrialSignals`, `ArmSignals` of the trials of each arm, and by arm
what shared_buffers held.
Never: names a series, judges one, or fills in one that was not read.

A signal is known by (source, object, name), as a counter is:

| source | object | name | value |
|---|---|---|---|
| `sessions` | empty | a wait event such as `LWLock:WALWrite`; `CPU` | average sessions |
| `scenario` | its name | the same | average sessions |
| `query` | a query_id | the same | average sessions |
| `process` | a type of background process | the same | average processes |
| `state` | empty | a state such as `idle in transaction` | average sessions |
| `log` | empty | a kind of event of the server's log | events a minute |
| any source of a query or host file | as sampled | as sampled | growth a second; mean of a state |
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pgassay.analysis.measures.courses.trial_course import is_state
from pgassay.analysis.measures.model import ArmSignals, BufferCache, TrialSignals
from pgassay.analysis.measures.sources import TrialSources
from pgassay.analysis.reading.counters import CounterSeries, Key
from pgassay.analysis.reading.logged import logged_in
from pgassay.analysis.waits.cpu_queue import OF_THE_LOAD
from pgassay.analysis.waits.wait_profile import looks_in, times_of_looks
from pgassay.samples.stored_parts import StoredTrial
from pgassay.trials.sampling.queries import STATEMENTS, WAITS

_WORDS = ("backend_type", "state", "wait_event_type", "wait_event", "scenario")
_AROUND = (STATEMENTS.source, WAITS.source)
"""Read before and after the load only: their growth is of all of it, warm-up included."""


def by_arm(arms: Sequence[str], trials: Sequence[TrialSignals]) -> tuple[ArmSignals, ...]:
    """Arms in the given order, without those that have no trial."""
    ordered = sorted(trials, key=lambda trial: trial.block)
    found = (ArmSignals(arm, tuple(one for one in ordered if one.arm == arm)) for arm in arms)
    return tuple(one for one in found if one.trials)


def read_signals(trial: StoredTrial, sources: TrialSources | None = None) -> TrialSignals:
    """The signals of one trial over its measured part."""
    sources = sources or TrialSources(trial)
    summary = trial.summary()
    measured = summary.load.measured
    start, end = measured[0].start_ns, measured[-1].end_ns
    seconds = (end - start) / 1e9
    values: dict[Key, float] = dict(sessions_by_event(sources.sampled, start, end))
    for counters in (sources.postgres, sources.host):
        values |= dict(_counters(counters, start, end))
    if summary.log:
        for kind, count in logged_in(trial, start, end).items():
            values["log", "", kind] = 60.0 * count / seconds
    return TrialSignals(
        summary.number,
        summary.block,
        summary.arm,
        seconds,
        sum(step.transactions for step in measured),
        values,
        dict(_samples(sources.sampled, start, end)),
    )


def _counters(counters: CounterSeries, start: int, end: int) -> Iterator[tuple[Key, float]]:
    for key in counters.keys():  # noqa: SIM118 (not a mapping)
        times, raw = counters.points(key)
        if key[0] in _AROUND:
            if len(times) > 1 and raw[-1] >= raw[0]:
                yield key, float(raw[-1] - raw[0]) / ((times[-1] - times[0]) / 1e9)
        elif is_state("/".join(key)):
            level = counters.mean_level(key, start, end)
            if level is not None:
                yield key, level
        else:
            grown = counters.increase(key, start, end)
            if grown is not None:
                yield key, grown / ((end - start) / 1e9)


def sessions_by_event(
    table: pa.Table,
    start: int,
    end: int,
    *,
    since_ns: int | None = None,
    gaps: Sequence[tuple[int, int]] = (),
) -> Iterator[tuple[Key, float]]:
    """Average sessions; sampled ones are weighted by the time that their sample stands for.

    `since_ns` and `gaps` as of `WaitProfile`, whose averages of the same events are the same.
    """
    edges = np.array([start, end])
    found = sessions_by_window(table, edges, since_ns=since_ns, gaps=gaps)
    yield from ((key, float(average)) for key, (average,) in found.items())


def sessions_by_window(
    table: pa.Table,
    edges_ns: NDArray[np.int64],
    *,
    since_ns: int | None = None,
    gaps: Sequence[tuple[int, int]] = (),
) -> dict[Key, NDArray[np.float64]]:
    """Average sessions in adjacent windows, NaN in those without a sample; nothing where none has
    one."""
    ticks = looks_in(table)
    weights = times_of_looks(ticks, since_ns, gaps)
    windows = len(edges_ns) - 1
    looked_ns = np.diff(np.r_[0.0, np.cumsum(weights)][np.searchsorted(ticks, edges_ns)])
    if not looked_ns.any():
        return {}
    chosen = _sessions_in(table, int(edges_ns[0]), int(edges_ns[-1]))
    at = chosen["tick_ns"].to_numpy()
    weight = weights[np.searchsorted(ticks, at)]
    window = np.searchsorted(edges_ns, at, side="right") - 1
    share = np.divide(1.0, looked_ns, out=np.full(windows, np.nan), where=looked_ns > 0.0)
    found: dict[Key, NDArray[np.float64]] = defaultdict(lambda: share * 0.0)
    for row in _grouped(chosen, window, weight).to_pylist():
        place, event = row["window"], _event(row)
        average = row["weight_sum"] * share[place]
        if row["backend_type"] not in OF_THE_LOAD:
            found["process", row["backend_type"] or "", event][place] += average
            continue
        found["sessions", "", event][place] += average
        if row["scenario"]:
            found["scenario", row["scenario"], event][place] += average
        if row["query_id"]:
            found["query", str(row["query_id"]), event][place] += average
        if row["state"]:
            found["state", "", row["state"]][place] += average
    return dict(found)


def _sessions_in(table: pa.Table, start: int, end: int) -> pa.Table:
    inside = pc.and_(pc.greater_equal(table["tick_ns"], start), pc.less(table["tick_ns"], end))
    return table.filter(pc.and_(inside, pc.is_valid(table["pid"])))


def _event(row: Mapping[str, Any]) -> str:
    return f"{row['wait_event_type']}:{row['wait_event']}" if row["wait_event"] else "CPU"


def _samples(table: pa.Table, start: int, end: int) -> Iterator[tuple[str, int]]:
    """Counts the sampled sessions of the load in each event."""
    found = _sessions_in(table, start, end).select(_WORDS)
    of_load = pc.is_in(found["backend_type"].cast(pa.string()), pa.array(OF_THE_LOAD))
    words = ["wait_event_type", "wait_event"]
    counts = found.filter(of_load).group_by(words).aggregate([([], "count_all")])
    yield from ((_event(row), row["count_all"]) for row in counts.to_pylist())


def _grouped(
    sessions: pa.Table, window: NDArray[np.int64], weight: NDArray[np.float64]
) -> pa.Table:
    """The sum of the weights of sessions of a window that have the same words and statement."""
    unified = sessions.select(_WORDS).unify_dictionaries()
    words = {name: unified[name].combine_chunks() for name in _WORDS}
    numbers = {name: column.indices for name, column in words.items()}
    found = (
        pa.table({**numbers, "query_id": sessions["query_id"], "window": window, "weight": weight})
        .group_by([*numbers, "query_id", "window"])
        .aggregate([("weight", "sum")])
    )
    # Only some hundred groups differ: their words are looked up, not compared.
    for place, (name, column) in enumerate(words.items()):
        found = found.set_column(place, name, column.dictionary.take(found[name]))
    return found


_SOURCE = "buffercache"


def buffer_caches(signals: Sequence[ArmSignals]) -> tuple[BufferCache, ...]:
    """Returns what shared_buffers held in the arms where pg_buffercache was read (16 and later)."""
    return tuple(_every(signals))


def _every(signals: Sequence[ArmSignals]) -> Iterator[BufferCache]:
    for arm in signals:
        used = arm.total(_SOURCE, name="buffers_used")
        known = sum(value is not None for value in used)
        if known:
            yield BufferCache(
                arm.arm,
                known,
                used=_mean(arm, "buffers_used"),
                unused=_mean(arm, "buffers_unused"),
                dirty=_mean(arm, "buffers_dirty"),
                pinned=_mean(arm, "buffers_pinned"),
                usage_count=arm.mean(_SOURCE, name="usagecount_avg"),
            )


def _mean(arm: ArmSignals, name: str) -> float:
    return arm.mean(_SOURCE, name=name) or 0.0
