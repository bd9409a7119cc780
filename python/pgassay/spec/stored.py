"""workload.json: everything an experiment was made of besides its file, as one run had it.

Enters: a workload and the variants of it; or the file's text. Leaves: the other of the two.
Never: reads the files these came from again.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pgassay.errors import SpecError
from pgassay.spec.texts import text_of
from pgassay.spec.variants import Variants, variants_from_json
from pgassay.spec.workload import Workload, workload_from_json, workload_to_json

WORKLOAD_COPY = "workload.json"
"""Its name in the run's directory."""
_SCHEMA = "pgassay.workload/1"


def materials_to_json(workload: Workload, variants: Variants) -> dict[str, Any]:
    """The object of workload.json."""
    told = variants.to_json()
    found = {"schema": _SCHEMA, **workload_to_json(workload)}
    return {**found, "variants": told} if told else found


def stored_materials(path: Path) -> tuple[Workload, Variants]:
    """The workload of a workload.json, and its variants."""
    try:
        stored = json.loads(text_of(path))
        if stored.pop("schema") != _SCHEMA:
            raise SpecError(f"its schema is not {_SCHEMA}", file=str(path))
        variants = variants_from_json(stored.pop("variants", {}))
        return workload_from_json(stored), variants
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SpecError(f"is damaged: {error}", file=str(path)) from None
