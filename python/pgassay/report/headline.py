"""The answer at the top of a report.

Enters: the context. Leaves: one `Headline` per answer, and the facts that stand under it.
Never: decides; verdicts are upstream's.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgassay.analysis.factorial_model import Dependence
from pgassay.analysis.metrics import METRICS
from pgassay.analysis.model import (
    IntervalKind,
    Verdict,
)
from pgassay.findings.model import Finding, FindingKind
from pgassay.findings.wording import interval_text
from pgassay.report.context import ReportContext

TONES = {
    Verdict.BETTER: "better",
    Verdict.WORSE: "worse",
    Verdict.EQUIVALENT: "same",
    Verdict.NEGLIGIBLE: "same",
    Verdict.UNDECIDED: "undecided",
    Verdict.CALIBRATION: "measured",
}
"""Verdict → the class name that style.css colours."""
_INTERVALS = {
    IntervalKind.T: "Student’s t",
    IntervalKind.SEQUENCE: "confidence sequence",
    IntervalKind.GROUP: "group-sequential",
}
_MOST_DEPENDING = 3
"""Interactions told at the top: each says that an average above it is not the whole answer."""


@dataclass(frozen=True)
class Headline:
    """One answer; the interval is kept apart so that it can be set in lighter type."""

    badge: str
    tone: str
    lead: str
    interval: str
    rest: str


def headlines(context: ReportContext) -> tuple[Headline, ...]:
    """The answers over whole trials; those by step are in the table of verdicts."""
    verdicts = context.of_kind(FindingKind.VERDICT)
    whole = [v for v in verdicts if v.evidence is None or v.evidence.step is None]
    if not whole:
        return (Headline("nothing", "same", _nothing(context), "", ""),)
    depending = [
        Headline("depends", "undecided", finding.text, "", "")
        for finding in context.of_kind(FindingKind.INTERACTION)
        if finding.title == Dependence.DEPENDS
    ]
    return (*(_headline(verdict) for verdict in whole), *depending[:_MOST_DEPENDING])


def facts(context: ReportContext) -> tuple[tuple[str, str], ...]:
    """(name, value) of what a reader needs to weigh the answer."""
    plan, analysis = context.plan, context.analysis
    metric = METRICS[analysis.metric]
    direction = {"higher": "higher is better", "lower": "lower is better"}.get(metric.good)
    found = [("Judged by", f"{metric.title}, {direction}" if direction else metric.title)]
    if plan.factors:
        found += [
            ("Smallest effect that matters", f"±\u00a0{100 * analysis.smallest_effect:g}\u00a0%"),
            ("Interval", interval_words(context)),
        ]
    if plan.alternates:
        where = ", each on a server of its own" if plan.side_by_side else ""
        found.append(("Mode", f"{plan.mode}: all arms take turns inside every trial{where}"))
    return (
        *found,
        ("Blocks", _blocks(context)),
        ("Trials", _trials(context)),
    )


def interval_words(context: ReportContext) -> str:
    """Which 95 % interval, and over how many verdicts it is shared."""
    analysis = context.analysis
    name = f"{_INTERVALS[analysis.interval]}, 95\u00a0%"
    if analysis.simultaneous > 1:
        return f"{name}, shared by {analysis.simultaneous} verdicts"
    return name


def _headline(finding: Finding) -> Headline:
    comparison = finding.evidence
    if comparison is None:
        tone = "undecided" if finding.title == Verdict.UNDECIDED else "measured"
        return Headline(finding.title, tone, finding.text, "", "")
    lead, interval, rest = finding.text.partition(f"({interval_text(comparison)})")
    if rest == ".":
        interval, rest = f"{interval}.", ""
    said = comparison.verdict.value
    # The badge says it already.
    lead = lead.removeprefix(f"{said.capitalize()}: ").strip()
    return Headline(said, TONES[comparison.verdict], lead, interval, rest)


def _nothing(context: ReportContext) -> str:
    if context.analysis.invalid_trials and not context.analysis.trials:
        return "No trial counts, so nothing can be said; the warnings tell why."
    if not context.analysis.trials:
        return "No trial has finished, so nothing can be said."
    return "No complete block has a value to compare, so nothing can be said."


def _blocks(context: ReportContext) -> str:
    plan, done = context.plan, context.analysis.blocks
    if plan.looks:
        return f"{done} complete, looked at after {', '.join(map(str, plan.looks))}"
    if plan.min_blocks == plan.max_blocks:
        return f"{done} of {plan.max_blocks}, fixed beforehand"
    return f"{done} complete, {plan.min_blocks} to {plan.max_blocks} allowed"


def _trials(context: ReportContext) -> str:
    return f"{len(context.analysis.trials)} × {context.plan.measured_s:g}\u00a0s measured"
