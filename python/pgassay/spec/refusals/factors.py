"""Refuses factors that cannot work in any run, whatever their other arms are.

Enters: a `Spec` whose files are read. Leaves: refusals with their keys. Never: reaches a server.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pgassay.refusals.refusal import Refusal
from pgassay.spec.arms import specs_of_arms, unfit_client_levels
from pgassay.spec.experiment import Spec
from pgassay.spec.factors.kinds import Applied, written_factors
from pgassay.spec.factors.variants import SchemaSql
from pgassay.spec.refusals.arms import not_of_a_session
from pgassay.spec.refusals.tables import equal_levels, too_few
from pgassay.spec.server.reset import ResetLevel
from pgassay.spec.settings.catalogue import check_setting


def names_alike(spec: Spec) -> Iterator[Refusal]:
    """Refuses two factors of one name, because reports name levels by their factor."""
    seen: dict[str, str] = {}
    for factor in written_factors(spec.file.factors):
        if factor.name in seen:
            yield Refusal("names-alike", factor.key, other=seen[factor.name], name=factor.name)
        seen[factor.name] = factor.key


def unknown_described(spec: Spec) -> Iterator[Refusal]:
    """Refuses names of described factors that the file has no factor of."""
    known = [factor.name for factor in written_factors(spec.file.factors)]
    for name in spec.file.design.describes:
        if name not in known:
            yield Refusal("described-unknown", "design.describes", name=name, known=tuple(known))


def unfit_installed_tables(spec: Spec) -> Iterator[Refusal]:
    """Refuses tables that are on a server already where no server is named, or where the file does
    not say what happens to them before each trial."""
    file, name = spec.file, spec.workload.name
    found = {one.installed for one in (spec.workload, *spec.variants.workloads.values())}
    if found == {None}:
        return
    key = "workload.use" if file.factors.workload.use is None else "factors.workload.use"
    if len(found) > 1:
        yield Refusal("installed-tables-differ", key)
    elif not file.target.is_existing:
        yield Refusal("installed-tables-without-server", key, name=name)
    elif file.reset.level is None and not file.copies_existing:
        yield Refusal("installed-tables-without-reset", name=name)
    else:
        varied = next(iter(spec.variants.schema), None)
        if varied is not None and not file.copies_existing:
            yield Refusal("installed-tables-varied", f"factors.schema.{varied}")


def several_datasets(spec: Spec) -> Iterator[Refusal]:
    """Refuses several sets of data on an existing server, where data are built once and not
    replaced between trials."""
    if not spec.file.loads_existing:
        return
    built = {arm.workload.building_sql(arm.file.workload.scale) for arm in specs_of_arms(spec)}
    if len(built) > 1:
        name = "use" if spec.file.factors.workload.use is not None else "scale"
        yield Refusal("several-datasets", f"factors.workload.{name}")


def unfit_schema_levels(spec: Spec) -> Iterator[Refusal]:
    """Refuses SQL on an existing server without permission, or without SQL that undoes it where the
    data are not reset."""
    file = spec.file
    for name, levels in spec.variants.schema.items():
        key = f"factors.schema.{name}"
        yield from equal_levels(key, levels, (level.sql for level in levels.values()))
        if file.loads_existing and not file.target.allow_changes:
            yield Refusal("schema-without-permission", key)
        elif file.loads_existing and file.reset_rule().level is not ResetLevel.SNAPSHOT:
            yield from _without_undo(key, levels)


def _without_undo(key: str, levels: Mapping[str, SchemaSql]) -> Iterator[Refusal]:
    for label, level in levels.items():
        if level.sql and not (level.undo or "").strip():
            yield Refusal("schema-without-undo", key, label=label)


def reset_keeps_what_varies(spec: Spec) -> Iterator[Refusal]:
    """Refuses a reset that does not put back the data that a factor varies."""
    in_the_data = (Applied.SERVER, Applied.DATA)
    factors = written_factors(spec.file.factors)
    varied = next((one.key for one in factors if one.kind.applied in in_the_data), None)
    level = spec.file.reset_rule().level
    if varied is None:
        return
    if not spec.file.loads_existing and level is not ResetLevel.SNAPSHOT:
        yield Refusal("reset-keeps-varied-data", level=level.value, varied=varied)
    elif level is ResetLevel.TEMPLATE:
        yield Refusal("template-without-varied-data", varied=varied)


def unfit_session_settings(spec: Spec) -> Iterator[Refusal]:
    """Refuses settings of the load's sessions that no session can have, or that are given twice."""
    file = spec.file
    on_the_server = {**file.factors.postgres, **file.settings.postgres}
    found: list[tuple[str, str, tuple[str, ...]]] = [
        (f"load.settings.{name}", name, (value,)) for name, value in file.load.settings.items()
    ]
    for name, levels in file.factors.client.settings.items():
        key = f"factors.client.settings.{name}"
        if name in file.load.settings:
            yield Refusal("given-twice", key, other="[load.settings]")
        yield from too_few(key, levels)
        if len(set(levels)) < len(levels):
            yield Refusal("levels-repeated", key)
        found.append((key, name, levels))
    for key, name, values in found:
        if name in on_the_server:
            yield Refusal("session-and-server", key)
        for major in file.majors:
            for value in values:
                check_setting(key, name, value, major)
            yield from not_of_a_session(key, name, major, at_its_begin=True)


OF_FACTORS = (
    names_alike,
    unknown_described,
    unfit_installed_tables,
    several_datasets,
    unfit_schema_levels,
    reset_keeps_what_varies,
    unfit_session_settings,
    unfit_client_levels,
)
