"""pgbench's tables, made as `pgbench -i` makes them.

Enters: an autocommit session, what is wanted. Leaves: the tables, marked as pgassay's.
Never: drops or empties a table that pgassay did not make, unless told to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import LiteralString

from psycopg import sql

from pgassay.errors import TargetError
from pgassay.target.pgbench_rows import ACCOUNTS, rows
from pgassay.target.protocol import Connection
from pgassay.target.schema import MARK
from pgassay.target.session import told_as_target_error
from pgassay.target.statements import statement

STEPS = "dtgGvpf"
_FILLED = ("pgbench_branches", "pgbench_tellers", "pgbench_accounts")
_TABLES = (*_FILLED, "pgbench_history")
_BIGINT_FROM = 20_000
"""From this scale an account's number no longer fits 32 bits."""
_KEYS = {"pgbench_branches": "bid", "pgbench_tellers": "tid", "pgbench_accounts": "aid"}
_REFERENCES = (
    ("pgbench_tellers", "bid", "pgbench_branches"),
    ("pgbench_accounts", "bid", "pgbench_branches"),
    ("pgbench_history", "bid", "pgbench_branches"),
    ("pgbench_history", "tid", "pgbench_tellers"),
    ("pgbench_history", "aid", "pgbench_accounts"),
)
_SAID = {
    "d": "dropping old tables",
    "t": "creating tables",
    "g": "generating data (client-side)",
    "G": "generating data (server-side)",
    "v": "vacuuming",
    "p": "creating primary keys",
    "f": "creating foreign keys",
}


@dataclass(frozen=True)
class InitRequest:
    """What `pgassay init` was asked for."""

    scale: int = 1
    fillfactor: int = 100
    steps: str = "dtgvp"
    partitions: int = 0
    partition_method: str = "range"
    unlogged: bool = False
    tablespace: str | None = None
    index_tablespace: str | None = None
    may_drop: bool = False


@dataclass(frozen=True)
class InitProgress:
    """What is told while tables are made; `rows` sees the table, rows done and rows in all."""

    step: Callable[[str], None]
    rows: Callable[[str, int, int], None]


def make_pgbench_tables(session: Connection, request: InitRequest, progress: InitProgress) -> None:
    """Run the steps in their order."""
    work: Mapping[str, Callable[[], None]] = {
        "d": lambda: _run(session, "init/drop"),
        "t": lambda: _create(session, request),
        "g": lambda: _copy(session, request, progress),
        "G": lambda: _generate(session, request),
        "v": lambda: _vacuum(session),
        "p": lambda: _primary_keys(session, request),
        "f": lambda: _foreign_keys(session),
    }
    with told_as_target_error("looking for pgbench's tables"):
        _refuse_foreign(session, request)
    for letter in request.steps:
        progress.step(_SAID[letter])
        with told_as_target_error(_SAID[letter]):
            work[letter]()


def _refuse_foreign(session: Connection, request: InitRequest) -> None:
    """Dropping and emptying are for our own tables; what a run of pgbench made is not ours."""
    losing = [letter for letter in request.steps if letter in "dgG"]
    if request.may_drop or not losing:
        return
    found = session.execute(statement("init/tables_found")).fetchall()
    foreign = [str(shown) for _, shown, comment, _ in found if comment != MARK]
    if foreign:
        what = "dropped" if losing[0] == "d" else "emptied"
        raise TargetError(
            f"{', '.join(foreign)} would be {what}, and pgassay did not make it; add --drop if"
            " nothing in it is needed, or name another database"
        )


