"""Checks that need more than one table: factors against each other, the target and each arm.

Enters: a parsed `Spec`. Leaves: nothing, or a SpecError that names file, key and fix.
Never: reaches a server; what only the server knows is checked when it is opened.
"""

from __future__ import annotations

from collections.abc import Mapping

from pgassay.errors import SpecError
from pgassay.spec.arms.apply_levels import check_client_levels, specs_of_arms
from pgassay.spec.experiment import Spec
from pgassay.spec.factors.kinds import Applied, Written, written_factors
from pgassay.spec.factors.variants import SchemaSql
from pgassay.spec.held_and_varied import refuse_equal_levels, refuse_too_few
from pgassay.spec.load.slices import check_slices, refuse_other_than_session
from pgassay.spec.load.table import LoadTable
from pgassay.spec.model import ExperimentFile, TargetTable
from pgassay.spec.server.reset import ResetLevel
from pgassay.spec.settings.catalogue import check_setting
from pgassay.spec.workload.folder import Workload

Majors = tuple[int | None, ...]
"""Major versions under test; None for one that the file does not name."""


def check_factors(spec: Spec, majors: Majors) -> None:
    """Refuse factors that cannot work in any run."""
    file, factors = spec.file, written_factors(spec.file.factors)
    try:
        _names_are_distinct(factors)
        _given_once(file)
        _sslmode_has_tls(file)
        _installed_tables(spec)
        _existing_server_has_one_dataset(spec)
        for name, levels in spec.variants.schema.items():
            _schema_levels(f"factors.schema.{name}", levels, file)
        _reset_restores(file.reset_rule().level, file.loads_existing, factors)
        _session_settings(file, majors)
        check_client_levels(spec)
        _profiles_have_an_arm(file)
        _generators_reach_the_server(file)
    except SpecError as error:
        raise SpecError(error.problem, file=error.file or spec.source, key=error.key) from None


def check_arms(spec: Spec, majors: Majors) -> None:
    """Refuse scenarios or slices that the load of some arm cannot run."""
    file = spec.file
    held = {*file.factors.postgres, *file.settings.postgres, *file.load.settings}
    try:
        for arm in specs_of_arms(spec):
            _weights_fit_pools(arm.file.load, arm.workload)
            if arm.file.load.slices is not None:
                for major in majors:
                    check_slices(arm.file.load.slices, arm.workload, held, major)
    except SpecError as error:
        raise SpecError(error.problem, file=spec.source, key=error.key) from None


def _profiles_have_an_arm(file: ExperimentFile) -> None:
    if file.profile is not None and file.design.mode in ("switchback", "duet"):
        raise SpecError(
            f"a profile is taken of one arm, and all arms take turns in a {file.design.mode};"
            ' write design.mode = "blocks", or drop this table',
            key="profile",
        )


def _generators_reach_the_server(file: ExperimentFile) -> None:
    """Load generators are on other machines, and do nothing but run a trial's load there."""
    if file.load.generators is None:
        return
    key = "load.generators"
    if not file.loads_existing:
        raise SpecError(
            "the servers that pgassay starts listen on this machine alone; name a server that the"
            " other machines reach by target.dsn, with reset.level other than snapshot",
            key=key,
        )
    if file.design.mode != "blocks":
        raise SpecError(
            f"arms that alternate within a trial ({file.design.mode}) take their load from this"
            ' machine; write design.mode = "blocks", or drop this table',
            key=key,
        )
    if file.profile is not None:
        raise SpecError(
            "a profile tells scenarios apart by sessions of this machine; drop this table for the"
            " profile, or profile",
            key=key,
        )
    if file.placement.client is not None or file.placement.client_nice is not None:
        raise SpecError(
            "placement.client and client_nice are for a load of this machine; drop them, or this"
            " table",
            key=key,
        )


def _names_are_distinct(factors: tuple[Written, ...]) -> None:
    """Reports name levels by their factor, so no two factors may share a name."""
    seen: dict[str, str] = {}
    for factor in factors:
        if factor.name in seen:
            raise SpecError(
                f"{seen[factor.name]} is called {factor.name!r} in reports too; rename or drop one",
                key=factor.key,
            )
        seen[factor.name] = factor.key


def _given_once(file: ExperimentFile) -> None:
    """A server or workload is either given for all arms or varied."""
    servers, workloads = file.factors.target, file.factors.workload
    for key, levels in (("version", servers.version), ("bin", servers.bin)):
        given = [n for n in ("version", "bin", "dsn") if getattr(file.target, n) is not None]
        if levels is not None and given:
            raise SpecError(
                f"its levels are the servers under test; drop target.{given[0]}",
                key=f"factors.target.{key}",
            )
    for key, varied in (("use", workloads.use), ("scale", workloads.scale)):
        if varied is not None and key in file.workload.model_fields_set:
            raise SpecError(
                f"is also given as workload.{key}; keep one of the two",
                key=f"factors.workload.{key}",
            )


def _sslmode_has_tls(file: ExperimentFile) -> None:
    varied = file.factors.client.sslmode is not None
    if not file.loads_existing and (varied or file.load.sslmode):
        raise SpecError(
            "a server that pgassay starts is reached by a Unix socket, which has no TLS; name a"
            " server with TLS by target.dsn",
            key="load.sslmode" if file.load.sslmode else "factors.client.sslmode",
        )


