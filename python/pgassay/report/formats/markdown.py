"""The report as Markdown, to paste into a mail or a pull request.

Enters: the context. Leaves: Markdown that reads well as plain text, and on request its charts as
SVG files. Never: writes a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import assert_never
from urllib.parse import quote

from pgassay.language import clauses, colon
from pgassay.report.charts.style import ArmStyle, arm_styles, side_styles
from pgassay.report.context import AnyContext, ApartContext
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
from pgassay.report.document.section import Blocks, Section, shown
from pgassay.report.document.table import Row, Table
from pgassay.report.document.text import Inline, Span, Text, spans_of
from pgassay.report.inert import markdown_line, shown_lines
from pgassay.report.page import page_of
from pgassay.report.svg.draw import WIDE_PX, draw
from pgassay.report.svg.model import Figure

_AROUND_PX = 16
"""White around a picture, which may stand on a dark page."""


@dataclass
class Pictures:
    """The charts of a report as SVG files beside its Markdown, collected while it is rendered."""

    stem: str
    """What their names begin with."""
    arms: Sequence[tuple[str, str]] = ()
    """Names and colours of the key."""
    files: dict[str, str] = field(default_factory=dict)
    """Name → SVG."""

    def link(self, section: Section, figure: Figure, part: str = "") -> str:
        """A link to one chart; the first of a section has its name, others also their own."""
        name = f"{self.stem}-{section.anchor}{f'-{part}' if part else ''}.svg"
        title = section.title
        key = self.arms if figure.has_arms else ()
        self.files[name] = draw(figure, WIDE_PX, section.anchor, title, key, _AROUND_PX)
        return f"![{markdown_line(title)}]({quote(name)})"


def render_markdown(context: AnyContext, pictures: Pictures | None = None) -> str:
    """The whole text; a section without any text and picture is left out."""
    page = page_of(context)
    parts = [f"# {markdown_line(page.title)}", markdown_of(page.top)]
    for one in page.sections:
        if body := _Writer(one.section, pictures).text(one.blocks):
            said = f"{_inline(one.summary.note)}\n\n" if one.summary else ""
            parts.append(f"## {markdown_line(one.section.title)}\n\n{said}{body}")
    parts.append(f"pgassay {markdown_line(page.version)}")
    text = "\n\n".join(parts)
    return re.sub(r"\n{3,}", "\n\n", shown_lines(text)).strip() + "\n"


def illustrated_markdown(context: AnyContext, stem: str) -> tuple[str, dict[str, str]]:
    """The text with links to its charts, and these as SVG files by their names."""
    pictures = Pictures(stem, [(one.short, one.colour) for one in _styles_of(context)])
    return render_markdown(context, pictures), pictures.files


def markdown_of(blocks: Blocks) -> str:
    """Renders blocks without the pictures of their charts."""
    return _Writer(None, None).text(blocks)


@dataclass
class _Writer:
    """The blocks of one section as Markdown."""

    section: Section | None
    pictures: Pictures | None
    charts: int = 0

    def text(self, blocks: Blocks) -> str:
        """Paragraphs apart, items of a list close together."""
        written = ""
        for part in self._parts(blocks, "###"):
            tight = written.rpartition("\n")[2].startswith("- ") and part.startswith("- ")
            written += ("\n" if tight else "\n\n") * bool(written) + part
        return written

    def _parts(self, blocks: Blocks, level: str) -> Iterator[str]:
        """Yields the text of each part; `level` is the mark of a heading, such as `###`, and empty
        inside of an item of a list."""
        above: Block | None = None
        for block in shown(blocks):
            match block:
                case Answer():
                    badge = markdown_line(block.badge.upper())
                    yield f"**{badge}** {_inline(block.whole)}"
                case Paragraph():
                    yield _paragraph(block)
                case Heading():
                    yield f"{level} {_inline(block.text)}"
                case Items():
                    yield from (f"- {_inline(text)}" for text in block.texts)
                case Facts():
                    for name, value in block.rows:
                        yield f"- {markdown_line(name)}{colon()}{_inline(value)}"
                case Table():
                    yield _table(block)
                case Code():
                    fence = _fence(block.text)
                    yield f"{fence}{block.language}\n{block.text}\n{fence}"
                case Group():
                    yield from self._parts(block.blocks, level)
                case Fold() if block.in_text and not block.in_details:
                    of_item = not level or (
                        isinstance(above, Paragraph) and above.role == "pattern"
                    )
                    if body := list(self._parts(block.blocks, "" if of_item else f"{level}#")):
                        summary = _inline(block.summary)
                        yield f"{summary}{colon().strip()}" if of_item else f"{level} {summary}"
                        yield from body
                case Fold() if block.in_details:
                    summary = _inline(block.summary)
                    yield f"<details><summary>{summary}</summary>"
                    yield from self._parts(block.blocks, level)
                    yield "</details>"
                case Chart():
                    yield from self._picture(block)
                case Fold() | PageOnly():
                    yield from (link for one in _charts(block) for link in self._picture(one))
                case Key() | Frame():
                    pass
                case _:
                    assert_never(block)
            above = block

    def _picture(self, chart: Chart) -> Iterator[str]:
        if self.pictures and self.section:
            part = chart.part or (chart.name if self.charts else "")
            self.charts += 1
            yield self.pictures.link(self.section, chart.figure, part)


def _charts(block: Block) -> Iterator[Chart]:
    """Those inside a block that text leaves out."""
    if isinstance(block, Chart):
        yield block
    elif isinstance(block, Fold | Group | PageOnly):
        for one in shown(block.blocks):
            yield from _charts(one)


def _paragraph(block: Paragraph) -> str:
    """A finding is an item of a list, with what it begins with in front."""
    text = _inline(block.text)
    if block.lead:
        lead = " ".join(_span(one) for one in block.lead)
        return f"- {lead}{colon()}{text}"
    return f"- {text}" if block.role in ("observed", "pattern") else text


def _inline(text: Inline) -> str:
    return "".join(map(_span, _merged(spans_of(text))))


def _merged(spans: Text) -> Iterator[Span]:
    """Plain spans that follow each other as one, so that what they make together is escaped."""
    plain = ""
    for one in spans:
        if one.kind in ("plain", "interval") and not one.link:
            plain += one.text
            continue
        if plain:
            yield Span(plain)
        plain = ""
        yield one
    if plain:
        yield Span(plain)


def _span(span: Span) -> str:
    text = span.text
    before, after = (" " if text[at : at + 1 or None].isspace() else "" for at in (0, -1))
    literal = markdown_line(text)
    match "bold" if span.link else span.kind:
        case "bold" | "word":
            return f"**{literal}**"
        case "confidence":
            return f"({literal})"
        case "code" if "`" not in text:
            return f"`{' '.join(text.split())}`"
    return f"{before}{literal}{after}"


def _table(table: Table) -> str:
    titles = (markdown_line(one.full_title or one.title) for one in table.columns)
    sides = ("--:" if one.form == "number" else ":--" for one in table.columns)
    return "\n".join(
        (
            _line(titles),
            f"|{'|'.join(sides)}|",
            *(_line(_cells(row)) for row in table.rows),
        )
    )


def _cells(row: Row) -> Iterator[str]:
    for cell in row.cells:
        said = (cell.text, cell.note) if cell.note else (cell.text,)
        yield clauses(map(markdown_line, said))


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _styles_of(context: AnyContext) -> Iterable[ArmStyle]:
    """Of what the key names: arms, or the sides of a comparison; where there are several."""
    if isinstance(context, ApartContext):
        return side_styles(side.name for side in context.analysis.sides).values()
    plan = getattr(context, "plan", None)
    return arm_styles(plan.arms).values() if plan is not None and len(plan.arms) > 1 else ()


def _fence(text: str) -> str:
    """A fence for a code block: more backticks than the text has in a row."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    return "`" * max(3, longest + 1)
