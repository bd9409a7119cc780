"""Counters, states and waits of a trial at even intervals: what the tables of infrastructure, of
loads and the classic view are made from.

Enters: a stored trial. Leaves: an `EvenSeries`, one value a second of each series. Never: includes
the warm-up, or fills in what was not read.
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from importlib.resources import files
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pgassay.analysis.measures.model import CUT
from pgassay.analysis.measures.sources import TrialSources
from pgassay.analysis.reading.binned import CounterTrack, LevelTrack, summed_rates
from pgassay.analysis.reading.counters import CounterSeries, Key
from pgassay.analysis.waits.wait_profile import WaitProfile
from pgassay.plan.model import ALL_ARMS
from pgassay.samples.forms.trial import TrialFile
from pgassay.samples.stored_parts import StoredTrial

Array = NDArray[np.float64]
Times = NDArray[np.int64]
_WANTED = tomllib.loads((files(__package__) / "even_series.toml").read_text("utf-8"))
WAIT_TYPES: tuple[str, ...] = tuple(_WANTED["waits"]["types"])
_ALIAS: Mapping[str, str] = _WANTED["waits"]["alias"]
_REPORTED_TOGETHER: tuple[str, ...] = tuple(_WANTED["reported"]["together"])
_DISKS = "diskstats"
_SECOND_NS = 10**9


@dataclass(frozen=True)
class EvenSeries:
    """The measured part of one trial; every interval has the same length."""

    number: int
    block: int
    arm: str
    width_s: float
    steps: tuple[tuple[int, int], ...]
    """The range of each measured step: intervals that lie wholly inside it."""
    checkpoints_s: Array
    """Starts of checkpoints, in seconds from the first interval."""
    values: Mapping[str, Array]
    """By the names of even_series.toml; NaN where not read. What was never read is absent."""
    disks: tuple[str, ...]
    levels: tuple[float, ...] = ()
    """The load of each of the steps: clients, or the rate where they differ by it."""
    turns: tuple[tuple[str, int, int], ...] = ()
    """Where arms alternate on one server: (arm, first, end) of the intervals that lie wholly inside
    a slice without its first part."""

    @property
    def intervals(self) -> int:
        return max((len(one) for one in self.values.values()), default=0)

    @property
    def seconds(self) -> float:
        return self.intervals * self.width_s

    def at(self, level: float) -> Iterator[EvenSeries]:
        """Yields the intervals of one load as one series; nothing where there are none."""
        spans = [span for span, own in zip(self.steps, self.levels, strict=True) if own == level]
        yield from self._inside(spans, levels=(level,))

    def by_arm(self) -> Iterator[EvenSeries]:
        """Yields the intervals of each arm's slices as one series, where arms alternate."""
        for arm in dict.fromkeys(arm for arm, _, _ in self.turns):
            spans = [(first, last) for own, first, last in self.turns if own == arm]
            yield from self._inside(spans, levels=(), arm=arm, turns=())

    def _inside(self, spans: Sequence[tuple[int, int]], **other: Any) -> Iterator[EvenSeries]:
        if spans:
            inside = np.concatenate([np.arange(*span) for span in spans])
            values = {name: row[inside] for name, row in self.values.items()}
            yield replace(self, steps=((0, len(inside)),), values=values, **other)

    def averaged(self, width_s: float) -> Mapping[str, Array]:
        """Averages over longer intervals; a rest that does not fill one is left out."""
        size = max(1, round(width_s / self.width_s))
        count = self.intervals // size
        if not count:
            return {}
        rows = np.array(list(self.values.values()))[:, : count * size].reshape(-1, count, size)
        known = np.isfinite(rows)
        sums = np.where(known, rows, 0.0).sum(axis=2)
        seen = known.sum(axis=2)
        means = np.divide(sums, seen, out=np.full(sums.shape, np.nan), where=seen * 2 >= size)
        return dict(zip(self.values, means, strict=True))


def interval_width_s(measured_s: float) -> float:
    """Returns the longest width of which a measured part has enough intervals; else the
    shortest."""
    widths: list[float] = _WANTED["intervals"]["widths_s"]
    fewest = _WANTED["intervals"]["fewest"]
    return next((width for width in widths if measured_s / width >= fewest), widths[-1])


def joined(parts: Sequence[EvenSeries]) -> EvenSeries:
    """Successive parts as one; their steps remain apart. They have the same width."""
    begin = np.cumsum([0, *(one.intervals for one in parts)]).tolist()
    names = {name for one in parts for name in one.values}
    first = parts[0]
    return EvenSeries(
        first.number,
        first.block,
        first.arm,
        first.width_s,
        tuple(
            (at + a, at + b) for at, one in zip(begin, parts, strict=False) for a, b in one.steps
        ),
        np.concatenate(
            [at * first.width_s + one.checkpoints_s for at, one in zip(begin, parts, strict=False)]
        ),
        {
            name: np.concatenate(
                [one.values.get(name, np.full(one.intervals, np.nan)) for one in parts]
            )
            for name in names
        },
        tuple(sorted({disk for one in parts for disk in one.disks})),
    )


