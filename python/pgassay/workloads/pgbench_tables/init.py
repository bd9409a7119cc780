"""Makes pgbench's tables as `pgbench -i` does, and vacuums them before a load as pgbench does.

Enters: an autocommit session, an `InitRequest`; where to connect. Leaves: the tables, marked as
made by pgassay; before a load the number of branches, branches and tellers vacuumed, history
truncated, with -v accounts vacuumed and analysed too. Never: drops or empties a table that pgassay
did not make, unless `may_drop` is set, or touches others than pgbench's.

Rows are those of PostgreSQL's documentation, "pgbench": 1 branch, 10 tellers, 100 000 accounts per
unit of scale; every balance 0, a filler of blanks in accounts, none in the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import LiteralString

import psycopg
from psycopg import sql

from pgassay.refusals.refusal import TargetRefused
from pgassay.server.connection.rights import NOTHING_MADE, explained_write
from pgassay.server.connection.session import Work, as_target_error, connect, one_line
from pgassay.server.data.schema import MARK
from pgassay.server.protocol import Connection, ConnectionParameters
from pgassay.server.statements import statement

STEPS = "dtgGvpf"
_FILLED = ("pgbench_branches", "pgbench_tellers", "pgbench_accounts")
_TABLES = (*_FILLED, "pgbench_history")
_BIGINT_FROM = 20_000
"""From this scale on, account numbers do not fit 32 bits."""
_KEYS = {"pgbench_branches": "bid", "pgbench_tellers": "tid", "pgbench_accounts": "aid"}
_REFERENCES = (
    ("pgbench_tellers", "bid", "pgbench_branches"),
    ("pgbench_accounts", "bid", "pgbench_branches"),
    ("pgbench_history", "bid", "pgbench_branches"),
    ("pgbench_history", "tid", "pgbench_tellers"),
    ("pgbench_history", "aid", "pgbench_accounts"),
)
_STEP_TEXTS = {
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
    """The options of `pgassay init`."""

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
    """Called while tables are made; `rows` gets the table, its rows so far, and all its rows."""

    step: Callable[[str], None]
    rows: Callable[[str, int, int], None]


def make_pgbench_tables(session: Connection, request: InitRequest, progress: InitProgress) -> None:
    """Runs the steps of making pgbench's tables in their order."""
    work: Mapping[str, Callable[[], None]] = {
        "d": lambda: _run(session, "pgbench/drop"),
        "t": lambda: _create(session, request),
        "g": lambda: _copy(session, request, progress),
        "G": lambda: _generate(session, request),
        "v": lambda: _vacuum(session),
        "p": lambda: _primary_keys(session, request),
        "f": lambda: _foreign_keys(session),
    }
    with as_target_error("looking for pgbench's tables"):
        _refuse_foreign(session, request)
    for letter in request.steps:
        progress.step(_STEP_TEXTS[letter])
        try:
            work[letter]()
        except psycopg.Error as error:
            raise explained_write(session, error, _STEP_TEXTS[letter], NOTHING_MADE) from error


def _refuse_foreign(session: Connection, request: InitRequest) -> None:
    """Refuse to drop or empty tables that pgassay did not make, such as those of pgbench."""
    losing = [letter for letter in request.steps if letter in "dgG"]
    if request.may_drop or not losing:
        return
    found = session.execute(statement("pgbench/tables_found")).fetchall()
    foreign = [str(shown) for _, shown, comment, _ in found if comment != MARK]
    if foreign:
        what = "dropped" if losing[0] == "d" else "emptied"
        raise TargetRefused("foreign-tables", foreign=", ".join(foreign), what=what)


