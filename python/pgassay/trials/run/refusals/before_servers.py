"""Refuses what this machine cannot run, before a server is started or reached.

Enters: a checked spec, its plan. Leaves: the places of server, load and sampler on this machine, or
one error that names the key and the fix. Never: changes anything.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from pgassay import _core
from pgassay.errors import PgassayError
from pgassay.plan.demands import demands_of
from pgassay.plan.model import Plan
from pgassay.refusals.refusal import Refusal, found_by, refuse
from pgassay.server.existing.capacity import capacity_of_a_new_server, lacking
from pgassay.server.hosts.account import server_account
from pgassay.server.hosts.block_devices import read_mounts, storage_of
from pgassay.server.hosts.control_groups import memory_of
from pgassay.server.hosts.local import HERE
from pgassay.server.hosts.memory_group import parent_group
from pgassay.server.hosts.placement import Placement, resolve_placement
from pgassay.server.owned.installation import (
    Installation,
    embedded_installation,
    installation_at,
    installation_of,
)
from pgassay.server.owned.workspace import DATA_VARIABLE, disk_of_workspaces
from pgassay.spec.arms import spec_of_arm
from pgassay.spec.endpoints import statement_of
from pgassay.spec.experiment import Spec
from pgassay.spec.reading.texts import path_from
from pgassay.spec.server.placement import memory_text
from pgassay.spec.settings.catalogue import check_setting
from pgassay.trials.guards.thresholds import own_limits
from pgassay.trials.run.refusals.loads import check_load
from pgassay.trials.run.refusals.room import lacking_room

_IN_MEMORY = ("tmpfs", "ramfs")
_HAS_A_PLAN = re.compile(
    rb"(\s|\(|--[^\n]*\n|/\*.*?\*/)*(SELECT|INSERT|UPDATE|DELETE|MERGE|WITH|VALUES|TABLE)\b",
    re.IGNORECASE | re.DOTALL,
)


def refuse_experiment(spec: Spec) -> Placement:
    """Refuse what needs no plan; the places that the experiment asks for."""
    refuse(found_by(OF_THE_EXPERIMENT, spec), spec.source)
    return resolve_placement(spec.file.placement, spec.file.settings.host)


def refuse_plan(spec: Spec, plan: Plan, *, on_node: bool = False) -> None:
    """Refuse what a plan asks of this machine; of a fleet each node asks it of itself."""
    refuse(refusals_of_plan(spec, plan, on_node=on_node), spec.source)


def refusals_of_plan(spec: Spec, plan: Plan, *, on_node: bool = False) -> list[PgassayError]:
    """Returns what `refuse_plan` refuses."""
    checks = OF_THE_PLAN if on_node or spec.file.target.fleet is None else OF_A_FLEET
    return found_by(checks, spec, plan)


def settings_unknown_to_a_version(spec: Spec) -> Iterator[Refusal]:
    """Servers that are not there, and settings that one of their versions lacks."""
    held = spec.file.settings.postgres
    varied = spec.file.factors.postgres
    settings: list[tuple[str, str, tuple[str, ...]]] = [
        *((f"settings.postgres.{name}", name, (value,)) for name, value in held.items()),
        *((f"factors.postgres.{name}", name, levels) for name, levels in varied.items()),
    ]
    majors = {one.major for one in (*servers_under_test(spec).values(), *_named_server(spec))}
    for major in sorted(majors):
        for key, name, values in settings:
            for value in values:
                check_setting(key, name, value, major)
    yield from ()


def unusable_limits(spec: Spec) -> None:
    """A file of the user's own thresholds of guards that cannot be used."""
    own_limits()


def endpoints_of_no_statement(spec: Spec, plan: Plan) -> Iterator[Refusal]:
    """Refuses endpoints of statements where some arm's script has none with a plan in that line."""
    asked = {of: one.metric for one in plan.endpoints if (of := statement_of(one.metric))}
    for arm in plan.arms if asked else ():
        own = spec_of_arm(spec, arm.by_kind)
        known = [
            (one.name, line)
            for one in own.workload.scenarios
            for line, text in _core.script_statements(
                one.file, one.script_bytes, allow_shell=own.file.load.allow_shell
            )
            if _HAS_A_PLAN.match(text)
        ]
        for of in asked.keys() - known:
            near = [f"{name}:{line}.mean" for name, line in known if name == of[0]]
            yield Refusal(
                "endpoint-of-no-statement",
                name=asked[of],
                known=", ".join(near or [f"{of[0]}.mean"]),
            )
            return


def alternating_arms_on_a_fleet(spec: Spec, plan: Plan) -> Iterator[Refusal]:
    """Refuses alternating arms on a fleet, which runs whole blocks."""
    if spec.file.target.fleet is not None and plan.mode != "blocks":
        yield Refusal("fleet-of-alternating-arms", mode=plan.mode)


def unfit_memory_limit(spec: Spec, plan: Plan) -> Iterator[Refusal]:
    """A limit of memory that cannot be put in force here, or that would limit nothing."""
    limit = spec.file.placement.server_memory
    if limit is None or spec.file.loads_existing:
        return
    try:
        parent_group()
    except Refusal as refusal:
        yield refusal
    memory = memory_of(HERE, os.getpid())
    if memory is not None and limit >= memory:
        yield Refusal("memory-limit-of-nothing", limit=memory_text(limit), gib=memory / 2**30)
    disk = disk_of_workspaces(server_account())
    found = storage_of(disk, HERE, read_mounts(HERE)).file_system
    if found in _IN_MEMORY:
        yield Refusal("memory-limit-in-memory", disk=disk, kind=found, variable=DATA_VARIABLE)


def lacking_on_new_servers(spec: Spec, plan: Plan) -> Iterator[Refusal]:
    """Connections and memory that arms need and servers that are still to be made have not."""
    if spec.file.target.is_existing:
        return
    limit = spec.file.placement.server_memory
    capacity = capacity_of_a_new_server(memory_of(HERE, os.getpid()), limit)
    asked = [(demand, capacity) for demand in demands_of(spec, plan).values()]
    yield from lacking(asked, side_by_side=plan.side_by_side)


OF_THE_EXPERIMENT = (check_load, settings_unknown_to_a_version, unusable_limits)
OF_A_FLEET = (alternating_arms_on_a_fleet,)
OF_THE_PLAN = (
    *OF_A_FLEET,
    endpoints_of_no_statement,
    unfit_memory_limit,
    lacking_on_new_servers,
    lacking_room,
)


def servers_under_test(spec: Spec) -> dict[str, Installation]:
    """Name of the level → its programs; empty where one server alone is tested. Of copies some
    may be missing: it is the server in `target.dsn` that tells which programs are its own."""
    levels = spec.file.factors.target
    key = "factors.target.version" if levels.version is not None else "factors.target.bin"
    found = {}
    for name, server in levels.servers().items():
        try:
            if isinstance(server, int) and spec.file.varies_copies and levels.bin is None:
                found[name] = installation_of(server)
            elif isinstance(server, int):
                found[name] = embedded_installation(server)
            else:
                found[name] = installation_at(path_from(server, spec.folder))
        except Refusal as refusal:
            if not spec.file.varies_copies:
                raise refusal.at(key).in_file(spec.source) from None
    return found


def _named_server(spec: Spec) -> list[Installation]:
    """The programs of `target.bin`; none where that is not given, or is on the nodes of a fleet."""
    target = spec.file.target
    if target.bin is None or target.fleet is not None:
        return []
    return [installation_at(path_from(target.bin, spec.folder))]
