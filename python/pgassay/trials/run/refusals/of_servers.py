"""Refuses arms that the servers of a run, which are open, would not take.

Enters: a spec and its plan, the opened target. Leaves: nothing, or one error that names the fix.
Never: changes a setting or builds data. It chooses one server after the other.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pgassay.errors import ConnectionRefused, PgassayError
from pgassay.plan.demands import demands_of
from pgassay.plan.model import Arm, Plan
from pgassay.refusals.refusal import NotConnected, Refusal, found_by, refuse
from pgassay.server.connection.session import as_target_error, connect
from pgassay.server.data.installed_tables import refuse_missing
from pgassay.server.existing.access import access_of
from pgassay.server.existing.capacity import Capacity, capacity_of, lacking, own_sessions
from pgassay.server.hosts.control_groups import memory_of
from pgassay.server.protocol import ServerFacts, Target, Testbed
from pgassay.server.settings.changeable import refuse_in_sessions
from pgassay.spec.arms import spec_of_arm
from pgassay.spec.endpoints import statement_of
from pgassay.spec.experiment import Spec
from pgassay.spec.model import ExperimentFile
from pgassay.spec.server.reset import ResetLevel
from pgassay.trials.load.engine import as_the_client
from pgassay.trials.run.limits import unseen
from pgassay.trials.run.testbeds import Testbeds
from pgassay.trials.sampling.not_measured import preloaded_in
from pgassay.trials.sampling.queries import STATEMENTS, extensions_in

_TELLS_QUERY_IDS = 140000
"""The version from which EXPLAIN shows the id of a statement in pg_stat_statements."""


@dataclass(frozen=True)
class OpenedServer:
    """One server of a run, which is chosen now, and the arms that it runs."""

    file: ExperimentFile
    target: Target
    testbeds: Testbeds
    arms: tuple[Arm, ...]


def refuse_arms(spec: Spec, plan: Plan, target: Target, testbeds: Testbeds) -> None:
    """Refuse arms whose settings, knobs or clients the opened servers would not take."""
    arms_on: dict[Testbed, list[Arm]] = {}
    for arm in plan.arms:
        arms_on.setdefault(replace(testbeds.of_arm[arm.id], schema=""), []).append(arm)
    found: list[PgassayError] = []
    demands, asked = demands_of(spec, plan), []
    for arms in arms_on.values():
        facts = target.choose(testbeds.of_arm[arms[0].id])
        capacity = _capacity(spec.file, target, facts)
        found += found_by(OF_A_SERVER, OpenedServer(spec.file, target, testbeds, tuple(arms)))
        asked += [(demands[arm.id], capacity) for arm in arms]
    refuse([*found, *lacking(asked, side_by_side=plan.side_by_side)], spec.source)


def session_settings(server: OpenedServer) -> Iterator[PgassayError]:
    """Settings that no session of this user can set for itself."""
    wanted = [pair for arm in server.arms for pair in arm.session_settings.items()]
    if not wanted:
        return
    with as_target_error("checking settings"), connect(server.target.parameters()) as session:
        for name, value in dict.fromkeys(wanted):
            yield from found_by([refuse_in_sessions], session, {name: value})


def installed_tables(server: OpenedServer) -> None:
    """Tables that sessions of the load would not find: on a copy those are not of a superuser."""
    for installed in {dataset.installed for dataset in server.testbeds.datasets.values()}:
        if installed is not None:
            with (
                as_target_error("looking for the workload's tables"),
                connect(server.target.parameters()) as session,
            ):
                refuse_missing(session, installed, copied=server.file.copies_existing)


def server_settings(server: OpenedServer) -> Iterator[PgassayError]:
    """Settings that the server would not take, or may not be changed there."""
    for arm in server.arms:
        wanted = {**server.file.settings.postgres, **arm.settings}
        yield from found_by([server.target.check_settings], wanted)


def host_knobs(server: OpenedServer) -> Iterator[PgassayError]:
    """Knobs that the server's host would not take, or that may not be changed there."""
    for arm in server.arms:
        wanted = {**server.file.settings.host, **arm.knobs}
        yield from found_by([server.target.check_host], wanted)


def unseen_limits(server: OpenedServer) -> Iterator[Refusal]:
    """Limits of `[guard]` on what cannot be seen of the server."""
    target, table = server.target, server.file.guard
    if table is not None:
        with as_target_error("looking at the server"), target.connect() as session:
            yield from unseen(table, session, target.host(), target.facts().data_directory)


def uncounted_statements(server: OpenedServer) -> Iterator[Refusal]:
    """Endpoints of statements that the server does not count."""
    file = server.file
    asked = [one for one in file.design.endpoints or () if statement_of(one) is not None]
    if not asked:
        return
    with as_target_error("looking at the server"), server.target.connect() as session:
        counts = STATEMENTS.extension in preloaded_in(session)
        # On servers of our own it is created after this.
        is_there = not file.loads_existing or STATEMENTS.extension in extensions_in(session)
        if not counts or not is_there or session.info.server_version < _TELLS_QUERY_IDS:
            yield Refusal("endpoint-of-uncounted-statement", name=asked[0])


OF_A_SERVER = (
    session_settings,
    installed_tables,
    server_settings,
    host_knobs,
    unseen_limits,
    uncounted_statements,
)


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


def refuse_clients(spec: Spec, plan: Plan, target: Target) -> None:
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
            code, sqlstate = "clients-not-connected", error.sqlstate
            raise NotConnected(code, sqlstate=sqlstate, asked=asked, why=error) from None
