"""A host that other programs keep busy is named before the first trial, with what can be found."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgassay.analysis.noise.prior_runs import conditions_of, expect
from pgassay.findings.noise.busy import busy_host
from pgassay.notes import Note
from pgassay.spec.parse import parse_spec
from pgassay.trials.guards.thresholds import VARIABLE
from pgassay.trials.host.other_programs import OtherPrograms, Program
from support.synthetic.designs import plan_of_spec
from support.synthetic.directories import SPEC


def used(share: float) -> OtherPrograms:
    return OtherPrograms(share, (Program("stress-ng", share),), 0, None, "")


def test_only_more_than_the_guard_allows_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert busy_host(None, None) is None
    assert busy_host(used(0.05), None) is None
    note = busy_host(used(0.62), None)
    named = Note.of("trials/guards/named", names=("stress-ng",))
    assert note == Note.of("findings/busy-host", share=62.0, named=named, found="")
    (own := tmp_path / "guards.toml").write_text("[foreign-cpu]\ndoubt = 0.7\n")
    monkeypatch.setenv(VARIABLE, str(own))
    assert busy_host(used(0.62), None) is None


def test_general_figures_of_other_hosts_are_no_forecast() -> None:
    spec = parse_spec(SPEC, source="s.toml", beside=Path.cwd())
    expected = expect(conditions_of(spec), plan_of_spec(SPEC), [])
    assert expected is not None
    assert expected.known_from == "others"
    note = busy_host(used(0.62), expected)
    assert note is not None
    assert note.values["found"] == ""
