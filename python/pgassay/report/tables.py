"""The tables of a report, as text.

Enters: the context. Leaves: rows of strings, the same for HTML and Markdown.
Never: computes an estimate; what is absent is an en dash.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pgassay.analysis.metrics import METRICS, Metric
from pgassay.analysis.model import Comparison, TrialMeasures, Verdict
from pgassay.findings.model import FindingKind
from pgassay.findings.wording import quantity, signed_percent
from pgassay.report.context import ReportContext
from pgassay.report.headline import TONES

ABSENT = "–"


@dataclass(frozen=True)
class ComparisonRow:
    """One metric, one level against the baseline, in words."""

    metric: str
    subject: str
    load: str
    baseline: str
    level: str
    change: str
    interval: str
    blocks: str
    p: str
    e: str
    verdict: str
    tone: str
    p_together: str
    """Corrected for all metrics; absent for the primary one."""


@dataclass(frozen=True)
class TrialRow:
    """One trial, in the order it ran."""

    number: int
    block: int
    position: int
    arm: str
    arm_id: str
    values: tuple[str, ...]
    checkpoints: str
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class VariantRow:
    """One variant of the load's slices in one arm."""

    arm: str
    variant: str
    tps: str
    latency: str
    transactions: str
    crossing: str
    slices: str


@dataclass(frozen=True)
class WarningGroup:
    """All warnings of one kind."""

    title: str
    texts: tuple[str, ...]


def verdict_rows(context: ReportContext) -> tuple[ComparisonRow, ...]:
    """The primary metric, whole trials and by step."""
    return tuple(comparison_row(verdict) for verdict in context.analysis.verdicts())


def difference_rows(context: ReportContext) -> tuple[ComparisonRow, ...]:
    """What else differs, as the findings rank it."""
    return tuple(
        comparison_row(finding.evidence)
        for finding in context.of_kind(FindingKind.EXPLANATION)
        if finding.evidence is not None
    )


def all_rows(context: ReportContext) -> tuple[ComparisonRow, ...]:
    """Every comparison there is."""
    return tuple(comparison_row(comparison) for comparison in context.analysis.comparisons)


def comparison_row(comparison: Comparison) -> ComparisonRow:
    """A comparison, in words."""
    metric = METRICS[comparison.metric]
    return ComparisonRow(
        metric=metric.title,
        subject=f"{comparison.factor} = {comparison.level}",
        load=comparison.load,
        baseline=quantity(comparison.baseline_mean, metric),
        level=quantity(comparison.level_mean, metric),
        change=_change(comparison, metric),
        interval=_interval(comparison, metric),
        blocks=str(comparison.blocks),
        p=probability(comparison.p_sign_flip),
        e=evidence(comparison.e_value),
        verdict=said_of(comparison),
        tone=TONES[comparison.verdict],
        p_together=probability(comparison.p_by),
    )


def said_of(comparison: Comparison) -> str:
    """The verdict; of a metric beside the primary one whether it differs, where none is given."""
    if comparison.clear is None or comparison.verdict is not Verdict.UNDECIDED:
        return comparison.verdict.value
    if comparison.withdrawn is not None:
        return "withdrawn"
    return "different" if comparison.clear else "no clear difference"


def probability(value: float | None) -> str:
    """A p to three decimals."""
    if value is None or not math.isfinite(value):
        return ABSENT
    return "< 0.001" if value < 0.0005 else f"{value:.3f}"


def evidence(value: float | None) -> str:
    """An e-value to the digits that matter."""
    if value is None or math.isnan(value):
        return ABSENT
    if value >= 1e6:
        return "> 10⁶"
    return f"{value:.2f}" if value < 10 else f"{value:,.0f}".replace(",", "\u202f")


def trial_columns(context: ReportContext) -> tuple[Metric, ...]:
    """What the table of trials shows: the primary metric, throughput and the slowest 1 %."""
    names = dict.fromkeys((context.analysis.metric, "tps", "latency_p99"))
    return tuple(METRICS[name] for name in names)


