"""The tables of what a run shows beside its verdicts, as text.

Enters: the context. Leaves: rows of strings, the same for HTML and Markdown.
Never: computes an estimate; what is absent is an en dash.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pgassay.analysis.course_model import Course
from pgassay.analysis.curves_model import Estimate, Interval
from pgassay.analysis.metrics import METRICS
from pgassay.findings.model import FindingKind
from pgassay.findings.wording import count, plain_number, signed_percent
from pgassay.report.context import ReportContext
from pgassay.report.tables import ABSENT

Rows = tuple[tuple[str, ...], ...]


def sentences(context: ReportContext) -> dict[str, tuple[str, ...]]:
    """Title → what was observed under it."""
    found: dict[str, tuple[str, ...]] = {}
    for finding in context.of_kind(FindingKind.OBSERVATION):
        found[finding.title] = (*found.get(finding.title, ()), finding.text)
    return found


def load_rows(context: ReportContext) -> Rows:
    """(metric, subject, load, change, band) of every step."""
    return tuple(
        (
            METRICS[effect.metric].title,
            f"{effect.factor} = {effect.level}",
            f"{load:g} {effect.step_unit}",
            signed_percent(value),
            _band(band),
        )
        for effect in context.analysis.by_load
        for load, value, band in zip(
            effect.loads, effect.effect_pct, effect.band95_pct, strict=True
        )
    )


def carry_over_rows(context: ReportContext) -> Rows:
    """(subject, test, first and second effect, ratio of the two, interval, p, what it means)."""
    return tuple(
        (
            f"{test.factor} = {test.level}",
            test.test.value,
            signed_percent(test.first_pct),
            signed_percent(test.second_pct),
            signed_percent(test.difference_pct),
            _band(test.ci95_pct),
            ABSENT if test.p is None else f"{test.p:.2g}",
            "withdraws the verdict" if test.outweighs else "found" if test.found else "none found",
        )
        for test in context.analysis.carry_over
    )


def without_band(context: ReportContext) -> dict[str, tuple[str, ...]]:
    """Section → why its curves have no band, each reason once."""
    analysis = context.analysis
    reasons = {
        "by_load": [effect.refused for effect in analysis.by_load],
        "quantiles": [shift.refused for shift in analysis.quantile_shifts if shift.step is None],
    }
    return {
        section: tuple(dict.fromkeys(reason for reason in found if reason is not None))
        for section, found in reasons.items()
    }


@dataclass(frozen=True)
class KneeRow:
    """One arm's fit of the scaling law, or why there is none."""

    arm: str
    contention: str
    coherence: str
    knee: str
    misfit: str


def knee_rows(context: ReportContext) -> tuple[KneeRow, ...]:
    """Every arm whose clients vary."""
    labels = {arm.id: arm.label for arm in context.plan.arms}
    rows = []
    for curve in context.analysis.load_curves:
        fit = curve.fit
        if fit is None:
            rows.append(KneeRow(labels[curve.arm], ABSENT, ABSENT, curve.refused or "", ABSENT))
            continue
        knee = fit.knee_refused or ""
        if fit.knee_clients is not None:
            knee = f"{plain_number(fit.knee_clients.value)} clients{_between(fit.knee_clients)}"
        rows.append(
            KneeRow(
                arm=labels[curve.arm],
                contention=_parameter(fit.contention),
                coherence=_parameter(fit.coherence),
                knee=knee,
                misfit=f"{fit.misfit_pct:.1f} %",
            )
        )
    return tuple(rows)


@dataclass(frozen=True)
class CheckpointRow:
    """One arm's checkpoints."""

    arm: str
    seen: str
    depth: str
    recovery: str
    duration: str
    lost: str
    images: str
    refused: str


def checkpoint_rows(context: ReportContext) -> tuple[CheckpointRow, ...]:
    """Every arm that had a checkpoint."""
    labels = {arm.id: arm.label for arm in context.plan.arms}
    return tuple(
        CheckpointRow(
            arm=labels[effect.arm],
            seen=f"{effect.checkpoints} in {effect.trials} trials",
            depth=_with_unit(effect.depth_pct, "%"),
            recovery=_with_unit(effect.recovery_s, "s"),
            duration=_with_unit(effect.duration_s, "s"),
            lost=_counted(effect.lost_transactions),
            images=_counted(effect.full_page_images),
            refused=effect.refused or "",
        )
        for effect in context.analysis.checkpoint_effects
    )


def association_rows(context: ReportContext) -> Rows:
    """(series, lag, correlation, interval, adjusted p) of what was found."""
    found = context.analysis.associations
    if found is None:
        return ()
    return tuple(
        (
            one.series,
            f"{one.lag_s:+.0f} s" if one.lag_s else "0 s",
            f"{one.correlation:+.2f}".replace("-", "\u2212"),
            f"{one.ci95[0]:+.2f} to {one.ci95[1]:+.2f}".replace("-", "\u2212"),
            "< 0.001" if one.p_adjusted < 0.0005 else f"{one.p_adjusted:.3f}",
        )
        for one in found.found
    )


def course_rows(context: ReportContext) -> Rows:
    """(trial, load, course, why) of steps that were not steady."""
    unit = context.plan.step_unit
    return tuple(
        (
            str(step.trial),
            f"{step.step:g} {unit}",
            step.course.value if step.course is not Course.WARMING else "warming up",
            step.why,
        )
        for step in context.analysis.courses
        if step.course in (Course.WARMING, Course.UNSTEADY)
    )


def _band(band: Interval | None) -> str:
    return ABSENT if band is None else f"{signed_percent(band[0])} to {signed_percent(band[1])}"


def _between(estimate: Estimate) -> str:
    if estimate.low is None and estimate.high is None:
        return ""
    low, high = ("?" if b is None else plain_number(b) for b in (estimate.low, estimate.high))
    return f" ({low} to {high})"


def _with_unit(estimate: Estimate | None, unit: str) -> str:
    if estimate is None:
        return ABSENT
    if not math.isfinite(estimate.value):
        return "not within the window"
    return f"{plain_number(estimate.value)} {unit}{_between(estimate)}"


def _counted(estimate: Estimate | None) -> str:
    if estimate is None:
        return ABSENT
    if estimate.low is None or estimate.high is None:
        return count(estimate.value)
    return f"{count(estimate.value)} ({count(estimate.low)} to {count(estimate.high)})"


def _parameter(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        # No parameter is negative: one that would be is 0, whichever block is left out.
        why = "at its bound, no interval" if estimate.value == 0.0 else "no interval"
        return f"{estimate.value:.2g} ({why})"
    return f"{estimate.value:.2g} ({estimate.low:.2g} to {estimate.high:.2g})"
