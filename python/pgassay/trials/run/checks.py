"""Everything that is refused before a server is changed or data are built.

Enters: a checked spec, its plan; later the opened target. Leaves: nothing, or one error that names
the key and the fix. Never: changes anything.
"""

from __future__ import annotations

import os
from dataclasses import replace

from pgassay.errors import ConnectionRefused, SetupError, SpecError
from pgassay.plan.demands import demands_of
from pgassay.plan.model import Plan
from pgassay.server.connection.session import as_target_error, connect
from pgassay.server.data.installed_tables import refuse_missing
from pgassay.server.existing.access import access_of
from pgassay.server.existing.capacity import (
    Capacity,
    capacity_of,
    capacity_of_a_new_server,
    own_sessions,
    refuse_lacking,
)
from pgassay.server.hosts.local import HERE
from pgassay.server.hosts.memory_limit import memory_of
from pgassay.server.owned.installation import Installation, embedded_installation, installation_at
from pgassay.server.owned.limited_memory import check_server_memory
from pgassay.server.protocol import ServerFacts, Target, Testbed
from pgassay.server.settings.changeable import refuse_in_sessions
from pgassay.spec.arms import spec_of_arm
from pgassay.spec.experiment import Spec
from pgassay.spec.model import ExperimentFile
from pgassay.spec.reading.texts import path_from
from pgassay.spec.server.reset import ResetLevel
from pgassay.spec.settings.catalogue import check_setting
from pgassay.trials.guards.thresholds import own_limits
from pgassay.trials.load.client_side import as_the_client
from pgassay.trials.load.trial_load import check_load
from pgassay.trials.run.limits import refuse_unseen
from pgassay.trials.run.testbeds import Testbeds


def check_experiment(spec: Spec) -> None:
    """Refuse a load that cannot run, a server that is not there, unusable thresholds."""
    check_load(spec)
    check_servers(spec)
    own_limits()  # refuses an unusable file


def check_servers(spec: Spec) -> None:
    """Refuse a server that is not there, and a setting that one of the versions lacks."""
    held = spec.file.settings.postgres
    varied = spec.file.factors.postgres
    settings: list[tuple[str, str, tuple[str, ...]]] = [
        *((f"settings.postgres.{name}", name, (value,)) for name, value in held.items()),
        *((f"factors.postgres.{name}", name, levels) for name, levels in varied.items()),
    ]
    for installation in servers_under_test(spec).values():
        for key, name, values in settings:
            for value in values:
                try:
                    check_setting(key, name, value, installation.major)
                except SpecError as error:
                    raise SpecError(error.problem, file=spec.source, key=key) from None


def check_new_servers(spec: Spec, plan: Plan) -> None:
    """Refuse arms that need more than this host has, for servers that pgassay will start."""
    if spec.file.loads_existing:
        return
    limit = spec.file.placement.server_memory
    if limit is not None:
        try:
            check_server_memory(limit)
        except SetupError as error:
            key = "placement.server_memory"
            raise SpecError(str(error), file=spec.source, key=key) from None
    if spec.file.copies_existing:
        return
    capacity = capacity_of_a_new_server(memory_of(HERE, os.getpid()), limit)
    asked = [(demand, capacity) for demand in demands_of(spec, plan).values()]
    refuse_lacking(asked, side_by_side=plan.side_by_side)


def check_arms(spec: Spec, plan: Plan, target: Target, testbeds: Testbeds) -> None:
    """Refuse an arm whose settings, knobs or clients the opened servers would not take."""
    held, held_host = spec.file.settings.postgres, spec.file.settings.host
    demands, asked = demands_of(spec, plan), []
    capacities: dict[Testbed, Capacity] = {}
    for arm in plan.arms:
        testbed = replace(testbeds.of_arm[arm.id], schema="")
        facts = target.choose(testbeds.of_arm[arm.id])
        # Once for each server: it is up now, and may be stopped when it is chosen again.
        if testbed not in capacities:
            capacities[testbed] = _capacity(spec.file, target, facts)
            _check_session_settings(plan, target)
            _check_installed(target, testbeds, copied=spec.file.copies_existing)
        target.check_settings({**held, **arm.settings})
        target.check_host({**held_host, **arm.knobs})
        asked.append((demands[arm.id], capacities[testbed]))
    refuse_lacking(asked, side_by_side=plan.side_by_side)
    if spec.file.guard is not None:
        refuse_unseen(spec.file.guard, target, spec.source)


def _check_session_settings(plan: Plan, target: Target) -> None:
    wanted = {tuple(arm.session_settings.items()) for arm in plan.arms} - {()}
    if not wanted:
        return
    with as_target_error("checking settings"), connect(target.parameters()) as session:
        for settings in wanted:
            refuse_in_sessions(session, dict(settings))


def _check_installed(target: Target, testbeds: Testbeds, *, copied: bool) -> None:
    """As the load's sessions will look for them: on a copy that is not as a superuser."""
    for installed in {dataset.installed for dataset in testbeds.datasets.values()}:
        if installed is not None:
            with (
                as_target_error("looking for the workload's tables"),
                connect(target.parameters()) as session,
            ):
                refuse_missing(session, installed, copied=copied)


def _capacity(file: ExperimentFile, target: Target, facts: ServerFacts) -> Capacity:
    """Of the chosen server, as its first start has left it."""
    host, is_ours = target.host(), not file.loads_existing
    limit = file.placement.server_memory
    # A process id is known to be the server's only where pgassay controls the service.
    known_host = host if is_ours or access_of(file.target).control is not None else None
    with as_target_error("looking at the server"), connect(target.parameters()) as session:
        pid = session.info.backend_pid if limit is None else os.getpid()
        return capacity_of(
            session,
            facts.settings,
            None if known_host is None else memory_of(known_host, pid),
            own_sessions(is_ours=is_ours, sees_host=host is not None),
            in_own_database=is_ours or file.reset_rule().level is ResetLevel.TEMPLATE,
            limit=limit,
        )


def check_clients(spec: Spec, plan: Plan, target: Target) -> None:
    """Refuse session settings or an sslmode that the chosen server does not accept."""
    tried = []
    for arm in plan.arms:
        load = spec_of_arm(spec, arm.by_kind).file.load
        parameters = as_the_client(target.parameters(), load)
        if parameters in tried or parameters == target.parameters():
            continue
        tried.append(parameters)
        try:
            connect(parameters).close()
        except ConnectionRefused as error:
            own = {**load.settings, **({"sslmode": load.sslmode} if load.sslmode else {})}
            asked = ", ".join(f"{name} = {value}" for name, value in own.items())
            raise ConnectionRefused(f"{asked}: {error}", sqlstate=error.sqlstate) from None


def servers_under_test(spec: Spec) -> dict[str, Installation]:
    """Name of the level → its programs; empty where one server alone is tested."""
    levels = spec.file.factors.target
    key = "factors.target.version" if levels.version is not None else "factors.target.bin"
    found = {}
    for name, server in levels.servers().items():
        try:
            if isinstance(server, int):
                found[name] = embedded_installation(server)
            else:
                found[name] = installation_at(path_from(server, spec.folder))
        except SetupError as error:
            text = str(error).replace("target.bin: ", "").replace("target.version: ", "")
            raise SpecError(text, file=spec.source, key=key) from None
    return found
