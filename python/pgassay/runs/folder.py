"""The runs that a question is about.

Enters: a folder of runs, or one run. Leaves: paths. Never: reads a run.
"""

from __future__ import annotations

from pathlib import Path

from pgassay.refusals.refusal import DirectoryRefused
from pgassay.samples.layout import OBSERVATION, PLAN


def run_paths(folder: Path) -> list[Path]:
    """Lists the runs and observations directly in a folder, by name; a run alone is its own."""
    if not folder.is_dir():
        raise DirectoryRefused("no-such-folder", folder)
    marks = (PLAN, OBSERVATION)
    if any((folder / mark).is_file() for mark in marks):
        return [folder.resolve()]
    found = sorted({path.parent for mark in marks for path in folder.glob(f"*/{mark}")})
    if not found:
        raise DirectoryRefused("holds-no-runs", folder)
    return found
