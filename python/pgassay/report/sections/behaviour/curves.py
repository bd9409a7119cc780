"""Latency by quantile, and its difference; the difference at each load; throughput by clients.

Enters: the context. Leaves: sentences, charts, tables. Never: fits a curve or computes a band.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pgassay.analysis.curves.model import LoadCurve, QuantileShift
from pgassay.analysis.reading.metrics import METRICS
from pgassay.analysis.statistics.values import Estimate
from pgassay.language import Message, decimals, listed, tr
from pgassay.notes import Note
from pgassay.quantities import load, plain_number
from pgassay.report.charts.effects.load_curve import by_load_chart, load_curve_chart
from pgassay.report.charts.latency.curve import latency_curve_chart
from pgassay.report.charts.latency.quantiles import quantiles_chart, without_band
from pgassay.report.charts.style import arm_styles
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Chart, Fold, Heading, PageOnly, note, observed
from pgassay.report.document.captions import arm_key, cut, quantile_curve
from pgassay.report.document.section import Blocks, Summary, differing, section
from pgassay.report.document.table import Table, column, view
from pgassay.report.document.text import Text, joined, texts_of
from pgassay.report.tables.cells import between, interval_column, percent_column, subject, written
from pgassay.report.tables.latencies import latency_table

sentence = texts_of(__name__)

_LOADS = (
    column("metric", "Measured", lambda row: METRICS[row["metric"]].title, "text"),
    column("of", "Level compared", lambda row: subject(row["of"]), "text"),
    column("load", "Load", lambda row: load(row["load"], row["step_unit"]), "line"),
    percent_column("effect_pct"),
    interval_column("band95_pct", "95\xa0% band"),
)


@section("behaviour/by_load", "From load to load")
def by_load(context: ReportContext) -> Blocks:
    """Shows the arms at each load; yields nothing where trials have one load."""
    analysis = context.analysis
    differences = by_load_chart(analysis)
    curve = load_curve_chart(analysis, arm_styles(context.plan.arms))
    if differences is None and curve is None:
        return
    loads = _load_table(context)
    yield from observed(context.sentences("by_load", "load_curve"))
    if loads:
        yield note(_DECIDES)
    if differences:
        crossings = [
            e.crossings for e in analysis.behaviour.by_load if e.metric == analysis.answer.metric
        ]
        caption = joined(
            sentence("the_difference_at_each"),
            any(crossings) and sentence("a_dotted_line_is"),
            *cut(differences),
            *_no_band(e.refused for e in analysis.behaviour.by_load),
        )
        label = tr("Difference between the levels at each load")
        yield Chart("by_load", differences, label, caption, has_table=True)
    if curve:
        fits = [one.fit for one in analysis.behaviour.load_curves if one.fit]
        caption = joined(
            tr("Points: means of the trials, each with its own 95 % interval."),
            bool(fits) and tr("Lines: Gunther’s Universal Scalability Law."),
            any(fit.knee_clients and fit.knee_tps for fit in fits)
            and tr("A cross is the knee, where throughput is greatest."),
            *cut(curve),
        )
        label = tr("Throughput of each arm against its number of clients")
        yield arm_key(context)
        yield Chart("load_curve", curve, label, caption)
        yield knee_table(context)
    if loads:
        together = note(tr("The band holds for all loads together."))
        yield Fold(tr("The numbers"), [loads, together], printed=True, in_text=True)


def _no_band(refused: Iterable[Note | None]) -> list[str]:
    """Says why a difference is drawn without a band, each reason once."""
    reasons = dict.fromkeys(reason for reason in refused if reason)
    return [tr("There is no band: {reason}.", reason=reason) for reason in reasons]


_DECIDES = Message(
    "Whether levels differ at one load is decided by the verdicts, not by this band: their"
    " intervals are corrected for all verdicts, for when the run could stop and for positions in a"
    " block; the band is corrected only for the loads that it joins, and for levels. So one of the"
    " two may exclude zero where the other does not."
)


def _load_table(context: ReportContext) -> Table:
    return view(
        _LOADS,
        (
            {**vars(one), "of": one, "load": at, "effect_pct": value, "band95_pct": band}
            for one in context.analysis.behaviour.by_load
            for at, value, band in zip(one.loads, one.effect_pct, one.band95_pct, strict=True)
        ),
    )


def knee_table(context: ReportContext) -> Table:
    """Makes a table of each arm's fit of the scaling law, or why there is none."""
    columns = (
        written("arm", "Arm", context.labels.__getitem__, "heading"),
        column("fit.knee_clients.value", "Knee (95\xa0% interval)", _knee, "text"),
        written("fit.contention", "Contention σ", _parameter),
        written("fit.coherence", "Coherence κ", _parameter),
        written("fit.misfit_pct", "Misfit", lambda misfit: f"{decimals(misfit, '.1f')} %"),
    )
    return view(columns, context.analysis.behaviour.load_curves)


