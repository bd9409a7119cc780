"""`pgassay init`: pgbench's tables, as `pgbench -i` makes them.

Enters: a scale and pgbench's options, libpq's connection options. Leaves: the tables; progress on
stderr. Never: drops or empties a table that pgassay did not make, unless `--drop` is given.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated

from pgassay.cli.connection import (
    Database,
    DatabaseName,
    Host,
    Port,
    User,
    connection_string,
    warn_of_killed_runs,
)
from pgassay.cli.terminal.abbreviations import Abbreviating
from pgassay.cli.terminal.console import err
from pgassay.cli.terminal.options import option
from pgassay.refusals.refusal import Refusal

COMMAND_CLASS = Abbreviating
DEFAULT_STEPS = "dtgvp"
_EVERY_ROWS = 100_000
_QUIET_EVERY_S = 5.0


def init(
    database: Database = None,
    dbname: DatabaseName = None,
    host: Host = None,
    port: Port = None,
    user: User = None,
    scale: Annotated[
        int,
        option("-s --scale", "Scale factor: 100 000 accounts for each unit.", min=1, max=2**31 - 1),
    ] = 1,
    fillfactor: Annotated[
        int, option("-F --fillfactor", "Fill factor of the tables, in percent.", min=10, max=100)
    ] = 100,
    steps: Annotated[
        str, option("-I --init-steps", "Steps to run, in this order: letters of dtgGvpf.")
    ] = DEFAULT_STEPS,
    partitions: Annotated[
        int, option("--partitions", "Number of partitions of pgbench_accounts.", min=0)
    ] = 0,
    partition_method: Annotated[
        str | None, option("--partition-method", "Partition it by range or hash [range].")
    ] = None,
    foreign_keys: Annotated[
        bool, option("--foreign-keys", "Create foreign keys between the tables.")
    ] = False,
    unlogged_tables: Annotated[
        bool, option("--unlogged-tables", "Create the tables unlogged: they write no WAL.")
    ] = False,
    tablespace: Annotated[str | None, option("--tablespace", "Tablespace of the tables.")] = None,
    index_tablespace: Annotated[
        str | None, option("--index-tablespace", "Tablespace of the indexes.")
    ] = None,
    no_vacuum: Annotated[bool, option("-n --no-vacuum", "Leave out step v (VACUUM).")] = False,
    quiet: Annotated[
        bool, option("-q --quiet", "Show progress every 5 s, not every 100 000 rows.")
    ] = False,
    initialize: Annotated[
        bool, option("-i --initialize", "Changes nothing: taken because pgbench needs it.")
    ] = False,
    drop: Annotated[
        bool, option("--drop", "Replace tables of these names that pgassay did not make.")
    ] = False,
) -> None:
    """Make pgbench's tables, with pgbench's options."""
    from pgassay.server.connection.session import Work, connect, resolve
    from pgassay.workloads.pgbench_tables.init import (
        InitProgress,
        InitRequest,
        make_pgbench_tables,
    )

    if partition_method is not None and partitions == 0:
        raise Refusal("partition-method-alone")
    if partition_method not in (None, "range", "hash"):
        raise Refusal("no-such-partition-method", f"--partition-method {partition_method}")
    request = InitRequest(
        scale=scale,
        fillfactor=fillfactor,
        steps=init_steps(steps, foreign_keys=foreign_keys, no_vacuum=no_vacuum),
        partitions=partitions,
        partition_method=partition_method or "range",
        unlogged=unlogged_tables,
        tablespace=tablespace,
        index_tablespace=index_tablespace,
        may_drop=drop,
    )
    where = connection_string(database, host, port, user, dbname)
    began = time.monotonic()
    parameters = resolve(where)
    warn_of_killed_runs(parameters)
    with connect(
        parameters, work=Work.AS_THE_USER, statement_limit_s=0, keeps_path=True
    ) as session:
        progress = InitProgress(lambda step: err.print(f"{step}..."), _row_progress(quiet))
        make_pgbench_tables(session, request, progress)
    err.print(f"done in {time.monotonic() - began:.2f} s")


def init_steps(written: str, *, foreign_keys: bool, no_vacuum: bool) -> str:
    """Returns the steps in the order in which they are named; blanks are allowed among them, as in
    pgbench."""
    from pgassay.workloads.pgbench_tables.init import STEPS

    steps = written.replace(" ", "")
    wrong = [letter for letter in steps if letter not in STEPS]
    if wrong or not steps:
        raise Refusal("not-init-steps", f"-I {written}")
    if foreign_keys and "f" not in steps:
        steps += "f"
    return steps.replace("v", "") if no_vacuum else steps


def _row_progress(quiet: bool) -> Callable[[str, int, int], None]:
    """Print the rows done: every 100 000 accounts or, quietly, every 5 s."""
    began = printed = time.monotonic()

    def show(table: str, done: int, total: int) -> None:
        nonlocal printed
        now = time.monotonic()
        if quiet:
            due = now - printed >= _QUIET_EVERY_S
        else:
            due = table == "pgbench_accounts" and done % _EVERY_ROWS == 0
        if due:
            printed = now
            left_s = (now - began) / done * (total - done)
            err.print(
                f"{done} of {total} rows ({100 * done // total} %) of {table} done,"
                f" {now - began:.2f} s, {left_s:.2f} s left"
            )

    return show
