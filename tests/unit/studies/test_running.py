"""Studies run one after the other: which are left out, and when they end."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tools.studies import kept, running

from pgassay.studies.catalogue import Form, Study, study

SHORT, LONG = "many-tables-vacuum", "checkpoint-timeout-by-load"


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The names of the studies that were run; none is kept at first."""
    names: list[str] = []
    monkeypatch.setattr(running, "RESULTS", tmp_path)
    monkeypatch.setattr(running, "keep", lambda *_: None)

    def run(one: Study, _: datetime | None) -> bool:
        names.append(one.name)
        return True

    monkeypatch.setattr(running, "_run", run)
    return names


def test_the_study_that_may_take_longest_comes_last(ran: list[str]) -> None:
    running.run_each([study(LONG), study(SHORT)], None)
    assert ran == [SHORT, LONG]


def test_a_study_that_is_kept_with_todays_experiment_is_not_run_again(
    ran: list[str], tmp_path: Path
) -> None:
    for name, experiment in ((SHORT, study(SHORT).experiment(Form.QUICK)), (LONG, "another")):
        (tmp_path / f"{name}.json").write_text(kept.as_text({"experiment": experiment}))
    running.run_each([study(LONG), study(SHORT)], None)
    assert ran == [LONG]


def test_nothing_begins_after_the_deadline(ran: list[str]) -> None:
    past = datetime.now() - timedelta(seconds=1)  # noqa: DTZ005
    running.run_each([study(SHORT)], past)
    assert ran == []
    assert timedelta() < running.ends_at("00:00") - datetime.now() <= timedelta(days=1)  # noqa: DTZ005