def wait_type(event: str | None) -> str:
    """Returns which of `WAIT_TYPES` an event such as `IO:DataFileRead` is of; empty for any
    other."""
    kind = (event or "").partition(":")[0]
    kind = _ALIAS.get(kind, kind)
    return kind if kind in WAIT_TYPES else ""


def read_even_series(trial: StoredTrial, sources: TrialSources | None = None) -> EvenSeries:
    """Reads the series of one trial, brought to one value per even step of time."""
    sources = sources or TrialSources(trial)
    summary = trial.summary()
    measured = summary.load.measured
    start, end = measured[0].start_ns, measured[-1].end_ns
    checkpoints = np.sort(sources.checkpoints["started_ns"].to_numpy())
    return even_series(
        sources.postgres,
        sources.host,
        sources.waits,
        spans_ns=[(step.start_ns, step.end_ns) for step in measured],
        checkpoints_ns=checkpoints[(checkpoints >= start) & (checkpoints < end)],
        trial=(summary.number, summary.block, summary.arm),
        own_commits_per_s=_own_commits(summary),
        load=_done(sources.load, end),
        levels=summary.load.levels,
        turns_ns=list(_turns(summary)) if sources.are_of_the_only_server else [],
    )


def even_series(
    postgres: CounterSeries,
    host: CounterSeries,
    waits: WaitProfile,
    *,
    spans_ns: Sequence[tuple[int, int]],
    checkpoints_ns: Times,
    trial: tuple[int, int, str],
    own_commits_per_s: float = 0.0,
    load: tuple[Times, Array] | None = None,
    width_s: float | None = None,
    levels: Sequence[float] = (),
    turns_ns: Sequence[tuple[str, int, int]] = (),
) -> EvenSeries:
    """The series between the first span's beginning and the last one's end.

    An interval is `width_s`, else a second, or as long as the pause between two readings of the
    server. `load`: moments, and the load's transactions up to each. `levels`: of each span.
    """
    start, end = spans_ns[0][0], spans_ns[-1][1]
    pause_s = round(postgres.period_ns("database") / _SECOND_NS)
    width_ns = round(width_s or max(1, pause_s)) * _SECOND_NS
    edges: Times = start + np.arange((end - start) // width_ns + 1) * width_ns
    values = dict(_series(postgres, host, edges)) if len(edges) > 1 else {}
    disks = tuple(sorted({name.partition("/")[0] for name in values if "/" in name}))
    if len(edges) > 1:
        values |= _waits(waits, edges)
    if "commits" in values:
        values["commits"] = np.maximum(values["commits"] - own_commits_per_s, 0.0)
        if load is not None:
            values |= _when_done(values, edges, load)
    number, block, arm = trial
    steps = [
        (int(np.searchsorted(edges, first)), int(np.searchsorted(edges, last, "right")) - 1)
        for first, last in spans_ns
    ]
    is_whole = [last > first for first, last in steps]
    return EvenSeries(
        number,
        block,
        arm,
        width_ns / _SECOND_NS,
        tuple(span for span, whole in zip(steps, is_whole, strict=True) if whole),
        (checkpoints_ns - start) / _SECOND_NS,
        values,
        disks,
        tuple(level for level, whole in zip(levels, is_whole, strict=False) if whole),
        tuple(
            (arm, first, last)
            for (arm, *_), (first, last) in zip(turns_ns, _ranges(edges, turns_ns), strict=True)
            if last > first
        ),
    )


def _ranges(edges: Times, spans_ns: Sequence[tuple[str, int, int]]) -> Iterator[tuple[int, int]]:
    """Yields the range of intervals that lie wholly inside each span."""
    for _, first, last in spans_ns:
        yield int(np.searchsorted(edges, first)), int(np.searchsorted(edges, last, "right")) - 1


def _turns(summary: TrialFile) -> Iterator[tuple[str, int, int]]:
    """Yields the arm, beginning and end of each slice, without its first part."""
    for one in summary.load.slices if summary.arm == ALL_ARMS else ():
        cut_ns = round(CUT * (one.end_ns - one.start_ns))
        yield one.variant, one.start_ns + cut_ns, one.end_ns


def _done(load: pa.Table, end_ns: int) -> tuple[Times, Array] | None:
    """When each interval of the load began, and the transactions done by then; and at the end."""
    rows = (
        load.group_by("start_ns", use_threads=False)
        .aggregate([("transactions", "sum")])
        .sort_by("start_ns")
    )
    if not rows.num_rows:
        return None
    counts = rows["transactions_sum"].to_numpy().astype(np.float64)
    return np.r_[rows["start_ns"].to_numpy(), end_ns], np.r_[0.0, np.cumsum(counts)]


def _when_done(
    values: Mapping[str, Array], edges: Times, load: tuple[Times, Array]
) -> dict[str, Array]:
    """What sessions count, put into the seconds in which the load did it.

    Sessions report all their counts together, about once a second and late: second by second these
    would rise and fall with the reports. So commits are those of the load's own record, scaled to
    the reported total, and so is each count that follows the reported commits, per commit.
    """
    at, total = load
    done = np.diff(np.interp(edges - edges[0], at - edges[0], total))
    commits = values["commits"]
    known = np.isfinite(commits)
    # The last second's reports may be missing.
    known[-1:] = False
    if not done[known].sum() or not commits[known].sum():
        return {}
    expected = done * commits[known].sum() / done[known].sum()
    found = {"commits": expected}
    for name in _REPORTED_TOGETHER:
        if name in values and _follows(values[name][known], commits[known]):
            each = np.full(len(commits), np.nansum(values[name][known]) / commits[known].sum())
            np.divide(values[name], commits, out=each, where=known & (commits > 0.0))
            found[name] = each * expected
    return found


def _follows(counted: Array, commits: Array) -> bool:
    """Whether it rises and falls with the reported commits.

    One that does not, divided by them, would look correlated with every other that was divided too.
    """
    if not np.isfinite(counted).all() or min(np.ptp(counted), np.ptp(commits)) == 0.0:
        return False
    return bool(np.corrcoef(counted, commits)[0, 1] >= _WANTED["reported"]["follows_from_r"])


def _own_commits(summary: TrialFile) -> float:
    """Commits a second of the sampler of counters, each reading of which is one."""
    if summary.started_ns is None or summary.ended_ns is None:
        return 0.0
    seconds = (summary.ended_ns - summary.started_ns) / _SECOND_NS
    return summary.sampler_cost.get("counter_reads", 0.0) / seconds if seconds > 0 else 0.0


def _series(
    postgres: CounterSeries, host: CounterSeries, edges: Times
) -> Iterator[tuple[str, Array]]:
    by_source: dict[str, list[tuple[Key, CounterSeries]]] = defaultdict(list)
    for counters in (postgres, host):
        for key in counters.keys():  # noqa: SIM118 (not a mapping)
            by_source[key[0]].append((key, counters))
    for kind, track in (("rates", CounterTrack), ("levels", LevelTrack)):
        for name, patterns in _WANTED[kind].items():
            for pattern in patterns:
                wanted = list(_matching(by_source, pattern))
                if wanted:
                    yield name, _summed(wanted, edges, track)
                    break
    disks = {key[1] for key, _ in by_source[_DISKS]}
    for disk in sorted(disks):
        for name, counter in _WANTED["disk_rates"].items():
            wanted = [one for one in by_source[_DISKS] if one[0] == (_DISKS, disk, counter)]
            if wanted:
                yield f"{disk}/{name}", _summed(wanted, edges, CounterTrack)


def _matching(
    by_source: Mapping[str, Sequence[tuple[Key, CounterSeries]]], pattern: str
) -> Iterator[tuple[Key, CounterSeries]]:
    source, _, rest = pattern.partition("/")
    for key, counters in by_source.get(source, ()):
        if fnmatchcase(f"{key[1]}/{key[2]}", rest):
            yield key, counters


def _summed(
    wanted: Iterable[tuple[Key, CounterSeries]], edges: Times, kind: type[CounterTrack]
) -> Array:
    tracks = []
    for key, counters in wanted:
        tracks.append(kind())
        tracks[-1].add(*counters.points(key))
    found = summed_rates(tracks, edges)
    return np.full(len(edges) - 1, np.nan) if found is None else found


def _waits(profile: WaitProfile, edges: Times) -> dict[str, Array]:
    """Average sessions of the load in each type of wait; none where nothing was sampled."""
    if not len(profile.ticks_ns):
        return {}
    sessions = profile.by_event(edges)
    looked: Array = np.where(profile.looked_ns(edges) > 0.0, 0.0, np.nan)
    found = {f"wait/{name}": looked.copy() for name in WAIT_TYPES}
    for at, (kind, _) in enumerate(profile.events):
        if name := wait_type(kind):
            found[f"wait/{name}"] += sessions[:, at]
    return found
