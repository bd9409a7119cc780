"""Whether the data of servers of our own fit on this machine's disk.

Enters: a checked spec, its plan. Leaves: a refusal with the bytes that are needed and those that
are free. Never: reaches a server; a workload that does not say how large its data are is refused
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from pgassay.plan.model import Plan
from pgassay.refusals.refusal import Refusal
from pgassay.server.owned.room import room_for, sized
from pgassay.spec.arms import schema_of_arm, spec_of_arm
from pgassay.spec.experiment import Spec
from pgassay.spec.server.reset import ResetLevel


def lacking_room(spec: Spec, plan: Plan) -> Iterator[Refusal]:
    """Yields a refusal where data that are built do not fit, with the frozen copies from which they
    and their variants are put back."""
    if spec.file.loads_existing:
        return
    sizes: dict[tuple[str, ...], int] = {}
    variants: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for arm in plan.arms:
        one = spec_of_arm(spec, arm.by_kind)
        scale, workload = one.file.workload.scale, one.workload
        if workload.unit_bytes is not None:
            # Arms of one server over the same tables share its data directory.
            data = (arm.server, *workload.building_sql(scale))
            sizes[data] = workload.unit_bytes * scale
            changes = [] if plan.together else schema_of_arm(spec, arm.by_kind).values()
            variants.setdefault(data, set()).add(tuple(change.sql for change in changes))
    frozen = spec.file.reset_rule().level is ResetLevel.SNAPSHOT
    servers = len(plan.arms) if plan.side_by_side else 1
    rooms = [
        room_for(size, servers + frozen * len(variants[data] | {()}))
        for data, size in sizes.items()
    ]
    needed = sum(room.needed for room in rooms)
    if rooms and needed > rooms[0].free:
        yield Refusal(
            "no-room-for-the-data",
            "workload.scale",
            folder=str(rooms[0].folder),
            free=sized(rooms[0].free),
            needed=sized(needed),
        )
