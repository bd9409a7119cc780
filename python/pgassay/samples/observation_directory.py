"""The directory of an observation: segments, the oldest dropped where room is short.

Enters: pieces of samples as they come, what ends a segment. Leaves: files, whole or absent; one
segment is lost at most. Never: holds more than a few row groups in memory.

    RUN/  observation.json  environment.json
          segments/000001/  segment.json  waits.parquet  postgres.parquet  host.parquet
                            checkpoints.parquet  events.parquet
                  .000002.part/  the one that is being written
          analysis.json  report.html
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Self

import pyarrow as pa
import pyarrow.parquet as pq

from pgassay.durable import make_directory, sync_directory
from pgassay.samples.directory import StoredDirectory
from pgassay.samples.forms.observation import ObservationFile, SegmentFile
from pgassay.samples.layout import OBSERVATION, SEGMENT, SEGMENTS
from pgassay.samples.storage.files import clear_errors, write_atomically
from pgassay.samples.storage.json_files import stored_file, without_secrets
from pgassay.samples.storage.tables import TABLES, as_table, logged_tables, new_writer, parquet_of
from pgassay.samples.stored_parts import StoredSegment
from pgassay.trials.model.record import Columns, Piece, SegmentEnd

_SAMPLED = ("waits", "postgres", "host")
_ROWS_AT_ONCE = 100_000


class ObservationDirectory(StoredDirectory):
    """Writes an observation as it goes on, and reads one back."""

    KIND, MARK, PARTS = "stored observation", OBSERVATION, SEGMENTS

    def described(self) -> ObservationFile:
        """Reads observation.json."""
        return stored_file(self.path / OBSERVATION, ObservationFile)

    def segment(self, number: int) -> StoredSegment:
        """Returns the segment of this number."""
        return StoredSegment(self.path / SEGMENTS / f"{number:06d}")

    def segments(self) -> Iterator[StoredSegment]:
        """Returns the finished segments in the order of time."""
        return (self.segment(number) for number in self.finished())

    def write_segment(self, number: int) -> SegmentWriter:
        """Begins a segment that is to be filled."""
        return SegmentWriter(self.path / SEGMENTS / f"{number:06d}", number)

    def drop_oldest(self, *, ended_before_ns: int, most_bytes: int) -> int:
        """Makes room; returns how many segments were dropped. The newest always stays."""
        numbers = self.finished()
        sizes = {number: self.segment(number).bytes() for number in numbers}
        dropped = 0
        for number in numbers[:-1]:
            old = self.segment(number).summary().ended_ns < ended_before_ns
            if not old and sum(sizes.values()) <= most_bytes:
                break
            with clear_errors(self.path):
                # Renamed first: a segment is there whole, or not at all.
                folder = self.segment(number).folder
                aside = folder.with_name(f".{folder.name}.part")
                folder.rename(aside)
                shutil.rmtree(aside)
            del sizes[number]
            dropped += 1
        return dropped


class SegmentWriter:
    """One segment on its way to disk; use it as a context manager and end it with `finish`."""

    def __init__(self, final: Path, number: int) -> None:
        self._final, self._number = final, number
        self._aside = final.with_name(f".{final.name}.part")
        self._writers: dict[str, pq.ParquetWriter] = {}
        self._waiting: dict[str, list[pa.Table]] = {name: [] for name in _SAMPLED}

    def __enter__(self) -> Self:
        with clear_errors(self._final):
            make_directory(self._aside)
            for name in _SAMPLED:
                self._writers[name] = new_writer(self._aside / f"{name}.parquet", TABLES[name])
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # a full disk was reported already
            for writer in self._writers.values():
                writer.close()
        if self._aside.exists():
            shutil.rmtree(self._aside, ignore_errors=True)

    def add(self, piece: Piece) -> None:
        """Adds samples."""
        for name, columns in (
            ("waits", piece.waits),
            ("postgres", piece.counters),
            ("host", piece.host),
        ):
            self._add(name, columns)

    def bytes(self) -> int:
        """Returns the bytes on disk so far, with what still waits in memory, where it is not
        packed yet."""
        with clear_errors(self._final):
            written = sum(file.stat().st_size for file in self._aside.iterdir())
        return written + sum(int(t.nbytes) for tables in self._waiting.values() for t in tables)

    def finish(self, end: SegmentEnd) -> None:
        """Ends the segment, which is there whole when this returns."""
        self._add("postgres", end.counters)
        with clear_errors(self._final):
            for name, writer in self._writers.items():
                self._flush(name)
                writer.close()
                _sync(self._aside / f"{name}.parquet")
            for name, table in logged_tables(end.checkpoints, end.events).items():
                file = self._aside / f"{name}.parquet"
                write_atomically(file, parquet_of([table], table.schema))
            stored = SegmentFile.ended(self._number, end)
            write_atomically(self._aside / SEGMENT, without_secrets(stored))
            self._aside.rename(self._final)
            sync_directory(self._final.parent)

    def _add(self, name: str, columns: Columns) -> None:
        self._waiting[name].append(as_table(columns, TABLES[name]))
        if sum(table.num_rows for table in self._waiting[name]) >= _ROWS_AT_ONCE:
            with clear_errors(self._final):
                self._flush(name)

    def _flush(self, name: str) -> None:
        """One row group, with one dictionary for each column."""
        table = pa.concat_tables(self._waiting[name]).unify_dictionaries().combine_chunks()
        self._waiting[name].clear()
        if table.num_rows:
            self._writers[name].write_table(table)


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
