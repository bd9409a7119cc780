"""The answer to a query, printed or written.

Enters: a query, a folder. Leaves: rows on stdout or in a file. Never: writes half a file.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import typer

from pgassay.cli.sql import Format
from pgassay.cli.sql.formats import as_parquet, as_table, text_of
from pgassay.cli.terminal.console import err, labelled, out, warn
from pgassay.refusals.refusal import SetupRefused
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
