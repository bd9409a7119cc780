"""The files of one run except its trials' tables: what a command reads that only shows results.

Enters: a run directory. Leaves: its plan, and whether a file holds all that the run has.
Never: imports pyarrow, which takes longer to load than these files to read.
"""

from __future__ import annotations

from pathlib import Path

from pgassay.plan.model import Plan
from pgassay.plan.store import plan_from_json
from pgassay.samples.directory import StoredDirectory
from pgassay.samples.layout import (
    ENVIRONMENT,
    FAILED,
    PLAN,
    PROFILES,
    PROFILES_INDEX,
    SPEC,
    STATEMENTS,
    TRIAL,
    TRIALS,
)
from pgassay.samples.storage.files import clear_errors
from pgassay.samples.storage.json_files import misfits_of

_OF_A_RUN = (PLAN, SPEC, ENVIRONMENT, STATEMENTS, FAILED, TRIALS, f"{PROFILES}/{PROFILES_INDEX}")


class RunFiles(StoredDirectory):
    """Reads the small files of a run."""

    KIND, MARK, PARTS = "run directory", PLAN, TRIALS

    def plan(self) -> Plan:
        """Reads the plan that the run was made with."""
        with misfits_of(self.path / PLAN):
            return plan_from_json(self.read_json(PLAN))

    def is_up_to_date(self, name: str) -> bool:
        """Returns whether a file of the top folder was written after everything that the run has
        recorded."""
        if not self.has(name):
            return False
        parts = self.path / TRIALS
        recorded = [
            *(self.path / one for one in _OF_A_RUN),
            *(parts / f"{number:04d}" / TRIAL for number in self.finished()),
        ]
        with clear_errors(self.path):
            return _written(self.path / name) >= max(map(_written, recorded))


def _written(path: Path) -> int:
    """When a file was last written, or names in a folder changed; 0 for one that is not there."""
    return path.stat().st_mtime_ns if path.exists() else 0
