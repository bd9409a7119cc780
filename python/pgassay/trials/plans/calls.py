"""How often clients call the queries of a set, by pg_stat_statements of the user's server.

Enters: that server's connection string, the queries. Leaves: calls by query, and since when they
were counted; None where the server does not tell. Never: executes a query: it is prepared and
explained, and has the same id as the statements that clients sent; fails.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import psycopg

from pgassay.errors import PgassayError
from pgassay.server.connection.session import connect, resolve, user_path
from pgassay.server.protocol import Connection
from pgassay.server.statements import statement
from pgassay.spec.workload.folder import Scenario
from pgassay.trials.load.query_set.texts import SentQuery, sent
from pgassay.trials.plans.capture import explained
from pgassay.trials.sampling.queries import extensions_in, queries_for

_EXTENSION = "pg_stat_statements"


def counted_calls(dsn: str, queries: Iterable[Scenario]) -> dict[str, Any] | None:
    """Returns `calls` by query, without queries that nobody called, and `since`, a time in ISO form
    or None; None where there are no such calls."""
    try:
        with connect(resolve(dsn)) as session:
            extensions = extensions_in(session)
            if _EXTENSION not in extensions:
                return None
            schema = extensions[_EXTENSION].schema
            reading = statement("drawing/statements").replace(b"{extension}", schema.encode())
            counted = Counter[int]()
            for one in session.execute(reading, prepare=False):
                counted[one[0]] += one[2]
            session.execute(statement("plans/generic_plans"), prepare=False)
            with user_path(session):
                ids = {one.name: _id_of(session, sent(one)) for one in queries}
            reset = queries_for(session.info.server_version).get("statements_reset")
            text = None if reset is None else reset.sql_with(extensions)
            row = None if text is None else session.execute(text.encode(), prepare=False).fetchone()
    except (psycopg.Error, PgassayError):
        return None
    calls = {name: counted[own] for name, own in ids.items() if own is not None and counted[own]}
    since = None if row is None else datetime.fromtimestamp(row[0] / 1e6, UTC).isoformat()
    return {"calls": calls, "since": since} if calls else None


def _id_of(session: Connection, query: SentQuery) -> int | None:
    """The id of a query; None of one without a plan, and before version 14."""
    if not query.is_explained:
        return None
    plan = explained(session, query.text, "UTF8").get("plan")
    found = plan[0].get("Query Identifier") if plan else None
    return None if found is None else int(found)
