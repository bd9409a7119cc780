"""A workbook has typed cells, one sheet for each table, the verdict in words first, no formula."""

from __future__ import annotations

import io
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import openpyxl
import pytest

from pgassay.report.context import ReportContext
from pgassay.report.data_tables.tables import tables_of
from pgassay.report.formats.workbook import render_xlsx
from pgassay.workflows.reporting import trace_context
from support.runs.command import pgassay
from support.synthetic.directories import synthetic_run
from support.synthetic.hostile import FORMULA, hostile_context
from support.synthetic.report_contexts import synthetic_context
from support.synthetic.traces import synthetic_trace
from unit.report.test_report_observation import context as observed_context


def opened(content: bytes) -> Any:
    return openpyxl.load_workbook(io.BytesIO(content))


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> ReportContext:
    return synthetic_context(tmp_path_factory.mktemp("run"), effects={"a2": 0.2})


def test_every_table_with_rows_reads_back_with_its_values_and_types(
    context: ReportContext,
) -> None:
    book = opened(render_xlsx(context))
    tables = [table for table in tables_of(context) if table]
    assert book.sheetnames == ["summary", *(table.name for table in tables)]
    for table in tables:
        head, *rows = book[table.name].iter_rows(values_only=True)
        assert list(head) == [one.name for one in table.columns]
        for row, values in zip(rows, table.values(), strict=True):
            for cell, value in zip(row, values, strict=True):
                if isinstance(value, datetime):
                    assert abs(cell - value.replace(tzinfo=None)).total_seconds() < 0.001
                elif isinstance(value, float):
                    assert cell == pytest.approx(value, rel=1e-14)
                elif isinstance(value, bool | int):
                    assert (type(cell), cell) == (type(value), value)
                else:
                    assert cell == (value or None)


def test_the_first_sheet_answers_the_question_in_words(context: ReportContext) -> None:
    sheet = opened(render_xlsx(context))["summary"]
    assert sheet["A1"].value == context.question
    assert sheet["A3"].value == "better"
    assert sheet["B3"].value.startswith("max_wal_size = 4GB is ")
    names = [row[0] for row in sheet.iter_rows(values_only=True)]
    assert {"Primary metric", "Repeat it with", "trials", "verdicts"} <= set(names)


def test_the_header_stays_in_view_and_every_column_can_be_filtered(context: ReportContext) -> None:
    sheet = opened(render_xlsx(context))["trials"]
    assert sheet.freeze_panes == "A2"
    assert sheet.auto_filter.ref == sheet.dimensions
    assert sheet.column_dimensions["E"].width >= 6


def test_names_are_text_whatever_they_hold(tmp_path: Path) -> None:
    content = render_xlsx(hostile_context(tmp_path))
    book = opened(content)
    for sheet in book:
        assert len(sheet.title) <= 31
        for row in sheet.iter_rows():
            assert [cell.coordinate for cell in row if cell.data_type == "f"] == []
    texts = [row[16] for row in book["statements"].iter_rows(min_row=2, values_only=True)]
    assert FORMULA in texts
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        for name in parts.namelist():
            if name.endswith((".xml", ".rels")):
                ET.fromstring(parts.read(name))  # noqa: S314 - no character that XML forbids
        assert not [name for name in parts.namelist() if "externalLink" in name]


def test_observations_and_traces_have_workbooks_too(tmp_path: Path) -> None:
    observed = opened(render_xlsx(observed_context()))
    assert observed["courses"]["C2"].value == 100
    assert observed["summary"]["A1"].value.endswith(" lab@<db>:5432/lab")
    traced = opened(render_xlsx(trace_context(synthetic_trace(tmp_path / "trace"))))
    assert traced["points"]["C2"].value == "lwlock_wait"


def test_it_is_written_into_the_run_or_where_out_says(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", blocks=2)
    assert pgassay("report", run.path, "--format", "xlsx").returncode == 0
    assert "trials" in openpyxl.load_workbook(run.path / "report.xlsx").sheetnames
    out = tmp_path / "sheets.xlsx"
    assert pgassay("report", run.path, "--out", out).returncode == 0
    assert pgassay("report", run.path, "--out", "-").stdout.startswith("<!doctype html>")
    assert "trials" in openpyxl.load_workbook(out).sheetnames
