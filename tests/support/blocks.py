"""The blocks of a section, found by their class, also inside others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from pgassay.report.document.blocks import (
    Block,
    Chart,
    Fold,
    Group,
    Heading,
    Items,
    PageOnly,
    Paragraph,
)
from pgassay.report.document.section import shown
from pgassay.report.document.text import plain_text

B = TypeVar("B", bound=Block)


def every(blocks: Iterable[Block | None], kind: type[B]) -> list[B]:
    """All blocks of this class, in their order."""
    return [one for one in _flat(blocks) if isinstance(one, kind)]


def texts(blocks: Iterable[Block | None]) -> list[str]:
    """What is said in words: paragraphs, items, captions, titles and summaries."""
    found: list[str] = []
    for block in _flat(blocks):
        match block:
            case Paragraph() | Heading():
                found.append(plain_text(block.text))
            case Items():
                found += map(plain_text, block.texts)
            case Chart():
                found.append(plain_text(block.caption))
            case Fold():
                found.append(plain_text(block.summary))
    return found


def _flat(blocks: Iterable[Block | None]) -> Iterator[Block]:
    for block in shown(blocks):
        yield block
        if isinstance(block, Fold | Group | PageOnly):
            yield from _flat(block.blocks)
