"""The tables of several factors and ordered levels, as text.

Enters: the context. Leaves: rows of strings, the same for HTML and Markdown.
Never: computes an estimate.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgassay.analysis.factorial_model import Dependence, Estimate
from pgassay.findings.factorial_wording import simple_effects_of
from pgassay.findings.model import FindingKind
from pgassay.findings.wording import signed_percent
from pgassay.report.context import ReportContext
from pgassay.report.headline import TONES
from pgassay.report.tables import ABSENT, evidence, probability

_TONES = {
    Dependence.DEPENDS: "undecided",
    Dependence.NEGLIGIBLE: "same",
    Dependence.INDEPENDENT: "same",
    Dependence.UNDECIDED: "undecided",
}


@dataclass(frozen=True)
class EstimateRow:
    """The figures of one estimate."""

    change: str
    interval: str
    p: str
    p_max_t: str
    e: str


@dataclass(frozen=True)
class InteractionRow:
    """One interaction, with the two effects that it is the difference of."""

    subject: str
    other: str
    base: str
    effect_at_base: str
    at: str
    effect_at: str
    figures: EstimateRow
    verdict: str
    tone: str
    sentence: str


@dataclass(frozen=True)
class SimpleEffectRow:
    """A level's effect at one level of another factor."""

    subject: str
    at: str
    figures: EstimateRow


@dataclass(frozen=True)
class TrendRow:
    """One line through a factor's levels."""

    factor: str
    range: str
    per_doubling: str
    figures: EstimateRow
    verdict: str
    tone: str
    sentence: str


@dataclass(frozen=True)
class ArmEffectRow:
    """One arm against the baseline of all factors."""

    arm: str
    figures: EstimateRow


@dataclass(frozen=True)
class MaxTRow:
    """One verdict's p, as it stands and corrected for all of them."""

    subject: str
    load: str
    p: str
    p_max_t: str


def interaction_rows(context: ReportContext) -> tuple[InteractionRow, ...]:
    """All interactions, in the order of the factors."""
    analysis = context.analysis
    sentences = context.of_kind(FindingKind.INTERACTION)
    rows = []
    for interaction, sentence in zip(analysis.interactions, sentences, strict=True):
        low, high = simple_effects_of(interaction, analysis)
        rows.append(
            InteractionRow(
                subject=f"{interaction.factor} = {interaction.level}",
                other=interaction.other,
                base=low.at,
                effect_at_base=signed_percent(low.estimate.effect_pct),
                at=high.at,
                effect_at=signed_percent(high.estimate.effect_pct),
                figures=_figures(interaction.estimate),
                verdict=interaction.verdict.value,
                tone=_TONES[interaction.verdict],
                sentence=sentence.text,
            )
        )
    return tuple(rows)


def simple_effect_rows(context: ReportContext) -> tuple[SimpleEffectRow, ...]:
    """The effects that interactions are the differences of."""
    return tuple(
        SimpleEffectRow(
            f"{effect.factor} = {effect.level}",
            f"{effect.other} = {effect.at}",
            _figures(effect.estimate),
        )
        for effect in context.analysis.simple_effects
    )


def trend_rows(context: ReportContext) -> tuple[TrendRow, ...]:
    """All trends."""
    sentences = context.of_kind(FindingKind.TREND)
    return tuple(
        TrendRow(
            factor=trend.factor,
            range=f"{trend.lowest} to {trend.highest}",
            per_doubling=ABSENT
            if trend.per_doubling_pct is None
            else signed_percent(trend.per_doubling_pct),
            figures=_figures(trend.estimate),
            verdict=trend.verdict.value,
            tone=TONES[trend.verdict],
            sentence=sentence.text,
        )
        for trend, sentence in zip(context.analysis.trends, sentences, strict=True)
    )


def arm_effect_rows(context: ReportContext) -> tuple[ArmEffectRow, ...]:
    """Every arm but the baseline."""
    labels = {arm.id: arm.label for arm in context.plan.arms}
    return tuple(
        ArmEffectRow(labels[effect.arm], _figures(effect.estimate))
        for effect in context.analysis.arm_effects
    )


def max_t_rows(context: ReportContext) -> tuple[MaxTRow, ...]:
    """The verdicts' p values, where there are several."""
    verdicts = context.analysis.verdicts()
    if len(verdicts) < 2:
        return ()
    return tuple(
        MaxTRow(
            f"{verdict.factor} = {verdict.level}",
            verdict.load,
            probability(verdict.p_sign_flip),
            probability(verdict.p_max_t),
        )
        for verdict in verdicts
    )


def _figures(estimate: Estimate) -> EstimateRow:
    return EstimateRow(
        change=signed_percent(estimate.effect_pct),
        interval=_interval(estimate),
        p=probability(estimate.p_sign_flip),
        p_max_t=probability(estimate.p_max_t),
        e=evidence(estimate.e_value),
    )


def _interval(estimate: Estimate) -> str:
    if estimate.ci95_pct is None:
        return ABSENT
    low, high = estimate.ci95_pct
    return f"{signed_percent(low)} to {signed_percent(high)}"
