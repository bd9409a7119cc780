"""Names and messages from outside do nothing where they are shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pgassay.report.brief.render import render_brief
from pgassay.report.formats.html import render_html
from pgassay.report.formats.junit import render_junit
from pgassay.report.formats.markdown import render_markdown
from pgassay.report.formats.openmetrics import render_openmetrics
from pgassay.report.inert import csv_cell, markdown_line, unlinked
from support.runs.command import pgassay
from support.synthetic.report_contexts import synthetic_context

QUESTION = (
    "/close \\u001b]0;title\\u0007 @everyone https://evil.example www.evil.example"
    " #17 !18 \\u009b2J"
)
SPEC = f"""
question = "{QUESTION}"
[factors.postgres]
search_path = ["@everyone", "HTTP://evil.example \\u001b[2J"]
[load]
clients = 8
step = "5s"
[design]
min_blocks = 2
max_blocks = 2
seed = 7
"""
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
LIVE = re.compile(r"@(?=everyone)|(?i:https?://|www\.)(?=evil)|[#!](?=1[78])")


def test_no_report_has_a_control_character_or_calls_or_links_for_a_name(tmp_path: Path) -> None:
    context = synthetic_context(tmp_path, SPEC)
    for render in (render_markdown, render_brief, render_html, render_junit, render_openmetrics):
        assert CONTROL.search(render(context)) is None
    for render in (render_markdown, render_brief):
        text = re.sub(r"```.*?```", "", render(context), flags=re.DOTALL)
        assert "everyone" in text
        assert [found[0] for found in LIVE.finditer(text)] == []
        assert re.search(r"^/close", text, re.MULTILINE) is None


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("max_wal_size = 1GB", "max_wal_size = 1GB"),
        ("# head", "\\# head"),
        ("- item", "\\- item"),
        ("-5", "-5"),
        ("1. first", "1. first"),
        ("/close", "/\u200bclose"),
        ("/var/lib/data", "/var/lib/data"),
        ("a $b$ `c`", "a \\$b\\$ \\`c\\`"),
        ("\x1b[2Jx", "\\\\u001b\\[2Jx"),
        ("jsonb @> '1'", "jsonb @&gt; '1'"),
        ("s3://lab/run", "s3://lab/run"),
    ],
)
def test_markdown_shows_a_line_as_it_was_written(written: str, shown: str) -> None:
    assert markdown_line(written) == shown


def test_what_divides_a_link_has_no_width() -> None:
    text = "see https://a.example or @me"
    assert unlinked(text) != text
    assert unlinked(text).replace("\u200b", "") == text


@pytest.mark.parametrize(
    "text", ["=1", " =1", "\u00a0=1", "+x", "-2+3", "@x", "\tx", "\rx", "\n=1"]
)
def test_a_cell_that_begins_like_a_formula_is_a_text(text: str) -> None:
    assert csv_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["-5", "+5", "-1.5", "a=1", "", "x-y"])
def test_a_number_and_a_plain_text_stay(text: str) -> None:
    assert csv_cell(text) == text


def test_an_error_of_a_script_sends_nothing_to_the_terminal(tmp_path: Path) -> None:
    mine = tmp_path / "mine\x1b[2J"
    mine.mkdir()
    (mine / "workload.toml").write_text('title = "t"\n[scenarios.a]\nfile = "a.sql"\n')
    (mine / "schema.sql").write_text("")
    (mine / "data.sql").write_text("")
    (mine / "a.sql").write_text("\\set x \x1b]0;title\x07 1 +\n")
    (tmp_path / "lab.toml").write_text('[workload]\nuse = "mine\\u001b[2J"\n')
    done = pgassay("plan", str(tmp_path / "lab.toml"))
    assert done.returncode == 1
    assert "a.sql" in done.stderr
    assert CONTROL.search(done.stderr) is None, done.stderr
