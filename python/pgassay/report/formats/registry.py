"""A report in the format that was asked for.

Enters: the context of a run, an observation, a trace or a comparison of runs, the name of a format.
Leaves: the content of a file. Never: makes a format of verdicts of what has none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pgassay.refusals.refusal import DirectoryRefused
from pgassay.report.brief.prompt import render_prompt
from pgassay.report.brief.render import render_brief
from pgassay.report.context import (
    AnyContext,
    ApartContext,
    HistoryContext,
    IncidentsContext,
    ObservationContext,
    PeriodsContext,
    ReportContext,
    StoredContext,
)
from pgassay.report.data_tables.csv_files import render_csv
from pgassay.report.formats.html import render_html
from pgassay.report.formats.junit import render_junit
from pgassay.report.formats.markdown import render_markdown
from pgassay.report.formats.openmetrics import render_openmetrics
from pgassay.report.objects.analysis import render_json
from pgassay.report.objects.apart import render_apart_json
from pgassay.report.objects.observed import render_object


def rendered(context: AnyContext, output_format: str) -> bytes:
    """Returns the bytes of a report in a format; of text in UTF-8."""
    if output_format in _OF_RUNS and not isinstance(context, ReportContext):
        kind = "an observation" if isinstance(context, ObservationContext) else "a trace"
        known = ", ".join((*_OF_ALL, "json"))
        raise DirectoryRefused(
            "no-verdicts-for-format", context.run_name, format=output_format, kind=kind, known=known
        )
    made = _OF_ALL | _OF_RUNS | {"json": _json, "svg": _svg, "prompt": render_prompt}
    found = made[output_format](context)
    return found.encode() if isinstance(found, str) else found


def _xlsx(context: StoredContext) -> bytes:
    from pgassay.report.formats.workbook import render_xlsx  # it takes xlsxwriter

    return render_xlsx(context)


def _svg(context: HistoryContext) -> str:
    from pgassay.report.formats.picture import render_svg  # runs need none of it

    return render_svg(context)


def _json(context: AnyContext) -> str:
    match context:
        case ReportContext():
            return render_json(context)
        case ObservationContext():
            return render_object(context)
        case ApartContext():
            return render_apart_json(context)
        case HistoryContext():
            from pgassay.report.objects.history import render_history_json  # runs need none of it

            return render_history_json(context)
        case PeriodsContext():
            from pgassay.report.objects.periods import render_periods_json  # runs need none of it

            return render_periods_json(context)
        case IncidentsContext():
            from pgassay.report.objects.incidents import render_incidents_json

            return render_incidents_json(context)
    from pgassay.report.objects.traced import render_trace_object  # runs need none of it

    return render_trace_object(context)


_OF_ALL: dict[str, Callable[[Any], str | bytes]] = {
    "html": render_html,
    "md": render_markdown,
    "csv": render_csv,
    "xlsx": _xlsx,
    "brief": render_brief,
}
"""Of a comparison of runs the first two."""
_OF_RUNS: dict[str, Callable[[Any], str | bytes]] = {
    "openmetrics": render_openmetrics,
    "junit": render_junit,
}
