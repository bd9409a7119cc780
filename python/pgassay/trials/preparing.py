"""Everything a target needs before the first trial: checks, data, variants of the data.

Enters: an opened target, a spec, its plan. Leaves: the target ready to be reset to any arm, and
the object of environment.json. Never: builds before every arm was found possible.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from pgassay.errors import ConnectionRefused
from pgassay.plan.demands import demands_of
from pgassay.plan.model import Plan
from pgassay.spec.arms import spec_of_arm
from pgassay.spec.parse import Spec
from pgassay.spec.reset import ResetLevel
from pgassay.target.access import access_of
from pgassay.target.capacity import (
    Capacity,
    capacity_of,
    capacity_of_a_new_server,
    own_sessions,
    refuse_lacking,
)
from pgassay.target.local_host import HERE
from pgassay.target.memory import memory_of
from pgassay.target.placement import Placement
from pgassay.target.protocol import Connection, Ground, ServerFacts, Target
from pgassay.target.session import connect, told_as_target_error
from pgassay.trials.check import Check
from pgassay.trials.client_side import as_the_client
from pgassay.trials.contents import contents_of, unlike
from pgassay.trials.environment import describe_environment
from pgassay.trials.grounds import Dataset, Grounds
from pgassay.trials.observer import Observer
from pgassay.trials.server_differences import built_unlike, describe_servers
from pgassay.trials.sizes import sizes_of
from pgassay.trials.unseen import described, not_seen


def check_arms(spec: Spec, plan: Plan, target: Target, grounds: Grounds) -> None:
    """Refuse, before anything is built, what a server or this host would not take in some arm."""
    held, held_host = spec.file.settings.postgres, spec.file.settings.host
    demands, asked = demands_of(spec, plan), []
    capacities: dict[Ground, Capacity] = {}
    for arm in plan.arms:
        # One server for each; the first look finds it up, where a later one may find it parked.
        ground = replace(grounds.of_arm[arm.id], schema="")
        facts = target.choose(grounds.of_arm[arm.id])
        if ground not in capacities:
            capacities[ground] = _capacity(spec, target, facts)
        target.check_settings({**held, **arm.levels_of("postgres")})
        target.check_host({**held_host, **arm.levels_of("host")})
        asked.append((demands[arm.id], capacities[ground]))
    refuse_lacking(asked, side_by_side=plan.side_by_side)


def _capacity(spec: Spec, target: Target, facts: ServerFacts) -> Capacity:
    """Of the chosen server, as its first start has left it."""
    table, host = spec.file.target, target.host()
    is_ours = not table.is_existing
    # Whether a process of that number is the server's is known only of one that was located.
    located = host if is_ours or access_of(table).control is not None else None
    with told_as_target_error("looking at the server"), target.connect() as session:
        return capacity_of(
            session,
            facts.settings,
            None if located is None else memory_of(located, session.info.backend_pid),
            own_sessions(is_ours=is_ours, sees_host=host is not None),
            in_own_database=is_ours or spec.file.reset_rule().level is ResetLevel.TEMPLATE,
        )


def check_new_servers(spec: Spec, plan: Plan) -> None:
    """The same of servers that are still to be made, as far as is known beforehand."""
    if spec.file.target.is_existing:
        return
    capacity = capacity_of_a_new_server(memory_of(HERE, os.getpid()))
    asked = [(demand, capacity) for demand in demands_of(spec, plan).values()]
    refuse_lacking(asked, side_by_side=plan.side_by_side)


def prepare(
    spec: Spec,
    plan: Plan,
    target: Target,
    grounds: Grounds,
    placement: Placement,
    observer: Observer,
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Build and freeze all data and their variants; what environment.json says, and doubts that
    every trial of the run has."""
    held, held_host = spec.file.settings.postgres, spec.file.settings.host
    servers: dict[str, ServerFacts] = {}
    contents: dict[str, dict[str, Mapping[str, Any]]] = {}
    made_in: dict[str, float] = {}
    unseen: dict[str, list[Check]] = {}
    sizes: dict[str, dict[str, Any]] = {}
    is_ours = not spec.file.target.is_existing
    varied = {name for arm in plan.arms for name in arm.levels_of("postgres")}
    are_several = len({ground.server for ground in grounds.datasets}) > 1 or plan.side_by_side
    for ground, dataset in grounds.datasets.items():
        target.choose(ground)
        where = f" on {ground.server}" if ground.server else ""
        where += f" for {ground.arm}" if ground.arm else ""
        observer.preparing(f"building {dataset.name}{where}")
        target.prepare(builder(dataset, plan.seed), held, held_host)
        servers.setdefault(ground.server, target.facts())
        with told_as_target_error("looking at what can be seen"), target.connect() as session:
            if ground.server not in unseen:
                unseen[ground.server] = not_seen(session, is_ours=is_ours, varied=varied)
            sizes[f"{dataset.name}{where}"] = sizes_of(session)
        _check_clients(spec, plan, target)
        if are_several:
            observer.preparing(f"reading {dataset.name}{where}")
            whose = " ".join(filter(None, (ground.server, ground.arm)))
            contents.setdefault(dataset.name, {})[whose] = contents_of(target)
        for variant in grounds.variants.get(ground, {}).values():
            observer.preparing(f"making {variant.name}{where}")
            began = time.monotonic()
            target.vary(variant)
            made_in[f"{variant.name}{where}"] = round(time.monotonic() - began, 3)
    doubts = (
        *built_unlike(servers),
        *(text for name, found in contents.items() for text in unlike(name, found)),
    )
    for text in doubts:
        observer.warned(text)
    first = next(iter(servers.values()))
    environment = describe_environment(
        first, target.kind, target.host_as_found(), placement, target.host()
    )
    told = {
        **environment,
        **describe_servers(servers),
        "not_seen": described(unseen),
        "sizes": sizes,
        **({"data": contents} if contents else {}),
        **({"schema_made_in_s": made_in} if made_in else {}),
    }
    return told, doubts


def _check_clients(spec: Spec, plan: Plan, target: Target) -> None:
    """Refuse, before any trial, a session that some arm's client could not have here."""
    seen = []
    for arm in plan.arms:
        load = spec_of_arm(spec, arm.by_kind).file.load
        parameters = as_the_client(target.parameters(), load)
        if parameters in seen or parameters == target.parameters():
            continue
        seen.append(parameters)
        try:
            connect(parameters).close()
        except ConnectionRefused as error:
            own = {**load.settings, **({"sslmode": load.sslmode} if load.sslmode else {})}
            asked = ", ".join(f"{name} = {value}" for name, value in own.items())
            raise ConnectionRefused(f"{asked}: {error}", sqlstate=error.sqlstate) from None


def builder(dataset: Dataset, seed: int) -> Callable[[Connection], None]:
    """What builds a dataset; the server's random() draws the same in it wherever it is built."""
    # setseed takes -1 to 1.
    drawn = random.Random(seed).random()

    def build(connection: Connection) -> None:
        with told_as_target_error(f"building {dataset.name}: the seed of random()"):
            connection.execute("SELECT pg_catalog.setseed(%s)", (drawn,))
        for file in ("schema", "data"):
            statements = dataset.schema_sql if file == "schema" else dataset.data_sql
            with told_as_target_error(f"building {dataset.name}: {file}.sql"):
                connection.execute(statements.encode())

    return build
