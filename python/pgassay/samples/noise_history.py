"""The noise that earlier runs of this user measured on this machine.

Enters: a record at the end of a run. Leaves: the records of earlier ones, the latest first.
Never: fails a run: what cannot be written is not kept, what cannot be read is not there.

One small file a run in the state directory (~/.local/state/pgassay/noise), for its owner only; the
oldest go when there are more than `MOST_KEPT`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import platformdirs

from pgassay.durable import make_directory, write_atomically
from pgassay.json_text import decoded

SCHEMA = "pgassay.noise/2"
"""Records of the first schema may be of rounds of slices, which are no trials: not used."""
MOST_KEPT = 200
_LARGEST_BYTES = 20_000


def noise_folder() -> Path:
    """Returns the folder of the records."""
    return platformdirs.user_state_path("pgassay") / "noise"


def add_noise_record(record: Mapping[str, Any], now: datetime | None = None) -> bool:
    """Keeps a record; returns whether it could be kept."""
    moment = now or datetime.now(UTC)
    stored = {"schema": SCHEMA, "at": moment.isoformat(timespec="seconds"), **record}
    folder = noise_folder()
    name = f"{moment:%Y%m%dT%H%M%S%f}-{os.getpid()}.json"
    try:
        make_directory(folder, parents=True, exist_ok=True)
        write_atomically(folder / name, json.dumps(stored, allow_nan=False).encode())
        for old in _files(folder)[MOST_KEPT:]:
            old.unlink(missing_ok=True)
    except (OSError, ValueError):
        return False
    return True


def noise_records() -> list[dict[str, Any]]:
    """Reads all records that can be read, the latest first; files of other users are ignored."""
    found = []
    for path in _files(noise_folder()):
        with suppress(OSError, ValueError):
            state = path.lstat()
            if state.st_uid != os.geteuid() or state.st_size > _LARGEST_BYTES:
                continue
            record = decoded(path.read_text("utf-8"))
            if isinstance(record, dict) and record.get("schema") == SCHEMA:
                found.append(record)
    return found


def _files(folder: Path) -> list[Path]:
    """By the time in their names, the latest first."""
    with suppress(OSError):
        return sorted(folder.glob("[0-9]*.json"), reverse=True)
    return []
