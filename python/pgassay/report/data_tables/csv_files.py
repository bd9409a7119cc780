"""Tables as CSV: RFC 4180, UTF-8, numbers unrounded with a point, times in UTC.

Enters: tables. Leaves: text. Never: lets a spreadsheet take a text for a formula
(`report/inert.py`). Numbers are never changed.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from datetime import datetime

from pgassay.report.context import ReportContext, StoredContext
from pgassay.report.data_tables.tables import main_table, tables_of
from pgassay.report.data_tables.trials import trial_data
from pgassay.report.document.table import Table, Value
from pgassay.report.inert import csv_cell


def csv_text(table: Table) -> str:
    """A line of names, then the rows; without rows the names alone."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(csv_cell(one.name) for one in table.columns)
    writer.writerows([_cell(value) for value in row] for row in table.values())
    return text.getvalue()


def trials_csv(context: ReportContext) -> str:
    """The raw trials of a run."""
    return csv_text(trial_data(context))


def render_csv(context: StoredContext) -> str:
    """The table that stands for all: of a run the raw trials."""
    return csv_text(main_table(context))


def csv_files(context: StoredContext) -> Mapping[str, str]:
    """File name → text of every table, also of those without rows."""
    return {f"{one.name}.csv": csv_text(one) for one in tables_of(context)}


def _cell(value: Value) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case datetime():
            return value.isoformat(timespec="microseconds").replace("+00:00", "Z")
        case str():
            return csv_cell(value)
        case _:
            return repr(value)
