"""Latency by quantile as a table.

Enters: latency curves, what names each. Leaves: a table with a row per curve.
Never: computes a quantile.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgassay.analysis.curves.latency_curve import ArmLatencyCurve
from pgassay.language import Message, decimals, tr
from pgassay.quantities import latency
from pgassay.report.document.table import Column, Table, table
from pgassay.report.tables.cells import ABSENT
from pgassay.report.tables.cells import whole as whole_number

_SHARES = (0.5, 0.9, 0.95, 0.99, 0.999)


def latency_table(
    heads: Sequence[Column], rows: Sequence[tuple[Sequence[str], ArmLatencyCurve]]
) -> Table:
    """Rows of (names beneath `heads`, a curve), grouped by scenario where there are several."""
    columns = (
        Column(Message("Scenario"), "group", name="scenario"),
        *heads,
        *(Column(tr("p{share}", share=decimals(100 * share, "g"))) for share in _SHARES),
        Column(Message("Longest")),
        Column(Message("Transactions")),
    )
    found = table(
        columns,
        [
            (
                one.scenario or tr("all scenarios"),
                *names,
                *(ABSENT if ms is None else latency(ms) for ms in map(one.at, _SHARES)),
                latency(one.max_ms),
                whole_number(one.transactions),
            )
            for names, one in rows
        ],
    )
    return found.only_if(scenario=len({one.scenario for _, one in rows}) > 1)
