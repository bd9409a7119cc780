"""What a section of a report is.

Enters: nothing. Leaves: the `Section` value. Never: renders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from pgassay.language import Message
from pgassay.report.document.blocks import Block

Blocks = Iterable[Block | None]
"""What a section's function yields; empty tables, lists and None are not shown."""


@dataclass(frozen=True)
class Section:
    """One section: its title, and the function that makes its blocks."""

    name: str
    """Such as `answer/effect`: its room and its own name."""
    title: str
    content: Callable[[Any], Blocks]
    """Context → blocks; none where the section does not apply to this run."""

    def blocks(self, context: Any) -> tuple[Block, ...]:
        """The blocks that are shown; none where the section does not apply."""
        return shown(self.content(context))

    @property
    def anchor(self) -> str:
        """The id of its HTML element."""
        return self.name.rpartition("/")[2].replace("_", "-")


def shown(blocks: Blocks) -> tuple[Block, ...]:
    """Returns the blocks that hold something."""
    return tuple(block for block in blocks if block)


def section(name: str, title: str) -> Callable[[Callable[[Any], Blocks]], Section]:
    """Makes a section of the function that yields its blocks."""
    return lambda content: Section(name, Message(title), content)
