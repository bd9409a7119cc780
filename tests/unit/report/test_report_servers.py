"""A report on several servers says what each is, and where they differ besides the factor."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from pgassay.analysis.analyse import answer_of
from pgassay.analysis.model import Analysis
from pgassay.report.document.blocks import Fold, Paragraph
from pgassay.report.document.table import Table
from pgassay.report.document.text import plain_text
from pgassay.report.formats.html import render_html
from pgassay.report.formats.markdown import render_markdown
from pgassay.report.sections.record.servers import servers
from pgassay.workflows.reporting import analyse_run
from support.blocks import every
from support.synthetic.directories import synthetic_run
from support.synthetic.report_contexts import with_facts

HOSTILE = "18 <b>|'\"ü"
ENVIRONMENT: dict[str, Any] = {
    "server": {"version": "PostgreSQL 16.14"},
    "servers": {
        "16": {"version": "PostgreSQL 16.14", "build": "PostgreSQL 16.14 on x86_64, by gcc"},
        HOSTILE: {"version": "PostgreSQL 18.4", "build": "PostgreSQL 18.4 on x86_64, by gcc"},
    },
    "settings_that_differ": {"data_checksums": {"16": "off", HOSTILE: "on"}},
    "settings_of_some": {"16": [], HOSTILE: ["io_method"]},
    "data": {
        "shop at scale 1": {
            "16": {"public.item": {"rows": 1000, "checksum": "5"}, "public.t": {"rows": 1}},
            HOSTILE: {"public.item": {"rows": 1000, "checksum": "6"}, "public.t": {"rows": 1}},
        }
    },
}


def test_each_server_has_a_column_and_rows_that_differ_show_checksums(tmp_path: Path) -> None:
    context = with_facts(analyse_run(synthetic_run(tmp_path)[0]), environment=ENVIRONMENT)
    shown = servers.blocks(context)
    (found,) = every(shown, Table)
    assert [tuple(cell.text for cell in row.cells) for row in found.rows] == [
        ("version()", "PostgreSQL 16.14 on x86_64, by gcc", "PostgreSQL 18.4 on x86_64, by gcc"),
        (
            "shop at scale 1: public.item",
            "1\u202f000 rows, checksum 5",
            "1\u202f000 rows, checksum 6",
        ),
        ("shop at scale 1: public.t", "1 row", "1 row"),
        ("data_checksums", "off", "on"),
    ]
    (lacking,) = every(shown, Fold)
    assert HOSTILE in plain_text(lacking.summary)
    assert [plain_text(one.text) for one in every(lacking.blocks, Paragraph)] == ["io_method"]
    assert not servers.blocks(with_facts(context, environment={"server": {}}))
    page = render_html(context)
    assert "PostgreSQL 16.14 · PostgreSQL 18.4" in page
    assert "18 &lt;b&gt;|" in page
    assert "18 <b>" not in page
    assert r"| 16 | 18 &lt;b&gt;\|'" in render_markdown(context)


def test_a_metric_that_one_arm_lacks_is_reported_and_not_compared(tmp_path: Path) -> None:
    context = analyse_run(synthetic_run(tmp_path)[0])
    first = context.plan.arms[0]
    trials = [
        replace(t, whole=replace(t.whole, values=_without(t.whole.values, "wal_fpi_per_tx")))
        if t.arm == first.id
        else t
        for t in context.analysis.answer.trials
    ]
    found = Analysis(answer_of(context.question, context.plan, trials))
    assert "wal_fpi_per_tx" not in {c.metric for c in found.answer.comparisons}
    (caveat,) = [one.text for one in found.warnings if one.kind == "not-measured"]
    assert caveat.endswith(f"was not measured for {first.label}, so it is not compared")


def _without(values: Any, name: str) -> dict[str, float]:
    return {key: value for key, value in values.items() if key != name}
