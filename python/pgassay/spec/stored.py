"""workload.json: the scripts and SQL of an experiment, as one run used them.

Enters: a spec, or the path of a workload.json. Leaves: the JSON object, or
what it holds. Never: reads the original files again.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pgassay.json_text import decoded
from pgassay.refusals.refusal import Refusal, UnfitValue
from pgassay.spec.experiment import Spec
from pgassay.spec.factors.variants import Variants
from pgassay.spec.load.trace_file import TraceFacts
from pgassay.spec.reading.texts import text_of
from pgassay.spec.workload.folder import Scenario, Workload
from pgassay.stored_model import dataclass_of

WORKLOAD_COPY = "workload.json"
"""The file's name in a run directory."""
_SCHEMA = "pgassay.workload/1"


@dataclass(frozen=True)
class Materials:
    """The scripts and SQL that a run has stored in workload.json."""

    workload: Workload
    variants: Variants
    folder: Path | None
    """Where the experiment file's relative paths start, if that is stored."""
    untrusted: bool
    """Whether the run was begun with --untrusted."""
    trace: TraceFacts | None = None
    """Of the trace that the run replays."""
    writes: tuple[Scenario, ...] | None = None
    """Of a query set: the scripts that run after it."""


def materials_to_json(spec: Spec) -> dict[str, Any]:
    """Returns the object of workload.json."""
    found = {"schema": _SCHEMA, "folder": str(spec.folder), **asdict(spec.workload)}
    if spec.untrusted:
        found["untrusted"] = True
    if spec.trace is not None:
        found["trace"] = asdict(spec.trace)
    if spec.writes is not None:
        found["writes"] = [asdict(one) for one in spec.writes.scenarios]
    stored = spec.variants.to_json()
    return {**found, "variants": stored} if stored else found


def stored_materials(path: Path) -> Materials:
    """Returns the scripts and SQL in a workload.json; raises SpecError where it is damaged."""
    try:
        stored = decoded(text_of(path))
        if "schema" not in stored:
            raise UnfitValue("stored-key-missing", place="schema")
        if stored["schema"] != _SCHEMA:
            raise Refusal("workload-of-another-schema").in_file(str(path))
        folder, trace, writes = (stored.get(key) for key in ("folder", "trace", "writes"))
        return Materials(
            dataclass_of(Workload, stored),
            dataclass_of(Variants, stored.get("variants", {})),
            Path(folder) if isinstance(folder, str) else None,
            bool(stored.get("untrusted", False)),
            None if trace is None else dataclass_of(TraceFacts, trace),
            None if writes is None else tuple(dataclass_of(Scenario, one) for one in writes),
        )
    except UnfitValue as error:
        raise error.refusal.in_file(str(path)) from None
    except (ValueError, TypeError, AttributeError) as error:
        raise Refusal("damaged", why=error).in_file(str(path)) from None
