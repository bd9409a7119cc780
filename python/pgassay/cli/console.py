"""Where words go: results to stdout, progress to stderr.

Enters: nothing. Leaves: two rich consoles, and `plain` for text that comes from outside.
Never: colours what is not a terminal (NO_COLOR and redirection are rich's business), cuts a
table that goes into a file or a pipe, or lets a name steer the terminal.
"""

from __future__ import annotations

import sys

from rich.console import Console
from rich.markup import escape

_WIDE = 400
"""Columns where there is no terminal to fit."""


def plain(text: str) -> str:
    """Text from outside as one line, without markup or control characters."""
    return escape(one_line(text))


def one_line(text: str) -> str:
    """Text from outside as one line without control characters, for what knows no markup."""
    return "".join(c if c.isprintable() else " " for c in " ".join(text.split()))


out = Console(
    highlight=False, emoji=False, soft_wrap=True, width=None if sys.stdout.isatty() else _WIDE
)
err = Console(stderr=True, highlight=False, emoji=False, soft_wrap=True)
