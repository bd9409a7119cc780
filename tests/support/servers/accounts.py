"""The table that tests build in a target's database.

Enters: a session. Leaves: a table of accounts. Never: commits by itself.
"""

from __future__ import annotations

from pgassay.server.protocol import Connection


def build_accounts(session: Connection) -> None:
    """1000 accounts with a balance."""
    session.execute(
        "CREATE TABLE account AS SELECT i, 0 AS balance FROM generate_series(1, 1000) i"
    )


def build_few_accounts(session: Connection) -> None:
    """100 accounts, where a copy is made or each block counts."""
    session.execute("CREATE TABLE account AS SELECT i FROM generate_series(1, 100) i")
