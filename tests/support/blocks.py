"""The blocks of a section, found by their class, also inside others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from pgassay.report.document.blocks import Block, Fold, Group, PageOnly
from pgassay.report.document.section import shown
from pgassay.report.document.text import Inline, spans_of

B = TypeVar("B", bound=Block)


def every(blocks: Iterable[Block | None], kind: type[B]) -> list[B]:
    """All blocks of this class, in their order."""
    return [one for one in _flat(blocks) if isinstance(one, kind)]


def plain(text: Inline) -> str:
    """A text without its marks."""
    return "".join(span.text for span in spans_of(text))


def _flat(blocks: Iterable[Block | None]) -> Iterator[Block]:
    for block in shown(blocks):
        yield block
        if isinstance(block, Fold | Group | PageOnly):
            yield from _flat(block.blocks)
