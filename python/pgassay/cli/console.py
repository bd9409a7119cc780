"""Where words go: results to stdout, progress to stderr.

Enters: nothing. Leaves: two rich consoles. Never: colours what is not a terminal (NO_COLOR and
redirection are rich's business).
"""

from __future__ import annotations

from rich.console import Console

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)
