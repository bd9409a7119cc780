"""The tables of samples: datasets over the Parquet files of many runs.

Enters: paths of runs. Leaves: a dataset that opens a file when it is read. Never: reads a sample.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyarrow import fs

from pgassay.refusals.refusal import DirectoryRefused
from pgassay.runs.columns import sampled
from pgassay.runs.rows import directory
from pgassay.samples.storage.tables import TABLES, clear_read_errors

_FORMAT = ds.ParquetFileFormat()
_HERE = fs.LocalFileSystem()


def dataset(name: str, paths: Iterable[Path]) -> ds.Dataset:
    """Reads all rows of all trials and segments; columns that a file lacks are null."""
    schema = sampled(name)
    parts = [
        _FORMAT.make_fragment(
            str(file),
            filesystem=_HERE,
            partition_expression=(ds.field("run") == path.name) & (ds.field("trial") == trial),
        )
        for path in paths
        for trial, file in files_of(name, path)
    ]
    return ds.FileSystemDataset(parts, schema, _FORMAT, filesystem=_HERE)


def files_of(name: str, path: Path) -> Iterator[tuple[int, Path]]:
    """Maps trial or segment → file, where it has one: a segment has no load."""
    parts = directory(path)
    for folder in sorted((path / parts.PARTS).glob("[0-9]*")):
        file = folder / f"{name}.parquet"
        if folder.name.isdigit() and file.is_file():
            yield int(folder.name), file


def check_files(name: str, path: Path) -> None:
    """Refuses a run of which a file cannot be read, or holds other types than it should."""
    for _, file in files_of(name, path):
        with clear_read_errors(file):
            found = pq.read_schema(file)
            for field in TABLES[name]:
                at = found.get_field_index(field.name)
                if at >= 0 and _kind(found.field(at).type) != _kind(field.type):
                    raise DirectoryRefused(
                        "column-of-another-type",
                        file,
                        column=field.name,
                        found=found.field(at).type,
                        wanted=field.type,
                    )


def _kind(one: pa.DataType) -> str:
    """What may stand for each other: text with and without a dictionary, numbers of any width."""
    one = one.value_type if pa.types.is_dictionary(one) else one
    if pa.types.is_list(one):
        return f"list of {_kind(one.value_type)}"
    if pa.types.is_map(one):
        return f"map of {_kind(one.item_type)}"
    return "number" if pa.types.is_integer(one) or pa.types.is_floating(one) else str(one)
