"""What was found of provoked incidents, as JSON: `python -m bench.incidents.judge OUT`.

Enters: the folder that `bench.incidents` wrote. Leaves: for each repeat which incidents were found,
with which first sign, and what was found that nobody provoked. Never: takes a near miss for a hit.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pgassay.analysis.observation.incidents.model import Incident
from pgassay.workflows.incidents import stored_incidents

FIRST_SIGNS = {
    "lock-queue": "lock-queue",
    # Counters cannot tell a lost index from another plan.
    "dropped-index": "plan-change",
    "plan-flip": "plan-change",
    "wrong-index": "statement-change",
    # What it waits for has no sign.
    "slow-trigger": "slower",
    "checkpoint-storm": "checkpoint-storm",
    "temp-spill": "temp-spill",
    "connection-flood": "connection-flood",
    "vacuum": "vacuum",
    "slow-disk": "disk",
}


def judged(repeat: Path) -> dict[str, Any]:
    """Sets what an observation says against when its incidents were."""
    found = stored_incidents(repeat).incidents
    provoked = json.loads((repeat / "timeline.json").read_text("utf-8"))
    rows = []
    for one in provoked:
        own = [each for each in found.found if _overlap(each, one) > 0.5]
        rows.append(
            {
                "provoked": one["name"],
                "found": bool(own),
                "first_sign": own[0].kind if own else None,
                "is_named": bool(own) and own[0].kind == FIRST_SIGNS[one["name"]],
                "begins_later_s": (own[0].start_ns - one["start_ns"]) / 1e9 if own else None,
            }
        )
    false = [one.kind for one in found.found if all(_overlap(one, p) <= 0.0 for p in provoked)]
    quiet_s = found.read_s - sum((one["end_ns"] - one["start_ns"]) / 1e9 for one in provoked)
    return {"repeat": repeat.name, "incidents": rows, "false": false, "quiet_s": round(quiet_s)}


def _overlap(found: Incident, provoked: dict[str, Any]) -> float:
    """How much of what was provoked was found, a share."""
    common = min(found.end_ns, provoked["end_ns"]) - max(found.start_ns, provoked["start_ns"])
    return float(common / (provoked["end_ns"] - provoked["start_ns"]))


def main() -> None:
    """Prints all repeats of a folder."""
    repeats = sorted(one.parent for one in Path(sys.argv[1]).glob("*/timeline.json"))
    print(json.dumps([judged(one) for one in repeats], indent=1))


if __name__ == "__main__":
    main()
