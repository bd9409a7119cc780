"""What a section of a report is.

Enters: nothing. Leaves: the `Section` value. Never: renders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal

from pgassay.language import Message

Content = Mapping[str, Any]


@dataclass(frozen=True)
class Section:
    """One section: its title, and the values that its templates show."""

    name: str
    """Such as `answer/effect`: the template is `sections/answer/effect.html.j2`, and, where
    Markdown has the section too, `sections/answer/effect.md.j2`."""
    title: str
    content: Callable[[Any], Content | None]
    """Context → the templates' variables; None where the section does not apply to this run."""

    def template(self, form: Literal["html", "md"]) -> str:
        """Where its template for a format lies."""
        return f"{self.name}.{form}.j2"

    def is_in(self, form: Literal["html", "md"]) -> bool:
        """Whether the format has the section."""
        return (files("pgassay.report") / "sections" / self.template(form)).is_file()

    @property
    def anchor(self) -> str:
        """The id of its HTML element."""
        return self.name.rpartition("/")[2].replace("_", "-")


def section(name: str, title: str) -> Callable[[Callable[[Any], Content | None]], Section]:
    """Makes a section of the function that gives its content."""
    return lambda content: Section(name, Message(title), content)