def _knee(curve: LoadCurve) -> str:
    if curve.fit is None:
        return str(curve.refused or "")
    if at := curve.fit.knee_clients:
        return tr("{value} clients{interval}", value=plain_number(at.value), interval=between(at))
    return str(curve.fit.knee_refused or "")


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
def quantiles(context: ReportContext) -> Blocks:
    """Shows each arm's latency by quantile and its change, in so far as latency was logged."""
    analysis, plan = context.analysis, context.plan
    chart = quantiles_chart(analysis)
    curve = latency_curve_chart(analysis.behaviour.latency_curves, arm_styles(plan.arms))
    if chart is None and curve is None:
        return
    yield _quantile_summary(context)
    yield from observed(context.sentences("quantiles"))
    if curve or (len(plan.factors) == 1 and len(plan.arms) > 2):
        yield arm_key(context)
    if curve:
        yield Chart(
            "latency_curve",
            curve,
            tr("Latency of each arm by quantile"),
            _curve_caption(context),
            has_table=True,
        )
        yield _latency_table(context)
        yield note(sentence("of_all_transactions_together"))
    if chart:
        whole = [shift for shift in analysis.behaviour.quantile_shifts if shift.step is None]
        caption = joined(
            sentence("how_much_the_latency"),
            *cut(chart),
            *_no_band(one.refused for one in whole),
            _without_band(whole),
        )
        heading = Heading(tr("The difference between levels"))
        label = tr("Change of latency at each quantile")
        yield PageOnly([heading, Chart("quantiles", chart, label, caption)])


def _quantile_summary(context: ReportContext) -> Summary:
    """Counts the quantiles, and those whose band excludes zero at any level."""
    shifts = [one for one in context.analysis.behaviour.quantile_shifts if one.step is None]
    if not shifts:
        return differing(
            "report/sections/curves", len(context.analysis.behaviour.latency_curves), None
        )
    differ = {
        share
        for one in shifts
        for share, band in zip(one.shares, one.band95_pct, strict=True)
        if band and not band[0] <= 0.0 <= band[1]
    }
    shares = {share for one in shifts for share in one.shares}
    return differing("report/sections/quantiles", len(shares), len(differ))


def _curve_caption(context: ReportContext) -> Text:
    curves = context.analysis.behaviour.latency_curves
    step = next((one.step for one in curves if one.step is not None), None)
    of_whom = sentence("how_long_fast_typical")
    return joined(
        quantile_curve(of_whom, has_range=any(one.trials > 1 for one in curves)),
        step is not None
        and tr(
            "At the greatest load of the trials, {step} {step_unit}.",
            step=decimals(step, "g"),
            step_unit=context.plan.step_unit.words,
        ),
        tr("The vertical axis is logarithmic."),
    )


def _without_band(whole: Sequence[QuantileShift]) -> str:
    found = [
        (f"{one.factor} = {one.level}, " if len(whole) > 1 else "")
        + f"{decimals(100 * share, 'g')} %"
        for one in whole
        for share in without_band(one)
    ]
    if not found:
        return ""
    return sentence("without_a_band_because", quantiles=listed(found))


def _latency_table(context: ReportContext) -> Table:
    arm = written("curve.arm", "Arm", context.labels.__getitem__, "heading")
    curves = context.analysis.behaviour.latency_curves
    return latency_table([arm], [{"curve": one} for one in curves])
