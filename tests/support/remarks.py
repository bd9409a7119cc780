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

SPEC = parse_spec("[factors.postgres]\njit = ['on', 'off']\n", source="lab", beside=Path())
_NO_WAITS: Columns = {name: [] for name in ("tick_ns", "pid", "backend_type", "state", "scenario")}
_NO_COUNTERS: Columns = {name: [] for name in ("time_ns", "source", "object", "name", "value")}


def said(
    watch: SamenessWatch,
    spec: Spec = SPEC,
    checkpoints: Sequence[Checkpoint] = (),
    counters: Columns = _NO_COUNTERS,
    measured_ns: tuple[int, int] = (0, 1),
) -> dict[str, Remark]:
    """Each guard that spoke at the trial's end."""
    arm = make_plan(spec).arms[0]
    began_ns, ended_ns = measured_ns
    result = {"steps": [{"measured": True, "start_ns": began_ns, "end_ns": ended_ns}]}
    found = watch.remarks(spec, arm, result, _NO_WAITS, counters, checkpoints)
    return {one.guard: one for one in found}
