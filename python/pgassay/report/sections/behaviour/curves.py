"""Latency by quantile, and its difference; the difference at each load; throughput by clients.

Enters: the context. Leaves: sentences, charts, tables. Never: fits a curve or computes a band.
"""

from __future__ import annotations

from pgassay.analysis.reading.metrics import METRICS
from pgassay.analysis.statistics.values import Estimate
from pgassay.findings.wording import plain_number, signed_percent
from pgassay.language import Message, decimals, listed, tr
from pgassay.report.charts.effects.load_curve import by_load_chart, load_curve_chart
from pgassay.report.charts.latency.curve import latency_curve_chart
from pgassay.report.charts.latency.quantiles import quantiles_chart, without_band
from pgassay.report.charts.style import arm_styles
from pgassay.report.context import ReportContext
from pgassay.report.document.section import Content, section
from pgassay.report.document.table import Column, Table, table
from pgassay.report.tables.cells import ABSENT, between, interval
from pgassay.report.tables.latencies import latency_table

_LOADS = (
    Column(Message("Measured"), "text"),
    Column(Message("Level compared"), "text"),
    Column(Message("Load"), "line"),
    *map(Column, map(Message, ("Change", "95\xa0% band"))),
)
_KNEES = (
    Column(Message("Arm"), "heading"),
    Column(Message("Knee (95\xa0% interval)"), "text"),
    *map(Column, map(Message, ("Contention σ", "Coherence κ", "Misfit"))),
)


@section("behaviour/by_load", "From load to load")
def by_load(context: ReportContext) -> Content | None:
    """A run whose trials have several loads."""
    analysis = context.analysis
    differences = by_load_chart(analysis)
    curve = load_curve_chart(analysis, arm_styles(context.plan.arms))
    if differences is None and curve is None:
        return None
    fits = [one.fit for one in analysis.load_curves]
    return {
        "sentences": context.sentences("by_load", "load_curve"),
        "by_load": differences,
        "has_crossing": any(e.crossings for e in analysis.by_load if e.metric == analysis.metric),
        "load_curve": curve,
        "has_fit": any(fits),
        "has_knee": any(fit.knee_clients and fit.knee_tps for fit in fits if fit),
        "without_band": tuple(dict.fromkeys(e.refused for e in analysis.by_load if e.refused)),
        "knees": knee_table(context),
        "loads": _load_table(context),
        "decides": _DECIDES,
    }


_DECIDES = Message(
    "Whether levels differ at one load is decided by the verdicts, not by this band: their"
    " intervals are corrected for all verdicts, for when the run could stop and for positions in a"
    " block; the band is corrected only for the loads that it joins, and for levels. So one of the"
    " two may exclude zero where the other does not."
)


def _load_table(context: ReportContext) -> Table:
    return table(
        _LOADS,
        [
            (
                METRICS[effect.metric].title,
                f"{effect.factor} = {effect.level}",
                f"{decimals(load, 'g')} {effect.step_unit}",
                signed_percent(value),
                interval(band),
            )
            for effect in context.analysis.by_load
            for load, value, band in zip(
                effect.loads, effect.effect_pct, effect.band95_pct, strict=True
            )
        ],
    )


def knee_table(context: ReportContext) -> Table:
    """Each arm's fit of the scaling law, or why there is none."""
    names = context.labels
    rows = []
    for curve in context.analysis.load_curves:
        fit = curve.fit
        if fit is None:
            rows.append((names[curve.arm], curve.refused or "", ABSENT, ABSENT, ABSENT))
            continue
        at = fit.knee_clients
        knee = (
            tr("{value} clients{interval}", value=plain_number(at.value), interval=between(at))
            if at
            else fit.knee_refused or ""
        )
        parameters = _parameter(fit.contention), _parameter(fit.coherence)
        rows.append((names[curve.arm], knee, *parameters, f"{decimals(fit.misfit_pct, '.1f')} %"))
    return table(_KNEES, rows)


def _parameter(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        # No parameter is negative: one that would be is 0, whichever block is left out.
        why = tr("at its bound, no interval") if estimate.value == 0.0 else tr("no interval")
        return f"{decimals(estimate.value, '.2g')} ({why})"
    return tr(
        "{estimate} ({low} to {high})",
        estimate=decimals(estimate.value, ".2g"),
        low=decimals(estimate.low, ".2g"),
        high=decimals(estimate.high, ".2g"),
    )


@section("behaviour/quantiles", "Latency, quantile by quantile")
def quantiles(context: ReportContext) -> Content | None:
    """Trials whose latency was logged, and whole trials whose latency was compared."""
    chart = quantiles_chart(context.analysis)
    curves = context.analysis.latency_curves
    if chart is None and not curves:
        return None
    whole = [shift for shift in context.analysis.quantile_shifts if shift.step is None]
    return {
        "sentences": context.sentences("quantiles"),
        "curve": latency_curve_chart(curves, arm_styles(context.plan.arms)),
        "step": next((decimals(one.step, "g") for one in curves if one.step is not None), None),
        "has_range": any(one.trials > 1 for one in curves),
        "latencies": _latency_table(context),
        "chart": chart,
        "without_band": tuple(dict.fromkeys(one.refused for one in whole if one.refused)),
        "quantiles_without_band": listed(
            (f"{one.factor} = {one.level}, " if len(whole) > 1 else "")
            + f"{decimals(100 * share, 'g')} %"
            for one in whole
            for share in without_band(one)
        ),
    }


def _latency_table(context: ReportContext) -> Table:
    names = context.labels
    rows = [((names[one.arm],), one) for one in context.analysis.latency_curves]
    return latency_table([Column(Message("Arm"), "heading")], rows)
