"""The tables of a report as CSV files, one for each table.

Enters: the context. Leaves: file names with their texts. Never: writes a file.
"""

from __future__ import annotations

from collections.abc import Mapping

from pgassay.report.context import ObservationContext, ReportContext, TraceContext
from pgassay.report.data_tables.csv_text import csv_text
from pgassay.report.data_tables.tables import main_table, tables_of


def render_csv(context: ReportContext | ObservationContext | TraceContext) -> str:
    """The table that stands for all: of a run the raw trials."""
    return csv_text(main_table(context))


def csv_files(context: ReportContext | ObservationContext | TraceContext) -> Mapping[str, str]:
    """Every table, also those without rows."""
    return {f"{one.name}.csv": csv_text(one) for one in tables_of(context)}
