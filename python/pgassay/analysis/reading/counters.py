"""Growth of raw counters over any window.

Enters: the rows of postgres.parquet or host.parquet. Leaves: `CounterSeries`.
Never: bridges a reset; a counter that decreases inside a window has no growth there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, KeysView, Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Key = tuple[str, str, str]
"""(source, object, name)."""
_WORDS = ("source", "object", "name")
_ONE_READING_NS = 5_000_000
_HELD_NS = 20_000_000_000
"""Of equal values at least the first and the last of each piece of some seconds are stored."""
_ROWS_AT_ONCE = 1 << 17
"""So many rows stay in a processor's cache."""
_FEW = np.iinfo(np.uint16).max
"""Numbers up to this are radix sorted, in a tenth of the time."""
Times = NDArray[np.int64]
Values = NDArray[np.float64]
Numbers = NDArray[np.integer[Any]]


class Rows(Protocol):
    """A table that is read from its file a part at a time."""

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        ...

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Iterates over all rows with these columns, in order."""
        ...


class CounterSeries:
    """All counters of one trial or segment, each as sorted times and values."""

    def __init__(self, table: Rows | pa.Table) -> None:
        self._series: dict[Key, tuple[Times, Values]] = {}
        self._period: dict[str, int] = {}
        self._readings: dict[str, Times] = {}
        self._latest: dict[str, tuple[tuple[int, int], Times]] = {}
        """Of each source, the readings in the window last asked for: other counters ask for it."""
        self._falling: set[Key] = set()
        self.damaged = 0
        """How many values were not finite and are left out."""
        if table.num_rows == 0:
            return
        keys, numbers, counts = numbered(table)
        edges = np.r_[0, np.cumsum(counts)]
        # These are the largest data of a run: nothing else is as long, or is kept.
        times, values = np.empty(edges[-1], np.int64), np.empty(edges[-1])
        sources = list(dict.fromkeys(key[0] for key in keys))
        source_of = np.array([sources.index(key[0]) for key in keys], np.int16)
        moments: list[tuple[NDArray[np.int16], Times]] = []
        free = edges[:-1].copy()
        end = 0
        for batch in _batches(table, ("time_ns", "value")):
            begin, end = end, end + batch.num_rows
            own = numbers[begin:end]
            at, read = (batch[name].to_numpy() for name in ("time_ns", "value"))
            self.damaged += len(read) - int(np.count_nonzero(np.isfinite(read)))
            moments.append(_moments(source_of[own], at))
            # Rows are written in order of time, and a stable sort keeps that of each counter.
            order = np.argsort(own, kind="stable")
            ordered = own[order]
            begins = np.r_[0, np.flatnonzero(ordered[1:] != ordered[:-1]) + 1]
            lengths = np.diff(begins, append=len(own))
            places = np.repeat(free[ordered[begins]] - begins, lengths) + np.arange(len(own))
            times[places], values[places] = at[order], read[order]
            free[ordered[begins]] += lengths
        self._readings = _readings(sources, moments)
        self._period = {name: _period(times) for name, times in self._readings.items()}
        unordered = _decreasing(times, edges)
        for number, key in enumerate(keys):
            part = slice(edges[number], edges[number + 1])
            self._keep(key, times[part], values[part], is_ordered=number not in unordered)
        if unordered or self.damaged:  # other values than those above follow each other
            self._falling = {key for key, (_, own) in self._series.items() if _falls(own)}
        else:
            self._falling = {keys[number] for number in _decreasing(values, edges)}

    def _keep(self, key: Key, times: Times, values: Values, *, is_ordered: bool) -> None:
        if not is_ordered:
            order = np.argsort(times, kind="stable")
            times, values = times[order], values[order]
        if self.damaged:
            finite = np.isfinite(values)
            times, values = times[finite], values[finite]
        if len(times):
            self._series[key] = times, values

    def keys(self) -> KeysView[Key]:
        """Returns the key of every counter that was read."""
        return self._series.keys()

    def points(self, key: Key) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Times and raw values of one counter, in order of time."""
        return self._series[key]

    def falls(self, key: Key) -> bool:
        """Whether a value of this counter is lower than the one before it."""
        return key in self._falling

    def period_ns(self, source: str) -> int:
        """The median time between readings of a source; 0 with a single reading."""
        return self._period.get(source, 0)

    def increase(self, key: Key, start_ns: int, end_ns: int) -> float | None:
        """Growth in a window, with values interpolated at its edges, and extrapolated by the
        nearest two readings where the source's first or last one lies inside of the window.

        None where the counter was not read around the window, or decreased in it.
        """
        found = self._series.get(key)
        if found is None or len(found[0]) < 2:
            return None
        times, _ = found
        slack = 2 * self._period[key[0]]
        if times[0] > start_ns + slack or times[-1] < end_ns - slack:
            return None
        if self._went_back(key, start_ns, end_ns):
            return None
        return self._reached(key, end_ns) - self._reached(key, start_ns)

    def _reached(self, key: Key, at_ns: int) -> float:
        """The value at a time; beyond the source's first or last reading it goes on growing as
        between that reading and the next to it."""
        times, values = self._series[key]
        read = self._readings[key[0]]
        found = _at(at_ns, times, values)
        # Unchanged values are not stored: then it did not grow between these two readings.
        if at_ns < times[0] <= read[0] + _ONE_READING_NS and times[1] <= read[1] + _ONE_READING_NS:
            slope = (values[1] - values[0]) / (times[1] - times[0])
            return float(found - slope * (times[0] - at_ns))
        if at_ns > times[-1] >= read[-1]:
            slope = (values[-1] - values[-2]) / (times[-1] - max(times[-2], read[-2]))
            return float(found + slope * (at_ns - times[-1]))
        return found

    def levels(self, key: Key, at_ns: NDArray[np.int64]) -> NDArray[np.float64]:
        """Values at some times, without times at which the counter was not read."""
        found = self._series.get(key)
        if found is None:
            return np.empty(0)
        times, values = found
        slack = max(2 * self._period[key[0]], _ONE_READING_NS)
        known = at_ns[(at_ns >= times[0] - slack) & (at_ns <= times[-1] + slack)]
        # Unchanged values are not stored: the last stored one holds until the next.
        places = np.searchsorted(times, known + _ONE_READING_NS, side="right") - 1
        found_levels: NDArray[np.float64] = values[np.maximum(places, 0)]
        return found_levels

    def mean_level(self, key: Key, start_ns: int, end_ns: int) -> float | None:
        """The mean of a present number over the readings in a window, its end included.

        Where none lies in the window, the value at its end; None where it was not read then.
        """
        readings = self._readings_in(key[0], start_ns, end_ns)
        values = self.levels(key, readings if len(readings) else np.array([end_ns]))
        return float(values.mean()) if len(values) else None

    def level_means(self, key: Key, edges_ns: Times, *, is_steady: bool = True) -> Values:
        """`mean_level` of each of some adjacent windows; NaN where it is not known. Of a number
        that is not steady, only readings count in which its row was there."""
        times, _ = self._series[key]
        readings = self._readings_in(key[0], int(edges_ns[0]), int(edges_ns[-1]))
        slack = max(2 * self._period[key[0]], _ONE_READING_NS)
        known = readings[(readings >= times[0] - slack) & (readings <= times[-1] + slack)]
        if not is_steady:
            known = known[self._is_there(key, known)]
        windows = len(edges_ns) - 1
        inside = np.searchsorted(edges_ns, known) - 1
        sums = np.bincount(inside, self.levels(key, known), minlength=windows)
        counts = np.bincount(inside, minlength=windows)
        found: Values = np.divide(sums, counts, out=np.full(windows, np.nan), where=counts > 0)
        ends = edges_ns[1:]
        unread = (
            is_steady & (counts == 0) & (ends >= times[0] - slack) & (ends <= times[-1] + slack)
        )
        found[unread] = self.levels(key, ends[unread])
        return found

    def shares_there(self, key: Key, edges_ns: Times) -> Values:
        """The share of the readings of some adjacent windows in which a row was there; NaN where
        its source was not read."""
        readings = self._readings_in(key[0], int(edges_ns[0]), int(edges_ns[-1]))
        windows = len(edges_ns) - 1
        inside = np.searchsorted(edges_ns, readings) - 1
        counts = np.bincount(inside, minlength=windows)
        there = np.bincount(inside, self._is_there(key, readings), minlength=windows)
        shares: Values = np.divide(there, counts, out=np.full(windows, np.nan), where=counts > 0)
        return shares

    def _is_there(self, key: Key, readings: Times) -> NDArray[np.bool_]:
        """Whether a row was there in some readings of its source. Of a stretch of equal values the
        first and the last of each few seconds are stored; between others it was gone."""
        times, values = self._series[key]
        half = max(self._period[key[0]] // 2, _ONE_READING_NS)
        after = np.searchsorted(times, readings)
        before = np.maximum(after - 1, 0)
        after = np.minimum(after, len(times) - 1)
        near = np.minimum(np.abs(readings - times[before]), np.abs(readings - times[after])) <= half
        is_held = (values[before] == values[after]) & (times[after] - times[before] <= _HELD_NS)
        is_held &= (times[before] <= readings) & (readings <= times[after])
        there: NDArray[np.bool_] = near | is_held
        return there

    def _readings_in(self, source: str, start_ns: int, end_ns: int) -> Times:
        """When a source was read in a window; a reading in which nothing had changed left no row,
        so one is added for each period of a longer gap."""
        window = start_ns, end_ns
        if (latest := self._latest.get(source)) is None or latest[0] != window:
            self._latest[source] = latest = window, self._filled(source, start_ns, end_ns)
        return latest[1]

    def _filled(self, source: str, start_ns: int, end_ns: int) -> Times:
        times = self._readings.get(source, np.empty(0, np.int64))
        first, last = np.searchsorted(times, (start_ns, end_ns), side="right")
        # The gap around an edge of the window is seen from both its sides.
        near = times[max(first - 1, 0) : last + 1]
        period = self._period.get(source, 0)
        if not period or len(near) < 2:
            return times[first:last]
        counts = np.maximum(np.rint(np.diff(near) / period).astype(np.int64), 1)
        starts = np.repeat(near[:-1], counts)
        steps = np.repeat(np.diff(near) / counts, counts)
        numbers = np.arange(len(starts)) - np.repeat(np.cumsum(counts) - counts, counts)
        filled = np.r_[(starts + numbers * steps).astype(np.int64), near[-1]]
        inside: Times = filled[(filled > start_ns) & (filled <= end_ns)]
        return inside

    def total(
        self,
        source: str,
        names: Iterable[str],
        start_ns: int,
        end_ns: int,
        *,
        counts: Callable[[str], bool] = lambda _: True,
    ) -> float | None:
        """The summed growth of some counters of a source over its objects.

        None where none was read, or one of them appeared, vanished or decreased in the window,
        because the sum would be incomplete. `counts` selects objects by name.
        """
        wanted = set(names)
        keys = [k for k in self._series if k[0] == source and k[2] in wanted and counts(k[1])]
        grown = [
            self.increase(key, start_ns, end_ns)
            for key in keys
            if self._series[key][0][0] <= end_ns and self._series[key][0][-1] >= start_ns
        ]
        known = [one for one in grown if one is not None]
        return sum(known) if known and len(known) == len(grown) else None

    def _went_back(self, key: Key, start_ns: int, end_ns: int) -> bool:
        if not self.falls(key):
            return False
        times, values = self._series[key]
        slack = 2 * self._period[key[0]]
        first = np.searchsorted(times, start_ns - slack)
        last = np.searchsorted(times, end_ns + slack, side="right")
        return _falls(values[first:last])


def _falls(values: Values) -> bool:
    return bool(np.any(values[1:] < values[:-1]))


def _at(time_ns: int, times: Times, values: Values) -> float:
    """The value at a time, interpolated; before the first reading and after the last, theirs."""
    after = int(times.searchsorted(time_ns, side="right"))
    if after == 0 or after == len(times):
        return float(values[max(after - 1, 0)])
    before_ns, after_ns = int(times[after - 1]), int(times[after])
    low, high = float(values[after - 1]), float(values[after])
    return (high - low) / (after_ns - before_ns) * (time_ns - before_ns) + low


def _batches(table: Rows | pa.Table, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    if isinstance(table, pa.Table):
        yield from table.select(columns).to_batches(_ROWS_AT_ONCE)
    else:
        yield from table.batches(columns)


def numbered(table: Rows | pa.Table) -> tuple[list[Key], Numbers, NDArray[np.int64]]:
    """The counters in order of their first row; the number of each row's counter; how many rows
    each counter has."""
    known: dict[Key, int] = {}
    found: list[Numbers] = []
    counts = np.zeros(0, np.int64)
    for batch in _batches(table, _WORDS):
        columns = [batch[name] for name in _WORDS]
        words = [column.dictionary.to_pylist() for column in columns]
        code = np.zeros(batch.num_rows, np.int64)
        for column, own in zip(columns, words, strict=True):
            code *= len(own)
            code += column.indices.to_numpy()
        # By hashing: of the millions of rows of a day only some hundred differ.
        coded = pa.array(code).dictionary_encode()
        places = np.unravel_index(coded.dictionary.to_numpy(), [len(own) for own in words])
        present = zip(
            *(map(own.__getitem__, at.tolist()) for own, at in zip(words, places, strict=True)),
            strict=True,
        )
        own_numbers = np.array([known.setdefault(key, len(known)) for key in present], np.int32)
        of_rows = own_numbers[coded.indices.to_numpy()]
        counts = np.pad(counts, (0, len(known) - len(counts)))
        counts += np.bincount(of_rows, minlength=len(known))
        found.append(of_rows.astype(np.uint16) if len(known) <= _FEW else of_rows)
    numbers: Numbers = np.concatenate(found)
    return list(known), numbers, counts


def _moments(sources: NDArray[np.int16], times: Times) -> tuple[NDArray[np.int16], Times]:
    """The sources and times of successive rows, without those that repeat the row before."""
    new = np.r_[True, (sources[1:] != sources[:-1]) | (times[1:] != times[:-1])]
    return sources[new], times[new]


def _readings(
    sources: Sequence[str], moments: Sequence[tuple[NDArray[np.int16], Times]]
) -> dict[str, Times]:
    """When each source was read.

    Over all counters of a source, because unchanged values are not stored.
    """
    of_rows, times = map(np.concatenate, zip(*moments, strict=True))
    found = {}
    for number, name in enumerate(sources):
        own = times[of_rows == number]
        if np.any(own[1:] < own[:-1]):  # rows not in order of time
            own = np.sort(own)
        # Several files of one source, read in succession, are one reading.
        found[name] = own[np.r_[True, np.diff(own) > _ONE_READING_NS]]
    return found


def _period(times: Times) -> int:
    """The median time between readings; 0 with a single reading."""
    return int(np.median(np.diff(times))) if len(times) > 1 else 0


def _decreasing(column: Times | Values, edges: NDArray[np.int64]) -> set[int]:
    """The numbers of the counters in which this column decreases from one row to the next."""
    lower = np.r_[False, column[1:] < column[:-1]]
    lower[edges[:-1]] = False
    found: list[int] = np.flatnonzero(np.logical_or.reduceat(lower, edges[:-1])).tolist()
    return set(found)
