"""The answer of a run in a few values, which stand at the beginning of analysis.json.

Enters: the object of analysis.json. Leaves: its summary. Never: reads a file.

It is written with the analysis, so that a list of a thousand runs need not parse as many
analyses; of one without it (of an older pgassay) it is made by the same function.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SUMMARY = "summary"
_SAME = ("metric", "factor", "baseline", "level", "step")
"""The keys that name a comparison."""


def summary_of(analysis: Mapping[str, Any]) -> dict[str, Any]:
    """Returns `verdict` and `effect_pct` of the first verdict, `badge` (the same in a few words),
    and `verdicts`, of all of them; without verdicts the values are null."""
    found = [one for one in analysis["findings"] if one["kind"] == "verdict"]
    judged = [_judged(one, analysis) for one in found]
    verdicts = [
        str(about.get("verdict", one["title"])) for one, about in zip(found, judged, strict=True)
    ]
    return {
        "verdict": verdicts[0] if verdicts else None,
        "badge": str(found[0]["title"]) if found else None,
        "effect_pct": judged[0].get("effect_pct") if judged else None,
        "verdicts": verdicts,
    }


def _judged(finding: Mapping[str, Any], analysis: Mapping[str, Any]) -> Mapping[str, Any]:
    """The comparison that a finding is about; older runs name it as the finding's evidence."""
    about = finding.get("comparison") or finding.get("evidence")
    if not isinstance(about, Mapping):
        return {}
    comparisons = analysis.get("comparisons", ())
    same = (one for one in comparisons if all(one.get(key) == about.get(key) for key in _SAME))
    return next(same, {})
