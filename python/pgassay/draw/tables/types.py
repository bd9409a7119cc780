"""A type of the source, as parameters and columns have it.

Enters: nothing. Leaves: a frozen value. Never: asks a server.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Type:
    """A type of the source."""

    name: str
    """As format_type shows it."""
    element: str | None = None
    """The type of an array's elements."""
    base: str | None = None
    """The base type of a domain."""
    labels: tuple[str, ...] = ()
    """Those of an enum, or of the enum that an array has."""

    @property
    def plain(self) -> str:
        """The name, of a domain that of its base type."""
        return self.base or self.name
