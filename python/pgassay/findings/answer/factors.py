"""Interactions of factors, and trends along a factor's levels, in one sentence each.

Enters: an Analysis. Leaves: findings. Never: decides anything.
"""

from __future__ import annotations

from pgassay.analysis.compare.model import (
    Dependence,
    Estimate,
    Interaction,
    SimpleEffect,
    Trend,
)
from pgassay.analysis.model import Analysis, RunFacts, Verdict
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.model import Finding, FindingKind
from pgassay.findings.wording import interval_text, more_blocks, outlook, texts_of
from pgassay.language import decimals, listed, tr
from pgassay.quantities import margin_percent, signed_percent

_TEXTS = texts_of(__name__)
_FAMILIES = {
    Dependence.DEPENDS: "depends",
    Dependence.NEGLIGIBLE: "depends_negligibly",
    Dependence.INDEPENDENT: "independent",
    Dependence.UNDECIDED: "dependence_undecided",
}


def find(analysis: Analysis, _facts: RunFacts) -> list[Finding]:
    """Interactions, then trends."""
    found = [
        Finding(FindingKind.INTERACTION, i.verdict.value, interaction_sentence(i, analysis))
        for i in analysis.answer.interactions
    ]
    found += [
        Finding(FindingKind.TREND, trend.verdict.value, trend_sentence(trend, analysis))
        for trend in analysis.answer.trends
    ]
    return found


def interaction_sentence(interaction: Interaction, analysis: Analysis) -> str:
    """One sentence that says whether, and how, one effect depends on another factor."""
    undecided = interaction.verdict is Dependence.UNDECIDED
    base, other = simple_effects_of(interaction, analysis)
    sentence: str = _TEXTS[_FAMILIES[interaction.verdict]][
        outlook(interaction.estimate) if undecided else "any"
    ].format(
        subject=f"{interaction.factor} = {interaction.level}",
        other=interaction.other,
        low=signed_percent(base.estimate.effect_pct),
        base=base.at,
        high=signed_percent(other.estimate.effect_pct),
        at=other.at,
        signed=signed_percent(interaction.estimate.effect_pct),
        interval=interval_text(interaction.estimate),
        margin=margin_percent(analysis.answer.smallest_effect),
        more=more_blocks(interaction.estimate.blocks_to_decide),
    )
    if interaction.aliases:
        sentence += tr(
            " This fractional design cannot tell this interaction from {list}.",
            list=tr(" or ").join(interaction.aliases),
        )
    return sentence


def simple_effects_of(
    interaction: Interaction, analysis: Analysis
) -> tuple[SimpleEffect, SimpleEffect]:
    """The two effects whose difference is the interaction; first at the other's baseline."""
    own = [
        effect
        for effect in analysis.answer.simple_effects
        if (effect.factor, effect.level, effect.other)
        == (interaction.factor, interaction.level, interaction.other)
    ]
    return own[0], next(effect for effect in own if effect.at == interaction.at)


def trend_sentence(trend: Trend, analysis: Analysis) -> str:
    """One sentence that says whether a metric rises or falls along a factor's levels."""
    metric = METRICS[trend.metric]
    effect = trend.estimate.effect_pct or 0.0
    moved = trend.verdict in (Verdict.BETTER, Verdict.WORSE)
    doubling = ""
    if trend.per_doubling_pct is not None:
        doubling = tr(
            ", {change} with each doubling", change=signed_percent(trend.per_doubling_pct)
        )
    sentence: str = _TEXTS["trend"]["moves" if moved else trend.verdict.value].format(
        metric=metric.title,
        metric_lower=metric.title.lower(),
        moves=tr("rises") if effect > 0 else tr("falls"),
        factor=trend.factor,
        signed=signed_percent(effect),
        lowest=trend.lowest,
        highest=trend.highest,
        doubling=doubling,
        interval=interval_text(trend.estimate),
        margin=margin_percent(analysis.answer.smallest_effect),
    )
    return sentence


def certainty(estimate: Estimate) -> str:
    """Such as `sign-flip p = 0.031`."""
    figures = ((tr("sign-flip p = "), estimate.p_sign_flip), ("p ≤ ", estimate.p_looks))
    return listed(f"{name}{decimals(value, '.3g')}" for name, value in figures if value is not None)
