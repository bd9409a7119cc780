"""The ready workloads with every script in their folders.

Enters: nothing. Leaves: workloads, and scripts that they run or that a factor may name.
Never: reaches a server.
"""

from __future__ import annotations

import re
from pathlib import Path

import pgassay
from pgassay.spec.workload.folder import Scenario, Workload, load_workload, ready_workloads

FOLDER = Path(pgassay.__file__).parent / "workloads"
_FIRST_MAJOR = re.compile(r"^-- From PostgreSQL (\d+) on", re.MULTILINE)


def ready() -> list[Workload]:
    """Every ready workload."""
    return [load_workload(name, Path(), file="lab.toml") for name in ready_workloads()]


def scripts_of(workload: Workload) -> list[Scenario]:
    """The scripts of its scenarios, and the other forms in its folder."""
    folder = FOLDER / workload.name
    run = {(folder / one.file).resolve() for one in workload.scenarios}
    other = set(folder.glob("*.sql")) - run - {folder / "schema.sql", folder / "data.sql"}
    return [
        Scenario(f"{workload.name}, {file.name}", file.name, file.read_text("utf-8"), 1.0)
        for file in sorted(run | other)
    ]


def first_major(script: Scenario) -> int:
    """The first version of PostgreSQL that has all of a script."""
    found = _FIRST_MAJOR.search(script.script)
    return int(found[1]) if found else 13
