"""Collects a sampler's samples every few seconds while it works.

Enters: a sampler. Leaves: its samples as packed tables. Never: lets a trial's memory grow by more
than a few bytes per sample: only the latest samples are Python lists.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from pgassay.trials.model.columns import COUNTERS, WAITS
from pgassay.trials.model.packed import PackedTables
from pgassay.trials.model.record import Columns

EVERY_S = 5.0


class Sampler(Protocol):
    """The methods of `_core.Sampler` that are used here."""

    def take_waits(self) -> Columns: ...
    def take_counters(self) -> Columns: ...
    def take_host(self) -> Columns: ...


class SampleBuffer:
    """The samples of one sampler since it began."""

    def __init__(self, sampler: Sampler, clock: Callable[[], float] = time.monotonic) -> None:
        self._sampler, self._clock = sampler, clock
        self.waits = PackedTables(WAITS)
        self.counters = PackedTables(COUNTERS)
        self.host = PackedTables(COUNTERS)
        self._due_s = clock() + EVERY_S

    def take_if_due(self) -> None:
        """Is called often; takes the samples every few seconds."""
        if self._clock() >= self._due_s:
            self.take()
            self._due_s = self._clock() + EVERY_S

    def take(self) -> None:
        """Takes all samples from the sampler now."""
        self.waits.add(pa.Table.from_pydict(self._sampler.take_waits(), WAITS))
        self.add_counters(self._sampler.take_counters())
        self.host.add(pa.Table.from_pydict(self._sampler.take_host(), COUNTERS))

    def add_counters(self, columns: Columns) -> None:
        """Adds rows of counters, of the sampler or of other readers."""
        self.counters.add(pa.Table.from_pydict(columns, COUNTERS))

    def counters_of(self, *sources: str) -> Columns:
        """Returns the rows of some sources, which have few."""
        wanted = pa.array(sources, pa.string())
        parts = [
            part.filter(pc.is_in(part["source"].cast(pa.string()), wanted))
            for part in self.counters
        ]
        found: Columns = pa.concat_tables([COUNTERS.empty_table(), *parts]).to_pydict()
        return found

    def each_wait(self) -> Mapping[str, Iterator[Any]]:
        """Iterates, by column, over the cells of all sampled waits; of one part at a time."""
        return {name: self._cells(name) for name in WAITS.names}

    def _cells(self, name: str) -> Iterator[Any]:
        for part in self.waits.tables([name]):
            yield from part[name].to_pylist()
