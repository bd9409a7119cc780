"""Critical values are computed once on a host, and kept for later forecasts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pgassay.analysis.compare import rule
from pgassay.analysis.compare.model import IntervalKind
from pgassay.analysis.compare.rule import Rule
from pgassay.cli.terminal.critical_values import kept_critical_values
from pgassay.samples.noise_history import noise_folder

RULE = Rule(IntervalKind.BOUNDED, 0.02, 1, (6, 8))


def _as_in_a_new_process(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rule, "CRITICAL_VALUES", {})
    patch.setattr("pgassay.cli.terminal.critical_values.CRITICAL_VALUES", rule.CRITICAL_VALUES)
    rule._critical_value.cache_clear()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    _as_in_a_new_process(monkeypatch)
    yield noise_folder().parent
    rule._critical_value.cache_clear()


def test_a_later_forecast_computes_no_value_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with kept_critical_values():
        found = RULE.critical(6, 5.0, 0.05)
    _as_in_a_new_process(monkeypatch)
    monkeypatch.setattr(rule, "_computed", lambda *_: pytest.fail("computed again"))
    with kept_critical_values():
        assert RULE.critical(6, 5.0, 0.05) == found


@pytest.mark.parametrize(
    "text", ["", "[]", '{"schema": "of another version", "values": {"a": 1.0}}']
)
def test_a_file_that_is_none_of_this_version_is_as_none(folder: Path, text: str) -> None:
    folder.mkdir(parents=True)
    (folder / "critical-values.json").write_text(text)
    with kept_critical_values():
        assert rule.CRITICAL_VALUES == {}
