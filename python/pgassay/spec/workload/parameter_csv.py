"""Files of parameters in CSV: their texts, and the types that these have.

Enters: a file, or its content. Leaves: record batches of texts; names and types of the columns, the
number of rows. Never: has the whole file in memory.

A column is a number or a boolean where each value is written as it would be sent, so that nothing
is lost: 007 and 1.10 make a column of text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from pgassay.spec.workload.parameters import ColumnType

_BYTES_AT_A_TIME = 1 << 20
_WRITTEN: Sequence[tuple[ColumnType, str]] = (
    ("bool", "^(true|false)$"),
    ("int", "^(0|-?[1-9][0-9]{0,17})$"),
    ("double", "^-?(0|[1-9][0-9]{0,8})([.][0-9]{0,5}[1-9])?$"),
)
"""By type how its values are written; a double has at most 15 digits."""


def texts(source: Path | pa.BufferReader) -> Iterator[pa.RecordBatch]:
    """Yields all columns as text, and as NULL what is empty and not in quotes."""
    options = pa_csv.ParseOptions(newlines_in_values=True)
    reading = pa_csv.ReadOptions(block_size=_BYTES_AT_A_TIME, use_threads=False)
    names = _header(source, reading, options)
    converting = pa_csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    with pa_csv.open_csv(source, reading, options, converting) as reader:
        yield from reader


def types_and_rows(path: Path) -> tuple[list[tuple[str, ColumnType]], int]:
    """Returns the columns of a file, each with its type, and the number of its rows."""
    names: list[str] = []
    left: list[list[tuple[ColumnType, str]]] = []
    has_values: list[bool] = []
    rows = 0
    for batch in texts(path):
        if not names:
            names = batch.schema.names
            left, has_values = [list(_WRITTEN) for _ in names], [False] * len(names)
        rows += batch.num_rows
        for number, values in enumerate(batch.columns):
            if values.null_count < len(values):
                has_values[number] = True
                left[number] = [one for one in left[number] if _are_written(values, one[1])]
    found: list[ColumnType] = [
        kinds[0][0] if kinds and valued else "text"
        for kinds, valued in zip(left, has_values, strict=True)
    ]
    return list(zip(names, found, strict=True)), rows


def _header(
    source: Path | pa.BufferReader, reading: pa_csv.ReadOptions, options: pa_csv.ParseOptions
) -> list[str]:
    with pa_csv.open_csv(source, reading, options) as reader:
        names: list[str] = reader.schema.names
    if isinstance(source, pa.BufferReader):
        source.seek(0)
    return names


def _are_written(values: pa.Array, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(values, pattern)).as_py())
