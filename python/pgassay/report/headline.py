"""The top of a report: the answers, and the facts a reader needs to weigh them.

Enters: the context. Leaves: one `Headline` per answer, and (name, value) pairs.
Never: decides a verdict.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgassay.analysis.compare.model import Dependence
from pgassay.analysis.model import IntervalKind, Verdict
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.model import Finding, FindingKind
from pgassay.findings.wording import interval_text
from pgassay.report.charts.style import TONES
from pgassay.report.context import ReportContext

_INTERVALS = {
    IntervalKind.T: "Student’s t",
    IntervalKind.BOUNDED: "confidence sequence up to the last block",
    IntervalKind.SEQUENCE: "confidence sequence",
    IntervalKind.GROUP: "group-sequential",
}
_MOST_DEPENDING = 3
"""Interactions shown at the top: each one qualifies an average above it."""


@dataclass(frozen=True)
class Headline:
    """One answer; the interval is a separate field because it is set in lighter type."""

    badge: str
    tone: str
    lead: str
    interval: str
    rest: str


def headlines(context: ReportContext) -> tuple[Headline, ...]:
    """The answers over whole trials; answers by step are in the table of verdicts."""
    verdicts = context.of_kind(FindingKind.VERDICT)
    whole = [v for v in verdicts if v.comparison is None or v.comparison.step is None]
    if not whole:
        return (Headline("no result", "same", _nothing(context), "", ""),)
    depending = [
        Headline("depends", "undecided", finding.text, "", "")
        for finding in context.of_kind(FindingKind.INTERACTION)
        if finding.title == Dependence.DEPENDS
    ]
    answers = (_headline(one, context.analysis.smallest_effect) for one in whole)
    return (*answers, *depending[:_MOST_DEPENDING])


def facts(context: ReportContext) -> tuple[tuple[str, str], ...]:
    """(name, value): what was judged, by which interval, over how many trials."""
    plan, analysis = context.plan, context.analysis
    metric = METRICS[analysis.metric]
    direction = {"higher": "higher is better", "lower": "lower is better"}.get(metric.good)
    found = [("Primary metric", f"{metric.title}, {direction}" if direction else metric.title)]
    if plan.factors:
        found += [
            ("Smallest effect that matters", f"±\u00a0{100 * analysis.smallest_effect:g}\u00a0%"),
            ("Interval", interval_words(context)),
        ]
    if plan.alternates:
        where = ", each on its own server" if plan.side_by_side else ""
        found.append(("Mode", f"{plan.mode}: all arms alternate inside every trial{where}"))
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


def _headline(finding: Finding, margin: float) -> Headline:
    comparison = finding.comparison
    if comparison is None:
        tone = "undecided" if finding.title == Verdict.UNDECIDED else "measured"
        return Headline(finding.title, tone, finding.text, "", "")
    lead, interval, rest = finding.text.partition(f"({interval_text(comparison, margin)})")
    if rest == ".":
        interval, rest = f"{interval}.", ""
    verdict = comparison.verdict.value
    # The badge says the verdict already.
    lead = lead.removeprefix(f"{verdict.capitalize()}: ").strip()
    tone = TONES[comparison.verdict] if finding.title == verdict else "undecided"
    return Headline(finding.title, tone, lead, interval, rest)


def _nothing(context: ReportContext) -> str:
    if context.analysis.invalid_trials and not context.analysis.trials:
        return "No trial counts, so there is no result; the caveats say why."
    if not context.analysis.trials:
        return "No trial has finished, so there is no result."
    return "No complete block has a value to compare, so there is no result."


def _blocks(context: ReportContext) -> str:
    plan, done = context.plan, context.analysis.blocks
    if plan.looks:
        return f"{done} complete, evaluated after {', '.join(map(str, plan.looks))}"
    if plan.min_blocks == plan.max_blocks:
        return f"{done} of {plan.max_blocks} (fixed beforehand)"
    return f"{done} complete, {plan.min_blocks} to {plan.max_blocks} allowed"


def _trials(context: ReportContext) -> str:
    return f"{len(context.analysis.trials)} × {context.plan.measured_s:g}\u00a0s measured"
