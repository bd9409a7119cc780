"""Critical values of rules that earlier forecasts have computed, which takes up to a second.

Enters: nothing. Leaves: the values, for the time of a forecast, in a file beside the noise of
earlier runs. Never: serves a verdict, or fails a command: what cannot be read is computed again.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pgassay import __version__
from pgassay.analysis.compare.rule import CRITICAL_VALUES
from pgassay.durable import make_directory, write_atomically
from pgassay.json_text import decoded
from pgassay.samples.noise_history import noise_folder

_SCHEMA = f"pgassay.critical-values/1 of {__version__}"
"""Another version may compute them in another way."""
_MOST_KEPT = 5000
_LARGEST_BYTES = 2_000_000


@contextmanager
def kept_critical_values() -> Iterator[None]:
    """Takes the values of earlier forecasts, and keeps new ones afterwards."""
    path = noise_folder().parent / "critical-values.json"
    known = _read(path)
    CRITICAL_VALUES.update(known)
    yield
    finite = {key: value for key, value in CRITICAL_VALUES.items() if math.isfinite(value)}
    if finite.keys() <= known.keys():
        return
    latest = dict(list(finite.items())[-_MOST_KEPT:])
    with suppress(OSError):
        make_directory(path.parent, parents=True, exist_ok=True)
        write_atomically(path, json.dumps({"schema": _SCHEMA, "values": latest}).encode())


def _read(path: Path) -> dict[str, float]:
    with suppress(OSError, ValueError):
        state = path.lstat()
        if state.st_uid == os.geteuid() and state.st_size <= _LARGEST_BYTES:
            stored = decoded(path.read_text("utf-8"))
            if isinstance(stored, dict) and stored.get("schema") == _SCHEMA:
                values = stored.get("values")
                if isinstance(values, dict):
                    return {k: v for k, v in values.items() if isinstance(v, float)}
    return {}
