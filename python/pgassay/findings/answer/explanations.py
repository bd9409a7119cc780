"""What else differs between the arms, and which pattern of differences explains a verdict.

Enters: an Analysis. Leaves: findings: patterns first, then the single differences.
Never: says "because": levels are assigned at random, so these differences are consequences of the
factor; that they cause the verdict is an inference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pgassay.analysis.model import Analysis, Comparison, RunFacts, Verdict
from pgassay.analysis.reading.metrics import METRICS
from pgassay.analysis.statistics.values import USELESS_PCT
from pgassay.findings.answer.time_parts import named_parts
from pgassay.findings.model import Confidence, Evidence, Finding, FindingKind
from pgassay.findings.next_spec import next_spec, varies_itself
from pgassay.findings.wording import measured, metric_note, percent, texts_of
from pgassay.notes import Note

_RULE = "findings/answer/explanations"
_RULES = texts_of(__name__)
_LIMITS = _RULES["thresholds"]
_UNEXPLAINED = (Verdict.CALIBRATION, Verdict.DESCRIBED)


def find(analysis: Analysis, facts: RunFacts) -> list[Finding]:
    """Explanations of each verdict over whole trials; an A/A run and described
    levels have none."""
    found = []
    for verdict in analysis.answer.verdicts():
        if verdict.step is None and verdict.verdict not in _UNEXPLAINED:
            different = _clearly_different(verdict, analysis)
            named = named_parts(analysis, verdict.factor, verdict.level)
            found += _patterns(verdict, different, named, analysis, facts)
            found += _differences(different)
    return found


def _clearly_different(verdict: Comparison, analysis: Analysis) -> list[Comparison]:
    """Secondary metrics that differ clearly, and by enough to explain something."""
    others = [c for group in ("cost", "waits") for c in _of_group(verdict, analysis, group)]
    latency = _baseline_latency(verdict, analysis)
    return [c for c in others if c.clear and c.difference and _is_large(c, latency)]


def _is_large(comparison: Comparison, latency_ms: float | None) -> bool:
    if METRICS[comparison.metric].group == "waits":
        return bool(latency_ms and abs(comparison.difference) >= _LIMITS["wait_share"] * latency_ms)
    if abs(comparison.difference) < METRICS[comparison.metric].floor:
        return False
    if comparison.baseline_mean == 0.0:
        return True
    share = abs(comparison.difference / comparison.baseline_mean)
    return bool(share >= _LIMITS["cost_share"])


def _baseline_latency(verdict: Comparison, analysis: Analysis) -> float | None:
    same_level = _beside(verdict, analysis)
    return next((c.baseline_mean for c in same_level if c.metric == "latency_mean"), None)


def _patterns(
    verdict: Comparison,
    different: Sequence[Comparison],
    named: set[str],
    analysis: Analysis,
    facts: RunFacts,
) -> list[Finding]:
    """Patterns that hold; not those of a single part of the time that a sentence names already."""
    if verdict.verdict not in (Verdict.BETTER, Verdict.WORSE):
        return []
    level_is_slower = verdict.verdict is Verdict.WORSE
    slower = verdict.level if level_is_slower else verdict.baseline
    by_metric = {c.metric: c for c in different}
    directions = {
        c.metric: "up" if (c.difference > 0) == level_is_slower else "down" for c in different
    }
    return [
        Finding(
            FindingKind.EXPLANATION,
            Note(f"{_RULE}/pattern.{name}.title"),
            Note.of(f"{_RULE}/pattern.{name}.text", slower=f"{verdict.factor} = {slower}"),
            confidence=Confidence.CONFIRMED,
            evidence=tuple(_evidence(by_metric[metric]) for metric in pattern["values"]["when"]),
            confirm=_test(name, "confirm", facts),
            refute=_test(name, "refute", facts),
            next_spec=_next(pattern, verdict.factor, slower, analysis, facts),
        )
        for name, pattern in _RULES["pattern"].items()
        if all(directions.get(metric) == way for metric, way in pattern["values"]["when"].items())
        and not pattern["values"]["when"].keys() <= named
    ]


def _test(name: str, part: str, facts: RunFacts) -> Note | None:
    """None where this run varies already what would confirm the pattern."""
    varied = _RULES["pattern"][name]["values"].get("varied", {})
    return (
        None if varies_itself(facts.spec_text, varied) else Note(f"{_RULE}/pattern.{name}.{part}")
    )


def _next(
    pattern: Mapping[str, Any], factor: str, slower: str, analysis: Analysis, facts: RunFacts
) -> str:
    """The experiment that varies the mechanism in the slower arm; none where the file has none."""
    factors = pattern["values"].get("factors")
    if factors is None or not analysis.answer.arms:
        return ""
    levels = {**analysis.answer.arms[0].levels, factor: slower}
    return next_spec(facts.spec_text, levels, pattern["question"], factors)


def _evidence(comparison: Comparison) -> Evidence:
    before, after = _means(comparison)
    arm = f"{comparison.factor} = {comparison.baseline}"
    return Evidence(
        metric_note(comparison.metric),
        Note.of(f"{_RULE}/difference.share_unknown", before=before, after=after),
        Note.of("findings/versus", arm=arm, other=comparison.level),
    )


def _differences(different: Sequence[Comparison]) -> list[Finding]:
    """Costs that differ, in the order of the rules; time_parts.py has the waits."""
    order: list[str] = _RULES["values"]["costs"]
    costs = sorted((c for c in different if c.metric in order), key=lambda c: order.index(c.metric))
    return [_difference(c) for c in costs[: _LIMITS["most_costs"]]]


def _of_group(verdict: Comparison, analysis: Analysis, group: str) -> list[Comparison]:
    return [c for c in _beside(verdict, analysis) if METRICS[c.metric].group == group]


def _beside(verdict: Comparison, analysis: Analysis) -> list[Comparison]:
    """All metrics of the same level over whole trials."""
    same = (verdict.factor, verdict.level, None)
    return [c for c in analysis.answer.comparisons if (c.factor, c.level, c.step) == same]


def _difference(comparison: Comparison) -> Finding:
    metric, change = METRICS[comparison.metric], comparison.effect_pct
    before, after = _means(comparison)
    if change is None or abs(change) > USELESS_PCT:
        claim = Note.of(f"{_RULE}/difference.share_unknown", before=before, after=after)
    else:
        values = {"before": before, "after": after, "change": percent(change)}
        claim = Note(f"{_RULE}/difference.share_known", values)
    return Finding(FindingKind.EXPLANATION, metric_note(metric.name), claim, comparison)


def _means(comparison: Comparison) -> tuple[Note, Note]:
    """Of the baseline and of the level."""
    metric = METRICS[comparison.metric]
    return measured(comparison.baseline_mean, metric), measured(comparison.level_mean, metric)
