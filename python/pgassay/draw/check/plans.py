"""How the source plans the statements of a run, now.

Enters: statements as the run sent them, a connection string. Leaves: the shape of each one's plan.
Never: executes a statement; its session is read-only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pgassay.analysis.reading.plan_shape import shape_of
from pgassay.server.connection.session import connect, resolve
from pgassay.server.data.installed_tables import search_path
from pgassay.server.existing.observed import STATEMENT_LIMIT_S
from pgassay.server.statements import statement
from pgassay.spec.workload.folder import InstalledTables
from pgassay.trials.plans.capture import explained

_LASTS_S = 120.0


def source_plans(
    statements: Iterable[str], dsn: str, schemas: tuple[str, ...]
) -> dict[str, str | None]:
    """Returns statement → fingerprint of its generic plan, None where the server gives none. Names
    are looked up in the schemas, if there are any. Raises ConnectionRefused."""
    found: dict[str, str | None] = {}
    source = resolve(dsn)
    path = search_path(InstalledTables((), schemas))
    with connect(
        replace(source, startup={**source.startup, **path}),
        statement_limit_s=STATEMENT_LIMIT_S,
        lasts_s=_LASTS_S,
        keeps_path=True,
    ) as session:
        session.execute(statement("plans/generic_plans"), prepare=False)
        for text in statements:
            plan = explained(session, text.encode(), "UTF8").get("plan")
            found[text] = shape_of(plan).fingerprint if plan else None
    return found
