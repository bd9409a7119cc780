"""journal.jsonl: every change to the target, on disk before it is made.

Enters: changes and their undoing, as the target makes them. Leaves: one JSON object per line
(empty lines mean nothing), the first with a name drawn for this journal.
Never: undoes anything itself, and never rewrites a line.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from pgassay.errors import PgassayError
from pgassay.refusals.refusal import DirectoryRefused
from pgassay.samples.storage.files import append_line
from pgassay.samples.storage.journal_lines import Entry, journal_entries, open_entries
from pgassay.server.change import Change, change_of, stored, visible


class FileJournal:
    """Appends to one journal file; every line is synced before the call returns."""

    machine = ""

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
        """Notes a change that is about to be made."""
        self._append({"event": "change", **stored(change)})

    def undone(self, change_id: str) -> None:
        """Notes that a change has been undone, where the disk still takes it.

        A full or read-only disk must not stop the undoing of the rest. Undoing a second time what
        was undone already does no harm, so `recover` may find the change open.
        """
        with suppress(PgassayError):
            self._append({"event": "undone", "id": change_id})

    def _append(self, entry: Mapping[str, object]) -> None:
        append_line(self._path, {"at": time.time(), **entry})


def open_changes(path: Path) -> list[Change]:
    """Reads the changes of a journal that were not undone, oldest first; RunDirectoryError where
    one of them is not as this version writes it."""
    return [_change_in(path, entry) for entry in open_entries(path)]


def _change_in(path: Path, entry: Entry) -> Change:
    given = {name: value for name, value in entry.items() if name not in ("at", "event")}
    where = f"{path}, line {entry.line}"
    if "kind" not in given and "undo" in given:
        what, undo = (visible(str(given.get(name))) for name in ("what", "undo"))
        raise DirectoryRefused("change-of-an-older-version", where, what=what, undo=undo)
    try:
        return change_of(given)
    except ValueError as error:
        raise DirectoryRefused("no-change-of-pgassay", where, why=error) from None


def run_of(path: Path) -> str:
    """Returns the name drawn for a journal; empty where none was."""
    return next((str(one.get("id")) for one in journal_entries(path) if one["event"] == "run"), "")
