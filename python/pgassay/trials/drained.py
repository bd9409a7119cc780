"""A sampler's samples, taken from it every few seconds while it works.

Enters: a sampler. Leaves: tables, with one entry for each word. Never: lets a trial's memory grow
by more than a table's few bytes for each value: lists of Python's are of one piece only.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from pgassay.trials.record import Columns
from pgassay.trials.sample_columns import COUNTERS, WAITS

EVERY_S = 5.0


class Sampler(Protocol):
    """What is asked of `_core.Sampler`."""

    def take_waits(self) -> Columns: ...
    def take_counters(self) -> Columns: ...
    def take_host(self) -> Columns: ...


class Drained:
    """What one sampler has seen so far."""

    def __init__(self, sampler: Sampler, clock: Callable[[], float] = time.monotonic) -> None:
        self._sampler, self._clock = sampler, clock
        self._waits: list[pa.Table] = []
        self._counters: list[pa.Table] = []
        self._host: list[pa.Table] = []
        self._due_s = clock() + EVERY_S

    def look(self) -> None:
        """To be called often: takes what there is where some seconds have gone by."""
        if self._clock() >= self._due_s:
            self.take()
            self._due_s = self._clock() + EVERY_S

    def take(self) -> None:
        """Everything that the sampler holds."""
        self._waits.append(pa.Table.from_pydict(self._sampler.take_waits(), WAITS))
        self._counters.append(pa.Table.from_pydict(self._sampler.take_counters(), COUNTERS))
        self._host.append(pa.Table.from_pydict(self._sampler.take_host(), COUNTERS))

    def add_counters(self, columns: Columns) -> None:
        """Counters that others have read."""
        self._counters.append(pa.Table.from_pydict(columns, COUNTERS))

    @property
    def waits(self) -> pa.Table:
        return _whole(self._waits, WAITS)

    @property
    def counters(self) -> pa.Table:
        return _whole(self._counters, COUNTERS)

    @property
    def host(self) -> pa.Table:
        return _whole(self._host, COUNTERS)

    def counters_of(self, *sources: str) -> Columns:
        """The rows of some sources that have few."""
        wanted = pa.array(sources, pa.string())
        parts = [
            piece.filter(pc.is_in(piece["source"].cast(pa.string()), wanted))
            for piece in self._counters
        ]
        found: Columns = _whole(parts, COUNTERS).to_pydict()
        return found

    def each_wait(self) -> Mapping[str, Iterable[Any]]:
        """By column, the cells of all pieces one after the other."""
        return {name: _Cells(self._waits, name) for name in WAITS.names}


class _Cells:
    """One column of many tables, as Python's values, of a piece at a time."""

    def __init__(self, pieces: list[pa.Table], name: str) -> None:
        self._pieces, self._name = pieces, name

    def __iter__(self) -> Iterator[Any]:
        for piece in self._pieces:
            yield from piece[self._name].to_pylist()


def _whole(pieces: list[pa.Table], schema: pa.Schema) -> pa.Table:
    return pa.concat_tables([schema.empty_table(), *pieces]).unify_dictionaries()
