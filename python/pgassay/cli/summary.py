"""The end of a run on a terminal: verdict, size, certainty, why, and where the report is.

Enters: an outcome. Leaves: a few lines on stdout. Never: computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.table import Table

from pgassay.analysis.model import Analysis, Comparison, IntervalKind, Verdict
from pgassay.cli.console import out, plain
from pgassay.findings.factorial_wording import certainty
from pgassay.findings.model import Finding, FindingKind
from pgassay.report.context import ReportContext
from pgassay.report.environment import not_seen

_COLOUR = {
    Verdict.BETTER: "green",
    Verdict.WORSE: "red",
    Verdict.NEGLIGIBLE: "cyan",
    Verdict.EQUIVALENT: "cyan",
    Verdict.UNDECIDED: "yellow",
    Verdict.CALIBRATION: "cyan",
}
_FACTORIAL_COLOUR = {"depends": "magenta", "undecided": "yellow", "better": "green", "worse": "red"}
_MOST_FACTORIAL = 6
"""Interactions and trends told on a terminal."""


def print_summary(context: ReportContext, report: Path | None) -> None:
    """Everything a DBA needs before opening the report."""
    out.print()
    out.print(f"[bold]{plain(context.question)}[/bold]")
    for finding in context.findings:
        if finding.kind is FindingKind.VERDICT:
            _print_verdict(finding, context.analysis)
    for finding in context.of_kind(FindingKind.CALIBRATION):
        out.print(f"[bold]{plain(finding.title)}:[/bold] {plain(finding.text)}")
    _print_factorial(context)
    _print_explanations([f for f in context.findings if f.kind is FindingKind.EXPLANATION])
    for finding in context.findings:
        if finding.kind is FindingKind.WARNING:
            out.print(f"[yellow]warning:[/yellow] {plain(finding.text)}")
    print_not_seen(context.environment)
    if report is not None:
        out.print()
        out.print(f"Report: {plain(str(report))}")


def print_not_seen(environment: Mapping[str, Any]) -> None:
    """What the server keeps to itself, by name alone: it is no news from one run to the next."""
    if names := [plain(name) for name, _ in not_seen(environment)]:
        told = "the report and `pgassay doctor` tell what enables each"
        out.print(f"[dim]not seen:[/dim] {', '.join(names)}; {told}")


def _print_verdict(finding: Finding, analysis: Analysis) -> None:
    evidence = finding.evidence
    without = "yellow" if finding.title == Verdict.UNDECIDED else "cyan"
    colour = _COLOUR[evidence.verdict] if evidence else without
    label = evidence.verdict.value.upper() if evidence else finding.title.upper()
    out.print(f"[bold {colour}]{label:<10}[/] {plain(finding.text)}")
    if evidence:
        out.print(f"{'':<10} {_certainty(evidence, analysis)}")


def _print_factorial(context: ReportContext) -> None:
    """Interactions and trends, with what each rests on."""
    analysis = context.analysis
    told = [
        *zip(
            context.of_kind(FindingKind.INTERACTION),
            (one.estimate for one in analysis.interactions),
            strict=True,
        ),
        *zip(
            context.of_kind(FindingKind.TREND),
            (one.estimate for one in analysis.trends),
            strict=True,
        ),
    ]
    for finding, estimate in told[:_MOST_FACTORIAL]:
        colour = _FACTORIAL_COLOUR.get(finding.title, "cyan")
        out.print(f"[bold {colour}]{finding.title.upper():<11}[/]{plain(finding.text)}")
        out.print(f"{'':<10} {certainty(estimate)}")
    if len(told) > _MOST_FACTORIAL:
        out.print(f"{'':<10} {len(told) - _MOST_FACTORIAL} more are in the report")


def _certainty(evidence: Comparison, analysis: Analysis) -> str:
    parts = []
    unit = "blocks" if evidence.rounds is None else "rounds"
    if evidence.p_sign_flip is not None:
        parts.append(f"sign-flip p = {evidence.p_sign_flip:.3g} over {evidence.p_blocks} {unit}")
    if evidence.e_value is not None:
        bar = ""
        if analysis.interval is IntervalKind.SEQUENCE:
            bar = f" ({20 * analysis.simultaneous} decides)"
        parts.append(f"e-value {evidence.e_value:.3g}{bar}")
    return ", ".join(parts)


def _print_explanations(findings: list[Finding]) -> None:
    if not findings:
        return
    out.print()
    for finding in findings:
        if finding.evidence is None:
            out.print(f"[bold]{plain(finding.title)}:[/bold] {plain(finding.text)}")
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for finding in findings:
        if finding.evidence is not None:
            table.add_row(plain(finding.title), plain(finding.text))
    out.print(table)
