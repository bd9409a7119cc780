"""A report as an XLSX workbook: what was found in words, then one sheet for each table.

Enters: the context. Leaves: the bytes of a file. Never: writes a formula or a link that comes from
a name; every text is written as text.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, assert_never

import xlsxwriter

from pgassay.report.context import ReportContext, StoredContext
from pgassay.report.data_tables.tables import tables_of
from pgassay.report.document.blocks import (
    Answer,
    Chart,
    Code,
    Facts,
    Fold,
    Frame,
    Group,
    Heading,
    Items,
    Key,
    PageOnly,
    Paragraph,
)
from pgassay.report.document.table import Table, Value, plain
from pgassay.report.document.text import plain_text
from pgassay.report.environment import server_version
from pgassay.report.summaries.top import recorded_caveats, top_of

_MOST_CHARACTERS = 32_767
"""Of a cell."""
_CUT = "… (cut)"
_WIDTHS = (6, 60)
_FIRST = "summary"
_TIME = "yyyy-mm-dd hh:mm:ss.000"
_OPTIONS = {
    "in_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
}


def render_xlsx(context: StoredContext) -> bytes:
    """The whole workbook; a table without rows has no sheet."""
    content = io.BytesIO()
    tables = [table for table in tables_of(context) if table]
    with xlsxwriter.Workbook(content, _OPTIONS) as book:
        formats = {
            "title": book.add_format({"bold": True, "font_size": 14}),
            "bold": book.add_format({"bold": True, "valign": "top"}),
            "text": book.add_format({"text_wrap": True, "valign": "top"}),
            "head": book.add_format({"bold": True, "bottom": 1, "bg_color": "#eef2f7"}),
            "link": book.add_format({"font_color": "#1f5fbf", "underline": 1}),
            "time": book.add_format({"num_format": _TIME}),
        } | {form: book.add_format({"num_format": form}) for form in _FORMS}
        first = book.add_worksheet(_FIRST)
        for table in tables:
            _write_table(book.add_worksheet(table.name), table, formats)
        _write_first(first, context, tables, formats)
    return content.getvalue()


def _write_first(
    sheet: Any,
    context: StoredContext,
    tables: Sequence[Table],
    formats: dict[str, Any],
) -> None:
    """The question, the answers in words, what could change them, the facts, and the sheets."""
    sheet.set_column(0, 0, 34)
    sheet.set_column(1, 1, 110)
    sheet.hide_gridlines(2)
    sheet.write_string(0, 0, _text(context.title), formats["title"])
    row = 2
    for name, text in _found(context):
        sheet.write_string(row, 0, _text(name), formats["bold"])
        sheet.write_string(row, 1, _text(text), formats["text"])
        row += 1
    row += 1
    sheet.write_string(row, 0, "Sheet", formats["head"])
    sheet.write_string(row, 1, "What it holds", formats["head"])
    for table in tables:
        row += 1
        sheet.write_url(row, 0, f"internal:'{table.name}'!A1", formats["link"], table.name)
        rows = f"{len(table.rows)} row{'s' if len(table.rows) != 1 else ''}"
        sheet.write_string(row, 1, f"{table.title} ({rows})")


def _found(context: StoredContext) -> Iterator[tuple[str, str]]:
    """(name, text) of what the report says at its top, and of where it comes from."""
    for block in top_of(context):
        match block:
            case Answer():
                yield block.badge, plain_text(block.whole)
            case Paragraph():
                yield "", plain_text(block.text)
            case Facts():
                yield from ((name, plain_text(value)) for name, value in block.rows)
            case Heading() | Items() | Table() | Chart() | Key() | Code() | Frame():
                pass
            case Fold() | Group() | PageOnly():
                pass
            case _:
                assert_never(block)
    yield from (("Caveat", text) for text in recorded_caveats(context))
    yield "Run", context.run_name
    yield "pgassay", context.version
    if isinstance(context, ReportContext):
        yield "Server", server_version(context.environment)
        yield "Repeat it with", context.command


def _write_table(sheet: Any, table: Table, formats: dict[str, Any]) -> None:
    """A header that stays in view, filters, and cells of the types of their values."""
    sheet.freeze_panes(1, 0)
    columns = zip(*table.values(), strict=True)
    for at, (column, values) in enumerate(zip(table.columns, columns, strict=True)):
        sheet.write_string(0, at, _text(column.name), formats["head"])
        form = formats.get(_form_of(values) or "")
        for number, value in enumerate(values, 1):
            _write_cell(sheet, number, at, value, form, formats["time"])
        sheet.set_column(at, at, _width(column.name, values))
    sheet.autofilter(0, 0, len(table.rows), len(table.columns) - 1)


def _write_cell(sheet: Any, row: int, at: int, value: Value, form: Any, time: Any) -> None:
    match value:
        case None | "":
            return
        case bool():
            sheet.write_boolean(row, at, value)
        case datetime():  # a spreadsheet knows no time zone: UTC, as the name of the column says
            sheet.write_datetime(row, at, value.replace(tzinfo=None), time)
        case str():
            sheet.write_string(row, at, _text(value))
        case _:
            sheet.write_number(row, at, value, form)


_FORMS = ("0.0", "0.000", "0.000000")
"""How figures are shown, by the size of the largest; the cells hold all digits."""


def _form_of(values: Sequence[Value]) -> str | None:
    figures = [abs(value) for value in values if isinstance(value, float)]
    if not figures or all(figure.is_integer() for figure in figures):
        return None
    largest = max(figures)
    return _FORMS[0] if largest >= 1000.0 else _FORMS[1] if largest >= 0.1 else _FORMS[2]


def _width(name: str, values: Sequence[Value]) -> int:
    lengths = [len(str(value)) for value in values[:200] if isinstance(value, str)]
    times = any(isinstance(value, datetime) for value in values)
    least, most = _WIDTHS
    return min(most, max(least, len(name) + 3, *lengths, 23 if times else 0))


def _text(text: str) -> str:
    """As much of it as a cell holds."""
    shown = str(plain(text))
    if len(shown) <= _MOST_CHARACTERS:
        return shown
    return shown[: _MOST_CHARACTERS - len(_CUT)] + _CUT
