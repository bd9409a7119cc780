"""`pgassay run --json`: the object that machines read.

Enters: a report's context. Leaves: the `pgassay.run/1` object.
Never: shows more than the contract says; analysis.json has everything.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pgassay.analysis.model import Comparison, TrialMeasures
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
        "warnings": [warning.text for warning in analysis.warnings],
        "invalid_trials": [_invalid(trial) for trial in analysis.invalid_trials],
        "variants": [asdict(variant) for variant in analysis.variants],
    }


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
