"""journal.jsonl: every change to the target, on disk before it is made.

Enters: changes and their undoing, as the target makes them. Leaves: one JSON object per line
(empty lines mean nothing).
Never: undoes anything itself, and never rewrites a line.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path

from pgassay.durable import OWNER_ONLY, sync_directory
from pgassay.errors import PgassayError
from pgassay.samples.files import clear_errors
from pgassay.target.protocol import Change

_FIELDS = tuple(field.name for field in fields(Change))
JOURNAL = "journal.jsonl"


class FileJournal:
    """Appends to one journal file; every line is synced before the call returns."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def place(self) -> str:
        """Its file, from wherever it is looked for."""
        return str(self._path.absolute())

    def record(self, change: Change) -> None:
        """Note a change that is about to be made."""
        self._append({"event": "change", **asdict(change)})

    def undone(self, change_id: str) -> None:
        """Note that a change has been undone, where the disk still takes it.

        A full or read-only disk must not stop the undoing of the rest. Undoing a second time what
        was undone already does no harm, so `recover` may find the change open.
        """
        with suppress(PgassayError):
            self._append({"event": "undone", "id": change_id})

    def undone_at(self, place: str, change_id: str) -> None:
        """Note it in another run's journal, where that is; none is made."""
        with suppress(OSError):
            if place and Path(place).is_file():
                FileJournal(Path(place)).undone(change_id)

    def _append(self, entry: dict[str, str | None]) -> None:
        # A line cut short by a crash must not swallow this one, so each begins afresh.
        line = "\n" + json.dumps({"at": time.time(), **entry}, ensure_ascii=False) + "\n"
        with clear_errors(self._path):
            new = not self._path.exists()
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, OWNER_ONLY)
            try:
                os.fchmod(descriptor, OWNER_ONLY)
                rest = line.encode()
                while rest:  # a disk that is nearly full takes a part and complains the next time
                    rest = rest[os.write(descriptor, rest) :]
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            if new:  # its first change would go with its name
                sync_directory(self._path.parent)


def open_changes(path: Path) -> list[Change]:
    """The changes of a journal that were not undone, oldest first."""
    if not path.exists():
        return []
    changes: dict[str, Change] = {}
    for line in path.read_text("utf-8", errors="replace").splitlines():
        try:
            entry = json.loads(line)
            if entry["event"] == "change":
                known = {name: entry[name] for name in _FIELDS if name in entry}
                changes[entry["id"]] = Change(**known)
            else:
                changes.pop(entry["id"], None)
        except (ValueError, KeyError, TypeError):
            continue  # a line cut short by a crash: its change was never made
    return list(changes.values())
