"""failed.jsonl: trials that failed, kept even where the run is resumed.

Enters: each such trial as it fails. Leaves: one JSON object per line; a damaged line is skipped.
Never: holds a trial that was interrupted by a user or by the end of pgassay.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

from pgassay.errors import PgassayError
from pgassay.json_text import decoded
from pgassay.notes import coded, legacy, note_at, note_to_json
from pgassay.samples.storage.files import append_line, clear_errors
from pgassay.stored_model import dataclass_of
from pgassay.trials.model.record import FailedTrial

FAILED = "failed.jsonl"


def note_failed(path: Path, trial: FailedTrial) -> None:
    """Adds a failed trial; a disk that takes no more must not hide why the trial failed."""
    with suppress(PgassayError):
        append_line(path, {**asdict(trial), **coded("reason", trial.reason)})


def failed_trials(path: Path) -> tuple[FailedTrial, ...]:
    """Reads all failed trials, oldest first."""
    found = []
    with clear_errors(path):
        lines = path.read_text("utf-8", errors="replace").splitlines() if path.exists() else []
    for line in lines:
        with suppress(ValueError, TypeError, AttributeError):
            one = decoded(line)
            reason = note_at(one, "reason") or legacy("")
            plain = dataclass_of(FailedTrial, {**one, "reason": note_to_json(legacy(""))})
            found.append(replace(plain, reason=reason))
    return tuple(found)
