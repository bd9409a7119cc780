"""analysis.json: the `pgassay.analysis/1` object.

Enters: the context. Leaves: JSON text with everything estimated and found.
Never: writes NaN or an infinity; such a value is null.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Mapping
from typing import Any

from pgassay.analysis.curves.model import StepSteadiness
from pgassay.analysis.measures.model import TrialMeasures
from pgassay.analysis.model import SCHEMA, Answer, Behaviour, Caveat, Explanation, not_stored
from pgassay.analysis.statements.model import StatementPlans
from pgassay.analysis.verdicts.run_caveats import earlier_runs
from pgassay.commit import commit
from pgassay.findings.model import Finding
from pgassay.notes import Note
from pgassay.report.context import ReportContext
from pgassay.report.objects.gates import gates_object
from pgassay.report.objects.values import fields, finite
from pgassay.samples.overview import SUMMARY, summary_of
from pgassay.stored_notes import coded, note_to_json


def render_json(context: ReportContext) -> str:
    """The whole analysis, its findings, the environment and the command that repeats the run."""
    stored = _stored(context)
    findings = [finding_object(finding) for finding in context.findings]
    value = {
        "schema": SCHEMA,
        "pgassay": context.version,
        "pgassay_commit": commit(),
        SUMMARY: summary_of({**stored, "findings": findings}),  # early: `list` reads no further
        "run": context.run_name,
        **stored,
        "findings": findings,
        "environment": dict(context.environment.given),
        "command": context.command,
        "gates": gates_object(context.gates),
        "ending": _plain(context.ending),
    }
    return json.dumps(finite(value), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _stored(context: ReportContext) -> dict[str, Any]:
    """The fields of all parts side by side, but those that repeat what trials or environment.json
    hold."""
    analysis = context.analysis
    return {
        **_fields_of(analysis.answer),
        **_fields_of(analysis.behaviour),
        "noise": _plain(analysis.noise.floor),
        "calibration": _plain(analysis.noise.calibration),
        **_fields_of(analysis.explanation),
        "classic": _plain(analysis.classic),
        "earlier_runs": earlier_runs(context.environment),
        "warnings": _plain(analysis.warnings),
    }


def _fields_of(part: Answer | Behaviour | Explanation) -> dict[str, Any]:
    own = (one for one in dataclasses.fields(part) if not not_stored(one))
    return {one.name: _plain(getattr(part, one.name)) for one in own}


SENTENCES: Mapping[type, tuple[str, str]] = {
    Caveat: ("note", "text"),
    Finding: ("claim", "text"),
    StepSteadiness: ("cause", "why"),
}
"""Values whose sentence is stored beside its note: the field of the note, the sentence's key."""
EMPTY: Collection[tuple[type, str]] = (
    (Finding, "confirm"),
    (Finding, "refute"),
    (StatementPlans, "reason"),
)
"""Fields of a note that are stored as an empty text, not as null, where there is none."""
LEFT_OUT: Collection[tuple[type, str]] = ((TrialMeasures, "queries"),)
"""Fields that repeat what trials hold."""


def _plain(value: Any) -> Any:
    """A value as dictionaries and lists."""
    if isinstance(value, Note):
        return note_to_json(value)
    if dataclasses.is_dataclass(value):
        noted, key = SENTENCES.get(type(value), ("", ""))
        found = {key: getattr(value, key)} if key else {}
        for one in dataclasses.fields(value):
            if (type(value), one.name) in LEFT_OUT:
                continue
            inner = getattr(value, one.name)
            is_said = (one.name != noted and _is_note(inner)) or (type(value), one.name) in EMPTY
            found |= coded(one.name, inner) if is_said else {one.name: _plain(inner)}
        return found
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value


def _is_note(value: object) -> bool:
    """Whether a field is stored as its sentence, or sentences, with the notes beside it."""
    return isinstance(value, Note) or (
        isinstance(value, tuple) and bool(value) and all(isinstance(one, Note) for one in value)
    )


def finding_object(finding: Finding) -> dict[str, Any]:
    """A finding; its comparison names one of the `comparisons`."""
    found: dict[str, Any] = _plain(dataclasses.replace(finding, comparison=None))
    found["note"] = found.pop("claim")
    if finding.comparison is not None:
        found["comparison"] = fields(
            finding.comparison, "metric", "factor", "baseline", "level", "step"
        )
    return found
