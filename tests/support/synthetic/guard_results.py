"""The results of the guards for a trial without a load.

Enters: the watch of a trial. Leaves: its remarks by guard. Never: looks at a figure of a load.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pgassay.plan.design import make_plan
from pgassay.spec.experiment import Spec
from pgassay.spec.parse import parse_spec
from pgassay.trials.guards.guards import GuardResult
from pgassay.trials.guards.invariants import InvariantWatch, conditions_of
from pgassay.trials.model.record import Checkpoint, Columns

SPEC = parse_spec("[factors.postgres]\njit = ['on', 'off']\n", source="lab", beside=Path())
_NO_WAITS: Columns = {name: [] for name in ("tick_ns", "pid", "backend_type", "state", "scenario")}
_NO_COUNTERS: Columns = {name: [] for name in ("time_ns", "source", "object", "name", "value")}


def said(
    watch: InvariantWatch,
    spec: Spec = SPEC,
    checkpoints: Sequence[Checkpoint] = (),
    counters: Columns = _NO_COUNTERS,
    measured_ns: tuple[int, int] = (0, 1),
) -> dict[str, GuardResult]:
    """The guards that reported something at the end of the trial."""
    arm = make_plan(spec).arms[0]
    began_ns, ended_ns = measured_ns
    result = {"steps": [{"measured": True, "start_ns": began_ns, "end_ns": ended_ns}]}
    found = watch.results(conditions_of(spec, arm), result, _NO_WAITS, counters, checkpoints)
    return {one.guard: one for one in found}
