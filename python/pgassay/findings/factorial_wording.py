"""Interactions and trends as a DBA would quote them.

Enters: an analysis. Leaves: one finding each. Never: decides anything.
"""

from __future__ import annotations

from pgassay.analysis.factorial_model import Dependence, Estimate, Interaction, SimpleEffect, Trend
from pgassay.analysis.metrics import METRICS
from pgassay.analysis.model import (
    Analysis,
    Verdict,
)
from pgassay.findings.model import Finding, FindingKind
from pgassay.findings.wording import TEXTS, interval_text, more_blocks, outlook, signed_percent

_FAMILIES = {
    Dependence.DEPENDS: "depends",
    Dependence.NEGLIGIBLE: "depends_negligibly",
    Dependence.INDEPENDENT: "independent",
    Dependence.UNDECIDED: "dependence_undecided",
}


def factorial_findings(analysis: Analysis) -> list[Finding]:
    """What is said of factors together, then of ordered levels."""
    found = [
        Finding(FindingKind.INTERACTION, i.verdict.value, interaction_sentence(i, analysis))
        for i in analysis.interactions
    ]
    found += [
        Finding(FindingKind.TREND, trend.verdict.value, trend_sentence(trend, analysis))
        for trend in analysis.trends
    ]
    return found


def interaction_sentence(interaction: Interaction, analysis: Analysis) -> str:
    """One sentence that says whether, and how, one effect depends on another factor."""
    undecided = interaction.verdict is Dependence.UNDECIDED
    base, beyond = simple_effects_of(interaction, analysis)
    sentence: str = TEXTS[_FAMILIES[interaction.verdict]][
        outlook(interaction.estimate) if undecided else "any"
    ].format(
        subject=f"{interaction.factor} = {interaction.level}",
        other=interaction.other,
        low=signed_percent(base.estimate.effect_pct),
        base=base.at,
        high=signed_percent(beyond.estimate.effect_pct),
        at=beyond.at,
        signed=signed_percent(interaction.estimate.effect_pct),
        interval=interval_text(interaction.estimate),
        margin=_margin(analysis),
        more=more_blocks(interaction.estimate.blocks_to_decide),
    )
    if interaction.aliases:
        sentence += f" This fraction cannot tell it from {' or '.join(interaction.aliases)}."
    return sentence


def simple_effects_of(
    interaction: Interaction, analysis: Analysis
) -> tuple[SimpleEffect, SimpleEffect]:
    """The two effects that an interaction is the difference of; the other's baseline first."""
    own = [
        effect
        for effect in analysis.simple_effects
        if (effect.factor, effect.level, effect.other)
        == (interaction.factor, interaction.level, interaction.other)
    ]
    return own[0], next(effect for effect in own if effect.at == interaction.at)


def trend_sentence(trend: Trend, analysis: Analysis) -> str:
    """One sentence on a line through a factor's levels."""
    metric = METRICS[trend.metric]
    effect = trend.estimate.effect_pct or 0.0
    moved = trend.verdict in (Verdict.BETTER, Verdict.WORSE)
    doubling = ""
    if trend.per_doubling_pct is not None:
        doubling = f", {signed_percent(trend.per_doubling_pct)} with each doubling"
    sentence: str = TEXTS["trend"]["moves" if moved else trend.verdict.value].format(
        metric=metric.title,
        metric_lower=metric.title.lower(),
        moves="rises" if effect > 0 else "falls",
        factor=trend.factor,
        signed=signed_percent(effect),
        lowest=trend.lowest,
        highest=trend.highest,
        doubling=doubling,
        interval=interval_text(trend.estimate),
        margin=_margin(analysis),
    )
    return sentence


def certainty(estimate: Estimate) -> str:
    """Such as `sign-flip p = 0.031, max-T p = 0.062, e-value 5.1`."""
    figures = (
        ("sign-flip p = ", estimate.p_sign_flip),
        ("max-T p = ", estimate.p_max_t),
        ("e-value ", estimate.e_value),
    )
    return ", ".join(f"{name}{value:.3g}" for name, value in figures if value is not None)


def _margin(analysis: Analysis) -> str:
    return f"{100 * analysis.smallest_effect:g} %"
