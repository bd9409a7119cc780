"""The testbed of each arm (server, data and schema variant), and the target that has them all.

Enters: a spec and its plan; the `[target]` table. Leaves: the `Testbed` of every arm, what each is
built from, and a `Target` that is not open yet: one server, or several where the arms need more
than one. Never: builds anything, or starts or reaches a server.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pgassay.plan.model import ALL_ARMS, Arm, Plan
from pgassay.server.copied.origin import ServerCopy
from pgassay.server.copied.versions import Versions
from pgassay.server.data.varied_objects import MadeLevel, hiding
from pgassay.server.existing.access import access_of
from pgassay.server.hosts.placement import Place
from pgassay.server.open import make_several, make_target
from pgassay.server.owned.installation import embedded_installation
from pgassay.server.protocol import Journal, SchemaVariant, Target, Testbed
from pgassay.spec.arms import schema_of_arm, spec_of_arm
from pgassay.spec.experiment import Spec
from pgassay.spec.factors.kinds import SCHEMA
from pgassay.spec.model import ExperimentFile
from pgassay.spec.reading.texts import path_from
from pgassay.spec.workload.folder import InstalledTables


@dataclass(frozen=True)
class Dataset:
    """Data that are built once and then restored for every trial that needs them."""

    name: str
    """Such as `payments-read at scale 10`."""
    schema_sql: str
    data_sql: str
    installed: InstalledTables | None = None
    """The tables that are there already, where nothing is built."""

    @property
    def shown(self) -> str:
        """What is prepared, for people: a query set on data that are there gives them its name."""
        is_named = self.installed is None or self.installed.tables
        return self.name if is_named else "the data that are there"


@dataclass(frozen=True)
class Testbeds:
    """The testbeds of all arms of a plan."""

    of_arm: Mapping[str, Testbed]
    datasets: Mapping[Testbed, Dataset]
    """Server and data, without a variant of the schema → what is built there."""
    variants: Mapping[Testbed, Mapping[str, SchemaVariant]] = field(default_factory=dict)
    """The same → its variants by name."""

    side_by_side: bool = False
    """Whether all servers are up in every trial."""
    at_once: Mapping[str, str] = field(default_factory=dict)
    """Level of the schema → its SQL, where what all levels make is in the data of every trial."""

    @property
    def schema_variants(self) -> frozenset[str]:
        """The schema variants of all data, by name."""
        return frozenset(testbed.schema for testbed in self.of_arm.values()) - {""}

    @property
    def are_several(self) -> bool:
        """Whether the run takes more than one data directory at a time."""
        return len(self.datasets) > 1


def testbeds_of(spec: Spec, plan: Plan) -> Testbeds:
    """Returns the testbeds of a plan. Arms that differ only in settings, scripts or the client
    share a testbed."""
    of_arm: dict[str, Testbed] = {}
    datasets: dict[Testbed, Dataset] = {}
    variants: dict[Testbed, dict[str, SchemaVariant]] = {}
    known: dict[tuple[str, str], str] = {}
    for arm in plan.arms:
        one = spec_of_arm(spec, arm.by_kind)
        scale = one.file.workload.scale
        built = one.workload.building_sql(scale)
        # Workloads over the same tables share the data, whatever they are called.
        name = known.setdefault(built, _not_in(known.values(), one.workload.name, scale))
        data = "" if built == next(iter(known)) else name
        variant = None if plan.together else _variant(spec, arm)
        base = Testbed(arm.server, data, arm=arm.id if plan.side_by_side else "")
        datasets.setdefault(base, Dataset(name, *built, one.workload.installed))
        if variant is not None:
            variants.setdefault(base, {})[variant.name] = variant
        schema = "" if variant is None else variant.name
        of_arm[arm.id] = replace(base, schema=schema)
    if plan.alternates:
        # A switchback runs on one testbed; a duet is stored under the first arm's.
        of_arm[ALL_ARMS] = of_arm[plan.arms[0].id]
    at_once = _levels(spec) if plan.together else {}
    return Testbeds(of_arm, datasets, variants, plan.side_by_side, at_once)


def _not_in(names: Collection[str], workload: str, scale: int) -> str:
    """A name for data; workloads of one name may lie in several folders."""
    name = f"{workload} at scale {scale}"
    alike = sum(other == name or other.startswith(f"{name} (") for other in names)
    return f"{name} ({alike + 1})" if alike else name


def _levels(spec: Spec) -> dict[str, str]:
    scale = spec.file.workload.scale
    return {
        level_of(factor, level): one.at_scale(scale).sql
        for factor, levels in spec.variants.schema.items()
        for level, one in levels.items()
        if one.sql
    }


def level_of(factor: str, level: str) -> str:
    """Returns the name of what one level of a factor of the schema makes."""
    return f"{factor} = {level}"


def hidden_by(made: Mapping[str, MadeLevel], arms: Sequence[Arm]) -> dict[str, bytes]:
    """Returns, by arm, the SQL after which a transaction has only what the arm's levels made."""
    every = [one for level in made.values() for one in level.objects]
    found = {}
    for arm in arms:
        own = {level_of(*one) for one in arm.by_kind.get(SCHEMA.name, {}).items()}
        kept = [one for name, level in made.items() if name in own for one in level.objects]
        found[arm.id] = hiding(every, kept)
    return found


