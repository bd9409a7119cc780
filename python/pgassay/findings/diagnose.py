"""Estimates → findings: the verdict, what goes with it, and what makes it doubtful.

Enters: an Analysis. Leaves: findings, in the order a reader wants them.
Never: estimates; and never says "because" of a difference that was not randomised: between arms
the factor was, so its consequences are told, inside an arm nothing is.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from importlib.resources import files

from pgassay.analysis.metrics import METRICS
from pgassay.analysis.model import Analysis, Comparison, Verdict
from pgassay.findings.calibration import calibration_findings
from pgassay.findings.factorial_wording import factorial_findings
from pgassay.findings.model import Finding, FindingKind
from pgassay.findings.observe import observe
from pgassay.findings.tail import with_tail
from pgassay.findings.wording import quantity, signed_percent, unanswered, verdict_sentence

_RULES = tomllib.loads((files(__package__) / "rules.toml").read_text("utf-8"))
_LIMITS = _RULES["thresholds"]


def find(analysis: Analysis) -> tuple[Finding, ...]:
    """All findings: verdicts, interactions, trends, explanations, observations, warnings."""
    found = [
        Finding(
            FindingKind.VERDICT,
            verdict.verdict.value,
            with_tail(verdict_sentence(verdict, analysis), verdict, analysis),
            verdict,
        )
        for verdict in analysis.verdicts()
    ]
    found += [
        Finding(FindingKind.VERDICT, Verdict.UNDECIDED.value, text) for text in unanswered(analysis)
    ]
    found += factorial_findings(analysis)
    if analysis.calibration is not None:
        found += calibration_findings(analysis.calibration, analysis.smallest_effect)
    for verdict in analysis.verdicts():
        if verdict.step is None and verdict.verdict is not Verdict.CALIBRATION:
            found += _explanations(verdict, analysis)
    if not analysis.verdicts():
        found += _single_arm(analysis)
    found += observe(analysis)
    found += [Finding(FindingKind.WARNING, w.kind, w.text) for w in analysis.warnings]
    return tuple(_once(found))


def _once(findings: Sequence[Finding]) -> list[Finding]:
    """A pattern that holds against several levels is told once."""
    seen: set[tuple[str, str]] = set()
    kept = []
    for finding in findings:
        key = (finding.title, finding.text)
        if finding.evidence is not None or key not in seen:
            kept.append(finding)
        seen.add(key)
    return kept


def _explanations(verdict: Comparison, analysis: Analysis) -> list[Finding]:
    """What else differs between the two levels, patterns first, then the single differences."""
    moved = _moved(verdict, analysis)
    return [*_patterns(verdict, moved), *_differences(verdict, moved, analysis)]


def _moved(verdict: Comparison, analysis: Analysis) -> list[Comparison]:
    """Secondary metrics that differ clearly, and by enough to explain something."""
    others = [c for group in ("cost", "waits") for c in _of_group(verdict, analysis, group)]
    latency = _baseline_latency(verdict, analysis)
    return [c for c in others if c.clear and c.difference and _is_large(c, latency)]


def _is_large(comparison: Comparison, latency_ms: float | None) -> bool:
    if METRICS[comparison.metric].group == "waits":
        return bool(latency_ms and abs(comparison.difference) >= _LIMITS["wait_share"] * latency_ms)
    if abs(comparison.difference) < _RULES["floors"].get(comparison.metric, 0.0):
        return False
    if comparison.baseline_mean == 0.0:
        return True
    share = abs(comparison.difference / comparison.baseline_mean)
    return bool(share >= _LIMITS["cost_share"])


def _baseline_latency(verdict: Comparison, analysis: Analysis) -> float | None:
    return next(
        (
            c.baseline_mean
            for c in analysis.comparisons
            if (c.metric, c.factor, c.level, c.step)
            == ("latency_mean", verdict.factor, verdict.level, None)
        ),
        None,
    )


def _patterns(verdict: Comparison, moved: Sequence[Comparison]) -> list[Finding]:
    if verdict.verdict not in (Verdict.BETTER, Verdict.WORSE):
        return []
    level_is_slower = verdict.verdict is Verdict.WORSE
    slower = verdict.level if level_is_slower else verdict.baseline
    directions = {
        c.metric: "up" if (c.difference > 0) == level_is_slower else "down" for c in moved
    }
    return [
        Finding(
            FindingKind.EXPLANATION,
            rule["title"],
            rule["text"].format(slower=f"{verdict.factor} = {slower}"),
        )
        for rule in _RULES["pattern"]
        if all(directions.get(metric) == way for metric, way in rule["when"].items())
    ]


def _differences(
    verdict: Comparison, moved: Sequence[Comparison], analysis: Analysis
) -> list[Finding]:
    """Costs that differ, in the order of the rules; then where a transaction's time goes."""
    order: list[str] = _LIMITS["costs"]
    costs = sorted((c for c in moved if c.metric in order), key=lambda c: order.index(c.metric))
    waits = sorted(_of_group(verdict, analysis, "waits"), key=_longest, reverse=True)
    told = costs[: _LIMITS["most_costs"]]
    told += [c for c in waits if _longest(c) > 0.0][: _LIMITS["most_waits"]]
    return [_difference(c, is_large=c in moved) for c in told]


def _longest(comparison: Comparison) -> float:
    return max(comparison.baseline_mean, comparison.level_mean)


def _of_group(verdict: Comparison, analysis: Analysis, group: str) -> list[Comparison]:
    return [
        c
        for c in analysis.comparisons
        if (c.factor, c.level, c.step) == (verdict.factor, verdict.level, None)
        and METRICS[c.metric].group == group
    ]


def _difference(comparison: Comparison, *, is_large: bool) -> Finding:
    metric = METRICS[comparison.metric]
    before, after = (
        quantity(value, metric) for value in (comparison.baseline_mean, comparison.level_mean)
    )
    text = f"{before} → {after}"
    if comparison.effect_pct is not None:
        text += f" ({signed_percent(comparison.effect_pct)})"
    if not comparison.clear:
        text += ", no clear difference"
    elif not is_large:
        text += ", too small a difference to explain much"
    return Finding(FindingKind.EXPLANATION, metric.title, text, comparison)


def _single_arm(analysis: Analysis) -> list[Finding]:
    metric = METRICS[analysis.metric]
    return [
        Finding(
            FindingKind.VERDICT,
            "measured",
            f"{arm.label}: {quantity(arm.means[metric.name], metric)} over {arm.trials} trials.",
        )
        for arm in analysis.arms
        if metric.name in arm.means
    ]
