"""Drawings as a server's statistics or log would give them, made by hand."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from pgassay.draw.model import (
    Drawing,
    DrawnScenario,
    DrawnStatement,
    Figures,
    Lost,
    Origin,
    Parameter,
    Protocol,
    Role,
    Source,
    SourceFigures,
)

CUSTOMER = Parameter("customer", "bigint", Origin.ROWS, "public.orders.customer", Role.EQUAL)
SINCE = Parameter("since", "timestamp with time zone", Origin.COMMON, "public.orders.at", Role.FROM)
MOST = Parameter("most", "bigint", Origin.TYPE, None, Role.LIMIT)
AMOUNT = Parameter("amount", "numeric", Origin.TYPE, "public.orders.amount", Role.SET)
LOOK = DrawnStatement(
    "a" * 16,
    "SELECT * FROM orders WHERE customer = :customer AND at >= :since LIMIT :most",
    "SELECT * FROM orders WHERE customer = $1 AND at >= $2 LIMIT $3",
    (CUSTOMER, SINCE, MOST),
    Figures(900, 450.0, 1800, 3600, 90, 0, 0),
    query_id=-11,
)
PAY = DrawnStatement(
    "b" * 16,
    "UPDATE orders SET amount = amount + :amount WHERE customer = :customer",
    "UPDATE orders SET amount = amount + $1 WHERE customer = $2",
    (AMOUNT, CUSTOMER),
    Figures(100, 500.0, 200, 800, 10, 100, 20_000),
    query_id=12,
)
LOOKS = DrawnScenario(
    "select-orders",
    (LOOK,),
    explicit=False,
    transactions=900,
    parameters=pa.table(
        {
            "customer": pa.array([1, 22, 333], pa.int64()),
            "since": ["2026-01-05 10:00:00+00", "2026-01-06 11:00:00.5+00", None],
            "most": pa.array([10, 10, 20], pa.int64()),
        }
    ),
)
PAYS = DrawnScenario(
    "pay-and-look",
    (PAY, replace(LOOK, figures=Figures(100, 40.0))),
    explicit=True,
    transactions=100,
    parameters=pa.table(
        {
            "amount": ["1.50", "20.25"],
            "customer": pa.array([22, 4444], pa.int64()),
            "since": ["2026-01-05 10:00:00+00", "2026-02-01 00:00:00+00"],
            "most": pa.array([10, 10], pa.int64()),
        }
    ),
    order="sequential",
    pauses_us=(tuple(range(0, 1100, 100)),),
)
STATISTICS = Drawing(
    Source.STATISTICS,
    Protocol.PREPARED,
    (LOOKS, PAYS),
    (Lost("draw/secret-in-text", "SELECT dblink($1)", 10, 40.0),),
    SourceFigures(
        60.0,
        180000,
        "shop",
        commits=1100,
        rollbacks=0,
        blocks_found=9500,
        blocks_read=500,
        active_sessions=0.5,
        sessions=12,
        waits={"CPU": 0.3, "IO": 0.2},
    ),
)
