"""Tables of one form, kept compressed while a trial runs.

Enters: tables, piece by piece. Leaves: the same rows in the same order, some ten thousands at a
time. Never: holds more than one such part unpacked, or writes to a disk beside a load that is
measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

ROWS_AT_ONCE = 20_000
_PACKING = pa.ipc.IpcWriteOptions(compression="zstd")


class PackedTables:
    """Tables of samples, compressed in the order in which they were added; iterating unpacks a part
    at a time, with one entry a word."""

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema
        self._packed: list[bytes] = []
        self._unpacked: list[pa.Table] = []
        self._unpacked_rows = 0
        self.num_rows = 0

    def add(self, table: pa.Table) -> None:
        """Adds rows of the same form."""
        self._unpacked.append(table)
        self._unpacked_rows += table.num_rows
        self.num_rows += table.num_rows
        if self._unpacked_rows >= ROWS_AT_ONCE:
            self._pack()

    def __iter__(self) -> Iterator[pa.Table]:
        return self.tables(self.schema.names)

    def tables(self, names: Sequence[str]) -> Iterator[pa.Table]:
        """Iterates over the parts, with these columns only; none where nothing was added."""
        wanted = [self.schema.get_field_index(name) for name in names]
        options = pa.ipc.IpcReadOptions(included_fields=wanted)
        for part in self._packed:
            with pa.ipc.open_stream(part, options=options) as reader:
                yield reader.read_all().select(names)
        if self._unpacked:
            yield self._whole().select(names)

    def _whole(self) -> pa.Table:
        return pa.concat_tables(self._unpacked).unify_dictionaries().combine_chunks()

    def _pack(self) -> None:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, self.schema, options=_PACKING) as writer:
            writer.write_table(self._whole())
        # What the sink itself holds has room for as much again.
        self._packed.append(sink.getvalue().to_pybytes())
        self._unpacked.clear()
        self._unpacked_rows = 0
