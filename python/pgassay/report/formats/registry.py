"""A report in the format that was asked for.

Enters: the context of a run, an observation or a trace, the name of a format. Leaves: text or
bytes. Never: makes a format of verdicts of what has none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pgassay.errors import RunDirectoryError
from pgassay.report.brief.render import render_brief
from pgassay.report.context import AnyContext, ObservationContext, ReportContext, TraceContext
from pgassay.report.data_tables.csv_files import render_csv
from pgassay.report.formats.html import render_html
from pgassay.report.formats.junit import render_junit
from pgassay.report.formats.markdown import render_markdown
from pgassay.report.formats.openmetrics import render_openmetrics
from pgassay.report.formats.workbook import render_xlsx
from pgassay.report.objects.analysis import render_json
from pgassay.report.objects.observed import render_object

_KINDS: dict[type, str] = {ObservationContext: "an observation", TraceContext: "a trace"}


def rendered(context: AnyContext, output_format: str) -> str | bytes:
    """The report."""
    if output_format in _OF_RUNS and not isinstance(context, ReportContext):
        raise RunDirectoryError(
            f"{context.run_name}: {output_format} is made of verdicts, which"
            f" {_KINDS[type(context)]} has none of; take {', '.join((*_OF_ALL, 'json'))}"
        )
    return _render(context, output_format)(context)


def _render(context: AnyContext, output_format: str) -> Callable[[Any], str | bytes]:
    if output_format == "json":
        return _json(context)
    return _OF_ALL.get(output_format) or _OF_RUNS[output_format]


def _json(context: AnyContext) -> Callable[[Any], str]:
    if isinstance(context, ReportContext):
        return render_json
    if isinstance(context, ObservationContext):
        return render_object
    from pgassay.report.objects.traced import render_trace_object  # runs need none of it

    return render_trace_object


_OF_ALL: dict[str, Callable[[Any], str | bytes]] = {
    "html": render_html,
    "md": render_markdown,
    "csv": render_csv,
    "xlsx": render_xlsx,
    "brief": render_brief,
}
_OF_RUNS: dict[str, Callable[[Any], str | bytes]] = {
    "openmetrics": render_openmetrics,
    "junit": render_junit,
}
