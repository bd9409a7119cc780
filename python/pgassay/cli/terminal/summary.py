"""Runs and observations on a terminal: what is expected before, what was found at the end.

Enters: a spec and its plan; the report context of a run or an observation. Leaves: a few lines.
Never: computes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.table import Table

from pgassay.analysis.model import Analysis, Comparison, IntervalKind, Verdict
from pgassay.analysis.noise.prior_runs import Expectation, conditions_of, expect
from pgassay.cli.terminal.console import counted, labelled, out, plain
from pgassay.cli.terminal.gates import print_gates
from pgassay.findings.answer.factors import certainty
from pgassay.findings.model import Finding, FindingKind
from pgassay.findings.noise.forecast import expectation_lines
from pgassay.notes import Importance
from pgassay.plan.model import Plan
from pgassay.report.context import AnyContext, ObservationContext, ReportContext, TraceContext
from pgassay.report.document.table import Table as ReportTable
from pgassay.report.environment import not_measured
from pgassay.report.sections.observation.waits import event_table
from pgassay.report.summaries.observation import caveats, facts
from pgassay.samples.forms.environment import EnvironmentFile
from pgassay.samples.noise_history import noise_records
from pgassay.spec.experiment import Spec

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
"""Interactions and trends shown on a terminal; the report has all."""
_MOST_EVENTS = 8
_MOST_DIAGNOSES = 4
_MOST_POINTS = 15
_LABEL = 11
"""Columns of the longest verdict."""


def expectation_of(spec: Spec, plan: Plan) -> Expectation | None:
    """Returns what a run can be expected to find, from earlier runs on this host."""
    return expect(conditions_of(spec), plan, noise_records())


def print_expectation(console: Console, found: Expectation | None, plan: Plan) -> None:
    """Prints the expectation in a few lines; nothing where there is nothing to compare."""
    for label, sentence in expectation_lines(found, plan):
        labelled(f"{label:<9} ", sentence, console=console)


def print_any(context: AnyContext, report: Path) -> None:
    """What a report says, in short."""
    if isinstance(context, ReportContext):
        print_summary(context, report)
    elif isinstance(context, ObservationContext):
        print_observation(context, report)
    else:
        print_trace(context, report)


def print_summary(context: ReportContext, report: Path | str | None) -> None:
    """Prints everything that a DBA needs before opening the report."""
    out.print()
    out.print(f"[bold]{plain(context.question)}[/bold]")
    for finding in context.of_kind(FindingKind.VERDICT):
        _print_verdict(finding, context.analysis)
    for finding in context.of_kind(FindingKind.CALIBRATION):
        labelled(f"{finding.title}: ", finding.text, "bold")
    _print_factorial(context)
    _print_explanations(context.of_kind(FindingKind.EXPLANATION))
    _print_diagnoses(context.of_kind(FindingKind.DIAGNOSIS))
    _print_caveats(context.of_kind(FindingKind.WARNING))
    _print_not_measured(context.environment)
    print_gates(context.gates)
    if report is not None:
        out.print()
        out.print(f"Report: {plain(str(report))}")


def print_observation(context: ObservationContext, report: Path | None) -> None:
    """Prints the few lines of an observation that need no browser."""
    out.print(f"[bold]{plain(context.title)}[/bold]")
    for name, value in facts(context):
        labelled(f"{name}: ", value)
    print_table_of(event_table(context.observed), _MOST_EVENTS)
    for text in caveats(context):
        labelled("note: ", text, "yellow")
    _print_not_measured(context.environment)
    if report is not None:
        out.print(f"Report: {plain(str(report))}")


def print_trace(context: TraceContext, report: Path) -> None:
    """Prints the points of a trace that took most time, and the checkpoints."""
    # Summaries of runs need none of it.
    from pgassay.report.sections.trace.figures import checkpoint_table, points_table
    from pgassay.report.summaries import trace as trace_summary

    out.print(f"[bold]{plain(context.title)}[/bold]")
    for name, value in trace_summary.facts(context):
        labelled(f"{name}: ", value)
    print_table_of(points_table(context.traced.points), _MOST_POINTS)
    if context.traced.checkpoints:
        out.print()
        print_table_of(checkpoint_table(context.traced.checkpoints), _MOST_EVENTS)
    for text in trace_summary.caveats(context):
        labelled("note: ", text, "yellow")
    out.print(f"Report: {plain(str(report))}")


def print_table_of(found: ReportTable, most: int | None = None, *, has_names: bool = False) -> None:
    """A report's table with plain columns; nothing where it has no rows.

    `has_names`: titles are names, which stay as they are.
    """
    if not found:
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in found.columns:
        justify: Literal["right", "left"] = "right" if column.form == "number" else "left"
        title = column.title if has_names else column.title.lower()
        table.add_column(plain(title), justify=justify)
    for row in found.rows[:most]:
        table.add_row(*(plain(cell.text) for cell in row.cells))
    out.print(table)


def _print_not_measured(environment: EnvironmentFile) -> None:
    """What this server's settings and extensions do not let us measure, by name."""
    if names := [name for name, _ in not_measured(environment)]:
        how = "`pgassay doctor` says how to enable each"
        labelled("not measured: ", f"{', '.join(names)}; {how}", "dim")


