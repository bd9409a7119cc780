"""What was sampled in runs made apart: speed and waits of the load, and the server's host.

Enters: the context. Leaves: a table of all arms, a chart for each arm with all runs in it.
Never: says that runs differ; the verdicts do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pgassay.analysis.apart.model import ApartAnalysis
from pgassay.analysis.sampled.model import SPEED, HostFigure
from pgassay.language import clauses, tr
from pgassay.report.charts.effects.speed import speed_chart
from pgassay.report.charts.over_time.host import figure_panels, host_chart
from pgassay.report.context import ApartContext
from pgassay.report.document.blocks import note
from pgassay.report.document.section import Blocks, section, summed_up
from pgassay.report.document.text import joined, texts_of
from pgassay.report.sections.apart.curves import DESCRIBES, charts_by_arm, plan_of
from pgassay.report.tables.infrastructure import apart_table, titles_of
from pgassay.samples.forms.environment import EnvironmentFile

sentence = texts_of(__name__)
_PLOT_PX = 140


@section("apart/speed", "Speed and waits, by load and over time")
def speed(context: ApartContext) -> Blocks:
    """Shows SPEED, WAITINGS and the types of waits of every run; from load to load they stand with
    the rest."""
    analysis = context.analysis
    found = {one.arm: one.speed for one in analysis.curves if one.speed}
    yield from _table(analysis, found, {})
    named, unit = [("", one) for one in SPEED], plan_of(analysis).step_unit
    over_load = charts_by_arm(
        analysis,
        "speed_by_load",
        tr("SPEED and WAITINGS of each run against its connections"),
        lambda one, styles: speed_chart(one.profiles, styles, unit),
        lambda _: joined(sentence("speed_is")),
        has_table=True,
        part="by-load",
    )
    over_time = charts_by_arm(
        analysis,
        "speed",
        tr("SPEED and WAITINGS of each run over time"),
        lambda one, styles: figure_panels(
            one.series, plan_of(analysis), styles, named, {}, _PLOT_PX
        ),
        lambda _: joined(not over_load and sentence("speed_is"), sentence("means_of_runs")),
        has_table=bool(found),
        part="over-time",
    )
    yield from over_load
    yield from over_time[1 if over_load else 0 :]  # the key once


@section("apart/infrastructure", "Infrastructure")
def infrastructure(context: ApartContext) -> Blocks:
    """Shows the hosts of all runs, where they were read."""
    analysis = context.analysis
    found = {one.arm: one.host for one in analysis.curves if one.host}
    disks = titles_of(_environment(analysis), [each for own in found.values() for each in own])
    yield from _table(analysis, found, disks)
    yield from charts_by_arm(
        analysis,
        "host",
        tr("Processors, tasks, memory and disks of the host of each run over time"),
        lambda one, styles: host_chart(one.series, plan_of(analysis), styles, disks),
        lambda _: joined(sentence("means_of_runs")),
        has_table=bool(found),
    )


def _table(
    analysis: ApartAnalysis, found: Mapping[str, Sequence[HostFigure]], disks: Mapping[str, str]
) -> Blocks:
    if not found:
        return
    yield summed_up("report/sections/figures", n=max(map(len, found.values())))
    every = [one for own in found.values() for one in own]
    moved = {one.name for one in every if any(each.mean for each in one.figures)}
    shown = {arm: [one for one in own if one.name in moved] for arm, own in found.items()}
    yield apart_table(analysis, shown, disks)
    names = list(dict.fromkeys(one.name for one in every if one.name not in moved))
    yield note(
        sentence("medians"),
        bool(names) and tr("Zero in every run: {names}.", names=clauses(names)),
        DESCRIBES,
    )


def _environment(analysis: ApartAnalysis) -> EnvironmentFile:
    """What lies on which disk, if that is the same in all runs."""
    found = [run.environment for side in analysis.sides for run in side.runs]
    first = found[0].host.storage
    same = all(one.host.storage == first for one in found)
    return found[0] if same else EnvironmentFile()
