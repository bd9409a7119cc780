"""The object of `pgassay run --json`.

Enters: a report's context. Leaves: the `pgassay.run/1` object.
Never: adds fields beyond `pgassay.run/1`; analysis.json has everything.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pgassay.analysis.compare.model import Interaction, Trend
from pgassay.analysis.model import Analysis, Comparison
from pgassay.findings.answer.endpoints import badge
from pgassay.findings.answer.limits import by_half, collapses, losses
from pgassay.findings.answer.undecided import reason_of
from pgassay.findings.model import FindingKind
from pgassay.findings.noise.fitness import fitness_of
from pgassay.report.context import ReportContext
from pgassay.report.objects.gates import gates_object
from pgassay.report.objects.values import fields

SCHEMA = "pgassay.run/1"


VERDICT_FIELDS = (
    "metric",
    "factor",
    "baseline",
    "level",
    "step",
    "effect_pct",
    "ci95_pct",
    "p_sign_flip",
    "p_looks",
    "shared_by",
    "verdict",
    "blocks_to_decide",
    "typical_pct",
)
ENDPOINT_FIELDS = ("metric", "effect_pct", "ci95_pct", "difference", "ci95", "verdict")
_NO_EVIDENCE = {"e_value": None}
"""The key of a stopping rule that no longer exists."""
LIMITS = ("by_half", "losses", "collapses", "undecided")
"""What limits a verdict, and why it is undecided; each is null where it does not, or is not."""
ESTIMATE_FIELDS = ("effect_pct", "ci95_pct", "p_sign_flip", "p_looks")


def run_object(run: str, context: ReportContext) -> dict[str, Any]:
    """The object of `pgassay run --json`."""
    analysis = context.analysis
    return {
        "schema": SCHEMA,
        "run": run,
        "blocks": analysis.answer.blocks,
        "trials": len(analysis.answer.trials),
        "verdicts": [_verdict(one, analysis) for one in analysis.answer.verdicts()],
        "accounting": [asdict(one) for one in analysis.answer.accounting],
        "interactions": [
            {
                **_judged(one, "metric", "factor", "level", "other", "at"),
                "aliases": list(one.aliases),
            }
            for one in analysis.answer.interactions
        ],
        "simple_effects": [
            {
                **fields(one, "factor", "level", "other", "at"),
                **fields(one.estimate, *ESTIMATE_FIELDS),
                **_NO_EVIDENCE,
            }
            for one in analysis.answer.simple_effects
        ],
        "trends": [
            _judged(one, "metric", "factor", "lowest", "highest", "per_doubling_pct")
            for one in analysis.answer.trends
        ],
        "by_server": [asdict(one) for one in analysis.answer.by_server],
        "warnings": _warnings(context),
        "not_seen": [dict(one.given) for one in context.environment.not_seen],
        "invalid_trials": [
            {
                **fields(one, "number", "block", "arm", "repeats"),
                "reasons": list(map(str, one.invalid)),
            }
            for one in analysis.answer.invalid_trials
        ],
        "calibration": _calibration(context),
        "variants": [asdict(variant) for variant in analysis.answer.variants],
        "gates": gates_object(context.gates),
    }


def _warnings(context: ReportContext) -> list[str]:
    claims = (one.claim for one in context.of_kind(FindingKind.WARNING))
    return list(map(str, dict.fromkeys(claims)))


def _verdict(one: Comparison, analysis: Analysis) -> dict[str, Any]:
    """A verdict with its badge, the endpoints beside it and what limits it."""
    found = (
        by_half(one, analysis),
        losses(one, analysis),
        collapses(one, analysis),
        reason_of(one, analysis),
    )
    limits = dict(zip(LIMITS, found, strict=True))
    return {
        **fields(one, *VERDICT_FIELDS),
        **_NO_EVIDENCE,
        "badge": str(badge(one, analysis)),
        "endpoints": [
            {**fields(beside, *ENDPOINT_FIELDS), "margin_pct": 100.0 * endpoint.margin}
            for beside, endpoint in analysis.answer.beside(one)
        ],
        **{name: None if found is None else asdict(found) for name, found in limits.items()},
    }


def _judged(one: Interaction | Trend, *names: str) -> dict[str, Any]:
    return {
        **fields(one, *names),
        **fields(one.estimate, *ESTIMATE_FIELDS),
        **_NO_EVIDENCE,
        "verdict": one.verdict,
        "blocks_to_decide": one.estimate.blocks_to_decide,
    }


def _calibration(context: ReportContext) -> dict[str, Any] | None:
    """What an A/A run found; null for all others."""
    found, margin = context.analysis.noise.calibration, context.analysis.answer.smallest_effect
    if found is None:
        return None
    return {**asdict(found), "fitness": fitness_of(found, margin)}
