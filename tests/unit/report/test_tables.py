"""Views of facts: what a cell shows and the raw value beneath it; columns are named, not titled."""

from __future__ import annotations

from dataclasses import dataclass

from pgassay.report.document.table import Absent, Cell, column, view


@dataclass(frozen=True)
class _Estimate:
    effect_pct: float | None


@dataclass(frozen=True)
class _Fact:
    level: str
    estimate: _Estimate


COLUMNS = (
    column("level", "Level compared", lambda fact: Cell(fact.level, "word"), "heading"),
    column("estimate.effect_pct", "Change", lambda fact: f"{fact.estimate.effect_pct or 0:.1f} %"),
    column("remark", "Remark", lambda _: Absent("–"), "text"),
)
FACTS = (_Fact("on", _Estimate(1.23456)), _Fact("off", _Estimate(None)))


def test_a_cell_of_a_view_has_the_text_its_column_writes_and_the_unrounded_value() -> None:
    found = view(COLUMNS, FACTS)
    assert found.column("estimate.effect_pct") == ("1.2 %", "0.0 %")
    assert list(found.values()) == [("on", 1.23456, None), ("off", None, None)]
    assert found.rows[0].cells[0].style == "word"


def test_a_fact_may_be_a_row_of_a_file() -> None:
    found = view(
        (column("write_s", "Write", lambda row: f"{row['write_s']:.0f}"),), [{"write_s": 2.5}]
    )
    assert list(found.values()) == [(2.5,)]


def test_columns_are_left_out_by_their_names_whatever_their_titles_say() -> None:
    found = view(COLUMNS, FACTS)
    assert [one.name for one in found.only_if(level=False, remark=True).columns] == [
        "estimate.effect_pct",
        "remark",
    ]
    assert [one.name for one in found.filled().columns] == ["level", "estimate.effect_pct"]
    assert found.filled("level") == found


def test_a_cell_is_left_out_where_it_repeats_the_one_above_and_not_where_it_only_looks_so() -> None:
    columns = (column("mean", "Mean", lambda fact: f"{fact['mean']:.1f}", merges=True),)
    found = view(columns, [{"mean": 1.21}, {"mean": 1.21}, {"mean": 1.19}])
    assert [row[0] for _, row in found.grouped()] == ["1.2", "", "1.2"]
