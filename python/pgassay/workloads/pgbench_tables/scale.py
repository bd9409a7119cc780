"""Find the scale of pgbench's tables, as pgbench does.

Enters: where to connect. Leaves: the number of branches. Never: changes anything.
"""

from __future__ import annotations

import psycopg

from pgassay.errors import TargetError
from pgassay.server.connection.session import connect
from pgassay.server.protocol import ConnectionParameters
from pgassay.server.statements import statement


def pgbench_scale(parameters: ConnectionParameters) -> int:
    """The rows of pgbench_branches; without any, a TargetError names `pgassay init`."""
    with connect(parameters, through_pooler=True, keeps_path=True) as session:
        try:
            row = session.execute(statement("pgbench/scale")).fetchone()
        except psycopg.errors.UndefinedTable:
            row = None
        except psycopg.Error as error:
            raise TargetError(
                f"pgbench_branches cannot be read: {error.diag.message_primary}"
            ) from None
    if row is None or not row[0]:
        raise TargetError(
            f"{parameters.label}: pgbench's tables are missing or empty; make them with"
            " `pgassay init`"
        )
    return int(row[0])
