"""The Markdown of a report with its charts as files."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

from pgassay.report.formats.markdown import illustrated_markdown, render_markdown
from support.synthetic.report_contexts import HOSTILE_SPEC, synthetic_context


def test_every_chart_is_a_file_that_the_text_links_to(tmp_path: Path) -> None:
    context = synthetic_context(tmp_path, effects={"a2": 0.12})
    text, files = illustrated_markdown(context, "my report")
    links = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)
    assert [unquote(link) for link in links] == list(files)
    assert {"my report-effect.svg", "my report-throughput.svg", "my report-trials.svg"} <= {*files}
    for drawing in files.values():
        ElementTree.fromstring(drawing)  # noqa: S314 - our own drawing
        assert "max_wal_size" in drawing
    assert "![" not in render_markdown(context)


def test_names_that_are_markup_stay_words_in_pictures(tmp_path: Path) -> None:
    context = synthetic_context(tmp_path, HOSTILE_SPEC, effects={"a2": 0.1})
    _, files = illustrated_markdown(context, "report")
    for drawing in files.values():
        tags = {one.tag.rpartition("}")[2] for one in ElementTree.fromstring(drawing).iter()}  # noqa: S314
        assert not tags & {"script", "img"}
