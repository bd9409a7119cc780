"""Looks at existing servers and at hosts whose knobs a plan varies or holds.

Enters: a spec and its plan. Leaves: a `Found`; a TargetError where a server cannot be reached.
Never: changes anything. It is loaded only where there is something to look at: it takes psycopg.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pgassay.cli.plan.found import Found
from pgassay.notes import Note
from pgassay.plan.demands import demands_of
from pgassay.plan.model import Plan
from pgassay.plan.server_settings import server_settings, session_settings
from pgassay.refusals.refusal import Refusal
from pgassay.server.connection.session import as_target_error, connect, resolve
from pgassay.server.copied.origin import copies_of
from pgassay.server.existing.access import access_of
from pgassay.server.hosts.account import server_account
from pgassay.server.knobs.host_knobs import without_effect
from pgassay.server.knobs.knob_files import refusals_on
from pgassay.server.owned.workspace import disk_of_workspaces
from pgassay.server.preview.copy import preview_copy
from pgassay.server.preview.host import Preview
from pgassay.server.preview.preview import preview_existing
from pgassay.spec.experiment import Spec
from pgassay.spec.model import ExperimentFile
from pgassay.spec.reading.texts import path_from
from pgassay.spec.server.host_knobs import acts_after_restart
from pgassay.trials.run.limits import unseen
from pgassay.trials.run.testbeds import testbeds_of, versions_of


def look(spec: Spec, plan: Plan) -> Found:
    """Looks at the server or servers that a spec names, and at the host of its knobs."""
    server = _preview_server(spec, plan)
    refused, idle = _knobs_refused(spec, server)
    return Found(
        server=server,
        servers=_preview_servers(spec, plan),
        knobs_refused=refused,
        knobs_idle=idle,
        risks=profile_refused(spec, server),
    )


def _preview_servers(spec: Spec, plan: Plan) -> dict[str, Preview]:
    """Look at each existing server of a fleet, by its name; nothing for other targets."""
    fleet = spec.file.target.fleet
    if fleet is None:
        return {}
    from pgassay.fleet.existing import found_servers, spec_on  # other plans need none of it

    found = {
        one.name: _preview_server(spec_on(spec, one), plan) for one in found_servers(fleet.servers)
    }
    return {name: preview for name, preview in found.items() if preview is not None}


def _preview_server(spec: Spec, plan: Plan) -> Preview | None:
    """Looks at the server that a spec names; None where the server is one of pgassay's own."""
    target = spec.file.target
    if target.dsn is None:
        return None
    testbeds, demands = testbeds_of(spec, plan), demands_of(spec, plan).values()
    if spec.file.copies_existing:
        return preview_copy(
            target.dsn,
            accept=target.accept,
            bin_directory=None if target.bin is None else path_from(target.bin, spec.folder),
            versions=versions_of(spec.file, spec.folder),
            copies=copies_of(
                len(testbeds.datasets),
                len(testbeds.schema_variants),
                side_by_side=plan.side_by_side,
            ),
            demands=demands,
            installed=spec.workload.installed,
            side_by_side=plan.side_by_side,
            server_memory=spec.file.placement.server_memory,
            backup_rate=target.backup_rate,
            fast_checkpoint=target.backup_checkpoint == "fast",
        )
    preview = preview_existing(
        target.dsn,
        accept=target.accept,
        settings=server_settings(spec.file, plan.factors),
        in_sessions=session_settings(plan.factors),
        building_sql=spec.workload.building_sql(spec.file.workload.scale),
        installed=spec.workload.installed,
        access=access_of(target),
        rule=spec.file.reset_rule(),
        allow_changes=target.allow_changes,
        demands=demands,
        restarts_for_knobs=any(acts_after_restart(name) for name in spec.file.factors.host),
    )
    return replace(preview, refusals=(*preview.refusals, *_limits_refused(spec.file, preview)))


def _limits_refused(file: ExperimentFile, preview: Preview) -> list[Refusal]:
    """Limits of `[guard]` on what cannot be seen of the server."""
    if file.guard is None or file.target.dsn is None:
        return []
    host = access_of(file.target).host() if preview.sees_host else None
    try:
        parameters = resolve(file.target.dsn)
        with as_target_error("looking at the server"), connect(parameters) as session:
            return list(unseen(file.guard, session, host, preview.data_directory))
    finally:
        if host is not None:
            host.close()


def _knobs_refused(spec: Spec, preview: Preview | None) -> tuple[list[str], list[str]]:
    """Knobs of the server's host that it would refuse, then those that do nothing there; a line
    each."""
    held = {name: (value,) for name, value in spec.file.settings.host.items()}
    wanted = {**held, **spec.file.factors.host}
    if not wanted:
        return [], []
    data = None
    if preview is None:
        data = disk_of_workspaces(server_account())
    elif preview.data_directory is not None:
        data = Path(preview.data_directory)
    host = access_of(spec.file.target).host()
    file = spec.file
    try:
        idle = without_effect(
            wanted,
            host,
            starts_server=not file.loads_existing,
            limits_memory=file.placement.server_memory is not None,
        )
        return list(refusals_on(wanted, data, host)), list(map(str, idle))
    finally:
        host.close()


def profile_refused(spec: Spec, preview: Preview | None) -> list[Note]:
    """Returns why a run here would take no profiles, if it is to take some."""
    if spec.file.profile is None or preview is None or spec.file.copies_existing:
        return []
    is_here = spec.file.target.ssh is None and preview.sees_host
    return [] if is_here else [Note("plan/no-profile")]
