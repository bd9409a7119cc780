"""Puts rows that are almost in the order of their times into that order, in bounded memory.

Enters: batches of rows as the log has them, by the ends of statements. Leaves: tables by the
beginnings. Never: changes the order of rows of the same time, or holds more than the rows of one
stretch of time.

Each batch is cut into stretches of time, which wait in one file of Arrow; at the end the pieces of
each stretch are read together. How long a stretch is follows from the first batch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import pyarrow as pa

_LEAST_US = 1_000_000
_OF_A_BATCH = 4


class Ordered:
    """Rows with a column `at_us`; added once, then read once."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._path, self._schema = path, schema
        path.touch(0o600)
        self._file = pa.OSFile(str(path), "wb")
        self._writer = pa.ipc.new_file(self._file, schema)
        self._pieces: dict[int, list[int]] = defaultdict(list)
        self._count = 0
        self._stretch_us = 0
        self.first = 0
        """The least time of all, as `last` is the greatest."""
        self.last = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def add(self, batch: pa.RecordBatch) -> None:
        """Takes further rows."""
        if not batch.num_rows:
            return
        times = batch.column("at_us").to_numpy()
        if not self._count:
            self.first = self.last = int(times[0])
            spread = int(np.quantile(times, 0.95) - np.quantile(times, 0.05))
            self._stretch_us = max(_LEAST_US, spread // _OF_A_BATCH)
        self.first = min(self.first, int(times.min()))
        self.last = max(self.last, int(times.max()))
        order = np.argsort(times, kind="stable")
        stretches = times[order] // self._stretch_us
        ends = [*(np.flatnonzero(np.diff(stretches)) + 1), len(order)]
        begin = 0
        for end in ends:
            self._writer.write_batch(batch.take(pa.array(order[begin:end])))
            self._pieces[int(stretches[begin])].append(self._count)
            self._count += 1
            begin = end

    def tables(self, most: int) -> Iterator[pa.Table]:
        """Yields all rows in the order of their times, `most` at once."""
        self._writer.close()
        self._file.close()
        left = self._schema.empty_table()
        with pa.memory_map(str(self._path)) as mapped:
            reader = pa.ipc.open_file(mapped)
            for stretch in sorted(self._pieces):
                pieces = [reader.get_batch(number) for number in self._pieces[stretch]]
                whole = pa.Table.from_batches(pieces)
                order = np.argsort(whole["at_us"].to_numpy(), kind="stable")
                left = pa.concat_tables([left, whole.take(pa.array(order))])
                while left.num_rows >= most:
                    yield left.slice(0, most)
                    left = left.slice(most)
            if left.num_rows:
                yield left
