"""journal.jsonl: every change to the target, on disk before it is made.

Enters: changes and their undoing, as the target makes them. Leaves: one JSON object per line
(empty lines mean nothing), the first with a name drawn for this journal.
Never: undoes anything itself, and never rewrites a line.
"""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

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
        self._run = ""

    @property
    def place(self) -> str:
        """Its file, from wherever it is looked for."""
        return str(self._path.absolute())

    @property
    def run(self) -> str:
        """Drawn once, and on disk when this returns: a path may be used again, a name is not."""
        if not self._run:
            self._run = run_of(self._path)
        if not self._run:
            drawn = uuid.uuid4().hex
            self._append({"event": "run", "id": drawn})
            self._run = drawn
        return self._run

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

    def _append(self, entry: Mapping[str, object]) -> None:
        # A line cut short by a crash must not swallow this one, so each begins afresh.
        line = "\n" + json.dumps({"at": time.time(), **entry}, ensure_ascii=False) + "\n"
        with clear_errors(self._path):
            new = not self._path.exists()
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, OWNER_ONLY)
            try:
                os.fchmod(descriptor, OWNER_ONLY)
                # A file's name may be no UTF-8; JSON reads what stands for its bytes back.
                rest = line.encode("utf-8", "backslashreplace")
                while rest:  # a disk that is nearly full takes a part and complains the next time
                    rest = rest[os.write(descriptor, rest) :]
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            if new:  # its first change would go with its name
                sync_directory(self._path.parent)


def open_changes(path: Path) -> list[Change]:
    """The changes of a journal that were not undone, oldest first."""
    changes: dict[str, Change] = {}
    for entry in _entries(path):
        if entry["event"] == "change":
            with suppress(TypeError, KeyError):
                known = {name: entry[name] for name in _FIELDS if name in entry}
                changes[known["id"]] = Change(**known)
        elif entry["event"] == "undone":
            changes.pop(str(entry.get("id")), None)
    return list(changes.values())


def run_of(path: Path) -> str:
    """The name drawn for a journal; empty where none was."""
    return next((str(one.get("id")) for one in _entries(path) if one["event"] == "run"), "")


def _entries(path: Path) -> Iterator[dict[str, Any]]:
    if not path.exists():
        return
    for line in path.read_text("utf-8", errors="replace").splitlines():
        # A line may be cut short by a crash: its change was never made.
        with suppress(ValueError):
            entry = json.loads(line)
            if isinstance(entry, dict) and "event" in entry:
                yield entry
