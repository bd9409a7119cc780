"""A report on a set of queries: the verdict of each, why its plan changed, the set in one line."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from pgassay.analysis.gates.grammar import parse_gates
from pgassay.analysis.gates.judge import judge_gates
from pgassay.analysis.queries.model import CostChange
from pgassay.cli.terminal.summary import summary_blocks
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Chart, Fold, Group, Items, Paragraph
from pgassay.report.document.table import Table
from pgassay.report.document.text import plain_text
from pgassay.report.formats.html import render_html
from pgassay.report.formats.markdown import render_markdown
from pgassay.report.objects.analysis import render_json
from pgassay.report.sections.queries import verdicts
from pgassay.report.sections.queries.plans import plans
from support.blocks import every
from support.notes import values_in
from support.synthetic.plans import plan, scan
from support.synthetic.queries import with_queries
from support.synthetic.report_contexts import synthetic_context

SLOW, FAST = plan(scan("item", Filter="(a > 7)")), plan(scan("item", "by_a", Index_Cond="(a > 7)"))
CHANGES = {f"q{at}": 0.0 for at in range(1, 15)} | {"q7": 0.31, "q9": -0.5}


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> ReportContext:
    plain = synthetic_context(tmp_path_factory.mktemp("queries"))
    return with_queries(plain, CHANGES, {"q9": (SLOW, FAST)}, failing="q14")


def test_a_query_that_returns_other_rows_says_so_beside_its_verdict(context: ReportContext) -> None:
    found = context.analysis.queries
    assert found is not None
    table = verdicts.query_table([replace(one, answers_differ=True) for one in found.effects[:1]])
    ((_, verdict, *_),) = (row.cells for row in table.rows)
    assert verdict.note.endswith("returns other rows")


def test_of_many_queries_the_worst_and_the_best_are_open_and_the_others_folded(
    context: ReportContext,
) -> None:
    blocks = list(verdicts.verdicts.blocks(context))
    table, between = every(blocks, Table)
    shown = table.column("query")
    assert (shown[:2], shown[-1]) == (("q14", "q7"), "q9")
    assert (len(table), len(between)) == (10, 4)
    assert not set(shown) & set(between.column("query"))
    (fold,) = every(blocks, Fold)
    assert fold.in_details
    assert plain_text(fold.summary).startswith("4 ")
    last = table.rows[-1]
    assert last.cells[-1].note == "uses index by_a for item (Index Scan in place of Seq Scan)"
    assert table.column("plan")[-2:] == ("same", "changed")
    assert re.match(r"902 → 452|903 → 453", table.column("blocks")[-1])
    (failed,) = (row for row in table.rows if row[0] == "q14")
    assert "57014" in " ".join(cell.note for cell in failed.cells)
    (chart,) = every(blocks, Chart)
    (panel,) = chart.figure.panels
    assert [name for _, name in panel.y.ticks or ()][:2] == ["q9", "q7"]
    assert len(panel.y.ticks or ()) == 13  # a query that failed has no change to draw


def test_costs_that_differ_have_a_column_and_percentiles_have_one_where_they_are_known(
    context: ReportContext,
) -> None:
    assert context.analysis.queries is not None
    first, *others = context.analysis.queries.effects
    costs = {
        "p95": CostChange(0.5, 0.25, -50.0, (-60.0, -40.0), differs=True),
        "wal_bytes": CostChange(0.0, 8192.0, None, None, differs=True),
        "rows": CostChange(7.0, 7.0, 0.0, (0.0, 0.0)),
    }
    changed = replace(first, cost_changes={**first.cost_changes, **costs})
    table = verdicts.query_table([changed, *others])
    assert table.column("p95")[0] == "0.500 → 0.250"
    assert table.column("wal_bytes")[0] == "0 B → 8.0 kB"
    assert not {"rows", "dirtied", "planning_ms"} & {one.name for one in table.columns}


def test_a_changed_plan_stands_beside_the_other_with_its_reason(context: ReportContext) -> None:
    (fold,) = every(plans.blocks(context), Fold)
    (reasons,) = every([fold], Items)
    assert [str(one) for one in reasons.texts] == [
        "uses index by_a for item (Index Scan in place of Seq Scan)"
    ]
    assert len(every([fold], Group)) == 3
    text = render_markdown(context)
    assert "<details><summary>q9</summary>" in text
    assert "▶ Index Scan using by_a on item" in text
    assert '<div id="query-plans">' in render_html(context)
    assert '"analysis/plans/index-used"' in render_json(context)


def test_gates_come_before_the_queries_and_their_plans(context: ReportContext) -> None:
    gates = judge_gates(parse_gates(["*.mean<+20%"]), context.analysis.answer)
    text = render_markdown(replace(context, gates=gates))
    assert text.index("## Gates") < text.index("## Every query") < text.index("## Plans of queries")


def test_the_worst_query_is_named_with_its_change(tmp_path: Path) -> None:
    found = with_queries(synthetic_context(tmp_path), CHANGES)
    (row,) = found.ending.rows
    assert values_in(row.queries)["findings/answer/worst-query"]["query"] == "q7"


def test_the_end_of_a_run_counts_verdicts_and_names_the_worst(context: ReportContext) -> None:
    blocks = list(summary_blocks(context))
    said = [plain_text(one.text) for one in blocks if isinstance(one, Paragraph)]
    counts = [one for one in said if one.startswith("better 1, worse ")]
    assert len(counts) == 1
    assert counts[0].endswith("; worst: q14, which fails")
    tables = [one for one in blocks if isinstance(one, Table) and one.columns[0].name == "query"]
    assert [len(one) for one in tables] == [10]
