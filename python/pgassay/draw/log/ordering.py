"""Puts rows that are almost in the order of their times into that order, in bounded memory.

Enters: batches of rows as the log has them, by the ends of statements. Leaves: tables by the
beginnings. Never: changes the order of rows of the same time, or copies more than some tables' rows
at once, however uneven the load was.

Each batch is sorted and waits in one file of Arrow, which is mapped at the end. A sample of the
times says where to cut so that a table's rows lie between two cuts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_EVERY = 100
"""Of so many rows of a batch the time of one is kept."""


class Ordered:
    """Rows with a column `at_us`; added once, then read once."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._path, self._schema = path, schema
        path.touch(0o600)
        self._file = pa.OSFile(str(path), "wb")
        self._writer = pa.ipc.new_file(self._file, schema)
        self._firsts: list[int] = []
        """Of each batch the least time."""
        self._sampled: list[NDArray[np.int64]] = []
        self.last = 0
        """The greatest time of all, as `first` is the least."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    @property
    def first(self) -> int:
        return min(self._firsts, default=0)

    def add(self, batch: pa.RecordBatch) -> None:
        """Takes further rows."""
        if not batch.num_rows:
            return
        times = batch.column("at_us").to_numpy()
        order = np.argsort(times, kind="stable")
        self._writer.write_batch(batch.take(pa.array(order)))
        self._firsts.append(int(times[order[0]]))
        self.last = max(self.last, int(times[order[-1]]))
        self._sampled.append(times[order[::_EVERY]])

    def tables(self, most: int) -> Iterator[pa.Table]:
        """Yields all rows in the order of their times, `most` at once."""
        self._writer.close()
        self._file.close()
        left = self._schema.empty_table()
        with pa.memory_map(str(self._path)) as mapped:
            for whole in self._between_cuts(pa.ipc.open_file(mapped), most):
                order = np.argsort(whole["at_us"].to_numpy(), kind="stable")
                left = pa.concat_tables([left, whole.take(pa.array(order))])
                while left.num_rows >= most:
                    yield left.slice(0, most)
                    left = left.slice(most)
            if left.num_rows:
                yield left

    def _between_cuts(self, reader: pa.RecordBatchFileReader, most: int) -> Iterator[pa.Table]:
        """About `most` rows at once, all of them before those that follow."""
        sampled = np.sort(np.concatenate(self._sampled)) if self._sampled else np.zeros(0, int)
        step = max(1, most // _EVERY)
        coming = deque(sorted(range(len(self._firsts)), key=lambda one: self._firsts[one]))
        begun: dict[int, pa.RecordBatch] = {}
        for cut in [*np.unique(sampled[step::step]).tolist(), self.last + 1]:
            while coming and self._firsts[coming[0]] < cut:
                number = coming.popleft()
                begun[number] = reader.get_batch(number)
            pieces = []
            # Rows of the same time are in the order in which they came.
            for number in sorted(begun):
                batch = begun.pop(number)
                end = int(np.searchsorted(batch.column("at_us").to_numpy(), cut))
                pieces.append(batch.slice(0, end))
                if end < batch.num_rows:
                    begun[number] = batch.slice(end)
            yield pa.Table.from_batches(pieces, self._schema)
