"""The object of `pgassay run --json`.

Enters: a report's context. Leaves: the `pgassay.run/1` object.
Never: adds fields beyond `pgassay.run/1`; analysis.json has everything.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pgassay.analysis.compare.model import Estimate, Interaction, SimpleEffect, Trend
from pgassay.analysis.model import Comparison, TrialMeasures
from pgassay.findings.noise.fitness import fitness_of
from pgassay.report.context import ReportContext

SCHEMA = "pgassay.run/1"


def run_object(run: str, context: ReportContext) -> dict[str, Any]:
    """The object of `pgassay run --json`."""
    analysis = context.analysis
    return {
        "schema": SCHEMA,
        "run": run,
        "blocks": analysis.blocks,
        "trials": len(analysis.trials),
        "verdicts": [_verdict(comparison) for comparison in analysis.verdicts()],
        "max_t": [_max_t(comparison) for comparison in analysis.verdicts()],
        "interactions": [_interaction(interaction) for interaction in analysis.interactions],
        "simple_effects": [_simple_effect(effect) for effect in analysis.simple_effects],
        "trends": [_trend(trend) for trend in analysis.trends],
        "warnings": [warning.text for warning in analysis.warnings],
        "not_seen": list(context.environment.get("not_seen") or []),
        "invalid_trials": [_invalid(trial) for trial in analysis.invalid_trials],
        "calibration": _calibration(context),
        "variants": [asdict(variant) for variant in analysis.variants],
    }


def _calibration(context: ReportContext) -> dict[str, Any] | None:
    """What an A/A run found; null for all others."""
    found, margin = context.analysis.calibration, context.analysis.smallest_effect
    if found is None:
        return None
    return {**asdict(found), "fitness": fitness_of(found, margin).value}


def _invalid(trial: TrialMeasures) -> dict[str, Any]:
    return {
        "number": trial.number,
        "block": trial.block,
        "arm": trial.arm,
        "repeats": trial.repeats,
        "reasons": list(trial.invalid),
    }


def _verdict(comparison: Comparison) -> dict[str, Any]:
    return {
        "metric": comparison.metric,
        "factor": comparison.factor,
        "baseline": comparison.baseline,
        "level": comparison.level,
        "step": comparison.step,
        "effect_pct": comparison.effect_pct,
        "ci95_pct": None if comparison.ci95_pct is None else list(comparison.ci95_pct),
        "p_sign_flip": comparison.p_sign_flip,
        "e_value": comparison.e_value,
        "verdict": comparison.verdict.value,
        "blocks_to_decide": comparison.blocks_to_decide,
    }


def _max_t(comparison: Comparison) -> dict[str, Any]:
    """Beside each verdict, in the same order: its p corrected for all of them together."""
    return {
        "factor": comparison.factor,
        "level": comparison.level,
        "step": comparison.step,
        "p": comparison.p_max_t,
    }


def _interaction(interaction: Interaction) -> dict[str, Any]:
    return {
        "metric": interaction.metric,
        "factor": interaction.factor,
        "level": interaction.level,
        "other": interaction.other,
        "at": interaction.at,
        **_estimate(interaction.estimate),
        "verdict": interaction.verdict.value,
        "blocks_to_decide": interaction.estimate.blocks_to_decide,
        "aliases": list(interaction.aliases),
    }


def _simple_effect(effect: SimpleEffect) -> dict[str, Any]:
    return {
        "factor": effect.factor,
        "level": effect.level,
        "other": effect.other,
        "at": effect.at,
        **_estimate(effect.estimate),
    }


def _trend(trend: Trend) -> dict[str, Any]:
    return {
        "metric": trend.metric,
        "factor": trend.factor,
        "lowest": trend.lowest,
        "highest": trend.highest,
        "per_doubling_pct": trend.per_doubling_pct,
        **_estimate(trend.estimate),
        "verdict": trend.verdict.value,
        "blocks_to_decide": trend.estimate.blocks_to_decide,
    }


def _estimate(estimate: Estimate) -> dict[str, Any]:
    return {
        "effect_pct": estimate.effect_pct,
        "ci95_pct": None if estimate.ci95_pct is None else list(estimate.ci95_pct),
        "p_sign_flip": estimate.p_sign_flip,
        "p_max_t": estimate.p_max_t,
        "e_value": estimate.e_value,
    }
