"""What a run measures, as one hash: another run with the same hash is a repetition.

Enters: a spec, the object of environment.json. Leaves: a hash.
Never: reads more of a program than its size and time.

An experiment file alone does not say it: a job of continuous integration measures another build, or
other scripts, by the same file at every change.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from pgassay.spec.experiment import Spec
from pgassay.spec.reading.texts import path_from


def measured_by(spec: Spec, environment: Mapping[str, Any]) -> str:
    """Returns a hash of the file, the contents of the scripts and SQL it names, and the servers'
    builds."""
    servers = [environment.get("server"), *(environment.get("servers") or {}).values()]
    builds = [one.get("build") or one.get("version") for one in servers if one]
    parts = [spec.text, asdict(spec.workload), spec.variants.to_json(), builds, _programs(spec)]
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()[:16]


def _programs(spec: Spec) -> list[tuple[int, int]]:
    """Size and time of each server's program that the file names: a new build keeps its version."""
    held, varied = spec.file.target.bin, spec.file.factors.target.bin or {}
    found = []
    for directory in (*varied.values(), *([] if held is None else [held])):
        with suppress(OSError):
            state = (path_from(str(directory), spec.folder) / "postgres").stat()
            found.append((state.st_size, state.st_mtime_ns))
    return found
