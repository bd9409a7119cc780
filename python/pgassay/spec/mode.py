"""The modes of a design, by name.

Enters: nothing. Leaves: `Mode`. Never: chooses a mode; `plan/modes.py` does.
"""

from __future__ import annotations

from enum import StrEnum


class Mode(StrEnum):
    """How arms are spread over trials, as `[design] mode` and `--mode` name it."""

    AUTO = "auto"
    BLOCKS = "blocks"
    SWITCHBACK = "switchback"
    DUET = "duet"