def _print_caveats(findings: Sequence[Finding]) -> None:
    if not findings:
        return
    out.print()
    matter = [one for one in findings if one.importance is not Importance.DETAIL]
    rest = len(findings) - len(matter)
    if matter:
        out.print(f"[bold]{counted(len(matter), 'caveat')}[/bold]")
    for finding in matter:
        what = "could change the verdict: " if finding.importance is Importance.VERDICT else ""
        labelled("- ", what + finding.text, "yellow")
    if rest:
        more = "caveats that" if rest > 1 else "caveat that"
        out.print(f"[dim]{rest} {more} cannot change the result: see the report[/dim]")


def _print_verdict(finding: Finding, analysis: Analysis) -> None:
    evidence = finding.comparison
    without = "yellow" if finding.title == Verdict.UNDECIDED else "cyan"
    colour = _COLOUR[evidence.verdict] if evidence else without
    if evidence and finding.title != evidence.verdict:
        colour = "yellow"
    label = finding.title.upper()
    labelled(f"{label:<{_LABEL}} ", finding.text, f"bold {colour}")
    if evidence and (certain := _certainty(evidence, analysis)):
        labelled(" " * (_LABEL + 1), certain)


def _print_factorial(context: ReportContext) -> None:
    """Interactions and trends, with what each rests on."""
    analysis = context.analysis
    shown = [
        *zip(
            context.of_kind(FindingKind.INTERACTION),
            (one.estimate for one in analysis.answer.interactions),
            strict=True,
        ),
        *zip(
            context.of_kind(FindingKind.TREND),
            (one.estimate for one in analysis.answer.trends),
            strict=True,
        ),
    ]
    for finding, estimate in shown[:_MOST_FACTORIAL]:
        colour = _FACTORIAL_COLOUR.get(finding.title, "cyan")
        labelled(f"{finding.title.upper():<{_LABEL}} ", finding.text, f"bold {colour}")
        labelled(" " * (_LABEL + 1), certainty(estimate))
    if len(shown) > _MOST_FACTORIAL:
        labelled(" " * (_LABEL + 1), f"{len(shown) - _MOST_FACTORIAL} more are in the report")


def _certainty(evidence: Comparison, analysis: Analysis) -> str:
    """The one figure of evidence that belongs to the rule by which the run ended.

    Empty where the verdict is withdrawn, or the data have no interval and so no evidence.
    """
    if evidence.withdrawn is not None:
        return ""
    blocks, unit = evidence.blocks, "blocks"
    if evidence.rounds is not None:
        blocks, unit = evidence.rounds, "rounds"
    if evidence.p_sign_flip is not None:
        return f"sign-flip p = {evidence.p_sign_flip:.3g} ({blocks} {unit})"
    if evidence.p_looks is not None:
        return f"p ≤ {evidence.p_looks:g} over all looks ({blocks} {unit})"
    if evidence.ci95_pct is not None and analysis.answer.interval is not IntervalKind.T:
        return f"p > 0.05 over all looks ({blocks} {unit})"
    return ""


def _print_explanations(findings: Sequence[Finding]) -> None:
    if not findings:
        return
    out.print()
    out.print("[bold]Why[/bold]")
    for finding in findings:
        if finding.comparison is None:
            labelled(f"{finding.title}: ", finding.text, "bold")
    moved = [finding for finding in findings if finding.comparison is not None]
    pairs = dict.fromkeys(map(_compared, moved))
    for pair in pairs:
        if len(pairs) > 1:
            out.print(f"[bold]{plain(pair)}:[/bold]")
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        for finding in moved:
            if _compared(finding) == pair:
                table.add_row(plain(finding.title), plain(finding.text))
        out.print(table)


def _print_diagnoses(findings: Sequence[Finding]) -> None:
    if not findings:
        return
    out.print()
    out.print("[bold]Diagnosis[/bold]")
    for finding in findings[:_MOST_DIAGNOSES]:
        labelled(f"{finding.title} ({finding.confidence}): ", finding.text, "bold")
    if len(findings) > _MOST_DIAGNOSES:
        out.print(f"{len(findings) - _MOST_DIAGNOSES} more are in the report")


def _compared(finding: Finding) -> str:
    one = finding.comparison
    return "" if one is None else f"{one.factor} = {one.level} against {one.baseline}"