def trial_rows(context: ReportContext) -> tuple[TrialRow, ...]:
    """All trials, also those that do not count."""
    analysis = context.analysis
    labels = {arm.id: arm.label for arm in context.plan.arms}
    columns = trial_columns(context)
    return tuple(
        TrialRow(
            number=trial.number,
            block=trial.block,
            position=trial.position,
            arm=labels.get(trial.arm, trial.arm),
            arm_id=trial.arm,
            values=tuple(measured(trial.whole.values.get(m.name), m) for m in columns),
            checkpoints=_checkpoints(trial),
            warnings=(
                *(f"does not count: {reason}" for reason in trial.invalid),
                *(warning.text for warning in trial.warnings),
            ),
        )
        for trial in sorted(
            (*analysis.trials, *analysis.invalid_trials), key=lambda t: (t.block, t.position)
        )
    )


def measured(value: float | None, metric: Metric) -> str:
    """A value with its unit, or a dash."""
    return ABSENT if value is None or not math.isfinite(value) else quantity(value, metric)


def arm_rows(context: ReportContext) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """(metric, its mean in each arm) for every metric that any arm has."""
    arms = context.analysis.arms
    return tuple(
        (metric.title, tuple(measured(arm.means.get(metric.name), metric) for arm in arms))
        for metric in METRICS.values()
        if any(metric.name in arm.means for arm in arms)
    )


def variant_rows(context: ReportContext) -> tuple[VariantRow, ...]:
    """The variants of each arm, in the order of the plan's arms."""
    labels = {arm.id: arm.label for arm in context.plan.arms}
    order = list(labels)
    found = sorted(context.analysis.variants, key=lambda one: order.index(one.arm))
    return tuple(
        VariantRow(
            arm=labels[one.arm],
            variant=one.variant,
            tps=measured(one.tps, METRICS["tps"]),
            latency=measured(one.latency_mean_ms, METRICS["latency_mean"]),
            transactions=f"{one.transactions:,}".replace(",", "\u202f"),
            crossing=f"{one.crossing:,}".replace(",", "\u202f"),
            slices=str(one.slices),
        )
        for one in found
    )


def warning_groups(context: ReportContext) -> tuple[WarningGroup, ...]:
    """Warnings by kind, each text once."""
    groups: dict[str, dict[str, None]] = {}
    for warning in context.of_kind(FindingKind.WARNING):
        groups.setdefault(warning.title, {})[warning.text] = None
    return tuple(
        WarningGroup(kind.replace("-", " ").capitalize(), tuple(texts))
        for kind, texts in groups.items()
    )


def pattern_sentences(context: ReportContext) -> tuple[tuple[str, str], ...]:
    """(title, sentence) of what the differences together mean, each once."""
    return tuple(
        dict.fromkeys(
            (finding.title, finding.text)
            for finding in context.of_kind(FindingKind.EXPLANATION)
            if finding.evidence is None
        )
    )


def _change(comparison: Comparison, metric: Metric) -> str:
    if comparison.effect_pct is not None:
        return signed_percent(comparison.effect_pct)
    return _signed(comparison.difference, metric)


def _interval(comparison: Comparison, metric: Metric) -> str:
    if comparison.ci95_pct is not None:
        low, high = comparison.ci95_pct
        return f"{signed_percent(low)} to {signed_percent(high)}"
    if comparison.ci95 is not None:
        low, high = comparison.ci95
        return f"{_signed(low, metric)} to {_signed(high, metric)}"
    return ABSENT


def _signed(value: float, metric: Metric) -> str:
    return f"{'+' if value > 0 else ''}{quantity(value, metric)}"


def _checkpoints(trial: TrialMeasures) -> str:
    rate = trial.whole.values.get("checkpoints_per_min")
    if rate is None:
        return ABSENT
    return str(round(rate * (trial.whole.end_ns - trial.whole.start_ns) / 60e9))
