"""Text of a report with a few marks in it: bold, code, an interval, a link, a verdict's word.

Enters: our own messages and values. Leaves: `Text`, a tuple of spans, in the language in force.
Never: takes markup from a value: marks are read in the message before its values are put in.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from pgassay.language import sentence_gap, tr
from pgassay.notes import Note

_MARK = re.compile(r'<(?:b|code|a href="(#[\w-]+)")>(.*?)</(b|code|a)>')


@dataclass(frozen=True)
class Span:
    """A piece of a line that looks the same throughout."""

    text: str
    kind: Literal["plain", "bold", "code", "interval", "word", "confidence"] = "plain"
    """`word` is a verdict in the colour of its tone; `confidence` says how sure a finding is."""
    tone: str = ""
    """A class of style.css for a `word` or a `confidence`."""
    link: str = ""
    """An address: `#anchor`, a file beside the report, or a `data:` URL."""
    download: str = ""
    """The name of the file that the link saves."""


Text = tuple[Span, ...]
Inline = str | Text | Note
"""A text is one plain span; a note has its intervals marked."""


def said(message: str, /, **values: Any) -> Text:
    """A message with marks (`<b>`, `<code>`, `<a href="#anchor">`), translated, with its values."""
    shown, spans, at = tr(message), list[Span](), 0

    def add(words: str, span: Span) -> None:
        if words:
            spans.append(
                Span(words.format(**values) if values else words, span.kind, "", span.link)
            )

    for mark in _MARK.finditer(shown):
        add(shown[at : mark.start()], Span(""))
        link, words, element = mark.groups()
        add(words, _MARKS[element] if link is None else Span("", link=link))
        at = mark.end()
    add(shown[at:], Span(""))
    return tuple(spans)


_MARKS = {"b": Span("", "bold"), "code": Span("", "code")}


@dataclass(frozen=True)
class Texts:
    """The sentences of one module of a room of sections."""

    table: Mapping[str, str]
    """Key → message, as `texts.toml` of the room has it."""

    def __call__(self, key: str, /, **values: Any) -> str:
        """A sentence in the language in force, with its values."""
        return tr(self.table[key], **values)

    def marked(self, key: str, /, **values: Any) -> Text:
        """Returns a sentence that has bold parts, code or links, with its values."""
        return said(self.table[key], **values)


def texts_of(module: str) -> Texts:
    """The table of a module in `texts.toml` beside it."""
    package, _, name = module.rpartition(".")
    return Texts(_room(package)[name])


@cache
def _room(package: str) -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads((files(package) / "texts.toml").read_text("utf-8"))


def word(verdict: str, tone: str) -> Span:
    """A verdict in the colour of its tone."""
    return Span(tr(verdict), "word", tone)


def spans_of(text: Inline) -> Text:
    """The spans of a text; of a plain one the only one, translated if it is a `Message`."""
    if isinstance(text, Note):
        return tuple(Span(one, "interval" if marked else "plain") for one, marked in text.pieces)
    return (Span(str(text)),) if isinstance(text, str) else text


def plain_text(text: Inline) -> str:
    """The words of a text without its marks."""
    return "".join(str(span.text) for span in spans_of(text))


def joined(*texts: Inline | int | None) -> Text:
    """Sentences in one line; those that are empty or false are left out."""
    spans: list[Span] = []
    gap = sentence_gap()
    for text in texts:
        if text and not isinstance(text, int):
            spans += [Span(gap)] * bool(spans and gap) + list(spans_of(text))
    return tuple(spans)
