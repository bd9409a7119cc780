"""The columns and values of files of parameters, by pyarrow.

Enters: a Parquet file, or a CSV file with a header. Leaves: names and types of the columns, the
number of rows; the values as record batches of int64, double, bool and string columns, a part of
the file at a time. Never: has the whole file in memory, or shows pyarrow's errors, which hold
values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pgassay.refusals.refusal import Refusal
from pgassay.spec.workload.parameters import ColumnType, ParameterColumn

_ROWS_AT_A_TIME = 8_192
_ARROW_TYPES = {
    "int": pa.int64(),
    "double": pa.float64(),
    "bool": pa.bool_(),
    "text": pa.string(),
}


def columns_and_rows(path: Path) -> tuple[tuple[ParameterColumn, ...], int]:
    """Returns the columns of a file and the number of its rows; raises SpecError."""
    with _readable(path):
        if _is_parquet(path):
            with pq.ParquetFile(path) as file:
                schema, rows = file.schema_arrow, file.metadata.num_rows
            types = [_type_of(each.type, number, path) for number, each in enumerate(schema, 1)]
            return tuple(map(ParameterColumn, schema.names, types)), rows
        # pyarrow.compute takes as much memory as some files.
        from pgassay.spec.workload.parameter_csv import types_and_rows

        named, rows = types_and_rows(path)
        return tuple(ParameterColumn(*each) for each in named), rows


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
    usual = pa.default_memory_pool()
    # The system's allocator gives back what a batch took; pyarrow's own keeps 20 MB of it.
    pa.set_memory_pool(pa.system_memory_pool())
    try:
        yield
    except (pa.ArrowException, OSError, ValueError):
        raise Refusal("parameters-unreadable").in_file(str(path)) from None
    finally:
        pa.set_memory_pool(usual)


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() == ".parquet"


def _batches(source: Path | bytes, path: Path) -> Iterator[pa.RecordBatch]:
    opened = pa.BufferReader(source) if isinstance(source, bytes) else source
    if _is_parquet(path):
        # Neither pages of the file nor columns ahead count as memory of this process.
        with pq.ParquetFile(opened, buffer_size=1 << 16, pre_buffer=False) as file:
            yield from file.iter_batches(batch_size=_ROWS_AT_A_TIME, use_threads=False)
    else:
        from pgassay.spec.workload.parameter_csv import texts

        yield from texts(opened)


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
