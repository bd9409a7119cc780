"""One result of doctor.

Enters: nothing. Leaves: the `Check` value. Never: looks at anything itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Check:
    """What was found, and how to fix it."""

    name: str
    state: Literal["ok", "note", "fail"]
    found: str
    fix: str = ""
