"""Latency by quantile as a table.

Enters: latency curves, what names each. Leaves: a table with a row per curve.
Never: computes a quantile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pgassay.language import decimals, tr
from pgassay.quantities import latency
from pgassay.report.document.table import Column, Table, column, view
from pgassay.report.tables.cells import inside, valued, whole, written

_COLUMNS = (
    written("max_ms", "Longest", latency),
    written("transactions", "Transactions", whole),
)


def latency_table(heads: Sequence[Column], curves: Sequence[Mapping[str, Any]]) -> Table:
    """A row for each `curve`, named by `heads`, grouped by scenario where there are several."""
    columns = (
        column("scenario", "Scenario", lambda one: one.scenario or tr("all scenarios"), "group"),
        *map(_quantile, (0.5, 0.9, 0.95, 0.99, 0.999)),
        *_COLUMNS,
    )
    first, *others = inside("curve", columns)
    found = view((first, *heads, *others), curves)
    return found.only_if(**{first.name: len({one["curve"].scenario for one in curves}) > 1})


def _quantile(share: float) -> Column:
    title = tr("p{share}", share=decimals(100 * share, "g"))
    return column(f"p{share}", title, lambda one: valued(one.at(share), latency))