def _variant(spec: Spec, arm: Arm) -> SchemaVariant | None:
    found = schema_of_arm(spec, arm.by_kind)
    if not found:
        return None
    chosen = {name: level_of(name, arm.levels[name]) for name in found}
    return SchemaVariant(
        ", ".join(chosen.values()),
        {f"factors.schema, {chosen[name]}": one.sql for name, one in found.items()},
        {
            f"factors.schema, undo of {chosen[name]}": one.undo
            for name, one in found.items()
            if one.undo is not None
        },
    )


def versions_of(file: ExperimentFile, folder: Path) -> Versions:
    """Returns what copies of the server in `target.dsn` are run with; a number among the levels of
    `bin` is an embedded server."""
    levels = file.factors.target
    of_level: dict[str, int | Path] = {**(levels.version or {})}
    for name, server in (levels.bin or {}).items():
        of_level[name] = (
            path_from(server, folder)
            if isinstance(server, str)
            else embedded_installation(server).bin_directory
        )
    return Versions(of_level, levels.how)


def target_of(
    file: ExperimentFile,
    folder: Path,
    testbeds: Testbeds,
    journal: Journal,
    place: Place | None,
    *,
    limited: bool = False,
) -> Target:
    """Returns the target that a `[target]` table names. `folder` is that of the experiment file:
    relative paths begin there. `limited`: the SQL of the workload runs as a role without rights
    outside of its database."""
    table, servers = file.target, file.factors.target.servers()
    installed = next(iter(testbeds.datasets.values())).installed
    path = None if table.bin is None else path_from(table.bin, folder)
    copy = None
    if file.copies_existing:
        copy = ServerCopy(
            table.dsn or "",
            bin_directory=path,
            accept=table.accept,
            servers=len(testbeds.datasets),
            schema_variants=len(testbeds.schema_variants),
            side_by_side=testbeds.side_by_side,
            installed=installed,
            versions=versions_of(file, folder),
            backup=table.backup_options,
            overrides={
                **file.settings.postgres,
                **{name: levels[0] for name, levels in file.factors.postgres.items()},
            },
        )
    if testbeds.are_several or servers or testbeds.side_by_side:
        only = {"": copy or (table.bin if table.bin is not None else table.version)}
        copies = {} if copy is None else {name: copy.at(name) for name in servers}
        made_from = {
            name: path_from(server, folder) if isinstance(server, str) else server
            for name, server in (copies or servers or only).items()
            if name in {testbed.server for testbed in testbeds.datasets}
        }
        return make_several(
            made_from,
            journal=journal,
            place=place,
            rule=file.reset_rule(),
            first=next(iter(testbeds.datasets)),
            side_by_side=testbeds.side_by_side,
            limited=limited,
        )
    return make_target(
        version=table.version,
        bin=path,
        dsn=table.dsn,
        copy=copy,
        allow_changes=table.allow_changes,
        accept=table.accept,
        journal=journal,
        place=place,
        access=access_of(table),
        installed=installed,
        rule=file.reset_rule(),
        limited=limited,
    )
