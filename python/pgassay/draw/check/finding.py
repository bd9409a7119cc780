"""Finds the drawing that a run was made of.

Enters: a run directory, the folder if its user names it. Leaves: the folder and its drawing.json,
and the names of scripts that were edited since. Never: takes one whose scripts are all others.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgassay.draw.stored import DRAWING, DrawingFile, script_hash
from pgassay.refusals.refusal import DirectoryRefused
from pgassay.samples.layout import SPEC
from pgassay.samples.run_directory import RunDirectory
from pgassay.samples.storage.json_files import stored_file
from pgassay.spec.stored import WORKLOAD_COPY, stored_materials


@dataclass(frozen=True)
class FoundDrawing:
    """The drawing of a run."""

    folder: Path
    file: DrawingFile
    edited: tuple[str, ...] = ()
    """Scenarios whose scripts are not as they were written, or are gone."""
    dsn: str = ""
    """Of the server that the run copied."""


def drawing_of(run: RunDirectory, named: Path | None) -> FoundDrawing:
    """Returns the drawing in the folder that is named, else in that of the run's workload; raises
    DirectoryRefused where there is none, or the run's scripts are not of it."""
    materials = stored_materials(run.path / WORKLOAD_COPY)
    spec = tomllib.loads(run.read_text(SPEC))
    folder = named or _folder_of(spec, materials.folder)
    if folder is None or not (folder / DRAWING).is_file():
        raise DirectoryRefused("not-of-a-drawing", named or run.path, file=DRAWING)
    file = stored_file(folder / DRAWING, DrawingFile)
    scripts = {one.name: script_hash(one.script) for one in materials.workload.scenarios}
    edited = tuple(one.name for one in file.scenarios if scripts.get(one.name) != one.script_sha256)
    if len(edited) == len(file.scenarios):
        raise DirectoryRefused("of-another-drawing", run.path, folder=folder)
    return FoundDrawing(folder, file, edited, spec.get("target", {}).get("dsn", ""))


def _folder_of(spec: Mapping[str, Any], beside: Path | None) -> Path | None:
    use = spec.get("workload", {}).get("use")
    return beside / use if beside is not None and isinstance(use, str) else None
