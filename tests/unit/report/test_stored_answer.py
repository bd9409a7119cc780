"""`show` reads what analysis.json holds as it was written, and analyses anew where it must."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pgassay.cli.terminal.summary import summary_blocks
from pgassay.report.context import ReportContext
from pgassay.report.formats.markdown import markdown_of
from pgassay.report.objects.run import run_object
from pgassay.report.summaries.headline import ending_blocks
from pgassay.samples.layout import ANALYSIS, TRIAL, TRIALS
from pgassay.workflows import reporting
from pgassay.workflows.reporting import report_run
from pgassay.workflows.showing import made_of
from support.synthetic.directories import SPEC, synthetic_run
from support.synthetic.report_contexts import HOSTILE_SPEC, TWO_FACTORS

Spoil = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize("spec", [TWO_FACTORS, HOSTILE_SPEC])
def test_what_is_written_is_what_is_read(
    tmp_path: Path, spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = _reported(tmp_path / "run", spec)
    monkeypatch.delattr(reporting, "analyse_run")
    assert made_of(tmp_path / "run", _parts) == _parts(context)


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ReportContext]:
    """A run with its report, and what that was made of."""
    run = tmp_path_factory.mktemp("reported") / "run"
    return run, _reported(run, SPEC)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda stored: stored.pop("pgassay_commit"),
        lambda stored: stored.update(pgassay="0.0.1"),
        lambda stored: stored.pop("question"),
        lambda stored: stored.update(blocks="six"),
        lambda stored: stored.update(findings=7),
        lambda stored: stored.update(metric="nonsense"),
        lambda stored: stored["comparisons"][0].update(metric="nonsense"),
        lambda stored: stored["comparisons"][0].update(verdict="excellent"),
        lambda stored: stored["comparisons"][0].update(baseline_mean=None),
        lambda stored: stored["findings"][0]["note"].update(code="no/such-note"),
        lambda stored: stored["findings"][0]["note"].update(values={}),
        lambda stored: stored["findings"][0]["comparison"].update(level="nowhere"),
        lambda stored: stored.update(accounting=[{}]),
    ],
)
def test_a_file_that_does_not_fit_is_analysed_anew(
    reported: tuple[Path, ReportContext], spoil: Spoil, monkeypatch: pytest.MonkeyPatch
) -> None:
    (run, context), whole = reported, (reported[0] / ANALYSIS).read_text()
    stored = json.loads(whole)
    spoil(stored)
    (run / ANALYSIS).write_text(json.dumps(stored))
    assert _is_analysed_anew(run, context, monkeypatch)
    (run / ANALYSIS).write_text(whole)


def test_a_file_that_is_cut_off_or_older_than_a_trial_or_absent_is_analysed_anew(
    reported: tuple[Path, ReportContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, context = reported
    file = run / ANALYSIS
    assert not _is_analysed_anew(run, context, monkeypatch)
    written = file.stat().st_mtime_ns
    os.utime(run / TRIALS / "0002" / TRIAL, ns=(written + 1, written + 1))
    assert _is_analysed_anew(run, context, monkeypatch)
    whole = file.read_text()
    os.utime(run / TRIALS / "0002" / TRIAL, ns=(written, written))
    file.write_text(whole[:1000])
    assert _is_analysed_anew(run, context, monkeypatch)
    file.unlink()
    assert _is_analysed_anew(run, context, monkeypatch)
    file.write_text(whole)
    assert not _is_analysed_anew(run, context, monkeypatch)


def _reported(run: Path, spec: str) -> ReportContext:
    return report_run(synthetic_run(run, spec_text=spec, effects={"a2": 0.1})[0]).context


def _parts(context: ReportContext) -> tuple[str, dict[str, Any]]:
    blocks = [*ending_blocks(context), *summary_blocks(context)]
    return markdown_of(blocks), json.loads(json.dumps(run_object("run", context)))


def _is_analysed_anew(run: Path, analysed: ReportContext, patch: pytest.MonkeyPatch) -> bool:
    made: list[ReportContext] = []

    def analyse_run(_: object) -> ReportContext:
        made.append(analysed)
        return analysed

    patch.setattr(reporting, "analyse_run", analyse_run)
    assert made_of(run, _parts) == _parts(analysed)
    return bool(made)
