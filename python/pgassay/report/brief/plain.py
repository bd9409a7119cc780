"""Blocks as plain lines.

Enters: blocks, and lines that are made already. Leaves: lines. Never: aligns, which costs
characters and breaks in e-mail; shows notes (`parts.toml` says once what words mean), or a setting
that may hold a secret.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import assert_never

from pgassay.language import clauses, colon, decimals
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
from pgassay.report.document.section import shown
from pgassay.report.document.table import Cell, Table
from pgassay.report.document.text import Inline, plain_text
from pgassay.spec.secrets.redaction import shown_of

_WIDTH = 160
"""Of a line of several names: short enough to be left out by itself."""
Part = Iterable[Block | str | None]


def plain_lines(part: Part) -> list[str]:
    """The lines of blocks; what HTML folds and Markdown leaves out is left out."""
    lines: list[str] = []
    for block in part:
        if isinstance(block, str):
            lines.append(block)
        elif block:
            lines += _lines(block)
    return lines


def _lines(block: Block) -> Iterator[str]:
    match block:
        case Answer():
            yield f"{block.badge}{colon()}{plain_text(block.whole)}"
        case Paragraph() if block.role != "note":
            lead = "".join(f"{span.text}{colon()}" for span in block.lead)
            is_item = lead or block.role in ("observed", "pattern")
            yield f"{'- ' if is_item else ''}{lead}{plain_text(block.text)}"
        case Heading():
            yield _titled(block.text)
        case Items():
            yield from (f"- {plain_text(text)}" for text in block.texts)
        case Facts(form="sentences"):
            yield from (f"- {name}{colon()}{plain_text(value)}" for name, value in block.rows)
        case Facts():
            yield from pair_lines("", _pairs(block))
        case Table():
            yield from _table(block)
        case Code():
            yield from (line for line in block.text.splitlines() if line.strip())
        case Group(blocks=(Heading(text=title), Facts(form="values" | "code") as facts)):
            yield from pair_lines(plain_text(title), _pairs(facts))
        case Group():
            yield from plain_lines(shown(block.blocks))
        case Fold() if block.in_text:
            yield _titled(block.summary)
            yield from plain_lines(shown(block.blocks))
        case Paragraph() | Fold() | Chart() | Key() | Frame() | PageOnly():
            pass
        case _:
            assert_never(block)


def _table(table: Table) -> Iterator[str]:
    """A line of titles, and one for each row; groups stand above their rows, as in HTML.

    A value that repeats the one above it is written again: a reader of plain text may see few rows.
    """
    table = table.filled()
    yield " | ".join(str(one.full_title or one.title) for one in table.ungrouped().columns)
    for group, row in table.grouped(merges=False):
        if group:
            yield _titled(group)
        yield " | ".join(map(_cell, row.cells))


def _titled(text: Inline) -> str:
    return f"{plain_text(text)}{colon().rstrip()}"


def _cell(cell: Cell) -> str:
    return clauses((str(cell.text), str(cell.note))) if cell.note else str(cell.text)


def _pairs(facts: Facts) -> Iterator[tuple[str, str]]:
    return ((name, shown_of(name, plain_text(value))) for name, value in facts.rows)


def pair_lines(title: str, pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Names with their values in lines of a limited width, the first with the title."""
    lines, end = [f"{title}{colon()}" if title else ""], clauses(("", ""))
    begins = lines[0]
    for name, value in pairs:
        text = f"{name} = {value}{end}"
        if len(lines[-1]) + len(text) > _WIDTH and lines[-1] != begins:
            lines.append("  ")
        lines[-1] += text
    return [line.rstrip(f"{end} ") for line in lines]


def number_lines(
    title: str, values: Mapping[str, float], units: Mapping[str, str] | None = None
) -> list[str]:
    """Names with numbers of four digits and their units; no line without values."""
    shown = {
        name: f"{decimals(value, '.4g')} {(units or {}).get(name, '')}".strip()
        for name, value in values.items()
    }
    return pair_lines(title, shown.items()) if shown else []