def _create(session: Connection, request: InitRequest) -> None:
    # With partitions, pgbench 18 makes only these unlogged: PostgreSQL 18 has no unlogged
    # partitioned tables, and a logged table may not refer to an unlogged one.
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
        _run(session, f"pgbench/create_{table}{'_in_partitions' if divided else ''}", parts)
    for number in range(1, request.partitions + 1):
        _run(
            session,
            "pgbench/create_partition",
            {
                **parts,
                "persistence": sql.SQL("UNLOGGED" if request.unlogged else ""),
                "name": sql.Identifier(f"pgbench_accounts_{number}"),
                "bounds": _bounds(number, request),
            },
        )
    for table in _TABLES:
        _run(session, "pgbench/mark", {"table": sql.Identifier(table), "mark": sql.Literal(MARK)})


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
        _run(session, "pgbench/truncate")
        kinds = {row[0]: row[3] for row in session.execute(statement("pgbench/tables_found"))}
        for table in _FILLED:
            # Rows can be frozen if this transaction truncated the table and it is not partitioned.
            frozen = kinds.get(table) == "r" and session.info.server_version >= 140000
            copying = _composed(
                "pgbench/copy_frozen" if frozen else "pgbench/copy",
                {"table": sql.Identifier(table)},
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
        _run(session, "pgbench/truncate")
        for table in ("branches", "tellers", "accounts"):
            _run(session, f"pgbench/generate_{table}", {"scale": sql.Literal(request.scale)})


def _vacuum(session: Connection) -> None:
    for table in _TABLES:
        _run(session, "pgbench/vacuum", {"table": sql.Identifier(table)})


def _primary_keys(session: Connection, request: InitRequest) -> None:
    where = _tablespace("USING INDEX TABLESPACE", request.index_tablespace)
    for table, column in _KEYS.items():
        _run(
            session,
            "pgbench/primary_key",
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
            "pgbench/foreign_key",
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
    # The text is a file of this package; only {parts} come from outside, and they are quoted.
    return sql.SQL(statement(name).decode()).format(**parts)


TELLERS = 10
ACCOUNTS = 100_000
_CHUNK = 10_000


def rows(table: str, scale: int) -> Iterator[tuple[int, str]]:
    """Yields the rows of one table in chunks: the number of rows, and their text in COPY's
    format."""
    match table:
        case "pgbench_branches":
            yield from _chunks(scale, lambda bid: f"{bid}\t0\t\\N\n")
        case "pgbench_tellers":
            count = scale * TELLERS
            yield from _chunks(count, lambda tid: f"{tid}\t{(tid - 1) // TELLERS + 1}\t0\t\\N\n")
        case "pgbench_accounts":
            count = scale * ACCOUNTS
            yield from _chunks(count, lambda aid: f"{aid}\t{(aid - 1) // ACCOUNTS + 1}\t0\t\n")
        case _:
            raise ValueError(f"{table} begins empty")


def _chunks(count: int, row: Callable[[int], str]) -> Iterator[tuple[int, str]]:
    for first in range(1, count + 1, _CHUNK):
        end = min(first + _CHUNK, count + 1)
        yield end - first, "".join(map(row, range(first, end)))


def pgbench_scale(parameters: ConnectionParameters) -> int:
    """Returns the scale of pgbench's tables, which is the number of rows in pgbench_branches;
    raises TargetError without any."""
    with connect(parameters, through_pooler=True, keeps_path=True) as session:
        try:
            row = session.execute(statement("pgbench/scale")).fetchone()
        except psycopg.errors.UndefinedTable:
            row = None
        except psycopg.Error as error:
            doing = "reading pgbench_branches"
            raise TargetRefused("write-failed", doing=doing, why=one_line(error)) from None
    if row is None or not row[0]:
        raise TargetRefused("no-pgbench-tables", server=parameters.label)
    return int(row[0])


def vacuum_pgbench_tables(parameters: ConnectionParameters, *, everything: bool) -> list[str]:
    """Vacuums pgbench's tables; returns the statements that failed, one line each, for like pgbench
    the run goes on."""
    names = ["pgbench/vacuum_before_run", *(["pgbench/vacuum_accounts"] if everything else [])]
    refused = []
    with connect(
        parameters, work=Work.AS_THE_USER, statement_limit_s=0, through_pooler=True, keeps_path=True
    ) as session:
        for name in names:
            for line in statement(name).decode().splitlines():
                if line.startswith("--"):
                    continue
                try:
                    session.execute(line.encode())
                except psycopg.errors.UndefinedTable:
                    continue
                except psycopg.Error as error:
                    doing = line.rstrip(";")
                    refused.append(str(explained_write(session, error, doing, f"{doing} failed")))
    return refused
