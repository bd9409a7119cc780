"""What `pgassay plan` says of factors whose levels are more than a value.

Enters: a spec. Leaves: lines on stdout, or an object for `--json`. Never: changes anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from pgassay.cli.console import out, plain
from pgassay.spec.factors import BUILD, WORKLOAD
from pgassay.spec.parse import Spec
from pgassay.trials.servers import servers_under_test

_LONGEST = 70
_MOST_LINES = 20


def print_factors(spec: Spec) -> None:
    """Each level with what stands behind its name."""
    for name, level, meaning in _levels(spec):
        out.print(f"level     {plain(name)} = {plain(level)}: {plain(_short(meaning))}")
    _print_schema(spec)


def schema_to_json(spec: Spec) -> dict[str, Any]:
    """What the object of `plan --json` holds of the schema: factor → level → SQL and its undo."""
    found = {
        factor: {level: asdict(variant) for level, variant in variants.items()}
        for factor, variants in spec.variants.schema.items()
    }
    return {"schema_variants": found} if found else {}


def _print_schema(spec: Spec) -> None:
    """The SQL of each variant, line by line, and on an existing server what takes it back."""
    for factor, variants in spec.variants.schema.items():
        for level, variant in variants.items():
            name = f"schema    {plain(factor)} = {plain(level)}"
            if not variant.sql:
                out.print(f"{name}: as the workload makes it")
                continue
            out.print(f"{name}:")
            _print_sql("SQL", variant.sql)
            if variant.undo and spec.file.target.is_existing:
                _print_sql("undo", variant.undo)


def _print_sql(label: str, sql: str) -> None:
    lines = [line.rstrip() for line in sql.strip().splitlines()]
    shown = lines[:_MOST_LINES]
    for number, line in enumerate(shown):
        indent = " " * (len(line.expandtabs(4)) - len(line.lstrip().expandtabs(4)))
        out.print(f"  {label if number == 0 else '':<8}{indent}{plain(line)}")
    if len(lines) > len(shown):
        out.print(f"  {'':<8}… {len(lines) - len(shown)} more lines")


def _levels(spec: Spec) -> Iterator[tuple[str, str, str]]:
    factors = spec.file.factors
    server = "version" if factors.target.version is not None else BUILD
    for level, found in servers_under_test(spec).items():
        yield server, level, f"PostgreSQL {found.version}, {found.bin_directory}"
    for level, workload in spec.variants.workloads.items():
        yield WORKLOAD, level, workload.title
    for scenario, scripts in spec.variants.scripts.items():
        for level, script in scripts.items():
            yield scenario, level, script.file if script else "the workload's own script"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
