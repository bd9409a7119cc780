"""Tables as CSV: RFC 4180, UTF-8, numbers unrounded with a point, times in UTC.

Enters: tables. Leaves: text. Never: lets a spreadsheet take a text for a formula: one that begins
like a formula gets an apostrophe in front (OWASP, "CSV injection"). Numbers are never changed.
"""

from __future__ import annotations

import csv
import io
import re
from datetime import datetime

from pgassay.report.context import ReportContext
from pgassay.report.data_tables.model import DataTable, Value
from pgassay.report.data_tables.trials import trial_table

_BEGINS_FORMULA = re.compile("[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
"""A text that is a number, such as a setting's -1, is harmless."""


def csv_text(table: DataTable) -> str:
    """A line of names, then the rows; without rows the names alone."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(inert(one.name) for one in table.columns)
    writer.writerows([_cell(value) for value in row] for row in table.rows)
    return text.getvalue()


def trials_csv(context: ReportContext) -> str:
    """The raw trials of a run."""
    return csv_text(trial_table(context))


def inert(text: str) -> str:
    """The same text, with an apostrophe in front if a spreadsheet would take it for a formula."""
    if _BEGINS_FORMULA.match(text) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def _cell(value: Value) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case datetime():
            return value.isoformat(timespec="microseconds").replace("+00:00", "Z")
        case str():
            return inert(value)
        case _:
            return repr(value)
