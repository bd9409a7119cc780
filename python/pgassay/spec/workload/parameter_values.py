"""The columns and values of files of parameters, by pyarrow.

Enters: a Parquet file, or a CSV file with a header. Leaves: names and types of the columns, the
number of rows; the values as record batches of int64, double, bool and string columns, a part of
the file at a time. Never: has the whole file in memory, or shows pyarrow's errors, which hold
values.

A column of a CSV file is a number or a boolean where each value is written as it would be sent, so
that nothing is lost: 007 and 1.10 make a column of text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from pgassay.refusals.refusal import Refusal
from pgassay.spec.workload.parameters import ColumnType, ParameterColumn

_ROWS_AT_A_TIME = 65_536
_BYTES_AT_A_TIME = 4 << 20
_ARROW_TYPES = {
    "int": pa.int64(),
    "double": pa.float64(),
    "bool": pa.bool_(),
    "text": pa.string(),
}
_WRITTEN: Sequence[tuple[ColumnType, str]] = (
    ("bool", "^(true|false)$"),
    ("int", "^(0|-?[1-9][0-9]{0,17})$"),
    ("double", "^-?(0|[1-9][0-9]{0,8})([.][0-9]{0,5}[1-9])?$"),
)
"""By type how its values are written in a CSV file; a double has at most 15 digits."""


def columns_and_rows(path: Path) -> tuple[tuple[ParameterColumn, ...], int]:
    """Returns the columns of a file and the number of its rows; raises SpecError."""
    with _readable(path):
        if _is_parquet(path):
            with pq.ParquetFile(path) as file:
                schema, rows = file.schema_arrow, file.metadata.num_rows
            types = [_type_of(each.type, number, path) for number, each in enumerate(schema, 1)]
            return _columns(schema.names, types), rows
        return _columns_of_csv(path)


def values_of(
    source: Path | bytes, columns: Sequence[ParameterColumn], path: Path
) -> Iterator[pa.RecordBatch]:
    """Yields the values of a file, or of its content, as these columns; raises SpecError. `path` is
    named in errors and tells the format."""
    wanted = pa.schema([(column.name, _ARROW_TYPES[column.type]) for column in columns])
    with _readable(path):
        for batch in _batches(source, path):
            parts = [
                each.cast(kind) for each, kind in zip(batch.columns, wanted.types, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(parts, schema=wanted)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, ValueError):
        raise Refusal("parameters-unreadable").in_file(str(path)) from None


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() == ".parquet"


def _batches(source: Path | bytes, path: Path) -> Iterator[pa.RecordBatch]:
    opened = pa.BufferReader(source) if isinstance(source, bytes) else source
    if _is_parquet(path):
        with pq.ParquetFile(opened, memory_map=True, pre_buffer=False) as file:
            yield from file.iter_batches(batch_size=_ROWS_AT_A_TIME)
    else:
        yield from _csv(opened)


def _csv(source: Path | pa.BufferReader) -> Iterator[pa.RecordBatch]:
    """All columns as text, and as NULL what is empty and not in quotes."""
    options = pa_csv.ParseOptions(newlines_in_values=True)
    reading = pa_csv.ReadOptions(block_size=_BYTES_AT_A_TIME, use_threads=False)
    names = _header(source, reading, options)
    converting = pa_csv.ConvertOptions(
        column_types={name: pa.string() for name in names},
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    with pa_csv.open_csv(source, reading, options, converting) as reader:
        yield from reader


def _header(
    source: Path | pa.BufferReader, reading: pa_csv.ReadOptions, options: pa_csv.ParseOptions
) -> list[str]:
    with pa_csv.open_csv(source, reading, options) as reader:
        names: list[str] = reader.schema.names
    if isinstance(source, pa.BufferReader):
        source.seek(0)
    return names


def _columns_of_csv(path: Path) -> tuple[tuple[ParameterColumn, ...], int]:
    names: list[str] = []
    left: list[list[tuple[ColumnType, str]]] = []
    has_values: list[bool] = []
    rows = 0
    for batch in _csv(path):
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
    return _columns(names, found), rows


def _are_written(values: pa.Array, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(values, pattern)).as_py())


def _columns(names: Sequence[str], types: Sequence[ColumnType]) -> tuple[ParameterColumn, ...]:
    return tuple(ParameterColumn(*each) for each in zip(names, types, strict=True))


def _type_of(kind: pa.DataType, number: int, path: Path) -> ColumnType:
    """The type of a variable with these values; what is no number is sent as text."""
    known = pa.types
    if known.is_dictionary(kind):
        return _type_of(kind.value_type, number, path)
    if known.is_uint64(kind):
        return "text"
    if known.is_integer(kind):
        return "int"
    if known.is_floating(kind):
        return "double"
    if known.is_boolean(kind):
        return "bool"
    if any(has(kind) for has in _AS_TEXT):
        return "text"
    raise Refusal("parameters-column-type", number=number, type=str(kind)).in_file(str(path))


_AS_TEXT = (
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
    pa.types.is_null,
    pa.types.is_decimal,
    pa.types.is_date,
    pa.types.is_time,
    pa.types.is_timestamp,
)
