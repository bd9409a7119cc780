"""An observation is diagnosed by the rules of runs, its windows standing for trials."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pgassay.findings.diagnosis.observed import diagnose
from pgassay.findings.model import Confidence
from pgassay.report.formats.html import render_html
from pgassay.report.objects.observed import render_object, summary_object
from pgassay.samples.forms.environment import EnvironmentFile
from pgassay.samples.forms.observation import ObservationFile
from pgassay.samples.observation_directory import ObservationDirectory
from pgassay.workflows.reporting import observation_context
from support.synthetic.observed import busy_piece, slices_from
from support.synthetic.segments import end_of, write

RULE = "lock-queue/1"


@pytest.mark.parametrize("seconds", [30, 240])
def test_a_lock_queue_is_named_and_never_confirmed(tmp_path: Path, seconds: int) -> None:
    directory = ObservationDirectory.create(tmp_path / "run")
    directory.write_file(directory.MARK, ObservationFile(server="lab", ended_by="duration"))
    write(directory, 1, busy_piece(100, seconds), end_of(100, 100 + seconds))
    context = observation_context(directory)
    assert {one.rule: one.confidence for one in context.findings} == {RULE: Confidence.SUPPORTED}
    cells = {str(one.cell.title): one.mean for one in context.methods if one.values}
    assert cells["Sessions waiting for heavyweight locks"] == pytest.approx(0.6, abs=0.01)
    page = render_html(context)
    assert 'id="diagnosis"' in page
    assert 'id="methods"' in page
    for found in (json.loads(render_object(context)), summary_object("run", context)):
        assert [one["rule"] for one in found["diagnosis"]] == [RULE]


def lock_queue(windows: int) -> list[Confidence | None]:
    count = windows * 6
    slices = slices_from(
        {
            ("sessions", "", "Lock:tuple"): [8.0] * count,
            ("class", "", "lock"): [8.0] * count,
            ("locks", "ExclusiveLock", "waiting"): [7.0] * count,
            ("metric", "", "tps"): [100.0] * count,
        }
    )
    windows_of = slices.merged(10).signals("observed", 60)
    return [one.confidence for one in diagnose(windows_of, EnvironmentFile()) if one.rule == RULE]


def test_fewer_than_six_windows_support_nothing() -> None:
    assert lock_queue(6) == [Confidence.SUPPORTED]
    assert lock_queue(5) == [Confidence.HYPOTHESIS]
    assert lock_queue(0) == []
