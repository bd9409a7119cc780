"""Views of facts: what a cell shows and the raw value beneath it; columns are named, not titled."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pgassay.report.data_tables.model import table_of
from pgassay.report.document.table import Absent, Cell, Table, column, table, view
from pgassay.report.sections.run_parts import RUN_SECTIONS
from pgassay.report.tables.cells import ABSENT
from support.blocks import every
from support.synthetic.report_contexts import synthetic_context


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


def test_rows_of_which_every_figure_is_zero_are_told_apart() -> None:
    columns = (column("of", "Of", str, "heading"), column("a", "A", str), column("b", "B", str))
    nothing = Cell("0", value=0.0)
    rows = (("x", nothing, Cell("0", value=0)), ("y", nothing, Cell(ABSENT)))
    left, zeros = table(columns, rows).without_zeros()
    assert [row[0] for row in left.rows] == ["y"]
    assert [row[0] for row in zeros] == ["x"]


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


def test_a_table_of_data_is_a_view_of_the_same_facts_by_the_paths_of_its_list() -> None:
    columns = {one.name: one.path for one in table_of("trends", ()).columns}
    assert columns["effect_pct"] == "estimate.effect_pct"
    assert columns["ci95_high_pct"] == "estimate.ci95_pct.1"
    assert columns["factor"] == "factor"


def test_every_figure_of_a_report_has_the_raw_value_that_it_was_written_from(
    tmp_path: Path,
) -> None:
    context = synthetic_context(tmp_path, effects={"a2": 0.1})
    figures = [
        (section.name, column.title, cell.value)
        for section in RUN_SECTIONS
        if not section.name.startswith("classic")  # its labels are words
        for table in every(section.blocks(context), Table)
        for row in table.rows
        for column, cell in zip(table.columns, row.cells, strict=True)
        if column.form == "number" and cell.text not in ("", ABSENT)
    ]
    assert len(figures) > 200
    assert not [name for *name, value in figures if value is None]
