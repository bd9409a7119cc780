"""A change above +100 % is a multiple of the baseline, and so is its interval; others: per cent."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pgassay.findings.answer.undecided import why
from pgassay.language import decimals, in_language
from pgassay.quantities import (
    gain,
    interval_form,
    is_multiple,
    multiple,
    rate,
    signed_percent,
    times,
)
from pgassay.report.tables.cells import change, interval, interval_of, with_interval
from support.notes import codes_in
from support.synthetic.report_contexts import synthetic_context


@pytest.mark.parametrize(
    ("change_pct", "shown"),
    [(420.0, "5.2 times"), (100.0, "+100.0 %"), (-99.0, "−99.0 %"), (1900.0, "20 times")],
)
def test_a_large_increase_is_a_multiple(change_pct: float, shown: str) -> None:
    assert signed_percent(change_pct) == shown


@pytest.mark.parametrize(
    ("change_pct", "shown"),
    [(420.0, "5,2 раза"), (1000.0, "11 раз"), (2000.0, "21 раз"), (2100.0, "22 раза")],
)
def test_the_noun_of_a_multiple_follows_the_rules_of_the_language(
    change_pct: float, shown: str
) -> None:
    with in_language("ru"):
        assert times(change_pct) == shown


def test_what_a_run_finds_is_a_multiple_above_a_hundred_per_cent(tmp_path: Path) -> None:
    assert [gain(15.0), gain(283.0)] == ["15 %", "3.8 times"]
    analysis = synthetic_context(tmp_path, effects={"a2": 0.3}, noise=0.6).analysis
    (verdict,) = analysis.answer.verdicts()
    (why_,) = analysis.answer.undecided
    assert is_multiple(why_.excludes_above_pct)
    codes = [note.code for note in why(verdict, analysis)]
    assert "findings/answer/undecided/excluded.throughput-multiple" in codes


@pytest.mark.parametrize(
    ("change_pct", "shown"), [(-100.0, "0"), (-89.0, "0.11"), (650.0, "7.5"), (float("inf"), "∞")]
)
def test_ends_of_intervals_are_multiples_of_any_size(change_pct: float, shown: str) -> None:
    assert multiple(change_pct) == shown


def test_an_interval_is_written_as_its_change_is_and_a_large_end_as_a_multiple() -> None:
    assert interval((-10.0, 650.0), 20.0) == "−10.0 % to 7.5 times"
    assert interval((-10.0, 650.0), 150.0) == "0.90 times to 7.5 times"
    assert (
        with_interval(150.0, (-10.0, 650.0)).replace("\xa0", " ") == "2.5 times (0.90 to 7.5 times)"
    )


@pytest.mark.parametrize(
    ("ends", "change_pct", "form"),
    [
        ((-10.0, 100.0), 20.0, "per-cent"),
        ((-10.0, 101.0), 20.0, "to-multiple"),
        ((-10.0, 650.0), 150.0, "multiples"),
        ((110.0, 650.0), None, "multiples"),
        ((-90.0, -10.0), -50.0, "per-cent"),
    ],
)
def test_one_rule_says_how_the_ends_of_an_interval_are_written(
    ends: tuple[float, float], change_pct: float | None, form: str
) -> None:
    assert interval_form(*ends, change_pct) == form


def test_sentences_follow_it(tmp_path: Path) -> None:
    context = synthetic_context(tmp_path, effects={"a2": 0.3}, noise=0.6)
    assert "findings/interval-to-multiple-of-blocks" in codes_in(context.ending.rows[0].sentence)


def test_a_rate_has_three_digits_and_no_number_an_exponent() -> None:
    assert [rate(value) for value in (0.234, 2.345, 16.64, 8041.2)] == [
        "0.234", "2.35", "16.6", "8\u202f041",
    ]  # fmt: skip
    assert [decimals(650.0, ".2g"), decimals(-650.0, "+.2g")] == ["650", "−650"]


def test_the_sentence_of_a_large_effect_keeps_per_cent_as_its_values(tmp_path: Path) -> None:
    context = synthetic_context(tmp_path, effects={"a2": 1.5})
    (verdict,) = context.analysis.answer.verdicts()
    (row,) = context.ending.rows
    assert row.sentence.code == "findings/answer/verdicts/faster.tps-multiple"
    assert row.sentence.values["effect"] == verdict.effect_pct


def test_a_figure_below_zero_changes_in_its_unit_and_not_in_per_cent(tmp_path: Path) -> None:
    context = synthetic_context(tmp_path)
    (one,) = (
        one
        for one in context.analysis.answer.comparisons
        if one.metric == "unaccounted_ms_per_tx" and one.step is None
    )
    below = replace(
        one, baseline_mean=3.85, level_mean=-1.51, difference=-5.36, ci95=(-9.55, -1.17),
        effect_pct=-139.2, ci95_pct=(-100.0, -30.3),
    )  # fmt: skip
    assert change(below) == "−5.36 ms"
    assert interval_of(below) == "−9.55 ms to −1.17 ms"
