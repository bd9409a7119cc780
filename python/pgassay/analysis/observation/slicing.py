"""The slices of one segment of an observation, computed from its samples.

Enters: a stored segment. Leaves: its `Slices`. Never: reads another segment, or bridges a gap.

A segment is divided evenly, so that each of its slices is whole and none belongs to two segments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from pgassay.analysis.measures.courses.trial_course import is_state
from pgassay.analysis.measures.signals import sessions_by_window
from pgassay.analysis.observation.gaps import USUAL_PAUSE_NS, gaps_in, longest_pause_ns
from pgassay.analysis.observation.slice_metrics import METRIC, TPS, with_ratios
from pgassay.analysis.observation.slices import (
    SLICE_S,
    Slices,
    add_zeros,
    is_steady,
    is_zero_without_row,
)
from pgassay.analysis.reading.binned import CounterTrack, Floats, Gaps, Times, within
from pgassay.analysis.reading.counters import CounterSeries, Key
from pgassay.analysis.reading.logged import logged_by_window
from pgassay.analysis.reading.metrics import WAIT_CLASSES
from pgassay.analysis.waits.wait_profile import WaitProfile, looks_in
from pgassay.samples.stored_parts import StoredSegment
from pgassay.trials.sampling.queries import STATEMENTS, WAITS

_SECOND_NS = 10**9
_LARGEST = 30
"""Statements whose sessions are kept of each slice: those with the most."""
_PER_MINUTE = 60.0
_READ_AT_LEAST = 0.3
"""Share of a slice."""


def slices_of(segment: StoredSegment, width_s: float = SLICE_S) -> Slices:
    """The slices of a segment, each of about this length."""
    summary = segment.summary()
    start_ns, end_ns = summary.started_ns, max(summary.ended_ns, summary.started_ns + 1)
    count = max(1, round((end_ns - start_ns) / _SECOND_NS / width_s))
    edges = np.linspace(start_ns, end_ns, count + 1).astype(np.int64)
    lengths = np.diff(edges) / _SECOND_NS
    postgres, host = (CounterSeries(segment.batched(name)) for name in ("postgres", "host"))
    waits = segment.table("waits")
    ticks = looks_in(waits)
    answered = np.r_[ticks, *(times for times, _ in map(postgres.points, postgres.keys()))]
    inside = answered[(answered > start_ns) & (answered < end_ns)]
    seen = np.r_[start_ns, np.unique(inside), end_ns]
    gaps = gaps_in(seen, longest_pause_ns(ticks) or USUAL_PAUSE_NS)
    values = {
        **dict(_counted(postgres, edges, gaps)),
        **dict(_statements(postgres, edges)),
        **dict(_counted(host, edges, ())),
        **_largest_only(sessions_by_window(waits, edges, gaps=gaps)),
        **dict(_by_class(WaitProfile(waits, host, gaps=gaps), edges)),
        **dict(_checkpoints(segment.table("checkpoints"), edges)),
    }
    commits = values.get(("cluster", "", "xact_commit"))
    if commits is not None:
        own = summary.sampler_cost.get("transactions", 0.0) / lengths.sum()
        values[METRIC, "", TPS] = np.maximum(commits - own, 0.0)
    if summary.log:
        values["log_read", "", ""] = np.ones(count)
        for kind, counts in logged_by_window(segment, edges).items():
            values["log", "", kind] = _PER_MINUTE * counts / lengths
    add_zeros(values)
    return Slices(edges[:-1], lengths - within(edges, gaps), lengths, with_ratios(values))


def _counted(counters: CounterSeries, edges: Times, gaps: Gaps) -> Iterator[tuple[Key, Floats]]:
    """The rate of each count and the mean of each state."""
    for key in counters.keys():  # noqa: SIM118 (not a mapping)
        if key[0] in (WAITS.source, STATEMENTS.source):
            continue
        if is_state("/".join(key)):
            row = counters.level_means(key, edges, is_steady=is_steady(key))
            if not is_steady(key) and is_zero_without_row(key):
                row = np.nan_to_num(row) * counters.shares_there(key, edges)
        else:
            track = CounterTrack()
            track.add(*counters.points(key))
            row = track.rates(edges, gaps)
            if not is_steady(key):  # between two times of being there it did not grow
                row = np.where(counters.shares_there(key, edges) > 0.0, row, 0.0)
        if not np.isnan(row).all():
            yield key, row


def _statements(counters: CounterSeries, edges: Times) -> Iterator[tuple[Key, Floats]]:
    """Growth a second of each statement's counts, which are read in pairs about a minute apart; 0
    where others grew and it did not."""
    pairs = {
        key: counters.points(key)
        for key in counters.keys()  # noqa: SIM118 (not a mapping)
        if key[0] == STATEMENTS.source and len(counters.points(key)[0]) % 2 == 0
    }
    if not pairs:
        return
    spans = np.unique(np.concatenate([times.reshape(-1, 2) for times, _ in pairs.values()]), axis=0)
    lengths = np.diff(edges) / _SECOND_NS
    read = within(edges, [(int(first), int(last)) for first, last in spans])
    known = read >= _READ_AT_LEAST * lengths
    for key, (times, values) in pairs.items():
        steps = np.diff(values, prepend=values[0])
        steps[2::2] = 0.0  # between two pairs
        grown = np.diff(np.interp(edges - edges[0], times - edges[0], np.cumsum(steps)))
        yield key, np.divide(grown, read, out=np.full(len(lengths), np.nan), where=known)


def _largest_only(sessions: Mapping[Key, Floats]) -> dict[Key, Floats]:
    """Without the sessions of statements that are not among the largest of any slice."""
    queries = list(dict.fromkeys(key[1] for key in sessions if key[0] == "query"))
    kept = set(queries)
    if len(queries) > _LARGEST:
        place = {query: at for at, query in enumerate(queries)}
        width = len(next(iter(sessions.values())))
        total = np.zeros((len(queries), width))
        for key, row in sessions.items():
            if key[0] == "query":
                total[place[key[1]]] += np.nan_to_num(row)
        largest = np.argpartition(-total, _LARGEST, axis=0)[:_LARGEST]
        kept = {queries[at] for at in np.unique(largest).tolist()}
    return {key: row for key, row in sessions.items() if key[0] != "query" or key[1] in kept}


def _by_class(profile: WaitProfile, edges: Times) -> Iterator[tuple[Key, Floats]]:
    if not len(profile.ticks_ns):
        return
    sessions = profile.by_window(edges)
    for at, wait_class in enumerate(WAIT_CLASSES):
        if wait_class.name != "cpu_queue" or profile.splits_cpu:
            yield ("class", "", wait_class.name), sessions[:, at]


def _checkpoints(table: pa.Table, edges: Times) -> Iterator[tuple[Key, Floats]]:
    rows = table.select(["started_ns", "ended_ns", "cause"]).to_pylist()
    spans = [(row["started_ns"], row["ended_ns"] or row["started_ns"]) for row in rows]
    asked = [row["started_ns"] for row in rows if row["cause"] != "time"]
    lengths = np.diff(edges) / _SECOND_NS
    yield ("checkpoints", "", "running"), within(edges, spans) / lengths
    yield ("checkpoints", "", "started"), _per_minute([start for start, _ in spans], edges)
    yield ("checkpoints", "", "requested"), _per_minute(asked, edges)


def _per_minute(moments: Sequence[int], edges: Times) -> Floats:
    counts, _ = np.histogram(np.array(moments, np.int64), edges)
    found: Floats = _PER_MINUTE * counts / (np.diff(edges) / _SECOND_NS)
    return found
