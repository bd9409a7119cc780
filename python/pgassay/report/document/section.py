"""What a section of a report is.

Enters: nothing. Leaves: the `Section` and the `Summary` value. Never: renders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from pgassay.language import Message
from pgassay.notes import Note, Value
from pgassay.report.document.blocks import Block


@dataclass(frozen=True)
class Summary:
    """One line of what a section shows; a section that yields one is folded in HTML."""

    note: Note
    is_unusual: bool = False
    """Whether anything there differs between arms, or is not as it should be."""


def summed_up(code: str, /, *, unusual: object = False, **values: Value) -> Summary:
    """Makes the line of a section of a note's code and values."""
    return Summary(Note(code, values), bool(unusual))


def differing(code: str, number: int, differ: int | None) -> Summary:
    """Makes the line of a number of figures and how many of them differ: `9 waits, none differs`.

    `differ` is None where nothing was compared.
    """
    what = Note.of(code, n=number)
    if differ is None:
        return Summary(what)
    some, none = "report/sections/differ", "report/sections/none-differs"
    how = Note.of(some, n=differ) if differ else Note(none)
    return summed_up("report/sections/of", unusual=differ, what=what, how=how)


Blocks = Iterable[Block | Summary | None]
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
        return self.filled(context).blocks

    def filled(self, context: Any) -> Filled:
        """Makes the blocks and the summary of the section."""
        made = tuple(self.content(context))
        summary = next((one for one in made if isinstance(one, Summary)), None)
        return Filled(self, shown(made), summary)

    @property
    def anchor(self) -> str:
        """The id of its HTML element."""
        return self.name.rpartition("/")[2].replace("_", "-")


@dataclass(frozen=True)
class Filled:
    """A section with what it shows of one context."""

    section: Section
    blocks: tuple[Block, ...]
    summary: Summary | None
    """None where the section stands open."""


def shown(blocks: Blocks) -> tuple[Block, ...]:
    """Returns the blocks that hold something."""
    return tuple(one for one in blocks if one and not isinstance(one, Summary))


def section(name: str, title: str) -> Callable[[Callable[[Any], Blocks]], Section]:
    """Makes a section of the function that yields its blocks."""
    return lambda content: Section(name, Message(title), content)
