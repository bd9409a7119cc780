"""What stands behind the levels of a plan: servers, workloads, scripts and SQL.

Enters: a spec. Leaves: lines on stdout. Never: changes anything.
"""

from __future__ import annotations

from collections.abc import Iterator

from pgassay.cli.terminal.console import counted, labelled, out, plain
from pgassay.spec.experiment import Spec
from pgassay.spec.factors.kinds import BUILD, WORKLOAD
from pgassay.trials.run.refusals.before_servers import servers_under_test

_LONGEST = 70
_MOST_LINES = 20


def print_factors(spec: Spec) -> None:
    """Prints each level that is more than a value, with what its name stands for."""
    for name, level, meaning in _levels(spec):
        labelled("level     ", f"{name} = {level}: {_short(meaning)}")
    _print_schema(spec)


def _print_schema(spec: Spec) -> None:
    """The SQL of each variant, line by line, and on an existing server the SQL that undoes it."""
    for factor, variants in spec.variants.schema.items():
        for level, variant in variants.items():
            name = f"schema    {plain(factor)} = {plain(level)}"
            if not variant.sql:
                out.print(f"{name}: as the workload makes it")
                continue
            out.print(f"{name}:")
            _print_sql("SQL", variant.sql)
            if variant.undo and spec.file.loads_existing:
                _print_sql("undo", variant.undo)


def _print_sql(label: str, sql: str) -> None:
    lines = [line.rstrip() for line in sql.strip().splitlines()]
    shown = lines[:_MOST_LINES]
    for number, line in enumerate(shown):
        indent = " " * (len(line.expandtabs(4)) - len(line.lstrip().expandtabs(4)))
        out.print(f"  {label if number == 0 else '':<8}{indent}{plain(line)}")
    if len(lines) > len(shown):
        out.print(f"  {'':<8}… {counted(len(lines) - len(shown), 'more line')}")


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
