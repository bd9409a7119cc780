"""The runs that were compared, what else is not the same in them, and what that means.

Enters: the context. Leaves: tables, sentences. Never: names a cause.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from pgassay.analysis.apart.model import ApartRun
from pgassay.findings.apart.verdicts import caveats
from pgassay.findings.apart.verdicts import limits as limits_of
from pgassay.language import Message, clauses, tr
from pgassay.quantities import spaced
from pgassay.report.context import ApartContext
from pgassay.report.document.blocks import Items, Paragraph
from pgassay.report.document.section import Blocks, section, summed_up
from pgassay.report.document.table import Column, Table, column, table, view
from pgassay.report.document.text import texts_of
from pgassay.report.environment import created_at, server_version
from pgassay.report.summaries.apart import condition_values
from pgassay.report.tables.cells import ABSENT, inside, written

sentence = texts_of(__name__)


@section("apart/limits", "What this comparison can and cannot show")
def limits(context: ApartContext) -> Blocks:
    """Show what no comparison of runs made apart can show, then the caveats of this one."""
    yield Items(limits_of(), "method")
    yield Items(caveats(context.analysis), "method", "caveats")


@section("apart/conditions", "What else is not the same")
def conditions(context: ApartContext) -> Blocks:
    """Candidates for what changed the figures."""
    if found := condition_table(context):
        text = sentence("each_of_these_is")
    else:
        text = tr("Nothing that the runs recorded differs; what nothing records may have changed.")
    yield Paragraph(text, "observed")
    yield found


def condition_table(context: ApartContext) -> Table:
    """A row per difference, a column per side."""
    analysis = context.analysis
    columns = (
        Column(Message("Of"), "group"),
        Column(Message("What"), "heading"),
        *(Column(side.name, "text") for side in analysis.sides),
    )
    rows = [
        (str(one.group), str(one.name), *condition_values(one, partial(spaced, digits=0)))
        for one in analysis.conditions
    ]
    return replace(table(columns, rows), label=tr("What else is not the same"))


@section("apart/runs", "The runs")
def runs(context: ApartContext) -> Blocks:
    """Shows each compared run with its time, server, arms and trials."""
    sides = context.analysis.sides
    yield summed_up("report/sections/runs", n=sum(len(side.runs) for side in sides))
    found = ({"side": side.name, "run": run} for side in sides for run in side.runs)
    yield view((_SIDE, *inside("run", _RUNS)), found, tr("The runs"))


def _arms(run: ApartRun) -> str:
    if run.plan.calibrates:
        return tr("one arm by two names (A/A)")
    return clauses(arm.label for arm in run.plan.arms)


_SIDE = written("side", "Side", str, "heading", merges=True)
_RUNS = (
    written("name", "Run", str, "text"),
    written("environment", "Begun", lambda env: created_at(env) or ABSENT, "text"),
    written("environment", "Server", lambda env: server_version(env) or ABSENT, "text"),
    written("plan.question", "Question", lambda question: question or ABSENT, "text"),
    column("plan.arms", "Arms", _arms, "text"),
    written("trials", "Trials", lambda trials: str(len(trials))),
)
