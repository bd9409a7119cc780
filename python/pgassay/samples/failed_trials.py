"""failed.jsonl: trials that broke off by what happened in them, kept though the run goes on later.

Enters: each such trial as it fails. Leaves: one JSON object per line, whole or not told.
Never: holds a trial that somebody interrupted, or one that the tool itself was killed in.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from pgassay.durable import OWNER_ONLY
from pgassay.errors import PgassayError
from pgassay.samples.files import clear_errors
from pgassay.trials.record import FailedTrial

FAILED = "failed.jsonl"


def note_failed(path: Path, trial: FailedTrial) -> None:
    """Add one; a disk that takes no more must not hide why the trial failed."""
    with suppress(PgassayError), clear_errors(path):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, OWNER_ONLY)
        with os.fdopen(descriptor, "wb") as file:
            # Begun afresh: a line that a full disk has cut short must not swallow this one.
            line = "\n" + json.dumps(asdict(trial), ensure_ascii=False) + "\n"
            file.write(line.encode("utf-8", "backslashreplace"))
            file.flush()
            os.fsync(descriptor)


def failed_trials(path: Path) -> tuple[FailedTrial, ...]:
    """All of them, oldest first."""
    found = []
    with clear_errors(path):
        lines = path.read_text("utf-8", errors="replace").splitlines() if path.exists() else []
    for line in lines:
        with suppress(ValueError, TypeError):
            found.append(FailedTrial(**json.loads(line)))
    return tuple(found)
