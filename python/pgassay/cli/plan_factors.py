"""What `pgassay plan` says of factors whose levels are more than a value.

Enters: a spec. Leaves: lines on stdout. Never: changes anything.
"""

from __future__ import annotations

from collections.abc import Iterator

from pgassay.cli.console import out, plain
from pgassay.spec.factors import BUILD, WORKLOAD
from pgassay.spec.parse import Spec
from pgassay.trials.servers import servers_under_test

_LONGEST = 70


def print_factors(spec: Spec) -> None:
    """Each level with what stands behind its name."""
    for name, level, meaning in _levels(spec):
        out.print(f"level     {plain(name)} = {plain(level)}: {plain(_short(meaning))}")


def _levels(spec: Spec) -> Iterator[tuple[str, str, str]]:
    factors = spec.file.factors
    server = "version" if factors.target.version is not None else BUILD
    for level, found in servers_under_test(spec).items():
        yield server, level, f"PostgreSQL {found.version}, {found.bin_directory}"
    for level, workload in spec.variants.workloads.items():
        yield WORKLOAD, level, workload.title
    for factor, variants in spec.variants.schema.items():
        for level, variant in variants.items():
            yield factor, level, variant.sql or "the schema as the workload makes it"
            if variant.undo and spec.file.target.dsn is not None:
                yield factor, level, f"undone by {variant.undo}"
    for scenario, scripts in spec.variants.scripts.items():
        for level, script in scripts.items():
            yield scenario, level, script.file if script else "the workload's own script"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
