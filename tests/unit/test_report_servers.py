"""A report on several servers says what each is, and where they differ without being asked to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from pgassay.analysis.analyse import analyse
from pgassay.pipeline import analyse_run
from pgassay.report.html import render_html
from pgassay.report.markdown import render_markdown
from pgassay.report.servers import server_table
from support.synthetic import synthetic_run

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


def test_each_server_has_a_column_and_rows_that_differ_their_checksums() -> None:
    table = server_table(ENVIRONMENT)
    assert table is not None
    assert table.names == ("16", HOSTILE)
    assert table.settings == (("data_checksums", ("off", "on")),)
    assert table.data == (
        (
            "shop at scale 1: public.item",
            ("1\u202f000 rows, checksum 5", "1\u202f000 rows, checksum 6"),
        ),
        ("shop at scale 1: public.t", ("1 rows", "1 rows")),
    )
    assert table.only == ((HOSTILE, "io_method"),)
    assert server_table({"server": {}}) is None


def test_a_servers_name_is_text_wherever_it_is_shown(tmp_path: Path) -> None:
    context = replace(analyse_run(synthetic_run(tmp_path)[0]), environment=ENVIRONMENT)
    page = render_html(context)
    assert "PostgreSQL 16.14 · PostgreSQL 18.4" in page
    assert "PostgreSQL 18.4 on x86_64, by gcc" in page
    assert "18 &lt;b&gt;|" in page
    assert "18 <b>" not in page
    assert r"| 16 | 18 &lt;b&gt;\|'" in render_markdown(context)


def test_a_measure_that_one_arm_lacks_is_told_and_not_compared(tmp_path: Path) -> None:
    context = analyse_run(synthetic_run(tmp_path)[0])
    first = context.plan.arms[0]
    trials = [
        replace(t, whole=replace(t.whole, values=_without(t.whole.values, "wal_fpi_per_tx")))
        if t.arm == first.id
        else t
        for t in context.analysis.trials
    ]
    found = analyse(context.question, context.plan, trials)
    assert "wal_fpi_per_tx" not in {c.metric for c in found.comparisons}
    (told,) = [doubt.text for doubt in found.warnings if doubt.kind == "not-measured"]
    assert told.endswith(f"is not known for {first.label}, so it is not compared")


def _without(values: Any, name: str) -> dict[str, float]:
    return {key: value for key, value in values.items() if key != name}
