"""What pgassay prints as JSON fits the schemas that it publishes."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pgassay.analysis.gates.grammar import parse_gates
from pgassay.analysis.gates.judge import judge_gates
from pgassay.notes import legacy
from pgassay.report.context import ReportContext
from pgassay.report.objects.analysis import render_json
from pgassay.report.objects.run import run_object
from pgassay.report.objects.schemas import json_schema
from pgassay.report.objects.values import finite
from support.json_schema import mistakes
from support.runs.command import pgassay
from support.runs.json_page import documented
from support.synthetic.analyses import changed
from support.synthetic.directories import synthetic_run
from support.synthetic.report_contexts import NO_FACTORS, STEPS, TWO_FACTORS, synthetic_context


def analysis_of(context: ReportContext) -> Any:
    return json.loads(render_json(context))


def run_of(context: ReportContext) -> Any:
    return json.loads(json.dumps(run_object("run", context)))


def test_values_of_numpy_are_written_as_those_of_python() -> None:
    values = [np.bool_(True), np.int64(3), np.float64(0.5), np.float64(math.nan)]
    assert json.dumps(finite({"values": values})) == '{"values": [true, 3, 0.5, null]}'


@pytest.mark.parametrize(
    ("spec", "truth"),
    [
        (STEPS, {"effects": {"a2": 0.2}, "blocks": 3}),
        (TWO_FACTORS, {"blocks": 2}),
        (NO_FACTORS, {"blocks": 2}),
        (STEPS, {"calibrates": True}),
    ],
)
def test_what_is_printed_fits_its_schema_and_names_every_key(
    tmp_path: Path, spec: str, truth: dict[str, Any]
) -> None:
    context = synthetic_context(tmp_path, spec, **truth)
    first, *others = context.analysis.answer.trials
    doubted = (replace(first, invalid=(legacy("restarted"),)),)
    analysis = changed(context.analysis, trials=tuple(others), invalid_trials=doubted)
    gates = judge_gates(parse_gates(["throughput>-2%"]), analysis.answer)
    context = replace(context, analysis=analysis, gates=gates)
    for name, found in (("analysis", analysis_of(context)), ("run", run_of(context))):
        schema = json_schema(name)
        assert list(mistakes(found, schema, schema)) == []
        assert set(found) == set(schema["properties"])


def test_a_whole_analysis_of_a_stored_run_fits(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", blocks=2)
    found = json.loads(pgassay("report", run.path, "--format", "json").stdout)
    schema = json.loads(pgassay("schema", "analysis").stdout)
    assert list(mistakes(found, schema, schema)) == []


def test_a_wrong_value_does_not_fit(tmp_path: Path) -> None:
    schema = json_schema("run")
    found = run_of(synthetic_context(tmp_path, STEPS, blocks=2))
    found["verdicts"][0]["effect_pct"] = "much"
    del found["verdicts"][0]["badge"]
    found["verdicts"][1]["verdict"] = "nice"
    assert len(list(mistakes(found, schema, schema))) == 3


def test_schemas_have_the_documented_keys() -> None:
    assert set(json_schema("run")["properties"]) == documented("the run", "pgassay.run/1")
    analysis = json_schema("analysis")
    assert set(analysis["properties"]) == documented("the analysis", "pgassay.analysis/1")
    assert analysis["$defs"]["Comparison"]["required"]
