"""JUnit has a case for each verdict, endpoint and gate, and a run without a result is an error."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from pgassay.analysis.compare.model import Withdrawn
from pgassay.analysis.gates.grammar import parse_gates
from pgassay.analysis.gates.judge import judge_gates
from pgassay.analysis.model import Verdict
from pgassay.findings.model import Finding, FindingKind
from pgassay.findings.registry import find
from pgassay.notes import Note, legacy
from pgassay.report.context import ReportContext
from pgassay.report.formats import junit
from pgassay.report.formats.junit import Case, junit_xml, render_junit
from support.synthetic.analyses import changed
from support.synthetic.hostile import FORMULA, hostile_context
from support.synthetic.queries import with_queries
from support.synthetic.report_contexts import NO_FACTORS, STEPS, synthetic_context

FEW = STEPS.replace("_blocks = 6", "_blocks = 2")


def suite_of(context: ReportContext) -> ET.Element:
    """The suite, whose counts are those of its cases."""
    suite = ET.fromstring(render_junit(context)).find("testsuite")  # noqa: S314 - our own
    assert suite is not None
    cases = suite.findall("testcase")
    assert suite.get("tests") == str(len(cases))
    for name, element in (("failures", "failure"), ("skipped", "skipped"), ("errors", "error")):
        assert suite.get(name) == str(sum(case.find(element) is not None for case in cases))
    return suite


def outcomes(context: ReportContext, group: str) -> list[str]:
    """What became of the cases of a group."""
    return [
        next((part.tag for part in case if part.tag != "system-out"), "passed")
        for case in suite_of(context).iter("testcase")
        if case.get("classname") == f"pgassay.{group}"
    ]


@pytest.fixture(scope="module")
def better(tmp_path_factory: pytest.TempPathFactory) -> ReportContext:
    return synthetic_context(tmp_path_factory.mktemp("run"), effects={"a2": 0.2})


def test_every_verdict_is_a_case_by_its_load_with_its_endpoints(tmp_path: Path) -> None:
    suite = suite_of(synthetic_context(tmp_path, STEPS, effects={"a2": 0.2}))
    names = [case.get("name") for case in suite.iter("testcase")]
    assert names[0] == "Throughput: max_wal_size = 4GB against 32MB"
    assert "Throughput: max_wal_size = 4GB against 32MB, 8 clients" in names
    assert "99th percentile of latency: max_wal_size = 4GB against 32MB" in names
    said = suite.findtext("testcase/system-out") or ""
    assert said.startswith("max_wal_size = 4GB is ")
    assert float(suite.get("time") or 0) > 0


def test_worse_fails_with_its_sentence_and_undecided_is_skipped(tmp_path: Path) -> None:
    worse = synthetic_context(tmp_path / "worse", effects={"a2": -0.2})
    assert outcomes(worse, "verdict") == ["failure"]
    failure = suite_of(worse).find("testcase/failure")
    assert failure is not None
    assert "slower" in (failure.get("message") or "")
    undecided = synthetic_context(tmp_path / "few", FEW, noise=0.3)
    assert set(outcomes(undecided, "verdict")) == {"skipped"}


def test_a_run_without_a_result_is_an_error(better: ReportContext) -> None:
    context = better
    nothing = changed(context.analysis, comparisons=(), arms=(), trials=())
    broken = replace(context, analysis=nothing, findings=())
    assert outcomes(broken, "run") == ["error"]
    (verdict, *others) = context.analysis.answer.comparisons
    lost = replace(verdict, verdict=Verdict.UNDECIDED, withdrawn=Withdrawn.LOST_TRIALS)
    analysis = changed(context.analysis, comparisons=(lost, *others))
    assert outcomes(
        replace(context, analysis=analysis, findings=find(analysis, context.facts)), "verdict"
    ) == ["error"]


def test_a_single_arm_and_identical_arms_pass(tmp_path: Path) -> None:
    assert outcomes(synthetic_context(tmp_path / "one", NO_FACTORS), "verdict") == ["passed"]
    aa = synthetic_context(tmp_path / "aa", calibrates=True)
    assert set(outcomes(aa, "verdict") + outcomes(aa, "endpoint")) == {"passed"}


def test_levels_without_a_figure_and_arms_that_are_not_compared_have_names_of_their_own() -> None:
    made = [
        Finding(
            FindingKind.VERDICT,
            legacy("undecided"),
            Note.of("findings/answer/verdicts/withdrawn.never", subject=f"b = {at}", idle=()),
        )
        for at in (1, 2)
    ] + [
        Finding(
            FindingKind.VERDICT,
            legacy("measured"),
            Note.of("findings/answer/arm-measured", arm=f"b = {at}", text=""),
        )
        for at in (1, 2)
    ]
    cases = [junit._not_compared(one, "tps") for one in made]
    assert [(case.name, case.outcome) for case in cases] == [
        ("Throughput: b = 1", "error"),
        ("Throughput: b = 2", "error"),
        ("Throughput: b = 1", "passed"),
        ("Throughput: b = 2", "passed"),
    ]


@pytest.mark.parametrize(
    ("gate", "outcome"), [("throughput>-2%", "passed"), ("p99<-90%", "failure")]
)
def test_a_gate_is_a_case_for_each_level(better: ReportContext, gate: str, outcome: str) -> None:
    gates = judge_gates(parse_gates([gate]), better.analysis.answer)
    assert outcomes(replace(better, gates=gates), "gate") == [outcome]


def test_gates_decide_the_case_of_what_they_are_on(tmp_path: Path) -> None:
    worse = synthetic_context(tmp_path, effects={"a2": -0.2})
    worse = with_queries(worse, {"q1": 0.12, "q2": 0.5, "q3": 0.0})

    def gated(*texts: str) -> ReportContext:
        return replace(worse, gates=judge_gates(parse_gates(texts), worse.analysis.answer))

    assert outcomes(worse, "verdict") == ["failure"]
    assert outcomes(gated("throughput>-50%"), "verdict") == ["passed"]
    assert outcomes(gated("throughput>-2%"), "verdict") == ["failure"]
    assert outcomes(worse, "query").count("failure") == 2
    found = gated("*.mean<+30%")
    assert [one.outcome.value for one in found.gates[0].checks].count("failed") == 1
    assert sorted(outcomes(found, "query")) == ["failure", "passed", "passed"]
    assert outcomes(gated("*.mean<+80%"), "query") == ["passed"] * 3
    assert outcomes(gated("*.blocks<+80%"), "query").count("failure") == 2, "not on the mean"


def test_the_name_of_a_gate_is_the_same_whatever_was_measured(tmp_path: Path) -> None:
    names = []
    for change in (0.2, 0.0):
        context = synthetic_context(tmp_path / str(change), STEPS, effects={"a2": change})
        gates = judge_gates(parse_gates(["throughput > -2%", "cpu<1%"]), context.analysis.answer)
        cases = suite_of(replace(context, gates=gates)).iter("testcase")
        names.append([c.get("name") for c in cases if c.get("classname") == "pgassay.gate"])
    assert names[0] == names[1]
    assert names[0][0] == "throughput > -2%: max_wal_size = 4GB"
    assert "throughput > -2%: max_wal_size = 4GB at 8 clients" in names[0]


def test_names_are_text_whatever_they_hold(tmp_path: Path) -> None:
    context = hostile_context(tmp_path)
    suite = suite_of(context)
    assert suite.get("name") == f"pgassay run {FORMULA}"
    cases = (Case("gate", "a\x00<b>\uffff", "failed", "]]> \x07 <script>"),)
    (case,) = ET.fromstring(junit_xml(context, cases)).iter("testcase")  # noqa: S314 - our own
    assert case.get("name") == "a\\u0000<b>\\uffff"
    assert case.findtext("failure") == "]]> \\u0007 <script>"
