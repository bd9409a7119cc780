"""failed.jsonl: trials that failed, kept even where the run is resumed.

Enters: each such trial as it fails. Leaves: one JSON object per line; a damaged line is skipped.
Never: holds a trial that was interrupted by a user or by the end of pgassay.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from pgassay.errors import PgassayError
from pgassay.json_text import decoded
from pgassay.notes import UNSAID
from pgassay.samples.storage.files import append_line, clear_errors
from pgassay.stored_model import SaidNote, Stored
from pgassay.trials.model.record import FailedTrial

FAILED = "failed.jsonl"


class FailedLine(Stored):
    """One line of the file."""

    number: int
    block: int
    arm: str
    reason: SaidNote = UNSAID
    repeats: int | None = None


def note_failed(path: Path, trial: FailedTrial) -> None:
    """Adds a failed trial; a disk that takes no more must not hide why the trial failed."""
    with suppress(PgassayError):
        append_line(path, FailedLine.of(trial).to_json())


def failed_trials(path: Path) -> tuple[FailedTrial, ...]:
    """Reads all failed trials, oldest first."""
    found = []
    with clear_errors(path):
        lines = path.read_text("utf-8", errors="replace").splitlines() if path.exists() else []
    for line in lines:
        with suppress(ValueError):
            found.append(FailedTrial(**dict(FailedLine.model_validate(decoded(line)))))
    return tuple(found)
