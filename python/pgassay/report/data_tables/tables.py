"""All tables of a run, of an observation or of a trace, with the table that explains the columns.

Enters: the context. Leaves: tables in the order of the report; the first one is a summary.
Never: leaves out a table because it has no rows.
"""

from __future__ import annotations

from pgassay.report.context import (
    ObservationContext,
    ReportContext,
    StoredContext,
    TraceContext,
)
from pgassay.report.data_tables.answers import answer_tables
from pgassay.report.data_tables.model import table_of
from pgassay.report.data_tables.observed import observation_tables
from pgassay.report.data_tables.record import record_tables, run_table
from pgassay.report.data_tables.recorded import recorded_tables
from pgassay.report.data_tables.sampled import sampled_tables
from pgassay.report.data_tables.trials import detail_tables, trial_data
from pgassay.report.document.table import Table

MAIN = {ReportContext: "trials", ObservationContext: "courses", TraceContext: "points"}
"""The table that stands for all where only one can be given."""


def tables_of(context: StoredContext) -> tuple[Table, ...]:
    """Returns every table of data of a run, an observation or a trace."""
    if isinstance(context, ObservationContext):
        found = tuple(observation_tables(context))
    elif isinstance(context, TraceContext):
        from pgassay.report.data_tables.traced import trace_tables  # runs need none of it

        found = tuple(trace_tables(context))
    else:
        found = _of_run(context)
    return (*found, _columns(found))


def main_table(context: StoredContext) -> Table:
    """The raw trials of a run, the courses of an observation, what a trace timed."""
    if isinstance(context, ReportContext):
        return trial_data(context)
    return next(one for one in tables_of(context) if one.name == MAIN[type(context)])


def _of_run(context: ReportContext) -> tuple[Table, ...]:
    return (
        run_table(context),
        *answer_tables(context),
        trial_data(context),
        *detail_tables(context),
        *recorded_tables(context),
        *sampled_tables(context),
        *record_tables(context),
    )


def _columns(tables: tuple[Table, ...]) -> Table:
    return table_of(
        "columns",
        (
            {
                "table": one.name,
                "column": column.name,
                "unit": column.unit,
                "meaning": column.meaning,
            }
            for one in tables
            for column in one.columns
        ),
    )
