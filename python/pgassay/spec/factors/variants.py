"""Read the files that levels name: workloads, scripts, and SQL of schema variants.

Enters: the factors of an experiment file, its folder and that of its workload.
Leaves: frozen `Variants`, or a SpecError that names the key. Never: parses scripts or runs SQL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pgassay.refusals.refusal import Refusal
from pgassay.spec.factors.kinds import written_factors
from pgassay.spec.factors.sql_words import is_no_sql
from pgassay.spec.factors.tables import FactorsTable, SchemaLevel
from pgassay.spec.reading.tables import shortened
from pgassay.spec.reading.texts import Roots, bytes_of, is_file, near_files, path_from, text_of
from pgassay.spec.secrets.redaction import secret_line
from pgassay.spec.workload.folder import (
    Scenario,
    Workload,
    load_workload,
    script_fields,
    with_scale,
)
from pgassay.spec.workload.query_folders import QueryFolders, read_query_folders


@dataclass(frozen=True)
class Script:
    """A transaction script that a level puts in place of a scenario's own."""

    file: str
    script: str
    script_base64: str = ""


@dataclass(frozen=True)
class SchemaSql:
    """The SQL that makes one variant of the schema and undoes it; empty for the schema as built."""

    sql: str = ""
    undo: str | None = None

    def at_scale(self, scale: int) -> SchemaSql:
        """Returns the same SQL with `:scale` replaced by the scale of the data."""
        undo = None if self.undo is None else with_scale(self.undo, scale)
        return SchemaSql(with_scale(self.sql, scale), undo)


@dataclass(frozen=True)
class Variants:
    """The contents of the files that levels name, by factor or scenario and then by the name of the
    level."""

    workloads: Mapping[str, Workload] = field(default_factory=dict)
    scripts: Mapping[str, Mapping[str, Script | None]] = field(default_factory=dict)
    """None for the workload's own script."""
    schema: Mapping[str, Mapping[str, SchemaSql]] = field(default_factory=dict)
    queries: QueryFolders | None = None

    def to_json(self) -> dict[str, Any]:
        """Returns the `variants` object of workload.json; empty if no level names a file."""
        return {name: value for name, value in asdict(self).items() if value}


def read_variants(
    factors: FactorsTable, beside: Path, workload: Path, *, file: str, roots: Roots = ()
) -> Variants:
    """Read every file the levels name; `beside` is the experiment file's folder.

    Scripts and SQL that are not there are those of the folder `workload`.
    """
    folders = (beside, workload)
    return Variants(
        workloads={
            name: load_workload(use, beside, file=file, key="factors.workload.use", roots=roots)
            for name, use in (factors.workload.use or {}).items()
        },
        scripts={
            scenario: {
                name: _script(text, folders, file, f"factors.scenarios.{scenario}", roots)
                for name, text in levels.items()
            }
            for scenario, levels in factors.scenarios.items()
        },
        schema={
            factor: {
                name: _schema_sql(level, folders, file, f"factors.schema.{factor}", roots)
                for name, level in levels.items()
            }
            for factor, levels in factors.schema_.items()
        },
        queries=_queries(factors, beside, file, roots),
    )


def _queries(factors: FactorsTable, beside: Path, file: str, roots: Roots) -> QueryFolders | None:
    levels = factors.workload.queries
    if levels is None:
        return None
    folders = {name: path_from(text, beside) for name, text in levels.items()}
    try:
        alone = len(written_factors(factors)) == 1
        return read_query_folders(folders, only_texts_differ=alone, roots=roots)
    except Refusal as refusal:
        raise refusal.in_file(file) from None


def with_script(scenario: Scenario, script: Script | None) -> Scenario:
    """Returns the scenario with this script, if there is one; its name and weight stay."""
    if script is None:
        return scenario
    return replace(scenario, **asdict(script))


def _script(text: str, folders: Sequence[Path], file: str, key: str, roots: Roots) -> Script | None:
    """The script of that file; None for "", the workload's own."""
    if not text:
        return None
    path = _found(text, folders)
    if path is None:
        near = near_files(path_from(text, folders[0]), roots)
        raise Refusal("no-such-script", key, script=shortened(text), near=near).in_file(file)
    return Script(text, **script_fields(bytes_of(path, roots)))


def _schema_sql(
    level: SchemaLevel, folders: Sequence[Path], file: str, key: str, roots: Roots
) -> SchemaSql:
    found = []
    for text in (level.sql, level.undo):
        if text is None or not _is_file_name(text):
            if text is not None and is_no_sql(text):
                raise Refusal("level-is-no-sql", key, text=shortened(text)).in_file(file)
            found.append(text)
            continue
        path = _found(text.strip(), folders)
        if path is None:
            near = near_files(path_from(text.strip(), folders[0]), roots)
            raise Refusal("no-file", key, name=shortened(text.strip()), near=near).in_file(file)
        content = text_of(path, roots)
        line = secret_line(content)
        if line is not None:
            raise Refusal("password-in-script", line=line).in_file(str(path))
        found.append(content)
    sql = (found[0] or "").strip()
    if "\0" in sql:
        raise Refusal("zero-byte-in-sql", key).in_file(file)
    return SchemaSql(sql, found[1])


def _found(text: str, folders: Sequence[Path]) -> Path | None:
    paths = (path_from(text, folder) for folder in folders)
    return next((path for path in paths if is_file(path)), None)


def _is_file_name(text: str) -> bool:
    name = text.strip()
    return name.endswith(".sql") and "\n" not in name and ";" not in name
