"""What a run on a copy of an existing server would find there and do.

Enters: the server's connection string, accepted signs of production, `target.bin`, demands of the
arms. Leaves: a `Preview`.
Never: changes anything; its session is read-only.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from pgassay.plan.demands import Demand
from pgassay.quantities import clock
from pgassay.refusals.refusal import found_by
from pgassay.server.copied.durations import making_s, setup_s
from pgassay.server.copied.source import Source, look, problems, signs_of_users, source_of
from pgassay.server.copied.versions import OWN_VERSION, Versions
from pgassay.server.data.installed_tables import refuse_missing
from pgassay.server.existing.capacity import Capacity, lacking, own_sessions
from pgassay.server.hosts.account import server_account
from pgassay.server.hosts.control_groups import memory_of
from pgassay.server.hosts.local import HERE
from pgassay.server.owned.room import room_for, sized
from pgassay.server.owned.workspace import disk_of_workspaces
from pgassay.server.preview.host import PlannedChange, Preview
from pgassay.server.settings.values import read_settings
from pgassay.spec.workload.folder import InstalledTables


def preview_copy(
    dsn: str,
    *,
    accept: Collection[str],
    bin_directory: Path | None,
    copies: int,
    demands: Iterable[Demand] = (),
    side_by_side: bool = False,
    server_memory: int | None = None,
    installed: InstalledTables | None = None,
    versions: Versions = OWN_VERSION,
    backup_rate: int | None = None,
    fast_checkpoint: bool = False,
) -> Preview:
    """Look at the server as a run would; `copies` of its data must fit on this host's disk.
    `backup_rate` is in bytes a second."""
    with look(dsn) as (session, parameters):
        signs = tuple(signs_of_users(session))
        # Sessions of others stay on the original.
        capacity = Capacity(
            read_settings(session),
            memory_of(HERE, os.getpid()),
            server_memory,
            own=own_sessions(is_ours=True, sees_host=True),
        )
        asked = [(demand, capacity) for demand in demands]
        found = [*problems(session, parameters, dsn, bin_directory, copies, versions)]
        if installed is not None:
            found += found_by([refuse_missing], session, installed, copied=True)
        source = None if found else source_of(session, parameters, bin_directory, versions)
        return Preview(
            server=parameters.label,
            version=session.info.parameter_status("server_version") or "?",
            signs=signs,
            accepted=tuple(sign.name for sign in signs if sign.name in accept),
            refusals=(*found, *lacking(asked, side_by_side=side_by_side)),
            data_directory=str(disk_of_workspaces(server_account())),
            changes=()
            if source is None
            else (*_changes(source, copies, backup_rate, fast=fast_checkpoint),),
            setup_s=None if source is None else setup_s(source, backup_rate),
        )


def _changes(
    source: Source, copies: int, rate: int | None, *, fast: bool
) -> Iterator[PlannedChange]:
    versions = source.versions
    size = sized(source.size)
    yield PlannedChange(
        "server",
        f"pg_basebackup reads {size} from it, {_pace(source, rate)}, after"
        f" {_checkpoint(source, fast=fast)}; nothing is written to it, and it is neither restarted"
        " nor reconfigured",
        "once, at the start",
    )
    room = room_for(source.size, copies + versions.beside(source.installation))
    yield PlannedChange("this host", room.described(), "until the end")
    for level, programs in source.programs.items():
        carried, name = source.carried(programs), f"copy {level}".strip()
        left_out = f"; not {', '.join(carried.left_out)}" if carried.left_out else ""
        yield PlannedChange(
            name,
            f"runs with the programs in {programs.bin_directory} and {len(carried.settings)}"
            f" settings of the server{left_out}",
            "at its start",
        )
        if source.changes_files(level):
            way = "dump and restore" if versions.how == "dump" else "pg_upgrade"
            done = f"{way} of a copy of {size}, then ANALYZE"
            if (first := source.like(level)[0]) != level:
                done = f"the same files as copy {first}"
            seconds = clock(making_s(source, level))
            yield PlannedChange(name, f"{done}; about {seconds}", "once, before its first trial")
        for caveat in source.caveats(level):
            yield PlannedChange(name, str(caveat), "reported as a caveat")


def _pace(source: Source, rate: int | None) -> str:
    if rate is None:
        return "as fast as its disk and the network allow (target.backup_rate limits it)"
    return f"at most {sized(rate)} a second, so for {clock(source.size / rate)} or longer"


def _checkpoint(source: Source, *, fast: bool) -> str:
    if fast:
        return "a checkpoint as fast as its disk writes"
    keys = ("checkpoint_timeout", "checkpoint_completion_target")
    timeout_s, share = (float(source.known[key].value) for key in keys)
    return f"a checkpoint that is spread over up to {clock(timeout_s * share)}"
