"""The lines of journal.jsonl, read back.

Enters: the path of a journal. Leaves: its entries, as objects. Never: knows what a change is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

JOURNAL = "journal.jsonl"


def journal_entries(path: Path) -> Iterator[dict[str, Any]]:
    """Every whole line, oldest first; none where there is no journal."""
    if not path.exists():
        return
    for line in path.read_text("utf-8", errors="replace").splitlines():
        # A line may be cut short by a crash: its change was never made.
        with suppress(ValueError):
            entry = json.loads(line)
            if isinstance(entry, dict) and "event" in entry:
                yield entry


def open_entries(path: Path) -> list[dict[str, Any]]:
    """The entries of changes that were not undone, oldest first."""
    found: dict[str, dict[str, Any]] = {}
    for entry in journal_entries(path):
        if entry["event"] == "change":
            found[str(entry.get("id"))] = entry
        elif entry["event"] == "undone":
            found.pop(str(entry.get("id")), None)
    return list(found.values())
