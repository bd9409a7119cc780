"""Builds all data and their schema variants before the first trial.

Enters: an opened target, the testbeds, what is held for every arm. Leaves: the target ready to be
reset to any arm, and what was found while building. Never: builds before every arm was checked.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pgassay.errors import TargetError
from pgassay.notes import Note
from pgassay.plan.duet import built_apart
from pgassay.plan.model import Arm, Plan
from pgassay.server.connection.session import as_target_error, identity
from pgassay.server.data.varied_objects import MadeLevel, make_levels
from pgassay.server.hosts.host import Host
from pgassay.server.hosts.placement import Placement
from pgassay.server.hosts.server_process import postmaster_of
from pgassay.server.knobs.host_knobs import without_effect
from pgassay.server.protocol import Connection, ServerFacts, Target, Testbed
from pgassay.spec.experiment import Spec
from pgassay.trials.environment.description import describe_environment, sizes_of
from pgassay.trials.environment.server_differences import (
    built_unlike,
    contents_of,
    describe_servers,
    unlike,
)
from pgassay.trials.host.other_programs import HostWatch, OtherPrograms
from pgassay.trials.run.progress import ProgressListener
from pgassay.trials.run.refusals.of_servers import refuse_clients
from pgassay.trials.run.testbeds import Dataset, Testbeds
from pgassay.trials.sampling.not_measured import Check, described, not_measured


@dataclass
class Prepared:
    """What was found out about servers and data while they were prepared."""

    servers: dict[str, ServerFacts] = field(default_factory=dict)
    """By the name of the server's level; empty where one server alone is tested."""
    contents: dict[str, dict[str, Mapping[str, Any]]] = field(default_factory=dict)
    """Dataset → server → table → rows and checksum, where data are built more than once."""
    sizes: dict[str, dict[str, Any]] = field(default_factory=dict)
    not_measured: dict[str, list[Check]] = field(default_factory=dict)
    """By server."""
    schema_made_in_s: dict[str, float] = field(default_factory=dict)
    """Variant of the schema → how long its SQL took."""
    levels: dict[str, MadeLevel] = field(default_factory=dict)
    """Level of the schema → what it has made, where all levels are in the data at once."""
    copies: dict[str, list[Arm]] = field(default_factory=dict)
    """Of a duet: the system identifier of a copy of the data → the arms that run on it."""
    notes: tuple[Note, ...] = ()
    """Those that hold for every trial of the run."""

    def environment(self, target: Target, placement: Placement) -> dict[str, Any]:
        """Returns the object of environment.json."""
        first = next(iter(self.servers.values()))
        copies = {
            f"copy {number}": [arm.id for arm in arms]
            for number, arms in enumerate(self.copies.values(), start=1)
        }
        return {
            **describe_environment(
                first, target.kind, target.host_as_found(), placement, target.host()
            ),
            **describe_servers(self.servers),
            "not_seen": described(self.not_measured),
            "sizes": self.sizes,
            **({"data": self.contents} if self.contents else {}),
            **({"copies": copies} if copies else {}),
            **({"schema_made_in_s": self.schema_made_in_s} if self.schema_made_in_s else {}),
            **({"schema_bytes": sizes} if (sizes := self._sizes_of_levels()) else {}),
        }

    def _sizes_of_levels(self) -> dict[str, int]:
        return {name: made.bytes for name, made in self.levels.items()}


