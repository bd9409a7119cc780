"""The runs of a history, and what it cannot show.

Enters: the context. Leaves: a table, sentences. Never: names a cause.
"""

from __future__ import annotations

from collections.abc import Callable

from pgassay.analysis.apart.model import ApartRun
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.history.levels import begun_on, caveats
from pgassay.findings.history.levels import limits as limits_of
from pgassay.language import tr
from pgassay.report.context import HistoryContext
from pgassay.report.document.blocks import Items
from pgassay.report.document.section import Blocks, section, summed_up
from pgassay.report.document.table import Cell, column, view
from pgassay.report.environment import server_version
from pgassay.report.tables.cells import ABSENT, measured, written


@section("history/limits", "What this history can and cannot show")
def limits(context: HistoryContext) -> Blocks:
    """Shows the caveats of this history, then what no history can show."""
    yield Items(tuple(caveats(context.analysis)), "method", "caveats")
    yield Items(limits_of(), "method")


@section("history/runs", "The runs")
def runs(context: HistoryContext) -> Blocks:
    """Shows each run with its server, its trials and the primary metric of its arms."""
    analysis = context.analysis
    series = [one for one in analysis.series if one.metric == analysis.metric]
    metric = METRICS[analysis.metric]
    places = {id(run): at for at, run in enumerate(analysis.runs)}
    known = [dict(zip(one.runs, one.points, strict=True)) for one in series]

    def mean(of: int) -> Callable[[ApartRun], Cell]:
        def shown(run: ApartRun) -> Cell:
            point = known[of].get(places[id(run)])
            return measured(None if point is None else point.value, metric)

        return shown

    columns = (
        written("name", "Run", str, "heading"),
        column("", "Begun", begun_on, "text"),
        written("environment", "Server", lambda env: server_version(env) or ABSENT, "text"),
        written("trials", "Trials", lambda trials: str(len(trials))),
        *(column("", one.arm or metric.title, mean(at)) for at, one in enumerate(series)),
    )
    yield summed_up("report/sections/runs", n=len(analysis.runs))
    yield view(columns, reversed(analysis.runs), tr("The runs"))
