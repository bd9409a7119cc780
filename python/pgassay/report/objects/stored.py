"""The answer of a stored run, read back from its analysis.json.

Enters: the object of analysis.json, which anybody may have written. Leaves: the parts of the
analysis that a summary shows, and the findings, in the types that `analysis.py` writes.
Never: computes. A value of another type than its field raises ValueError, as a number that was not
finite does (JSON has null for it); what fits no other value raises LookupError.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from pgassay.analysis.curves.model import EffectByHalf
from pgassay.analysis.model import Analysis, Answer, Behaviour, Explanation, RunNoise, not_stored
from pgassay.analysis.noise.model import Calibration
from pgassay.analysis.queries.model import SchemaPrice
from pgassay.findings.model import Finding
from pgassay.stored_model import dataclass_with_notes

_COMPARED = ("metric", "factor", "baseline", "level", "step")
"""What names the comparison of a finding."""
_ABSENT = ("confirm", "refute")
"""Notes that are stored as an empty text where there is none."""


@dataclass(frozen=True)
class _Read:
    """What is read of the parts of an analysis, which are stored side by side."""

    answer: Answer
    findings: tuple[Finding, ...]
    by_half: tuple[EffectByHalf, ...]
    calibration: Calibration | None
    schema_prices: tuple[SchemaPrice, ...]


def stored_answer(stored: Mapping[str, Any]) -> tuple[Analysis, tuple[Finding, ...]]:
    """Returns the analysis as far as a summary shows it, and its findings."""
    own = [one.name for one in fields(Answer) if not not_stored(one)]
    found = dataclass_with_notes(
        _Read,
        {
            "answer": {name: stored[name] for name in own},
            "findings": [_finding(one) for one in stored["findings"]],
            "by_half": stored["by_half"],
            "schema_prices": stored["schema_prices"],
            "calibration": stored["calibration"],
        },
    )
    compared = {
        tuple(getattr(one, name) for name in _COMPARED): one for one in found.answer.comparisons
    }
    findings = tuple(
        one
        if (named := each["comparison"]) is None
        else replace(one, comparison=compared[tuple(map(named.get, _COMPARED))])
        for one, each in zip(found.findings, stored["findings"], strict=True)
    )
    behaviour = Behaviour(by_half=found.by_half)
    noise = RunNoise(calibration=found.calibration)
    explanation = Explanation(schema_prices=found.schema_prices)
    return Analysis(found.answer, behaviour, noise, explanation), findings


def _finding(stored: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a finding but its comparison, which is one of the answer's."""
    absent = {name: None for name in _ABSENT if not stored[name]}
    return {**stored, **absent, "claim": stored["note"], "comparison": None}