def prepare(
    spec: Spec,
    plan: Plan,
    target: Target,
    testbeds: Testbeds,
    listener: ProgressListener,
    setup: Callable[[], None] | None = None,
) -> Prepared:
    """Builds and freezes all data and their variants; `setup` runs on each server after the schema
    and before the data."""
    held, held_host = spec.file.settings.postgres, spec.file.settings.host
    found = Prepared()
    is_ours = not spec.file.loads_existing
    varied = {name for arm in plan.arms for name in (*arm.settings, *arm.session_settings)}
    are_several = len({one.server for one in testbeds.datasets}) > 1 or plan.side_by_side
    for testbed, dataset in testbeds.datasets.items():
        target.choose(testbed)
        name = f"{dataset.name}{_place(testbed)}"
        # A later server of a duet may share what the first one has built.
        is_there = bool(found.copies) or dataset.installed is not None
        doing = "preparing" if is_there else "building"
        listener.preparing(f"{doing} {dataset.shown}{_place(testbed)}")
        build = builder(dataset, plan.seed, setup)
        target.prepare(_with_levels(build, testbeds, found, listener), held, held_host)
        found.servers.setdefault(testbed.server, target.facts())
        _look(target, name, testbed.server, found, is_ours=is_ours, varied=varied)
        refuse_clients(spec, plan, target)
        if are_several:
            listener.preparing(f"reading {name}")
            server = " ".join(filter(None, (testbed.server, testbed.arm)))
            found.contents.setdefault(dataset.name, {})[server] = contents_of(target)
        if plan.exchanges_directories:
            with target.connect() as session:
                found.copies.setdefault(identity(session), []).append(plan.arm(testbed.arm))
        for variant in testbeds.variants.get(testbed, {}).values():
            made = f"{variant.name}{_place(testbed)}"
            listener.preparing(f"making {made}")
            if (took_s := target.vary(variant)) is not None:
                found.schema_made_in_s[made] = round(took_s, 3)
    found.notes = (
        *built_unlike(found.servers),
        *(note for name, by_server in found.contents.items() for note in unlike(name, by_server)),
        *_idle_knobs(spec, target),
        *built_apart([arm.server for arm in arms] for arms in found.copies.values()),
    )
    for note in found.notes:
        listener.warned(str(note))
    return found


def others_on_host(target: Target) -> OtherPrograms | None:
    """Watches the server's host before the first trial, while the server is idle; None where it
    cannot be seen."""
    if (host := target.host()) is None:
        return None
    with as_target_error("looking at the host"), target.connect() as session:
        return HostWatch(host, session.info.backend_pid).used()


def _idle_knobs(spec: Spec, target: Target) -> list[Note]:
    """Why a knob of the host does nothing to the server."""
    file, host = spec.file, target.host()
    knobs = {*file.settings.host, *file.factors.host}
    if host is None or not knobs:
        return []
    return without_effect(
        knobs,
        host,
        starts_server=not file.loads_existing,
        limits_memory=file.placement.server_memory is not None,
        running=_postmaster(target, host) if file.loads_existing else None,
    )


def _postmaster(target: Target, host: Host) -> int | None:
    with suppress(TargetError), target.connect() as session:
        return postmaster_of(session, session.info.backend_pid, host)
    return None


def _place(testbed: Testbed) -> str:
    """Such as ` on 16`, where there is more than one place."""
    on = f" on {testbed.server}" if testbed.server else ""
    return f"{on} for {testbed.arm}" if testbed.arm else on


def _look(
    target: Target,
    name: str,
    server: str,
    found: Prepared,
    *,
    is_ours: bool,
    varied: Collection[str],
) -> None:
    with as_target_error("looking at what can be measured"), target.connect() as session:
        if server not in found.not_measured:
            found.not_measured[server] = not_measured(session, is_ours=is_ours, varied=varied)
        found.sizes[name] = sizes_of(session)


def _with_levels(
    build: Callable[[Connection], None],
    testbeds: Testbeds,
    found: Prepared,
    listener: ProgressListener,
) -> Callable[[Connection], None]:
    """The function that builds the data, and in them what all levels of the schema make."""
    if not testbeds.at_once:
        return build

    def build_all(connection: Connection) -> None:
        build(connection)
        listener.preparing(f"making {', '.join(testbeds.at_once)}")
        found.levels = make_levels(connection, testbeds.at_once)
        made_in_s = {name: round(made.took_s, 3) for name, made in found.levels.items()}
        found.schema_made_in_s.update(made_in_s)

    return build_all


def builder(
    dataset: Dataset, seed: int, setup: Callable[[], None] | None = None
) -> Callable[[Connection], None]:
    """Returns the function that builds a dataset; the server's random() draws the same in its SQL
    wherever it is built. `setup` is called between schema and data."""
    # setseed takes -1 to 1.
    drawn = random.Random(seed).random()

    def build(connection: Connection) -> None:
        with as_target_error(f"building {dataset.name}: the seed of random()"):
            connection.execute("SELECT pg_catalog.setseed(%s)", (drawn,))
        for file in ("schema", "data"):
            statements = dataset.schema_sql if file == "schema" else dataset.data_sql
            with as_target_error(f"building {dataset.name}: {file}.sql", statements):
                connection.execute(statements.encode())
            if file == "schema" and setup is not None:
                setup()

    return build
