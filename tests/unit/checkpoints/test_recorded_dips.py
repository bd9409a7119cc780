"""Recorded runs with a provoked cause say the same for ever: this cause and no other."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from tools.archives import unpack

from pgassay.findings.model import FindingKind
from pgassay.plan.design import make_plan
from pgassay.report.formats.html import render_html
from pgassay.samples.run_directory import RunDirectory
from pgassay.spec.parse import parse_spec
from pgassay.workflows.reporting import analyse_run
from support.notes import codes_in, values_in

GOLDEN = Path(__file__).parents[2] / "golden"
EXPECTED = tomllib.loads((GOLDEN / "checkpoints.toml").read_text("utf-8"))
WORKLOADS = Path(__file__).parents[3] / "bench" / "checkpoints"


@pytest.mark.parametrize("name", EXPECTED)
def test_a_recorded_run_names_its_cause_and_no_other(name: str, tmp_path: Path) -> None:
    unpack(GOLDEN / f"checkpoints-{name}.tar.xz", tmp_path)
    context = analyse_run(RunDirectory(tmp_path / name))
    ours = ("checkpoint_causes", "wal_locks")
    found = [one for one in context.of_kind(FindingKind.DIAGNOSIS) if one.rule in ours]
    expected = EXPECTED[name]["findings"]
    codes = [codes_in(one.title)[0].removesuffix("title").removesuffix(".") for one in found]
    assert codes == [f"findings/behaviour/{code}" for code, _, _ in expected]
    assert [one.confidence for one in found] == [confidence for _, confidence, _ in expected]
    page = render_html(context)
    assert ('data-chart="checkpoint_signals"' in page) is bool(
        context.analysis.behaviour.checkpoint_rows
    )
    for finding, (_, _, values) in zip(found, expected, strict=True):
        claim = values_in(finding.claim)
        said = next(own for code, own in claim.items() if code.startswith("findings/behaviour/"))
        assert {name: said[name] for name in values} == values
        assert finding.heading in page
        spec = parse_spec(finding.next_spec, source="next.toml", beside=WORKLOADS)
        assert len(make_plan(spec).arms) == 2
