"""Each class of block in each format: what is shown, in which order, and that values are no markup.

After a wanted change, `renderings` takes the lines that the test shows; blank ones are left out.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pgassay.cli.terminal.blocks import print_blocks
from pgassay.cli.terminal.console import out
from pgassay.report.brief.plain import plain_lines
from pgassay.report.charts.style import side_styles
from pgassay.report.document.blocks import (
    Answer,
    Block,
    Chart,
    Code,
    Facts,
    Fold,
    Frame,
    Group,
    Heading,
    Items,
    Key,
    PageOnly,
    Paragraph,
    note,
)
from pgassay.report.document.table import Cell, Column, table
from pgassay.report.document.text import Span, joined, said, word
from pgassay.report.formats.html import html_of
from pgassay.report.formats.markdown import markdown_of
from pgassay.report.svg.model import Figure

SNAPSHOTS = Path(__file__).parent / "renderings"
HOSTILE = "<b>*x*</b>{n}"

TABLE = table(
    (
        Column("Level", "group", name="level"),
        Column("Metric", "heading", merges=True),
        Column("Short", "text", full_title="The whole title", name="short"),
        Column("Change"),
    ),
    (
        (HOSTILE, "tps", Cell("better", "word better"), "+5 %"),
        (HOSTILE, "tps", Cell("same", note="in a note"), Cell("0 %", swatch="#123456")),
        ("other", "p99", "|", "–"),
    ),
)
BLOCKS: tuple[Block, ...] = (
    Answer(
        "better",
        "better",
        (Span("A "), Span("(95 % CI 1 to 2 %)", "interval"), Span(" <b>.")),
        "But (95 % of runs).",
        2,
    ),
    Paragraph(said("<b>Could change the verdict:</b> {doubt}", doubt=HOSTILE), "doubt"),
    Facts([("Load", "8 clients"), ("Measurement", (Span("1 caveat", link="#caveats"),))], "facts"),
    Heading("A title", "title"),
    Paragraph("It depends.", lead=(word("undecided", "undecided"),)),
    Paragraph("Text.", "pattern", (Span("Pattern", "bold"),)),
    Paragraph("± 5 % at 2 servers.", "observed"),
    note("One.", False, said("Run <code>{command}</code>.", command=HOSTILE)),
    Items([HOSTILE, joined("Two", "words.")], "method", "items"),
    Facts([("fsync", "on")], "code"),
    TABLE,
    Key(tuple(side_styles(("old", HOSTILE)).values()), ("first", "second")),
    Chart("empty", Figure([]), "What it shows", said("How to read {it}.", it=HOSTILE), True),
    Code("SELECT '```';", "sql"),
    Fold("Left out of text", [note("Folded.")], is_open=True, printed=True),
    Fold("In text", [TABLE.only_if(level=False, short=False)], in_text=True),
    Group([Heading("Host"), Facts([("cpus", "2")])], "wide"),
    PageOnly([note("Beside a drawing.")]),
    Frame("<svg/>", "A flame graph", 40),
)


def on_terminal(blocks: tuple[Block, ...]) -> str:
    """As it goes into a pipe."""
    with out.capture() as printed:
        print_blocks(blocks)
    return "\n".join(line.rstrip() for line in printed.get().splitlines())


def test_headings_in_a_fold_are_below_its_title_unless_it_belongs_to_a_finding() -> None:
    fold = Fold("Disks", [Heading("sda"), Items(["busy"])], in_text=True)
    assert markdown_of((fold,)) == "### Disks\n\n#### sda\n\n- busy"
    finding = Paragraph("It waits.", "pattern", (Span("Disk", "bold"),))
    evidence = Fold("Evidence", [Items(["9 ms"])], in_text=True)
    assert markdown_of((finding, evidence)) == "- **Disk**: It waits.\n\nEvidence:\n\n- 9 ms"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("blocks.html", lambda: str(html_of(BLOCKS))),
        ("blocks.md", lambda: markdown_of(BLOCKS)),
        ("blocks.terminal", lambda: on_terminal(BLOCKS)),
        ("blocks.txt", lambda: "\n".join(plain_lines(BLOCKS))),
    ],
)
def test_a_block_of_each_class_is_shown_as_agreed(name: str, shown: object) -> None:
    text = shown()  # type: ignore[operator]
    lines = [line for line in text.splitlines() if line.strip()]
    assert lines == (SNAPSHOTS / name).read_text("utf-8").splitlines()
