"""Growth of raw counters over any window.

Enters: the rows of postgres.parquet or host.parquet. Leaves: `CounterSeries`.
Never: bridges a reset; a counter that decreases inside a window has no growth there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Key = tuple[str, str, str]
"""(source, object, name)."""
_WORDS = ("source", "object", "name")
_ONE_READING_NS = 5_000_000
Small = NDArray[np.uint16] | NDArray[np.int64]


class Rows(Protocol):
    """A table, or one whose columns are read on demand."""

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        ...

    def __getitem__(self, column: str, /) -> pa.ChunkedArray:
        """One column."""
        ...


class CounterSeries:
    """All counters of one trial or segment, each as sorted times and values."""

    def __init__(self, table: Rows) -> None:
        self._series: dict[Key, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}
        self._period: dict[str, int] = {}
        self.damaged = 0
        """How many values were not finite and are left out."""
        if table.num_rows == 0:
            return
        # One column at a time: these are the largest data of a run.
        columns = _one_ahead(table, ("time_ns", *_WORDS, "value"))
        times = next(columns).to_numpy()
        words: list[list[str]] = []
        code = np.zeros(table.num_rows, dtype=np.int64)
        for column in _WORDS:
            indices, found = _encoded(next(columns))
            words.append(found)
            code *= len(found)
            code += indices
            if column == "source":
                self._period = _periods(indices, found, times)
            del indices
        small, used = _small(code)
        del code
        order = _by_counter(small, times)
        small = small[order]
        edges = np.r_[0, np.flatnonzero(small[1:] != small[:-1]) + 1, len(small)]
        codes = used[small[edges[:-1]]]
        del small
        times = times[order]
        values = next(columns).to_numpy()[order]
        del order
        finite = np.isfinite(values)
        self.damaged = len(values) - int(np.count_nonzero(finite))
        for code_of_it, start, end in zip(codes.tolist(), edges, edges[1:], strict=False):
            rest, name = divmod(code_of_it, len(words[2]))
            source, thing = divmod(rest, len(words[1]))
            key = (words[0][source], words[1][thing], words[2][name])
            series = times[start:end], values[start:end]
            if self.damaged:
                kept = finite[start:end]
                series = series[0][kept], series[1][kept]
            if len(series[0]):
                self._series[key] = series

    def keys(self) -> Iterable[Key]:
        """Every counter that was read."""
        return self._series.keys()

    def points(self, key: Key) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Times and raw values of one counter, in order of time."""
        return self._series[key]

    def period_ns(self, source: str) -> int:
        """The median time between readings of a source; 0 with a single reading."""
        return self._period.get(source, 0)

    def increase(self, key: Key, start_ns: int, end_ns: int) -> float | None:
        """Growth in a window, with values interpolated at its edges.

        None where the counter was not read around the window, or decreased in it.
        """
        found = self._series.get(key)
        if found is None or len(found[0]) < 2:
            return None
        times, values = found
        slack = 2 * self._period[key[0]]
        if times[0] > start_ns + slack or times[-1] < end_ns - slack:
            return None
        if self._went_back(key, start_ns, end_ns):
            return None
        # Unix time in nanoseconds exceeds a float's precision: count from the first reading.
        edges = np.array([start_ns, end_ns]) - times[0]
        at_start, at_end = np.interp(edges, times - times[0], values)
        return float(at_end - at_start)

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
        times, values = self._series[key]
        slack = 2 * self._period[key[0]]
        inside = values[(times >= start_ns - slack) & (times <= end_ns + slack)]
        return bool(np.any(np.diff(inside) < 0))


def _one_ahead(table: Rows, names: Sequence[str]) -> Iterator[pa.ChunkedArray]:
    """The columns in order; the next is read from its file while one is in use."""
    with ThreadPoolExecutor(1) as reader:
        following = reader.submit(table.__getitem__, names[0])
        for name in names[1:]:
            column = following.result()
            following = reader.submit(table.__getitem__, name)
            yield column
            del column
        yield following.result()


def _encoded(column: pa.ChunkedArray) -> tuple[NDArray[np.int32], list[str]]:
    """A text column as codes and the list of its texts."""
    # Row groups may hold different dictionaries: unify before reading the indices.
    encoded = column.unify_dictionaries().combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.chunk(0)
    return encoded.indices.to_numpy(), encoded.dictionary.to_pylist()


def _periods(
    indices: NDArray[np.int32], sources: list[str], times: NDArray[np.int64]
) -> dict[str, int]:
    """The median time between readings of each source.

    Over all counters of a source, because unchanged values are not stored.
    """
    found = {}
    for place, name in enumerate(sources):
        gaps = np.diff(times[indices == place])
        if np.any(gaps < 0):  # rows not in order of time
            gaps = np.diff(np.sort(times[indices == place]))
        # Several files of one source, read in succession, are one reading.
        gaps = gaps[gaps > _ONE_READING_NS]
        found[name] = int(np.median(gaps)) if len(gaps) else 0
    return found


def _by_counter(small: Small, times: NDArray[np.int64]) -> NDArray[np.intp]:
    """The order of rows by counter, then by time.

    Rows are written in order of time, so a stable sort by counter is nearly always enough; numbers
    below 65 536 are radix sorted, in a tenth of the time.
    """
    order: NDArray[np.intp] = np.argsort(small, kind="stable")
    ordered, at = small[order], times[order]
    if np.any((ordered[1:] == ordered[:-1]) & (at[1:] < at[:-1])):
        order = np.lexsort((times, small))
    return order


def _small(code: NDArray[np.int64]) -> tuple[Small, NDArray[np.intp]]:
    """The codes renumbered without gaps, in two bytes if possible; and the code of each number."""
    seen = np.zeros(int(code.max()) + 1, dtype=bool)
    seen[code] = True
    used = np.flatnonzero(seen)
    place: NDArray[np.int64] = np.cumsum(seen) - 1
    if len(used) > np.iinfo(np.uint16).max:
        return place[code], used
    return place.astype(np.uint16)[code], used
