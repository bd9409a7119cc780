"""Findings say what was estimated, in words a DBA can quote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pgassay.analysis.analyse import answer_of
from pgassay.analysis.measures.trial import measure_trial
from pgassay.analysis.model import Analysis, RunFacts
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.answer import explanations
from pgassay.findings.model import Finding, FindingKind
from pgassay.findings.registry import find
from pgassay.findings.wording import metric_note, quantity, texts_of
from pgassay.notes import Note
from pgassay.quantities import milliseconds, signed_percent
from support.notes import values_in
from support.synthetic.directories import SPEC, synthetic_run


def findings_of(path: Path, **options: Any) -> dict[FindingKind, list[Finding]]:
    run, spec, plan = synthetic_run(path, **options)
    analysis = Analysis(
        answer_of(spec.question, plan, [measure_trial(trial) for trial in run.trials()])
    )
    found: dict[FindingKind, list[Finding]] = {kind: [] for kind in FindingKind}
    for finding in find(analysis, RunFacts()):
        found[finding.kind].append(finding)
    return found


def test_a_clear_effect_is_told_with_size_interval_and_cause(tmp_path: Path) -> None:
    found = findings_of(tmp_path / "run", effects={"a2": 0.12})
    (verdict,) = found[FindingKind.VERDICT]
    said = values_in(verdict.claim)
    faster = said["findings/answer/verdicts/faster.tps"]
    assert (faster["subject"], faster["baseline"]) == ("max_wal_size = 4GB", "32MB")
    assert faster["size"] == pytest.approx(12.5, abs=0.1)
    assert said["findings/blocks"] == {"n": 6}
    lower = values_in(said["findings/answer/endpoints/clauses.lower"]["size"])
    assert lower["findings/size"]["pct"] == pytest.approx(11.3, abs=0.05)
    assert verdict.text.startswith("max_wal_size = 4GB is 12.5 % faster than 32MB (95 % CI")
    titles = [finding.title for finding in found[FindingKind.EXPLANATION]]
    pattern = "findings/answer/explanations/pattern.full_page_images"
    assert titles[:2] == [Note("findings/answer/time_parts/title"), Note(f"{pattern}.title")]
    assert metric_note("wal_bytes_per_tx") in titles
    claim = Note.of(f"{pattern}.text", slower="max_wal_size = 32MB")
    assert found[FindingKind.EXPLANATION][1].claim == claim


def test_every_pattern_of_costs_says_how_to_confirm_and_to_refute_it() -> None:
    for name, pattern in texts_of(explanations.__name__)["pattern"].items():
        assert {"title", "values", "text", "confirm", "refute"} <= pattern.keys(), name
        assert pattern["values"]["when"].keys() <= METRICS.keys(), name


def test_a_slower_level_is_the_one_blamed(tmp_path: Path) -> None:
    swapped = SPEC.replace('["32MB", "4GB"]', '["4GB", "32MB"]')
    found = findings_of(tmp_path / "run", spec_text=swapped, effects={"a2": -0.12})
    slower = values_in(found[FindingKind.VERDICT][0].claim)["findings/answer/verdicts/slower.tps"]
    assert (slower["subject"], slower["baseline"]) == ("max_wal_size = 32MB", "4GB")
    assert slower["size"] == pytest.approx(11.5, abs=0.05)


def test_without_an_effect_nothing_is_claimed(tmp_path: Path) -> None:
    (verdict,) = findings_of(tmp_path / "run", noise=0.05)[FindingKind.VERDICT]
    said = values_in(verdict.claim)
    undecided = said["findings/answer/verdicts/undecided.any"]
    assert (undecided["subject"], undecided["baseline"]) == ("max_wal_size = 4GB", "32MB")
    assert "findings/answer/undecided/reason.noise" in said
    assert "findings/answer/undecided/way.aa" in said


def test_a_single_arm_is_measured_not_judged(tmp_path: Path) -> None:
    spec = SPEC.replace('[factors.postgres]\nmax_wal_size = ["32MB", "4GB"]\n', "")
    found = findings_of(tmp_path / "run", spec_text=spec)
    (measured,) = found[FindingKind.VERDICT]
    assert measured.comparison is None
    said = values_in(measured.claim)
    assert said["findings/answer/measured"]["n"] == 6
    assert said["findings/answer/measured-value"]["metric"] == METRICS["tps"].title


def test_quantities_read_as_people_write_them() -> None:
    assert quantity(8015.4, METRICS["tps"]) == "8\u202f015 tps"
    assert quantity(5.404, METRICS["tps"]) == "5.40 tps"
    assert quantity(1680.651, METRICS["latency_p99"]) == "1\u202f681 ms"
    assert quantity(0.4504, METRICS["latency_mean"]) == "0.450 ms"
    assert milliseconds(-743.741) == "\u2212744 ms"
    assert quantity(2457.6, METRICS["wal_bytes_per_tx"]) == "2.4 kB"
    assert quantity(0.0, METRICS["wal_bytes_per_tx"]) == "0 B"
    assert signed_percent(-3.14) == "\u22123.1 %"
    assert signed_percent(None) == "n/a"
