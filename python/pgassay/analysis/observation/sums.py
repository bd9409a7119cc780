"""Sums over the segments of an observation.

Enters: stored segments in order of time. Leaves: courses, averages, sessions and gaps; a
`ClassicView` of one arm. Never: holds the samples of more than one segment at a time, or more than
a value a second of each series, or fills a gap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pgassay.analysis.host.windows import HostCourse
from pgassay.analysis.measures.courses.even_series import EvenSeries, even_series, joined
from pgassay.analysis.measures.model import ArmSignals, TrialSignals
from pgassay.analysis.measures.signals import sessions_by_event
from pgassay.analysis.observation.gaps import USUAL_PAUSE_NS, gaps_in, longest_pause_ns
from pgassay.analysis.observation.model import BinnedSeries
from pgassay.analysis.observation.standby_lag import SOURCE as STANDBY
from pgassay.analysis.observation.standby_lag import StandbyLag
from pgassay.analysis.observation.statements import StatementSums
from pgassay.analysis.observation.windows import OBSERVED
from pgassay.analysis.reading.binned import CounterTrack, Floats, Times, summed_rates
from pgassay.analysis.reading.counters import CounterSeries, Key
from pgassay.analysis.reading.logged import logged_in
from pgassay.analysis.reading.metrics import WAIT_CLASSES
from pgassay.analysis.sampled.host_figures import observed_host
from pgassay.analysis.sampled.model import HostFigure
from pgassay.analysis.waits.wait_profile import SampledWaits, WaitProfile, looks_in
from pgassay.samples.forms.environment import EnvironmentFile
from pgassay.samples.forms.observation import SegmentFile
from pgassay.samples.stored_parts import StoredSegment
from pgassay.trials.host.disk_names import whole_disks
from pgassay.trials.sampling.queries import WAITS

if TYPE_CHECKING:
    from pgassay.analysis.classic.model import ClassicView

_SERVER = frozenset({"cluster", "wal_position"})
_HOST = frozenset({"stat", "diskstats"})
_PROCESSOR = ("user", "nice", "system", "irq", "softirq", "idle", "iowait", "steal")
_SECTORS = {"read": "sectors_read", "written": "sectors_written"}
_SECTOR = 512


class ObservationSums:
    """Sums over segments, added in order of time."""

    def __init__(self, edges: Times, end_ns: int, own_statements: Collection[str] = ()) -> None:
        self._edges = edges
        self.host = HostCourse(int(edges[0]), end_ns)
        self._tracks: dict[Key, CounterTrack] = {}
        self.standby = StandbyLag()
        bins = len(edges) - 1
        self.looked_ns = np.zeros(bins)
        self.busy: Floats = np.zeros((bins, len(WAIT_CLASSES)))
        self.events: Counter[str] = Counter()
        """Busy nanoseconds."""
        self.events_over_ns = 0.0
        self.checkpoints: list[dict[str, Any]] = []
        self.logged: Counter[str] = Counter()
        self.statements = StatementSums(own_statements)
        self.classic = ClassicCourse()
        self.sampled_waits = SampledWaits()
        self.gaps: list[tuple[int, int]] = []
        self._last_tick = self._last_answer = int(edges[0])
        self._pause_ns = USUAL_PAUSE_NS
        """A longer pause is a gap; from the last segment with enough samples."""
        self._splits_cpu = False

    def add(self, segment: StoredSegment, summary: SegmentFile) -> None:
        postgres = segment.table("postgres")
        self.statements.add(postgres)
        host = CounterSeries(segment.table("host"))
        server = CounterSeries(postgres.filter(_needed(postgres)))
        self.sampled_waits.add(server)
        self._add_counters(server, _SERVER)
        self.standby.add(server)
        self._add_counters(host, _HOST)
        self.host.add(host)
        waits = segment.table("waits")
        self._add_gaps(looks_in(waits), postgres["time_ns"].to_numpy())
        since = self._last_tick
        gaps = [gap for gap in self.gaps if gap[1] > since]
        profile = WaitProfile(waits, host, since_ns=since, gaps=gaps)
        self._add_waits(profile)
        checkpoints = segment.table("checkpoints").to_pylist()
        self.checkpoints += checkpoints
        self.classic.add(
            summary, server, host, profile, waits, checkpoints, since_ns=since, gaps=gaps
        )
        self.logged.update(logged_in(segment, 0, summary.ended_ns + 10**12))

    def _add_counters(self, found: CounterSeries, sources: frozenset[str]) -> None:
        for key in found.keys():  # noqa: SIM118 (not a mapping)
            if key[0] not in sources:
                continue
            self._tracks.setdefault(key, CounterTrack()).add(*found.points(key))

    def _add_waits(self, profile: WaitProfile) -> None:
        self._splits_cpu |= profile.splits_cpu
        looked_ns = profile.looked_ns(self._edges)
        self.looked_ns += looked_ns
        self.busy += np.nan_to_num(profile.by_window(self._edges)) * looked_ns[:, None]
        if len(profile.ticks_ns):
            # All samples of the segment, one of which may end after it.
            first, self._last_tick = int(profile.ticks_ns[0]), int(profile.ticks_ns[-1])
            last = self._last_tick + 1
            (over_ns,) = profile.looked_ns(np.array([first, last]))
            self.events_over_ns += float(over_ns)
            for event, average in profile.event_sessions(first, last).items():
                self.events[event] += average * over_ns

    def _add_gaps(self, ticks: Times, answered: Times) -> None:
        """Gaps: times in which neither sampler got an answer."""
        self._pause_ns = longest_pause_ns(ticks) or self._pause_ns
        every = np.unique(np.r_[ticks, answered])
        seen = np.r_[self._last_answer, every[every > self._last_answer]]
        self.gaps += gaps_in(seen, self._pause_ns)
        self._last_answer = int(seen[-1])

    def close(self, end_ns: int) -> None:
        """Ends the observation: time without readings up to its end is a gap too."""
        if end_ns - self._last_answer > self._pause_ns:
            self.gaps.append((self._last_answer, end_ns))

    def classes(self) -> dict[str, float]:
        """Average active sessions by class, without cpu_queue where it is unknown."""
        looked_ns = max(self.looked_ns.sum(), 1.0)
        return {
            wait_class.name: float(busy / looked_ns)
            for wait_class, busy in zip(WAIT_CLASSES, self.busy.sum(axis=0), strict=True)
            if wait_class.name != "cpu_queue" or self._splits_cpu
        }

    def sessions(self) -> dict[str, BinnedSeries]:
        average = self.busy / np.where(self.looked_ns > 0, self.looked_ns, np.nan)[:, None]
        return {
            wait_class.name: _course(average[:, at])
            for at, wait_class in enumerate(WAIT_CLASSES)
            if np.nansum(average[:, at]) > 0
        }

    def courses(self, own_tps: float) -> tuple[dict[str, BinnedSeries], dict[str, float], float]:
        """The courses, their averages, and the number of commits."""
        groups: dict[str, list[CounterTrack]] = {
            "tps": self._of("cluster", "xact_commit"),
            "rollbacks": self._of("cluster", "xact_rollback"),
            "wal": self._of("wal_position", "insert_bytes")
            or self._of("wal_position", "replay_bytes"),
            **{title: self._disks(name) for title, name in _SECTORS.items()},
        }
        found: dict[str, Floats] = {}
        averages: dict[str, float] = {}
        commits = 0.0
        for name, tracks in groups.items():
            # The host's counters were read while the server did not answer.
            gaps = () if name in _SECTORS else self.gaps
            rates = summed_rates(tracks, self._edges, gaps)
            if rates is None:
                continue
            factor = _SECTOR if name in _SECTORS else 1
            grown = [track.growth(gaps) for track in tracks]
            seconds = max((s for _, s in grown), default=0.0)
            average = factor * sum(g for g, _ in grown) / seconds if seconds else 0.0
            if name == "tps":
                rates, average = np.maximum(rates - own_tps, 0.0), max(average - own_tps, 0.0)
                commits = average * seconds
            found[name], averages[name] = rates * factor, average
        for name, rates, average in self._processors():
            found[name], averages[name] = rates, average
        for name, level in self.standby.levels.items():
            gaps = [*self.gaps, *self.standby.unknown_stretches(name)]
            mean = level.mean(gaps)
            if mean is not None:
                found[name], averages[name] = level.rates(self._edges, gaps), mean
        return {name: _course(rates) for name, rates in found.items()}, averages, commits

    def _processors(self) -> list[tuple[str, Floats, float]]:
        tracks = {name: self._tracks.get(("stat", "cpu", name)) for name in _PROCESSOR}
        present = {name: track for name, track in tracks.items() if track is not None}
        if "idle" not in present:
            return []
        rates = {name: track.rates(self._edges) for name, track in present.items()}
        totals = {name: track.growth()[0] for name, track in present.items()}
        every, total = np.sum(list(rates.values()), axis=0), max(sum(totals.values()), 1e-9)
        every = np.where(every > 0, every, np.nan)

        def share(*names: str) -> tuple[Floats, float]:
            own = np.sum([rates[n] for n in names if n in rates], axis=0)
            return 100 * own / every, 100 * sum(totals.get(n, 0.0) for n in names) / total

        idle = ("idle", "iowait", "steal")
        busy = tuple(name for name in present if name not in idle)
        return [
            ("busy", *share(*busy)),
            *((name, *share(name)) for name in ("iowait", "steal") if name in present),
        ]

    def _of(self, source: str, name: str) -> list[CounterTrack]:
        return [t for key, t in self._tracks.items() if key[0] == source and key[2] == name]

    def _disks(self, name: str) -> list[CounterTrack]:
        """The counters of whole disks, which include their partitions and mappings."""
        disks = {key[1] for key in self._tracks if key[0] == "diskstats" and key[2] == name}
        return [self._tracks["diskstats", disk, name] for disk in whole_disks(disks)]


def _course(values: Floats) -> BinnedSeries:
    return tuple(None if np.isnan(value) else float(value) for value in values)


def _needed(postgres: pa.Table) -> pa.ChunkedArray:
    """Which rows of a segment are summed; of pg_stat_io what sessions do with tables."""
    source, thing = (postgres[name].cast(pa.string()) for name in ("source", "object"))
    whole = pa.array([*sorted(_SERVER | SOURCES), WAITS.source, STANDBY])
    of_sessions = pc.and_(pc.equal(source, "io"), pc.starts_with(thing, IO))
    return pc.or_(pc.is_in(source, whole), of_sessions)


SOURCES = frozenset({"database", "bgwriter"})
"""Sources of the server that it needs, beside `IO`."""
IO = "client backend/relation/"
"""The beginning of the objects of pg_stat_io that it needs."""


class ClassicCourse:
    """Series and signals of the segments so far."""

    def __init__(self) -> None:
        self._series: list[EvenSeries] = []
        self._signals: list[TrialSignals] = []

    def add(
        self,
        summary: SegmentFile,
        server: CounterSeries,
        host: CounterSeries,
        profile: WaitProfile,
        waits: pa.Table,
        checkpoints: list[dict[str, Any]],
        *,
        since_ns: int | None = None,
        gaps: Sequence[tuple[int, int]] = (),
    ) -> None:
        """Adds one segment; `since_ns` and `gaps` as of its profile."""
        start, end = summary.started_ns, summary.ended_ns
        seconds = max((end - start) / 1e9, 1e-9)
        starts = np.array([one["started_ns"] for one in checkpoints], np.int64)
        number = len(self._series) + 1
        series = even_series(
            server,
            host,
            profile,
            spans_ns=[(start, end)],
            checkpoints_ns=np.sort(starts[(starts >= start) & (starts < end)]),
            trial=(number, number, OBSERVED),
            own_commits_per_s=summary.sampler_cost.get("transactions", 0.0) / seconds,
            width_s=self._series[0].width_s if self._series else None,
        )
        # The first and the last interval of a segment are read in part only.
        inner = tuple((first + 1, last - 1) for first, last in series.steps)
        self._series.append(replace(series, steps=inner))
        values = dict(sessions_by_event(waits, start, end, since_ns=since_ns, gaps=gaps))
        self._signals.append(TrialSignals(number, number, OBSERVED, seconds, 0, values))

    def host(self, environment: EnvironmentFile) -> tuple[HostFigure, ...]:
        """Returns the figures of the host over the whole observation."""
        if not self._series:
            return ()
        vm = {name: str(value) for name, value in environment.host.vm.items()}
        return observed_host(joined(self._series), vm)

    def view(
        self, statements: Mapping[str, float], environment: EnvironmentFile
    ) -> ClassicView | None:
        """`statements`: growth of pg_stat_statements a second, by column."""
        if not self._series:
            return None
        from pgassay.analysis.classic.view import classic_view

        every = {("statements", "", name): value for name, value in statements.items()}
        signals = tuple(replace(one, values={**one.values, **every}) for one in self._signals)
        return classic_view(
            [OBSERVED],
            [joined(self._series)],
            [ArmSignals(OBSERVED, signals)],
            environment,
            has_load=False,
        )
