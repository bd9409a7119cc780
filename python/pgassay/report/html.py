"""The report as one HTML file that needs nothing else.

Enters: the context. Leaves: HTML with its styles, scripts and data inside.
Never: fetches anything, and never lets a name become markup: Jinja escapes the page, `chart_data`
the chart data, `plain` the chart texts, and the page's own policy admits only the two scripts whose
digests it names.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files

import plotly.graph_objects as go
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from pgassay.findings.model import FindingKind
from pgassay.findings.wording import signed_percent
from pgassay.report import further_tables, tables
from pgassay.report.charts.checkpoints import checkpoints_chart
from pgassay.report.charts.effect import effect_chart, runs_out
from pgassay.report.charts.interactions import interaction_chart
from pgassay.report.charts.load_curve import by_load_chart, load_curve_chart
from pgassay.report.charts.quantiles import quantiles_chart
from pgassay.report.charts.rounds import rounds_chart
from pgassay.report.charts.style import ArmStyle, arm_styles
from pgassay.report.charts.throughput import thinning, throughput_chart
from pgassay.report.charts.trial_order import trial_order_chart
from pgassay.report.charts.waits import (
    class_rows,
    event_rows,
    sampled_rows,
    waits_chart,
)
from pgassay.report.context import ReportContext
from pgassay.report.environment import created_at, environment_sections, server_version
from pgassay.report.factorial import factorial_of
from pgassay.report.headline import facts, headlines, interval_words
from pgassay.report.host_tables import host_tables_of_run
from pgassay.report.logged import logged_rows
from pgassay.report.servers import server_table


def render_html(context: ReportContext) -> str:
    """The whole page."""
    styles = arm_styles(context.plan.arms)
    plotly, start = get_plotlyjs(), asset("charts.js")
    return (
        page_environment()
        .get_template("report.html.j2")
        .render(
            context=context,
            analysis=context.analysis,
            plan=context.plan,
            headlines=headlines(context),
            facts=facts(context),
            interval_words=interval_words(context),
            created_at=created_at(context.environment),
            server_version=server_version(context.environment),
            arms=tuple(styles.values()),
            charts=_charts(context, styles),
            runs_out=runs_out(context.analysis),
            thinning=thinning(context.series),
            effects=_effect_words(context),
            verdicts=tables.verdict_rows(context),
            patterns=tables.pattern_sentences(context),
            differences=tables.difference_rows(context),
            wait_classes=class_rows(context.analysis),
            wait_events=event_rows(context.analysis, context.series),
            sampled_waits=sampled_rows(context.analysis, context.series),
            factorial=factorial_of(context),
            trial_columns=tables.trial_columns(context),
            trials=tables.trial_rows(context),
            arm_rows=tables.arm_rows(context),
            calibration=context.of_kind(FindingKind.CALIBRATION),
            observed=further_tables.sentences(context),
            without_band=further_tables.without_band(context),
            load_rows=further_tables.load_rows(context),
            knees=further_tables.knee_rows(context),
            checkpoint_rows=further_tables.checkpoint_rows(context),
            associations=further_tables.association_rows(context),
            courses=further_tables.course_rows(context),
            logged=logged_rows(context),
            hosts=host_tables_of_run(context),
            variants=tables.variant_rows(context),
            carry_over=further_tables.carry_over_rows(context),
            comparisons=tables.all_rows(context),
            warnings=tables.warning_groups(context),
            sections=environment_sections(context.environment),
            servers=server_table(context.environment),
            css=Markup(asset("style.css")),  # noqa: S704 - our own file
            plotly=Markup(plotly),  # noqa: S704 - the library's own file
            start=Markup(start),  # noqa: S704 - our own file
            script_digests=(digest(plotly), digest(start)),
        )
    )


def _charts(context: ReportContext, styles: dict[str, ArmStyle]) -> dict[str, Markup]:
    """Name → the chart's data; a chart with nothing to show is absent."""
    analysis, series = context.analysis, context.series
    figures = {
        "effect": effect_chart(analysis),
        "throughput": throughput_chart(series, context.plan, styles),
        "interactions": interaction_chart(analysis),
        "waits": waits_chart(analysis, styles),
        "load_curve": load_curve_chart(analysis, styles),
        "by_load": by_load_chart(analysis),
        "quantiles": quantiles_chart(analysis),
        "checkpoints": checkpoints_chart(analysis, styles),
        "rounds": rounds_chart(analysis),
        "order": trial_order_chart(analysis, styles),
    }
    return {name: chart_data(figure) for name, figure in figures.items() if figure is not None}


def chart_data(figure: go.Figure) -> Markup:
    """JSON that cannot end its script element, whatever the names in it."""
    text = figure.to_json(validate=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704 - escaped just above


def _effect_words(context: ReportContext) -> tuple[str, ...]:
    """What the dots show, counted: how many blocks lie on the mean's side of zero."""
    words = []
    for c in context.analysis.verdicts():
        if c.step is None and c.effect_pct and c.block_effects_pct:
            same = sum(effect * c.effect_pct > 0 for effect in c.block_effects_pct)
            side = "above" if c.effect_pct > 0 else "below"
            total = len(c.block_effects_pct)
            words.append(
                f"{c.factor} = {c.level}: {same} of {total} block{'s' if total != 1 else ''}"
                f" {side} zero, mean {signed_percent(c.effect_pct)}"
            )
    return tuple(words)


def digest(script: str) -> str:
    """How the page's policy names a script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


@cache
def asset(name: str) -> str:
    """One of the page's own files."""
    return (files(__package__) / "templates" / name).read_text("utf-8")


@cache
def page_environment() -> Environment:
    """Templates whose values are escaped for HTML."""
    return Environment(
        loader=PackageLoader("pgassay.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
