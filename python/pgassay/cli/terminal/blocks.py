"""The blocks of a report on a terminal.

Enters: blocks. Leaves: lines on stdout. Never: lets a text steer the terminal.

Of a chart its words are shown; notes on what figures mean, and what HTML folds, are left to the
report. A table of many rows is cut; what it lacks, and the titles of folds, are named below.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Literal, assert_never

from rich.measure import Measurement
from rich.table import Table as Grid

from pgassay.cli.terminal.console import counted, labelled, out, plain, printable_lines
from pgassay.language import clauses, colon, tr
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
)
from pgassay.report.document.section import Blocks, shown
from pgassay.report.document.table import Cell, Table
from pgassay.report.document.text import Inline, Span, plain_text

_COLOURS = {
    "better": "green",
    "worse": "red",
    "undecided": "yellow",
    "same": "cyan",
    "measured": "cyan",
}
"""Tone of an answer or of a word → its colour."""
_BADGE = 11
"""Columns of the longest verdict."""
_MOST_ROWS = 40
_NO_LIMIT = 10_000
"""Columns, more than any table needs."""


def print_blocks(blocks: Blocks) -> None:
    """Prints blocks; what is left out is named before the next heading, and at the end."""
    left_out: dict[str, None] = {}
    above: Block | None = None
    for block in _leaves(blocks):
        if isinstance(block, Heading):
            _print_left_out(left_out)
        if above is not None and _is_apart(block, above):
            out.print()
        left_out |= dict.fromkeys(_print(block))
        above = block
    _print_left_out(left_out)


def _leaves(blocks: Blocks) -> Iterator[Block]:
    for block in shown(blocks):
        if isinstance(block, Group):
            yield from _leaves(block.blocks)
        else:
            yield block


def _is_apart(block: Block, above: Block) -> bool:
    """Whether a blank line stands between a block and the one above it."""
    if isinstance(block, Heading):
        return not isinstance(above, Heading)
    return isinstance(block, Table) and isinstance(above, Table)


def _print_left_out(titles: dict[str, None]) -> None:
    if titles:
        said = tr("in the report: {titles}", titles=clauses(list(titles)))
        out.print(f"[dim]{plain(said)}[/dim]")
        titles.clear()


def _print(block: Block) -> Iterator[str]:
    """Prints one block; yields titles of what it leaves out."""
    match block:
        case Answer():
            _print_labelled(f"{block.badge.upper() + ' ':<{_BADGE}} ", block.whole, block.tone)
        case Paragraph() if block.role != "note":
            lead = " ".join(map(_lead, block.lead)) + colon() if block.lead else ""
            _print_labelled(lead, block.text, block.lead[0].tone if block.lead else "")
        case Heading():
            out.print(f"[bold]{plain(plain_text(block.text))}[/bold]")
        case Items():
            for text in block.texts:
                labelled("- ", plain_text(text), "yellow")
        case Facts():
            for name, value in block.rows:
                labelled(f"{name}{colon()}", plain_text(value))
        case Chart():
            labelled("", block.label)
        case Table():
            _print_table(block)
            if (more := len(block) - _MOST_ROWS) > 0:
                yield counted(more, "more row")
        case Code():
            out.print(printable_lines(block.text), markup=False)
        case Fold():
            yield plain_text(block.summary)
        case Paragraph() | Group() | Key() | Frame() | PageOnly():
            pass
        case _:
            assert_never(block)


def _print_labelled(label: str, text: Inline, tone: str) -> None:
    labelled(label, plain_text(text), f"bold {_COLOURS.get(tone, '')}".rstrip())


def _print_table(table: Table) -> None:
    """Columns; where the terminal is too narrow for them each row is a line of its values."""
    own = table.ungrouped().columns
    groups = [one for one in table.columns if one.form == "group"]
    grid = Grid(box=None, padding=(0, 2, 0, 0))
    for column in (*groups, *own):
        justify: Literal["right", "left"] = "right" if column.form == "number" else "left"
        grid.add_column(plain(column.title), justify=justify)
    for group, row in islice(table.grouped(), _MOST_ROWS):
        grid.add_row(*([plain(group)] if groups else ()), *map(_cell, row.cells))
    if Measurement.get(out, out.options.update(max_width=_NO_LIMIT), grid).maximum <= out.width:
        out.print(grid)
        return
    titles = [one.title for one in table.columns]
    for row in table.rows[:_MOST_ROWS]:
        pairs = zip(titles, map(_words, row.cells), strict=True)
        labelled("- ", clauses(f"{title} {words}" for title, words in pairs))


def _cell(cell: Cell) -> str:
    text = plain(_words(cell))
    colour = next((_COLOURS[one] for one in cell.style.split() if one in _COLOURS), "")
    return f"[{colour}]{text}[/]" if colour else text


def _words(cell: Cell) -> str:
    return clauses((cell.text, cell.note)) if cell.note else cell.text


def _lead(span: Span) -> str:
    return f"({span.text})" if span.kind == "confidence" else span.text
