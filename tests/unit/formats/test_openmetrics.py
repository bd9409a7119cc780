"""OpenMetrics has the verdicts with their labels, and is read by the reference parsers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as prometheus

from pgassay.analysis.gates.grammar import parse_gates
from pgassay.analysis.gates.judge import judge_gates
from pgassay.analysis.model import Verdict
from pgassay.cli.main import app
from pgassay.report.context import ReportContext
from pgassay.report.formats.openmetrics import render_openmetrics
from support.refusals import refused
from support.synthetic.hostile import FORMULA, hostile_context
from support.synthetic.report_contexts import NO_FACTORS, STEPS, synthetic_context
from support.synthetic.traces import synthetic_trace


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> ReportContext:
    return synthetic_context(tmp_path_factory.mktemp("run"), STEPS, effects={"a2": 0.2})


def samples(
    text: str, parser: Any = openmetrics
) -> dict[str, list[tuple[Mapping[str, str], float]]]:
    found: dict[str, list[tuple[Mapping[str, str], float]]] = {}
    for family in parser(text):
        for one in family.samples:
            found.setdefault(one.name, []).append((one.labels, one.value))
    return found


def test_effects_bounds_and_verdicts_carry_what_they_are_of(context: ReportContext) -> None:
    found = samples(render_openmetrics(context))
    for one in context.analysis.answer.verdicts():
        labels = {
            "run": context.run_name,
            "metric": one.metric,
            "factor": "max_wal_size",
            "level": "4GB",
            "baseline": "32MB",
            "step": "" if one.step is None else f"{one.step:g}",
        }
        assert one.effect_pct is not None
        assert one.ci95_pct is not None
        assert (labels, one.effect_pct / 100) in found["pgassay_effect_ratio"]
        low, high = one.ci95_pct
        assert (labels, low / 100) in found["pgassay_effect_lower_ratio"]
        assert (labels, high / 100) in found["pgassay_effect_upper_ratio"]
        states = [
            (of["verdict"], value)
            for of, value in found["pgassay_verdict"]
            if labels.items() <= of.items()
        ]
        assert [state for state, value in states if value == 1.0] == [one.verdict.value]
        assert len(states) == len(Verdict)
    p50 = context.analysis.answer.arms[0].means["latency_p50"]
    assert any(
        of["arm"] == "a1" and of["statistic"] == "p50" and value == pytest.approx(p50 / 1000)
        for of, value in found["pgassay_arm_latency_seconds"]
    )


def test_it_ends_as_openmetrics_asks_and_readers_of_the_older_format_take_it(
    context: ReportContext,
) -> None:
    text = render_openmetrics(context)
    assert text.endswith("# EOF\n")
    assert {line.split()[3] for line in text.splitlines() if line.startswith("# TYPE")} == {"gauge"}
    assert samples(text, prometheus) == samples(text)


def test_gates_are_in_it(context: ReportContext) -> None:
    gates = judge_gates(parse_gates(["throughput>-2%"]), context.analysis.answer)
    found = samples(render_openmetrics(replace(context, gates=gates)))
    assert [
        (of["gate"], of["outcome"], of["step"]) for of, value in found["pgassay_gate"] if value
    ] == [("throughput>-2%", "holds", step) for step in ("", "4", "8")]


def test_names_are_labels_whatever_they_hold(tmp_path: Path) -> None:
    text = render_openmetrics(hostile_context(tmp_path))
    labels = [of for one in samples(text).values() for of, _ in one]
    assert any(of.get("baseline") == FORMULA for of in labels)
    assert any(of.get("run") == f"run {FORMULA}" for of in labels)
    assert "\u202e" not in text


def test_a_run_without_verdicts_has_its_arms_and_what_has_none_is_refused(tmp_path: Path) -> None:
    found = samples(render_openmetrics(synthetic_context(tmp_path / "one", NO_FACTORS)))
    assert "pgassay_verdict" not in found
    assert len(found["pgassay_arm_transactions_per_second"]) == 1
    trace = synthetic_trace(tmp_path / "trace").path
    known = "html, md, csv, xlsx, brief, json"
    expected = {"format": "openmetrics", "kind": "a trace", "known": known}
    with refused("no-verdicts-for-format", "trace", **expected) as error:
        app(["report", str(trace), "--format", "openmetrics"], standalone_mode=False)
    assert error.value.exit_code == 1
