"""What the guards say of a trial that had no load: only what happened around it.

Enters: the watch of a trial. Leaves: its remarks by guard. Never: looks at a figure of a load.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pgassay.plan.design import make_plan
from pgassay.spec.parse import Spec, parse_spec
from pgassay.trials.guards import Remark
from pgassay.trials.record import Checkpoint, Columns
from pgassay.trials.sameness import SamenessWatch

_SPEC = parse_spec("[factors.postgres]\njit = ['on', 'off']\n", source="lab", beside=Path())
_RESULT = {"steps": [{"measured": True, "start_ns": 0, "end_ns": 1}]}
_NO_WAITS: Columns = {name: [] for name in ("tick_ns", "pid", "backend_type", "state", "scenario")}
_NO_COUNTERS: Columns = {name: [] for name in ("time_ns", "source", "object", "name", "value")}


def said(
    watch: SamenessWatch, spec: Spec = _SPEC, checkpoints: Sequence[Checkpoint] = ()
) -> dict[str, Remark]:
    """Each guard that spoke at the trial's end."""
    arm = make_plan(spec).arms[0]
    found = watch.remarks(spec, arm, _RESULT, _NO_WAITS, _NO_COUNTERS, checkpoints)
    return {one.guard: one for one in found}
