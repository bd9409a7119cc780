"""A server with a schema that no benchmark has, and a load on it.

Enters: a server. Leaves: tables and roles, statements by an application. Never: runs by itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg

from pgassay.draw.model import DrawnScenario
from support.servers.lab import LabServer

PRELOADED = "shared_preload_libraries = 'pg_stat_statements'\ntrack_activity_query_size = 16384\n"
_VARIABLE = re.compile(r"(?<![:\w]):([a-z]\w*)")
CALLS = 12
WITH_PARAMETERS: Sequence[tuple[str, Callable[[int], Sequence[Any]]]] = (
    ("SELECT * FROM customer WHERE id = %s", lambda n: (n,)),
    ("SELECT id FROM orders WHERE customer = %s ORDER BY placed DESC LIMIT %s", lambda n: (n, 3)),
    ("SELECT * FROM orders WHERE placed BETWEEN %s AND %s", lambda n: _days(n)),
    ("SELECT count(*) FROM orders WHERE placed >= %s AND placed < %s", lambda n: _days(n)),
    # psycopg sends the smallest type that a number fits, so this text has two queryids.
    ("SELECT born FROM customer WHERE id IN (%s, %s)", lambda n: (n, 4000 * n)),
    ("SELECT 1 FROM orders WHERE tstzrange(%s, %s) @> placed", lambda n: _days(n)),
    ("SELECT note FROM orders WHERE customer = ANY(%s)", lambda n: ([n, n + 1],)),
    ("SELECT 1 FROM orders WHERE about @> %s::jsonb", lambda n: ('{"colour": "c1"}',)),
    ("SELECT 1 FROM orders WHERE tags && %s::text[]", lambda n: (["a1"],)),
    ("SELECT 1 FROM orders WHERE status = %s AND customer = %s", lambda n: ("paid", n)),
    ("SELECT customer FROM orders WHERE about ->> %s = %s", lambda n: ("colour", "c1")),
    ("SELECT about ->> %s FROM orders WHERE customer = %s", lambda n: ("colour", n)),
    (
        "SELECT o.id FROM orders o JOIN unnest(%s::int[]) AS w(who) ON w.who = o.customer",
        lambda n: ([n, n + 1],),
    ),
    (
        "SELECT status FROM orders WHERE placed > %s::timestamptz - interval '3 days'"
        " AND placed <= %s",
        lambda n: _days(n),
    ),
    ("SELECT placed FROM sent WHERE whose = %s", lambda n: (f"name{n}@example.org",)),
    (
        "INSERT INTO orders (id, customer, status, placed, note) VALUES (%s, %s, 'open', %s, %s)",
        lambda n: (uuid4(), n, "2026-01-05 10:00+00", None),
    ),
    (
        'INSERT INTO "Order Line" ("Order", "No", sku, price) VALUES (%s, %s, %s, %s)',
        lambda n: (uuid4(), n, "x", 2),
    ),
    (
        "INSERT INTO event (id, at, kind, ratio, fine) VALUES (%s, %s, %s, %s, %s)",
        lambda n: (uuid4().int % 10**9, "2026-01-05 10:00+00", 3, 0.5, False),
    ),
    (
        "INSERT INTO friend (customer, friend) VALUES (%s, %s) ON CONFLICT DO NOTHING",
        lambda n: (1 + uuid4().int % 500, 1 + uuid4().int % 500),
    ),
    # One of its keys is of two columns.
    (
        "INSERT INTO taken (customer, hall, no) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
        lambda n: (400 + n, 1, 100),
    ),
    ("INSERT INTO alias (name) VALUES (%s)", lambda n: (f"new {uuid4()}",)),
    ("INSERT INTO login VALUES (%s, now())", lambda n: (n,)),
    (
        "INSERT INTO customer (email, born) VALUES (%s, %s) ON CONFLICT (email) DO UPDATE"
        " SET born = %s",
        lambda n: (f"name{n}@example.org", "1980-01-01", "1980-01-02"),
    ),
    ("UPDATE customer SET balance = balance + %s WHERE id = %s", lambda n: (n, n)),
    # Two parameters of one sum, and constants of CASE: neither has a type for the server.
    (
        'UPDATE "Order Line" SET price = price - %s + CASE WHEN price < %s + 10 THEN 91 ELSE 0 END'
        ' WHERE "Order" = %s',
        lambda n: (n, n, uuid4()),
    ),
    ("UPDATE orders SET status = %s WHERE id = %s", lambda n: ("sent", uuid4())),
    ('DELETE FROM "Order Line" WHERE "Order" = %s', lambda n: (uuid4(),)),
)
WITH_CONSTANTS = (
    "SELECT email FROM customer WHERE email LIKE 'name1%' AND born > date '1970-02-01' LIMIT 5",
    'SELECT l.sku, o.placed FROM orders o JOIN "Order Line" l ON l."Order" = o.id'
    ' WHERE o.customer = 7 AND l."No" IN (1, 2)',
    "WITH few AS (SELECT id FROM orders WHERE customer = 3) SELECT count(*) FROM few",
    "SELECT extract(year FROM placed), count(*) FROM orders"
    " WHERE placed > now() - interval '9000 days' GROUP BY 1 ORDER BY 1",
    # Of its constants the statistics do not know the types.
    "SELECT placed::date + 1, now() - placed FROM orders"
    " WHERE placed::date BETWEEN date '2026-01-05' - 2 AND now()::date - 1 * 2",
    "SELECT date_trunc('day', at), count(*) FROM event GROUP BY 1",
    "SELECT count(*) FROM event WHERE at >= '2026-01-10' AND at < '2026-01-11' AND kind = 3",
    "SELECT balance / 2 FROM customer c WHERE EXISTS"
    " (SELECT 1 FROM orders x WHERE x.customer = c.id AND x.status = 'paid') LIMIT 3",
)
LEFT_OUT = ("SET application_name = 'secret'", "SELECT count(*) FROM pg_stat_activity")


def make_shop(server: LabServer) -> None:
    """Makes the tables and roles."""
    with server.admin() as session:
        session.execute(Path(__file__).with_suffix(".sql").read_bytes())


def shop_load(server: LabServer) -> None:
    """Each statement CALLS times, half of them with parameters apart from the text."""
    with (
        psycopg.connect(server.dsn("app"), autocommit=True) as session,
        psycopg.ClientCursor(session) as with_constants,
    ):
        for n in range(1, CALLS + 1):
            for text, values in WITH_PARAMETERS:
                session.execute(text.encode(), values(n))
            for text in (*WITH_CONSTANTS, *LEFT_OUT):
                with_constants.execute(text.encode())
            session.execute("VACUUM login") if n == 1 else None


def shop_look(server: LabServer) -> None:
    """One statement that only reads, CALLS times."""
    with psycopg.connect(server.dsn("app"), autocommit=True) as session:
        for n in range(1, CALLS + 1):
            session.execute("SELECT * FROM customer WHERE id = %s", (n,))


def executed(
    session: psycopg.Connection[Any], scenario: DrawnScenario, most: int = 300
) -> list[int]:
    """Runs each statement of a scenario with each row of its parameters (the first `most`), as
    values without types; returns the rows that each statement gave or changed altogether."""
    rows: list[dict[str, Any]] = (
        [{}] if scenario.parameters is None else scenario.parameters.slice(0, most).to_pylist()
    )
    totals = [0] * len(scenario.statements)
    for row in rows:
        texts = {name: _as_text(value) for name, value in row.items()}
        for place, statement in enumerate(scenario.statements):
            query = _VARIABLE.sub(r"%(\1)s", statement.text.replace("%", "%%"))
            totals[place] += session.execute(query.encode(), texts).rowcount
    return totals


def _as_text(value: object) -> str | None:
    return None if value is None else str(value)


def _days(n: int) -> tuple[str, str]:
    return f"2026-01-{n + 1:02} 00:00+00", f"2026-01-{n + 2:02} 00:00+00"
