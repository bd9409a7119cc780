"""Paths as an experiment file writes them: relative to the file, with `~` for a home.

Enters: text, and the folder it starts from. Leaves: a path. Never: looks whether it exists.
"""

from __future__ import annotations

from pathlib import Path


def path_from(text: str, beside: Path) -> Path:
    """The path that `text` means in a file of the folder `beside`."""
    try:
        return beside / Path(text).expanduser()
    except RuntimeError:
        return beside / text  # no such user: then it is a name like any other