def _create(session: Connection, request: InitRequest) -> None:
    # pgbench 18 makes nothing but the partitions unlogged where there are some: PostgreSQL 18 knows
    # no unlogged parent, and a logged table may not refer to one that is not.
    whole = request.unlogged and not request.partitions
    parts = {
        "persistence": sql.SQL("UNLOGGED" if whole else ""),
        "key": sql.SQL("bigint" if request.scale >= _BIGINT_FROM else "int"),
        "fillfactor": sql.Literal(request.fillfactor),
        "tablespace": _tablespace("TABLESPACE", request.tablespace),
        "method": sql.SQL("HASH" if request.partition_method == "hash" else "RANGE"),
    }
    for table in ("history", "tellers", "accounts", "branches"):
        divided = table == "accounts" and request.partitions > 0
        _run(session, f"init/create_{table}{'_in_partitions' if divided else ''}", parts)
    for number in range(1, request.partitions + 1):
        _run(
            session,
            "init/create_partition",
            {
                **parts,
                "persistence": sql.SQL("UNLOGGED" if request.unlogged else ""),
                "name": sql.Identifier(f"pgbench_accounts_{number}"),
                "bounds": _bounds(number, request),
            },
        )
    for table in _TABLES:
        _run(session, "init/mark", {"table": sql.Identifier(table), "mark": sql.Literal(MARK)})


def _bounds(number: int, request: InitRequest) -> sql.Composable:
    if request.partition_method == "hash":
        return sql.SQL("WITH (modulus {}, remainder {})").format(request.partitions, number - 1)
    size = -(-ACCOUNTS * request.scale // request.partitions)
    low = sql.SQL("minvalue") if number == 1 else sql.Literal((number - 1) * size + 1)
    last = number == request.partitions
    high = sql.SQL("maxvalue") if last else sql.Literal(number * size + 1)
    return sql.SQL("FROM ({}) TO ({})").format(low, high)


def _copy(session: Connection, request: InitRequest, progress: InitProgress) -> None:
    with session.transaction():
        _run(session, "init/truncate")
        kinds = {row[0]: row[3] for row in session.execute(statement("init/tables_found"))}
        for table in _FILLED:
            # Rows of a table emptied in this transaction can be frozen; a parent has none itself.
            frozen = kinds.get(table) == "r" and session.info.server_version >= 140000
            copying = _composed(
                "init/copy_frozen" if frozen else "init/copy", {"table": sql.Identifier(table)}
            )
            total = request.scale * {"pgbench_accounts": ACCOUNTS, "pgbench_tellers": 10}.get(
                table, 1
            )
            done = 0
            with session.cursor() as cursor, cursor.copy(copying) as copy:
                for count, text in rows(table, request.scale):
                    copy.write(text)
                    done += count
                    progress.rows(table, done, total)


def _generate(session: Connection, request: InitRequest) -> None:
    with session.transaction():
        _run(session, "init/truncate")
        for table in ("branches", "tellers", "accounts"):
            _run(session, f"init/generate_{table}", {"scale": sql.Literal(request.scale)})


def _vacuum(session: Connection) -> None:
    for table in _TABLES:
        _run(session, "init/vacuum", {"table": sql.Identifier(table)})


def _primary_keys(session: Connection, request: InitRequest) -> None:
    where = _tablespace("USING INDEX TABLESPACE", request.index_tablespace)
    for table, column in _KEYS.items():
        _run(
            session,
            "init/primary_key",
            {
                "table": sql.Identifier(table),
                "column": sql.Identifier(column),
                "index_tablespace": where,
            },
        )


def _foreign_keys(session: Connection) -> None:
    for table, column, referenced in _REFERENCES:
        _run(
            session,
            "init/foreign_key",
            {
                "table": sql.Identifier(table),
                "name": sql.Identifier(f"{table}_{column}_fkey"),
                "column": sql.Identifier(column),
                "referenced": sql.Identifier(referenced),
            },
        )


def _tablespace(words: LiteralString, name: str | None) -> sql.Composable:
    if name is None:
        return sql.SQL("")
    return sql.SQL("{} {}").format(sql.SQL(words), sql.Identifier(name))


def _run(session: Connection, name: str, parts: Mapping[str, sql.Composable] | None = None) -> None:
    session.execute(_composed(name, parts or {}))


def _composed(name: str, parts: Mapping[str, sql.Composable]) -> sql.Composed:
    # The text is a file of this package; only its {parts} come from outside, and are quoted.
    return sql.SQL(statement(name).decode()).format(**parts)
