"""`pgassay draw`: the options of the command.

Enters: the command line. Leaves: a workload folder, or a comparison of a run with its source.
Never: writes on the source, or shows a value of the user's.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pgassay.cli.connection import Database, DatabaseName, Host, Port, User, connection_string
from pgassay.cli.terminal.options import Quiet, option
from pgassay.refusals.refusal import SetupRefused

_FROM_STATISTICS, _FROM_A_LOG = "From statistics", "From a log"
_WRITING, _CHECKING = "Writing", "Checking a run"


def draw(
    database: Database = None,
    dbname: DatabaseName = None,
    host: Host = None,
    port: Port = None,
    user: User = None,
    duration: Annotated[
        str | None,
        option("--for", "Time between two readings of the statistics [10min].", _FROM_STATISTICS),
    ] = None,
    skew: Annotated[
        list[str] | None,
        option(
            "--skew",
            "How unevenly rows are asked for: zipf:1.0, or SCHEMA.TABLE.COLUMN=zipf:1.0;"
            " repeatable.",
            _FROM_STATISTICS,
        ),
    ] = None,
    transactions: Annotated[
        Path | None,
        option(
            "--transactions",
            "A TOML file that groups statements into transactions.",
            _FROM_STATISTICS,
        ),
    ] = None,
    log: Annotated[
        list[str] | None,
        option(
            "--log",
            "A file of the server's log (csvlog, jsonlog, stderr), or a pattern of names;"
            " repeatable.",
            _FROM_A_LOG,
        ),
    ] = None,
    of_database: Annotated[
        str | None,
        option(
            "--database",
            "Only this database's entries [that with most of the time].",
            _FROM_A_LOG,
        ),
    ] = None,
    of_user: Annotated[
        str | None, option("--user", "Only this user's entries.", _FROM_A_LOG)
    ] = None,
    application: Annotated[
        str | None, option("--application", "Only this application's entries.", _FROM_A_LOG)
    ] = None,
    prefix: Annotated[
        str | None,
        option("--prefix", "log_line_prefix of a log in the form stderr [guessed].", _FROM_A_LOG),
    ] = None,
    sampled: Annotated[
        float | None,
        option(
            "--sampled",
            "Share of transactions that the server logs (log_transaction_sample_rate) [1].",
            _FROM_A_LOG,
            min=1e-6,
            max=1,
        ),
    ] = None,
    scenarios: Annotated[
        int | None,
        option(
            "--scenarios",
            "Kinds of transactions at most; of the rest single statements are repeated [50].",
            _FROM_A_LOG,
            min=1,
            max=1000,
        ),
    ] = None,
    trace: Annotated[
        bool,
        option("--trace", "Write trace.parquet beside it: the log, for a replay.", _FROM_A_LOG),
    ] = False,
    rows: Annotated[
        int | None,
        option(
            "--rows",
            "Rows of parameters for each scenario [10000; from a log 100000].",
            _WRITING,
            min=1,
            max=10_000_000,
        ),
    ] = None,
    out: Annotated[
        Path | None, option("--out", "Folder to create for the workload; required.", _WRITING)
    ] = None,
    think_times: Annotated[
        bool,
        option("--think-times", "Pause within transactions as the source's clients did.", _WRITING),
    ] = False,
    mask: Annotated[
        bool,
        option("--mask", "Replace texts, numbers and dates by others of the same order.", _WRITING),
    ] = False,
    check: Annotated[
        Path | None,
        option("--check", "Compare this run with the source of its workload.", _CHECKING),
    ] = None,
    of: Annotated[
        Path | None,
        option("--of", "The drawn workload's folder, where it has moved.", _CHECKING),
    ] = None,
    plans: Annotated[
        bool,
        option("--plans", "Compare plans, too: EXPLAIN on the source, now.", _CHECKING),
    ] = False,
    output_format: Annotated[
        Literal["md", "json"] | None,
        option("--format", "Print Markdown or one JSON object, not tables.", _CHECKING),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Draw a workload from a running server's statistics or from its log.

    The server is only read: none of its statements is executed. The folder has
    scripts, parameters, an experiment on copies of the server, and FIDELITY.md,
    which says how true it is. Its values are your data: it is for you alone.
    Beside --log a connection string names the server that the experiment copies.
    """
    if log and database is not None and _is_file(database):
        raise SetupRefused("log-pattern-unquoted")
    given = any(one is not None for one in (database, dbname, host, port, user))
    dsn = connection_string(database, host, port, user, dbname) if given else None
    for_statistics: dict[str, object] = {
        "--for": duration,
        "--skew": skew,
        "--transactions": transactions,
    }
    for_logs: dict[str, object] = {
        "--database": of_database,
        "--user": of_user,
        "--application": application,
        "--prefix": prefix,
        "--sampled": sampled,
        "--scenarios": scenarios,
        "--trace": trace,
    }
    for_writing: dict[str, object] = {
        "--rows": rows,
        "--out": out,
        "--think-times": think_times,
        "--mask": mask,
    }
    if check is not None:
        _refuse("not-for-draw-check", {**for_statistics, "--log": log, **for_logs, **for_writing})
        from pgassay.cli.draw.checking import show_check

        show_check(check, of, dsn, plans=plans, output_format=output_format)
        return
    _refuse("only-for-draw-check", {"--of": of, "--plans": plans, "--format": output_format})
    if dsn is None and not log:
        raise SetupRefused("draw-from-what")
    _refuse(*(("draw-from-a-log", for_statistics) if log else ("draw-only-from-a-log", for_logs)))
    if mask and trace:
        raise SetupRefused("options-exclude-each-other", option="--mask", other="--trace")
    if out is None:
        raise SetupRefused("draw-out-missing")
    from pgassay.cli.draw.execution import AskedOfALog, Drawn, carry_out, from_log, from_statistics
    from pgassay.cli.terminal.options import seconds_of
    from pgassay.draw.writing.folder import Writing

    seconds = seconds_of("--for", duration or "10min", 1, 86_400)
    asked = AskedOfALog(of_database, of_user, application, prefix, sampled or 1.0, scenarios or 50)

    def drawn() -> Drawn:
        if log:
            return from_log(log, asked, dsn, rows, mask=mask)
        return from_statistics(str(dsn), seconds, tuple(skew or ()), transactions, rows)

    writing = Writing(dsn, None, think_times, mask, bool(skew))
    carry_out(drawn, out, writing, quiet=quiet, trace=trace)


def _refuse(code: str, options: dict[str, object]) -> None:
    """Refuses the first option that was given."""
    for name, value in options.items():
        if value:
            raise SetupRefused(code, option=name)


def _is_file(name: str) -> bool:
    """Whether a file has that name; a connection string may be longer than names are."""
    try:
        return Path(name).is_file()
    except OSError:
        return False