def _installed_tables(spec: Spec) -> None:
    """Tables that pgassay does not make are on a server that exists; what happens to them before
    each trial is the user's choice."""
    file = spec.file
    workloads = (spec.workload, *spec.variants.workloads.values())
    found = {one.installed for one in workloads}
    if found == {None}:
        return
    key = "workload.use" if file.factors.workload.use is None else "factors.workload.use"
    if len(found) > 1:
        raise SpecError(
            'its levels use different tables; workloads with data = "installed" are compared with'
            " each other if their tables and schemas are the same",
            key=key,
        )
    if not file.target.is_existing:
        raise SpecError(
            f"{spec.workload.name!r} uses tables that are on a server already, and makes none; name"
            " that server in target.dsn",
            key=key,
        )
    if file.reset.level is None:
        raise SpecError(
            f"{spec.workload.name!r} uses tables that are there already, so say what is done before"
            ' every trial: "none" leaves them as the trial before did, "vacuum" vacuums them,'
            ' "template" runs on copies of the database, "snapshot" on a copy of the server',
            key="reset.level",
        )
    varied = next(iter(spec.variants.schema), None)
    if varied is not None and not file.copies_existing:
        raise SpecError(
            'would change tables that pgassay did not make; write reset.level = "snapshot", which'
            " changes a copy of the server",
            key=f"factors.schema.{varied}",
        )


def _existing_server_has_one_dataset(spec: Spec) -> None:
    """On an existing server the data are built once and not replaced between trials."""
    if not spec.file.loads_existing:
        return
    built = {arm.workload.building_sql(arm.file.workload.scale) for arm in specs_of_arms(spec)}
    if len(built) > 1:
        key = "use" if spec.file.factors.workload.use is not None else "scale"
        raise SpecError(
            "its levels have different data, which takes a server that pgassay starts; drop"
            " target.dsn, or this factor",
            key=f"factors.workload.{key}",
        )


def _schema_levels(key: str, levels: Mapping[str, SchemaSql], file: ExperimentFile) -> None:
    refuse_equal_levels(key, levels, (level.sql for level in levels.values()))
    if file.loads_existing:
        _can_be_undone(key, levels, file.target, file.reset_rule().level)


def _can_be_undone(
    key: str, levels: Mapping[str, SchemaSql], target: TargetTable, reset: ResetLevel
) -> None:
    """SQL on an existing server takes permission, and SQL that undoes it unless data are reset."""
    if not target.allow_changes:
        raise SpecError(
            "changes the schema of an existing server, where pgassay runs such SQL only with"
            " target.allow_changes = true",
            key=key,
        )
    if reset is ResetLevel.SNAPSHOT:
        return
    for label, level in levels.items():
        if level.sql and not (level.undo or "").strip():
            raise SpecError(
                f"{label!r} needs SQL that undoes it on an existing server; write"
                f' {label} = {{ sql = "…", undo = "…" }}',
                key=key,
            )


def _reset_restores(level: ResetLevel, existing: bool, factors: tuple[Written, ...]) -> None:
    """Varied data must be what the reset before a trial puts back."""
    in_the_data = (Applied.SERVER, Applied.DATA)
    varied = next((one.key for one in factors if one.kind.applied in in_the_data), None)
    if varied is None:
        return
    if not existing and level is not ResetLevel.SNAPSHOT:
        raise SpecError(
            f'"{level.value}" keeps the data of the trial before, but {varied} varies them; write'
            ' level = "snapshot"',
            key="reset.level",
        )
    if level is ResetLevel.TEMPLATE:
        raise SpecError(
            f'"template" copies the database without what {varied} varies; write level = "vacuum"',
            key="reset.level",
        )


def _session_settings(file: ExperimentFile, majors: Majors) -> None:
    on_the_server = {**file.factors.postgres, **file.settings.postgres}
    found: list[tuple[str, str, tuple[str, ...]]] = [
        (f"load.settings.{name}", name, (value,)) for name, value in file.load.settings.items()
    ]
    for name, levels in file.factors.client.settings.items():
        key = f"factors.client.settings.{name}"
        if name in file.load.settings:
            raise SpecError("is also in [load.settings]; keep one of the two", key=key)
        refuse_too_few(key, levels)
        if len(set(levels)) < len(levels):
            raise SpecError("two of its levels are the same", key=key)
        found.append((key, name, levels))
    for key, name, values in found:
        if name in on_the_server:
            raise SpecError("the experiment sets it on the server too; keep one", key=key)
        for major in majors:
            for value in values:
                check_setting(key, name, value, major)
            refuse_other_than_session(key, name, major, at_its_begin=True)


def _weights_fit_pools(load: LoadTable, workload: Workload) -> None:
    """A scenario can have a number of connections only where scenarios do not share them."""
    fixed = next((s for s in workload.scenarios if s.weight < 0), None)
    if fixed is not None and load.pools != "per_scenario" and load.command is None:
        raise SpecError(
            f"scenario {fixed.name!r} has weight {fixed.weight:g}, which means"
            f' {-fixed.weight:g} connections that run nothing else; write pools = "per_scenario"',
            key="load.pools",
        )
