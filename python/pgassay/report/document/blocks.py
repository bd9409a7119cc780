"""The blocks that sections are made of, each said once for all formats.

Enters: texts, tables, figures. Leaves: frozen values. Never: holds markup, or knows a format.

HTML shows every block. Text (Markdown, brief) shows all but `Key`, `Frame`, the drawing and caption
of a `Chart`, a `Fold` that is not `in_text`, and what is inside `PageOnly`. The terminal shows a
chart's label, no note and no `Fold` (cli/terminal/blocks.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pgassay.report.charts.style import ArmStyle
from pgassay.report.document.table import Table
from pgassay.report.document.text import Inline, Text, joined
from pgassay.report.svg.model import Figure


@dataclass(frozen=True)
class Paragraph:
    """One or several sentences."""

    text: Inline
    role: Literal["", "observed", "note", "pattern", "doubt"] = ""
    """`observed`: a sentence about this run; `note`: what figures mean, in smaller type;
    `pattern`: a finding under its title; `doubt`: a caveat beneath the verdict."""
    lead: Text = ()
    """What the paragraph begins with: a verdict's word, a title; formats add their own mark."""


@dataclass(frozen=True)
class Answer:
    """A verdict, at the top of a page."""

    badge: str
    tone: str
    """A class of style.css: better, worse, same, undecided, measured."""
    text: Inline
    limits: Inline = ""
    """Sentences on what limits the verdict, in smaller type."""
    one_of: int = 1
    """How many answers the page has."""

    @property
    def whole(self) -> Text:
        """Returns the answer's text, followed by its limits."""
        return joined(self.text, self.limits)


@dataclass(frozen=True)
class Heading:
    """The title of a part of a section."""

    text: Inline
    anchor: str = ""
    """The id of its HTML element."""


@dataclass(frozen=True)
class Items:
    """A list of sentences."""

    texts: Sequence[Inline]
    style: Literal["", "note", "method"] = ""
    anchor: str = ""

    def __bool__(self) -> bool:
        return bool(self.texts)


@dataclass(frozen=True)
class Facts:
    """Names, each with its value."""

    rows: Sequence[tuple[str, Inline]]
    form: Literal["values", "code", "sentences", "facts"] = "values"
    """Short values; names that are identifiers, in a fixed-width face; sentences; or what a reader
    of the page's top needs to weigh the answers."""

    def __bool__(self) -> bool:
        return bool(self.rows)


@dataclass(frozen=True)
class Chart:
    """A drawing, and what it shows in words."""

    name: str
    """Unique in a page."""
    figure: Figure
    label: str
    """Read out by screen readers."""
    caption: Inline
    """How to read it; empty where a later chart of the section has it."""
    has_table: bool = False
    """Whether the section has its numbers in a table; else HTML adds them, folded."""
    part: str = ""
    """What the name of its file ends with, where charts are files beside Markdown; by default
    nothing for the first of a section, and the chart's name for others."""


@dataclass(frozen=True)
class Key:
    """Which colour and symbol is which arm; shown where there are several."""

    arms: Sequence[ArmStyle]
    factors: Sequence[str] = ()
    """Names, which stand before the arms where there are several."""

    def __bool__(self) -> bool:
        return len(self.arms) > 1


@dataclass(frozen=True)
class Code:
    """Lines that are shown as they are."""

    text: str
    language: Literal["sh", "sql", "text", "toml"] = "text"


@dataclass(frozen=True)
class Frame:
    """A drawing that was made outside, such as a flame graph: it can run nothing."""

    svg: str
    title: str
    height: int
    """In hundredths of its width."""


@dataclass(frozen=True)
class Fold:
    """Blocks that HTML hides until its summary is pressed."""

    summary: Inline
    blocks: Sequence[Block | None]
    is_open: bool = False
    printed: bool = False
    """Whether it is opened on paper."""
    in_text: bool = False
    """Whether Markdown shows the blocks, beneath the summary."""
    in_details: bool = False
    """Whether Markdown shows them folded, as the views of pull requests do."""


@dataclass(frozen=True)
class Group:
    """Blocks that belong together."""

    blocks: Sequence[Block | None]
    style: str = ""
    """A class of style.css: `columns` stand side by side, a `wide` one over all of them."""


@dataclass(frozen=True)
class PageOnly:
    """Blocks that help only beside a drawing, or repeat what text shows in another way."""

    blocks: Sequence[Block | None]


Block = (
    Answer
    | Paragraph
    | Heading
    | Items
    | Facts
    | Table
    | Chart
    | Key
    | Code
    | Frame
    | Fold
    | Group
    | PageOnly
)


def note(*texts: Inline | int | None) -> Paragraph:
    """Makes a paragraph of what figures mean, in smaller type, without texts that are empty."""
    return Paragraph(joined(*texts), "note")


def observed(texts: Iterable[str]) -> Iterator[Paragraph]:
    """Sentences about this run, each a paragraph."""
    return (Paragraph(text, "observed") for text in texts)
