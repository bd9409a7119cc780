"""A run as JUnit XML, for the test view of a CI: a case for each verdict, endpoint,
query and gate.

Enters: the context. Leaves: XML. Never: makes an undecided verdict a success or a failure; it is
skipped. Nor contradicts a gate: where a metric is gated, its gates decide the case of its verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal
from xml.etree import ElementTree as ET

from pgassay.analysis.gates.model import GateOutcome, worst
from pgassay.analysis.gates.queries import query_checks
from pgassay.analysis.model import Comparison, Verdict, Withdrawn
from pgassay.analysis.reading.metrics import METRICS
from pgassay.analysis.reading.plain_text import visible
from pgassay.findings.answer.endpoints import endpoint_sentence
from pgassay.findings.answer.gates import claim_of, gate_lines
from pgassay.findings.answer.verdicts import NEVER
from pgassay.findings.model import Finding, FindingKind
from pgassay.plan.model import Gate
from pgassay.report.context import ReportContext
from pgassay.report.data_tables.model import moment
from pgassay.report.data_tables.trials import every_trial
from pgassay.report.document.text import plain_text
from pgassay.report.summaries import headline

Outcome = Literal["passed", "failed", "skipped", "error"]
_ELEMENTS = {"failed": "failure", "skipped": "skipped", "error": "error"}
_GATES: dict[GateOutcome, Outcome] = {
    GateOutcome.HOLDS: "passed",
    GateOutcome.UNDECIDED: "skipped",
    GateOutcome.FAILED: "failed",
}
_VERDICTS: dict[Verdict, Outcome] = {
    Verdict.WORSE: "failed",
    Verdict.UNDECIDED: "skipped",
}
"""All others pass."""
_BROKEN = (Withdrawn.STANDSTILL, Withdrawn.LOST_TRIALS)
"""Not too little data, but trials that went wrong."""


@dataclass(frozen=True)
class Case:
    """One test of the suite."""

    group: str
    """Shown as its class: `verdict`, `endpoint`, `query`, `gate`, `run`."""
    name: str
    outcome: Outcome
    sentence: str


def render_junit(context: ReportContext) -> str:
    """Returns verdicts and gates as a suite of JUnit's XML, named after the run."""
    return junit_xml(context, (*_cases(context), *_queries(context), *_gates(context)))


def junit_xml(context: ReportContext, cases: Iterable[Case]) -> str:
    """Returns these test cases as one suite in JUnit's XML."""
    every = tuple(cases)
    counts = dict.fromkeys(("failed", "skipped", "error"), 0)
    suite = ET.Element("testsuite", name=visible(f"pgassay {context.run_name}"))
    properties = ET.SubElement(suite, "properties")
    for name, value in _properties(context):
        ET.SubElement(properties, "property", name=name, value=visible(value))
    for case in every:
        made = ET.SubElement(
            suite, "testcase", classname=f"pgassay.{case.group}", name=visible(case.name)
        )
        sentence = visible(case.sentence)
        if case.outcome == "passed":
            ET.SubElement(made, "system-out").text = sentence
        else:
            counts[case.outcome] += 1
            ET.SubElement(made, _ELEMENTS[case.outcome], message=sentence).text = sentence
    suite.attrib |= {
        "tests": str(len(every)),
        "failures": str(counts["failed"]),
        "skipped": str(counts["skipped"]),
        "errors": str(counts["error"]),
        **_times(context),
    }
    top = ET.Element("testsuites")
    top.append(suite)
    ET.indent(top)
    return ET.tostring(top, "unicode", xml_declaration=True) + "\n"


def _cases(context: ReportContext) -> Iterator[Case]:
    """Each verdict with its sentence, and each endpoint beside it."""
    analysis = context.analysis
    found = context.of_kind(FindingKind.VERDICT)
    for finding in found:
        one = finding.comparison
        if one is None:
            yield _not_compared(finding, analysis.answer.metric)
            continue
        yield Case("verdict", _name(one), _outcome(one, context), finding.text)
        for beside, endpoint in analysis.answer.beside(one):
            sentence = str(endpoint_sentence(beside, endpoint))
            yield Case("endpoint", _name(beside), _outcome(beside, context), sentence)
    if not found:
        (nothing,) = headline.answers(context)
        yield Case("run", "result", "error", plain_text(nothing.whole))


_EVERY = Gate("*.mean<0%", ("*.mean",), above=False, limit=0.0)


def _queries(context: ReportContext) -> Iterator[Case]:
    """The verdict of each query of a set."""
    found = context.analysis.queries
    for check in query_checks(_EVERY, found) if found else ():
        # The limit of no gate is a reason.
        fails = check.reason if check.is_final else None
        shown = replace(check, reason=fails, outcome=GateOutcome.UNDECIDED)  # by its 95 % interval
        sentence = claim_of(shown, 0.0)
        one = check.comparison
        yield Case("query", _name(one), _outcome(one, context), str(sentence))


def _not_compared(finding: Finding, metric: str) -> Case:
    """The mean of an arm where nothing is compared, or a level without a figure."""
    values = finding.claim.values
    of = values.get("subject") or values.get("arm")
    title = METRICS[metric].title
    outcome: Outcome = "error" if finding.claim.code == NEVER else "passed"
    return Case("verdict", f"{title}: {of}" if of else title, outcome, finding.text)


def _gates(context: ReportContext) -> Iterator[Case]:
    for line in gate_lines(context.gates):
        yield Case("gate", str(line.name), _GATES[line.outcome], str(line.sentence))


def _outcome(one: Comparison, context: ReportContext) -> Outcome:
    if one.withdrawn in _BROKEN:
        return "error"
    gated = [
        check
        for result in context.gates
        for check in result.checks
        if _place(check.comparison) == _place(one)
    ]
    if any(check.is_worse for check in gated):
        return "failed"
    if gated:
        return _GATES[worst([check.outcome for check in gated])]
    return _VERDICTS.get(one.verdict, "passed")


def _place(one: Comparison) -> tuple[str, str, str, float | None]:
    return one.metric, one.factor, one.level, one.step


def _name(one: Comparison) -> str:
    title = METRICS[one.metric].title
    at = "" if one.step is None else f", {one.step:g} {one.step_unit.words}"
    return f"{title}: {one.factor} = {one.level} against {one.baseline}{at}"


def _properties(context: ReportContext) -> Iterator[tuple[str, str]]:
    analysis = context.analysis
    yield "question", context.question
    yield "primary_metric", analysis.answer.metric
    yield "smallest_effect_pct", f"{100 * analysis.answer.smallest_effect:g}"
    yield "blocks", str(analysis.answer.blocks)
    yield "trials", str(len(analysis.answer.trials))
    yield "invalid_trials", str(len(analysis.answer.invalid_trials))
    yield "seed", str(context.plan.seed)
    yield "pgassay", context.version


def _times(context: ReportContext) -> dict[str, str]:
    """When the first trial was measured, and how long it was until the last one's end."""
    every = every_trial(context)
    if not every:
        return {}
    start, end = every[0].whole.start_ns, max(one.whole.end_ns for one in every)
    began = moment(start)
    return {
        "timestamp": "" if began is None else began.isoformat(timespec="seconds"),
        "time": f"{(end - start) / 1e9:.3f}",
    }
