"""A change above +100 % is a multiple of the baseline, and so is its interval; others: per cent."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgassay.language import decimals
from pgassay.quantities import multiple, rate, signed_percent
from pgassay.report.tables.cells import interval, with_interval
from pgassay.workflows.reporting import analyse_run
from support.synthetic.directories import synthetic_run


@pytest.mark.parametrize(
    ("change_pct", "shown"),
    [(420.0, "5.2 times"), (100.0, "+100.0 %"), (-99.0, "−99.0 %"), (1900.0, "20 times")],
)
def test_a_large_increase_is_a_multiple(change_pct: float, shown: str) -> None:
    assert signed_percent(change_pct) == shown


@pytest.mark.parametrize(
    ("change_pct", "shown"), [(-100.0, "0"), (-89.0, "0.11"), (650.0, "7.5"), (float("inf"), "∞")]
)
def test_ends_of_intervals_are_multiples_of_any_size(change_pct: float, shown: str) -> None:
    assert multiple(change_pct) == shown


def test_an_interval_is_written_as_its_change_is() -> None:
    assert interval((-10.0, 650.0), 20.0) == "−10.0 % to +650.0 %"
    assert interval((-10.0, 650.0), 150.0) == "0.90 times to 7.5 times"
    assert (
        with_interval(150.0, (-10.0, 650.0)).replace("\xa0", " ") == "2.5 times (0.90 to 7.5 times)"
    )


def test_a_rate_has_three_digits_and_no_number_an_exponent() -> None:
    assert [rate(value) for value in (0.234, 2.345, 16.64, 8041.2)] == [
        "0.234", "2.35", "16.6", "8\u202f041",
    ]  # fmt: skip
    assert [decimals(650.0, ".2g"), decimals(-650.0, "+.2g")] == ["650", "−650"]


def test_the_sentence_of_a_large_effect_keeps_per_cent_as_its_values(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", effects={"a2": 1.5})
    context = analyse_run(run)
    (verdict,) = context.analysis.answer.verdicts()
    (row,) = context.ending.rows
    assert row.sentence.code == "findings/answer/verdicts/faster.tps-multiple"
    assert row.sentence.values["effect"] == verdict.effect_pct
