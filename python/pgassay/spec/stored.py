"""workload.json: the scripts and SQL of an experiment, as one run used them.

Enters: a workload and its variants, or the path of a workload.json. Leaves: the JSON object, or
the workload and variants. Never: reads the original files again.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pgassay.errors import SpecError
from pgassay.spec.factors.variants import Variants, variants_from_json
from pgassay.spec.reading.texts import text_of
from pgassay.spec.workload.folder import Workload, workload_from_json

WORKLOAD_COPY = "workload.json"
"""The file's name in a run directory."""
_SCHEMA = "pgassay.workload/1"


def materials_to_json(workload: Workload, variants: Variants, folder: Path) -> dict[str, Any]:
    """The object of workload.json; the experiment file's relative paths start at `folder`."""
    stored = variants.to_json()
    found = {"schema": _SCHEMA, "folder": str(folder), **asdict(workload)}
    return {**found, "variants": stored} if stored else found


def stored_materials(path: Path) -> tuple[tuple[Workload, Variants], Path | None]:
    """The workload and variants of a workload.json; the folder of relative paths, if stored."""
    try:
        stored = json.loads(text_of(path))
        if stored.pop("schema") != _SCHEMA:
            raise SpecError(f"its schema is not {_SCHEMA}", file=str(path))
        folder = stored.pop("folder", None)
        variants = variants_from_json(stored.pop("variants", {}))
        beside = Path(folder) if isinstance(folder, str) else None
        return (workload_from_json(stored), variants), beside
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SpecError(f"is damaged: {error}", file=str(path)) from None
