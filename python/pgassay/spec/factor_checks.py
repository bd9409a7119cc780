"""Which factors go together, and with which target.

Enters: a parsed `Spec`. Leaves: nothing, or a SpecError that names file, key and fix.
Never: reaches a server; what only the server knows is checked when it is opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pgassay.errors import SpecError
from pgassay.spec.arms import arms_of, check_client_levels
from pgassay.spec.reset import ResetLevel
from pgassay.spec.settings import check_setting
from pgassay.spec.slices import refuse_other_than_session
from pgassay.spec.variants import SchemaSql

if TYPE_CHECKING:
    from pgassay.spec.parse import Spec

_OWN = "is only for servers of pgassay's own; drop target.dsn, or this factor"


def check_factors(spec: Spec, majors: tuple[int | None, ...]) -> None:
    """Refuse what cannot work in any run; `majors` are the servers' versions as far as known."""
    try:
        _names_are_apart(spec)
        _target(spec)
        _schema(spec)
        _reset(spec)
        _client_settings(spec, majors)
        check_client_levels(spec)
    except SpecError as error:
        raise SpecError(error.problem, file=error.file or spec.source, key=error.key) from None


def _names_are_apart(spec: Spec) -> None:
    """An arm's levels are told by the factors' names."""
    seen: dict[str, str] = {}
    for key, name in spec.file.factors.in_the_file():
        if name in seen:
            raise SpecError(
                f"{seen[name]} is called {name!r} in reports too; rename or drop one", key=key
            )
        seen[name] = key


def _target(spec: Spec) -> None:
    file = spec.file
    servers = file.factors.target
    for key, levels in (("version", servers.version), ("bin", servers.bin)):
        if levels is None:
            continue
        known = ("data", "version", "bin", "dsn")
        given = [n for n in known if getattr(file.target, n) is not None]
        if given:
            raise SpecError(
                f"its levels are the servers under test; drop target.{given[0]}",
                key=f"factors.target.{key}",
            )
    workloads = file.factors.workload
    for name, varied in (("use", workloads.use), ("scale", workloads.scale)):
        if varied is not None and name in file.workload.model_fields_set:
            raise SpecError(
                f"is also given as workload.{name}; keep one of the two",
                key=f"factors.workload.{name}",
            )
    if file.target.is_existing:
        _one_data(spec)
    if not file.target.is_existing and ("sslmode" in _client_keys(spec) or file.load.sslmode):
        key = "load.sslmode" if file.load.sslmode else "factors.client.sslmode"
        raise SpecError(
            "a server of pgassay's own is reached by a Unix socket, which has no TLS; name one"
            " that has by target.dsn",
            key=key,
        )


def _client_keys(spec: Spec) -> list[str]:
    return [name for kind, name, _ in spec.file.factors.every() if kind == "client"]


def _one_data(spec: Spec) -> None:
    """On an existing server the data are built once: there is no copy to put back."""
    built = {one.workload.building_sql(one.file.workload.scale) for _, one in arms_of(spec)}
    if len(built) > 1:
        factors = spec.file.factors.workload
        key = "use" if factors.use is not None else "scale"
        raise SpecError(
            f"its levels have different data, which {_OWN}", key=f"factors.workload.{key}"
        )


def _schema(spec: Spec) -> None:
    for name, levels in spec.variants.schema.items():
        key = f"factors.schema.{name}"
        seen: dict[str, str] = {}
        for label, level in levels.items():
            if level.sql in seen:
                raise SpecError(f"{seen[level.sql]!r} and {label!r} are the same level", key=key)
            seen[level.sql] = label
        if spec.file.target.is_existing:
            _can_be_undone(spec, key, levels)


def _reset(spec: Spec) -> None:
    """What is varied must be what a reset puts back."""
    level = spec.file.reset_rule().level
    keys = ("factors.target.", "factors.workload.", "factors.schema.")
    varied = [key for key, _ in spec.file.factors.in_the_file() if key.startswith(keys)]
    if not varied:
        return
    if not spec.file.target.is_existing and level is not ResetLevel.SNAPSHOT:
        raise SpecError(
            f"{level.value!r} keeps the data of the trial before, which {varied[0]} varies; take"
            " snapshot",
            key="reset.level",
        )
    if level is ResetLevel.TEMPLATE:
        raise SpecError(
            f"'template' makes the database anew as it was built, without what {varied[0]} varies;"
            " take vacuum",
            key="reset.level",
        )


def _can_be_undone(spec: Spec, key: str, levels: Mapping[str, SchemaSql]) -> None:
    """An existing server's data are no copy that is thrown away, but for reset.level 'snapshot'."""
    if not spec.file.target.allow_changes:
        raise SpecError(
            "changes the schema of an existing server, and runs SQL there only with"
            " target.allow_changes = true",
            key=key,
        )
    if spec.file.reset_rule().level is ResetLevel.SNAPSHOT:
        return
    for label, level in levels.items():
        if level.sql and not (level.undo or "").strip():
            raise SpecError(
                f"{label!r} needs what takes it back on an existing server; write"
                f' {label} = {{ sql = "…", undo = "…" }}',
                key=key,
            )


def _client_settings(spec: Spec, majors: tuple[int | None, ...]) -> None:
    file = spec.file
    held = {**file.factors.postgres, **file.settings.postgres}
    settings: dict[str, tuple[str, ...]] = {n: (v,) for n, v in file.load.settings.items()}
    found = [(f"load.settings.{name}", name, values) for name, values in settings.items()]
    for name, levels in file.factors.client.settings.items():
        key = f"factors.client.settings.{name}"
        if name in settings:
            raise SpecError("is also held in [load.settings]; keep one of the two", key=key)
        if len(levels) < 2:
            raise SpecError("a factor needs at least two levels", key=key)
        if len(set(levels)) < len(levels):
            raise SpecError("two of its levels are the same", key=key)
        found.append((key, name, levels))
    for key, name, values in found:
        if name in held:
            raise SpecError("the experiment sets it on the server too; keep one", key=key)
        for major in majors:
            for value in values:
                check_setting(key, name, value, major)
            refuse_other_than_session(key, name, major, at_its_begin=True)
