"""Prints the answer to a query, or writes it as text or as a Parquet file.

Enters: a query, a folder. Leaves: rows on stdout or in a file. Never: writes half a file, loses a
digit but in the table for the terminal, or lets a spreadsheet take a text for a formula.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import typer

from pgassay.analysis.reading.plain_text import visible
from pgassay.cli.sql import Format
from pgassay.cli.terminal.console import err, labelled, one_line, out, table_lines, warn
from pgassay.refusals.refusal import SetupRefused
from pgassay.report.inert import csv_cell, markdown_line
from pgassay.runs.catalogue import TABLES, descriptions, wanted_by
from pgassay.runs.database import RunsDatabase
from pgassay.runs.folder import run_paths
from pgassay.samples.storage.files import write_atomically
from pgassay.stores.address import with_urls
from pgassay.stores.fetching import fetched

_MOST_ROWS = 1000
"""On stdout, as a table."""


def print_tables() -> None:
    """Prints the tables and their columns."""
    for name, about in descriptions().items():
        out.print(f"[bold]{name}[/bold]: {about}")
        labelled("  ", ", ".join(TABLES[name].schema.names))
    out.print("\nTimes that end in _ns are Unix time: make_timestamp_ns(start_ns) shows them.")


def print_answer(query: str, folder: Path, output_format: Format, to: Path | None) -> None:
    """Puts the query to the runs, and prints or writes the answer in this format."""
    if output_format == "parquet" and to is None:
        raise SetupRefused("parquet-without-file")
    paths = run_paths(fetched(folder, wanted_by(query)))
    database = RunsDatabase(paths, lambda path, why: warn(f"left out: {with_urls(why)}"))
    with database.answer(query) as answer:
        if to is not None:
            write_atomically(to, _content(answer, output_format))
            err.print(f"written: {to}", markup=False)
        elif output_format == "table":
            _print_rows(answer)
        else:
            for piece in text_of(answer, output_format):
                typer.echo(piece, nl=False)


def _content(answer: pa.RecordBatchReader, output_format: Format) -> bytes:
    if output_format == "parquet":
        return as_parquet(answer)
    return "".join(text_of(answer, output_format)).encode()


def _print_rows(answer: pa.RecordBatchReader) -> None:
    lines, is_whole = as_table(answer, out.width if out.is_terminal else None, _MOST_ROWS)
    typer.echo("\n".join(lines))
    if not is_whole:
        err.print(f"these are the first {_MOST_ROWS:,} rows; --format csv has all", markup=False)


SCHEMA = "pgassay.sql/1"
_DIGITS = 6
_EXPLAINED = ["explain_key", "explain_value"]
"""The columns of EXPLAIN, whose text has lines of its own."""
_LONGEST = 48
"""Columns of a text in a table that is wider than the terminal."""


def as_table(
    answer: pa.RecordBatchReader, width: int | None = None, most_rows: int | None = None
) -> tuple[list[str], bool]:
    """Lines, and whether they are all; with a width, long texts are cut so that rows may fit."""
    if answer.schema.names == _EXPLAINED:
        return [visible(str(text)) for _, text in _rows(answer)], True
    names = _names(answer.schema)
    rows: list[list[str]] = []
    is_whole = True
    for row in _rows(answer):
        if len(rows) == most_rows:
            is_whole = False
            break
        rows.append([one_line(_short(value)) for value in row])
    widest = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
    if width is not None and sum(widest) + 2 * len(widest) > width:
        rows = [[_cut(cell) for cell in row] for row in rows]
    left = [at for at, one in enumerate(answer.schema) if not _is_number(one.type)]
    return list(table_lines(names, rows, left)), is_whole


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _is_number(one: pa.DataType) -> bool:
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    return any(is_one(one) for is_one in tests)


def text_of(answer: pa.RecordBatchReader, output_format: Format) -> Iterator[str]:
    """Yields the answer in pieces, in one of the formats for text."""
    if output_format == "csv":
        return _csv(answer)
    if output_format == "json":
        return _json(answer)
    if output_format == "md":
        return _markdown(answer)
    return (f"{line}\n" for line in as_table(answer)[0])


def as_parquet(answer: pa.RecordBatchReader) -> bytes:
    """Returns the bytes of a whole Parquet file."""
    sink = pa.BufferOutputStream()
    schema = pa.schema(
        [
            pa.field(name, one.type)
            for name, one in zip(_names(answer.schema), answer.schema, strict=True)
        ]
    )
    with pq.ParquetWriter(sink, schema, compression="zstd") as writer:
        for batch in answer:
            writer.write_batch(pa.RecordBatch.from_arrays(batch.columns, schema=schema))
    return bytes(sink.getvalue())


def _csv(answer: pa.RecordBatchReader) -> Iterator[str]:
    yield _csv_lines([[csv_cell(name) for name in _names(answer.schema)]])
    for batch in answer:
        yield _csv_lines([[_csv_cell(value) for value in row] for row in _rows([batch])])


def _csv_lines(rows: list[list[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    return text.getvalue()


def _csv_cell(value: Any) -> str:
    match value:
        case None:
            return ""
        case str():
            return csv_cell(value)
        case float():
            return repr(value)
        case _:
            found = _plain(value)
            return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)


def _json(answer: pa.RecordBatchReader) -> Iterator[str]:
    names = _names(answer.schema)
    columns = [
        {"name": name, "type": str(one.type)}
        for name, one in zip(names, answer.schema, strict=True)
    ]
    yield f'{{"schema": "{SCHEMA}", "columns": {json.dumps(columns)}, "rows": ['
    comma = ""
    for row in _rows(answer):
        found = {name: _plain(value) for name, value in zip(names, row, strict=True)}
        yield comma + json.dumps(found, ensure_ascii=False, allow_nan=False)
        comma = ", "
    yield "]}\n"


def _markdown(answer: pa.RecordBatchReader) -> Iterator[str]:
    yield _markdown_line([markdown_line(name) for name in _names(answer.schema)])
    yield _markdown_line(["---:" if _is_number(one.type) else "---" for one in answer.schema])
    for row in _rows(answer):
        yield _markdown_line([markdown_line(_short(value)) for value in row])


def _markdown_line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _names(schema: pa.Schema) -> list[str]:
    """Names of columns; one that comes again has a number."""
    found: list[str] = []
    for name in schema.names:
        again = sum(1 for one in schema.names[: len(found)] if one == name)
        found.append(f"{name}_{again}" if again else name)
    return found


def _rows(batches: pa.RecordBatchReader | list[pa.RecordBatch]) -> Iterator[tuple[Any, ...]]:
    for batch in batches:
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _short(value: Any) -> str:
    """A value as people read it."""
    if isinstance(value, float) and math.isfinite(value):
        whole = abs(value) >= 10**_DIGITS
        return f"{value:,.0f}".replace(",", "") if whole else f"{value:.{_DIGITS}g}"
    found = _plain(value)
    return (
        ""
        if found is None
        else found
        if isinstance(found, str)
        else json.dumps(found, ensure_ascii=False)
    )


def _plain(value: Any) -> Any:
    """A value as JSON has it: no NaN, times as ISO 8601."""
    match value:
        case float():
            return value if math.isfinite(value) else None
        case Decimal():
            return float(value)
        case datetime():
            return value.isoformat().replace("+00:00", "Z")
        case date():
            return value.isoformat()
        case list() | tuple():
            return [_plain(one) for one in value]
        case Mapping():
            return {str(key): _plain(one) for key, one in value.items()}
        case None | bool() | int() | str():
            return value
        case _:
            return str(value)
