"""The lines of journal.jsonl, read back.

Enters: the path of a journal. Leaves: its entries, as objects. Never: knows what a change is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from pgassay.json_text import decoded


class Entry(dict[str, Any]):
    """One object of a journal."""

    line: int
    """The number of its line in the file."""


def journal_entries(path: Path) -> Iterator[Entry]:
    """Reads every whole line, oldest first; none where there is no journal."""
    if not path.exists():
        return
    # Not splitlines, for which a character within a text may end a line.
    for number, line in enumerate(path.read_text("utf-8", errors="replace").split("\n"), start=1):
        # A line may be cut short by a crash: its change was never made.
        with suppress(ValueError):
            found = decoded(line)
            if isinstance(found, dict) and "event" in found:
                entry = Entry(found)
                entry.line = number
                yield entry


def open_entries(path: Path) -> list[Entry]:
    """Returns the entries of changes that were not undone, oldest first."""
    found: dict[str, Entry] = {}
    for entry in journal_entries(path):
        if entry["event"] == "change":
            found[str(entry.get("id"))] = entry
        elif entry["event"] == "undone":
            found.pop(str(entry.get("id")), None)
    return list(found.values())
