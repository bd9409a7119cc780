"""The variants of `[load.slices]` as the engine takes them, and as a trial's rows name them.

Enters: a `SlicesTable`; a finished load's result and columns. Leaves: the engine's `slices`
object; the columns with the variant of each row. Never: lets a setting of one variant last into
the slices of another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from psycopg import sql

from pgassay.server.statements import statement
from pgassay.spec.load.slices import SlicesTable, VariantTable
from pgassay.trials.model.record import Columns

NO_CONNECTIONS: Mapping[str, Mapping[str, Any]] = {}


def engine_slices(
    slices: SlicesTable, connections: Mapping[str, Mapping[str, Any]] = NO_CONNECTIONS
) -> dict[str, Any]:
    """Returns the slices as the engine reads them; `connections` are those of variants with another
    server."""
    varied = sorted({name for variant in slices.variants for name in variant.settings})
    changes = bool(varied) or any(variant.sql for variant in slices.variants)
    numbers = {variant.name: number for number, variant in enumerate(slices.variants)}
    return {
        "variants": [
            {
                "name": variant.name,
                "sql": _statements(variant, varied) if changes else [],
                "scenarios": None if variant.scenarios is None else list(variant.scenarios),
                **({"connection": connections[variant.name]} if connections else {}),
            }
            for variant in slices.variants
        ],
        "schedule": [[numbers[name], slices.length_of(name)] for name in slices.turns],
    }


def _statements(variant: VariantTable, varied: Sequence[str]) -> list[str]:
    """Each variant sets or resets (by NULL) every setting that any variant sets; then plans are
    made anew: a generic plan of a prepared statement would outlast its setting."""
    settings = [
        sql.SQL(statement("trials/slice_setting").decode().strip())
        .format(name=sql.Literal(name), value=sql.Literal(variant.settings.get(name)))
        .as_string(None)
        for name in varied
    ]
    plans = statement("trials/slice_plans").decode().strip()
    return [*settings, plans, *variant.sql]


def with_variants(columns: Columns, result: Mapping[str, Any]) -> Columns:
    """Returns the interval columns with the name of each row's variant; none where a row has no
    slice, as those of transactions that cross an edge."""
    names = [found["variant"] for found in result.get("slices", ())]
    if not names:
        return columns
    of_rows = [None if number is None else names[number] for number in columns["slice"]]
    return {**columns, "variant": of_rows}
