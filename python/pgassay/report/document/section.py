"""What a section of a report is.

Enters: nothing. Leaves: the `Section` value. Never: renders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal

from pgassay.language import Message
from pgassay.report.document.blocks import Block

Content = Mapping[str, Any]
"""The variables of a section that still has templates."""
Blocks = Iterable[Block | None]
"""What a section's function yields; empty tables, lists and None are not shown."""


@dataclass(frozen=True)
class Section:
    """One section: its title, and the function that makes its blocks."""

    name: str
    """Such as `answer/effect`: its room and its own name."""
    title: str
    content: Callable[[Any], Any]
    """Context → blocks; none where the section does not apply to this run."""

    def blocks(self, context: Any) -> tuple[Block, ...]:
        """The blocks that are shown; none where the section does not apply."""
        return shown(self.content(context))

    def shown(self, context: Any) -> tuple[Block, ...] | Content | None:
        """The blocks, or the variables of a section that still has templates."""
        content = self.content(context)
        if content is None or isinstance(content, Mapping):
            return content
        return shown(content) or None

    def template(self, form: Literal["html", "md"]) -> str:
        """Where its template for a format lies."""
        return f"{self.name}.{form}.j2"

    def is_in(self, form: Literal["html", "md"]) -> bool:
        """Whether the format has a template of the section."""
        return (files("pgassay.report") / "sections" / self.template(form)).is_file()

    @property
    def anchor(self) -> str:
        """The id of its HTML element."""
        return self.name.rpartition("/")[2].replace("_", "-")


def shown(blocks: Blocks) -> tuple[Block, ...]:
    """Without what is empty."""
    return tuple(block for block in blocks if block)


def section(name: str, title: str) -> Callable[[Callable[[Any], Blocks | Content | None]], Section]:
    """Makes a section of the function that gives its content."""
    return lambda content: Section(name, Message(title), content)
