"""The directory of an observation: segments, and thinned slices of those that were dropped.

Enters: pieces of samples as they come, what ends a segment. Leaves: files, whole or absent; one
segment is lost at most. Never: holds more than a few row groups in memory.

    RUN/  observation.json  environment.json
          segments/000001/  segment.json  waits.parquet  postgres.parquet  host.parquet
                            checkpoints.parquet  events.parquet  slices.parquet
                  .000002.part/  the one that is being written
          thinned/  000143-60s.parquet  000287-60s.parquet  slices of segments that were dropped
          analysis.json  report.html
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import pyarrow as pa
import pyarrow.parquet as pq

from pgassay.durable import make_directory, sync_directory
from pgassay.samples.directory import StoredDirectory
from pgassay.samples.forms.observation import ObservationFile, SegmentFile
from pgassay.samples.layout import ENVIRONMENT, OBSERVATION, SEGMENT, SEGMENTS, SLICES, THINNED
from pgassay.samples.ownership.unfinished import clear_unfinished
from pgassay.samples.storage.files import clear_errors, write_atomically
from pgassay.samples.storage.json_files import stored_file, without_secrets
from pgassay.samples.storage.tables import (
    TABLES,
    as_table,
    logged_tables,
    new_writer,
    parquet,
    parquet_of,
    read_table,
)
from pgassay.samples.stored_parts import StoredSegment
from pgassay.trials.model.record import Columns, Piece, SegmentEnd

_SAMPLED = ("waits", "postgres", "host")
_ROWS_AT_ONCE = 100_000


class ObservationDirectory(StoredDirectory):
    """Writes an observation as it goes on, and reads one back."""

    KIND, MARK, PARTS = "stored observation", OBSERVATION, SEGMENTS

    @classmethod
    def begin(cls, path: Path) -> Self:
        """Opens an observation that goes on, also one that was killed before its first segment;
        else makes a new, empty directory."""
        with clear_errors(path):
            held = {one.name for one in path.iterdir()} if path.is_dir() else set()
        if OBSERVATION in held or SEGMENTS in held <= {SEGMENTS, ENVIRONMENT}:
            return cls(path)
        return cls.create(path)

    def begun(self) -> ObservationFile | None:
        """Reads observation.json; None where nothing was recorded yet."""
        return self.described() if self.has(OBSERVATION) else None

    def go_on(self) -> int:
        """Removes what a killed recording left of a segment; returns the number of the last one
        that ended, 0 if none did."""
        clear_unfinished(self.path, SEGMENTS)
        return max([0, *self.finished(), *(one.last for one in self.thinned())])

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

    def write_slices(self, number: int, slices: pa.Table) -> None:
        """Stores the slices of a finished segment."""
        with clear_errors(self.path):
            write_atomically(self.segment(number).folder / SLICES, parquet(slices))

    def drop(self, number: int) -> None:
        """Removes a segment."""
        with clear_errors(self.path):
            # Renamed first: a segment is there whole, or not at all.
            folder = self.segment(number).folder
            aside = folder.with_name(f".{folder.name}.part")
            folder.rename(aside)
            shutil.rmtree(aside)

    def thinned(self) -> list[ThinnedFile]:
        """Returns the files of thinned slices in order of time. Of two with the same last segment,
        which a kill may leave, the coarser is whole."""
        found = (ThinnedFile.at(path) for path in (self.path / THINNED).glob("[0-9]*.parquet"))
        ordered = sorted(filter(None, found), key=lambda one: (one.last, one.width_s))
        return list({one.last: one for one in ordered}.values())

    def write_thinned(
        self, slices: pa.Table, *, last: int, width_s: int, instead_of: ThinnedFile | None
    ) -> int:
        """Stores slices of segments up to `last`, which include those of another file; returns the
        bytes of the new file."""
        folder, content = self.path / THINNED, parquet(slices)
        with clear_errors(self.path):
            if not folder.is_dir():
                make_directory(folder)
            path = folder / f"{last:06d}-{width_s}s.parquet"
            write_atomically(path, content)
            if instead_of is not None and instead_of.path != path:
                instead_of.path.unlink()
        return len(content)

    def remove_thinned(self, file: ThinnedFile) -> None:
        """Removes a file of thinned slices."""
        with clear_errors(self.path):
            file.path.unlink()

    def bytes_of_samples(self) -> int:
        """Returns the bytes of all segments and thinned slices."""
        return sum(segment.bytes() for segment in self.segments()) + sum(
            one.bytes() for one in self.thinned()
        )


@dataclass(frozen=True)
class ThinnedFile:
    """The slices of successive segments that were dropped."""

    path: Path
    last: int
    """The number of the last of them."""
    width_s: int
    """The length of a slice."""

    @classmethod
    def at(cls, path: Path) -> Self | None:
        """Reads what the name of a file says; None for another file."""
        last, dash, width = path.stem.removesuffix("s").partition("-")
        if not dash or not (last.isdecimal() and width.isdecimal()):
            return None
        return cls(path, int(last), int(width))

    def table(self) -> pa.Table:
        """Reads the slices."""
        return read_table(self.path, "slices")

    def bytes(self) -> int:
        """Returns the bytes of the file."""
        return self.path.lstat().st_size


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
