"""`pgassay load`: one load on one server, with pgbench's options.

Enters: scripts, clients, a duration, libpq's connection options. Leaves: a summary or the
`pgassay.load/1` object. Never: changes a setting or makes a table.
"""

from __future__ import annotations

from pgassay.cli.connection import Database, DatabaseName, Host, Port, User
from pgassay.cli.load import options as o
from pgassay.cli.load.pgbench_command import PgbenchCommand

COMMAND_CLASS = PgbenchCommand


def load(
    database: Database = None,
    dbname: DatabaseName = None,
    host: Host = None,
    port: Port = None,
    user: User = None,
    files: o.Files = None,
    builtins: o.Builtins = None,
    select_only: o.SelectOnly = False,
    simple_update: o.SimpleUpdate = False,
    show_script: o.ShowScript = None,
    define: o.Define = None,
    scale: o.Scale = None,
    random_seed: o.RandomSeed = None,
    allow_shell: o.AllowShell = False,
    clients: o.Clients = None,
    threads: o.Threads = 1,
    duration: o.DurationS = None,
    transactions: o.Transactions = None,
    rate: o.Rate = None,
    latency_limit: o.LatencyLimitMs = None,
    max_tries: o.MaxTries = None,
    protocol: o.Protocol = "simple",
    connect: o.Connect = False,
    no_vacuum: o.NoVacuum = False,
    vacuum_all: o.VacuumAll = False,
    progress: o.ProgressS = None,
    progress_timestamp: o.ProgressTimestamp = False,
    report_per_command: o.PerCommand = False,
    failures_detailed: o.FailuresDetailed = False,
    exit_on_abort: o.ExitOnAbort = False,
    verbose_errors: o.VerboseErrors = False,
    log: o.Log = False,
    log_prefix: o.LogPrefix = None,
    sampling_rate: o.SamplingRate = None,
    aggregate_interval: o.AggregateIntervalS = None,
    steps: o.Steps = None,
    shuffle: o.Shuffle = False,
    warmup: o.WarmupS = None,
    arrivals: o.Arrivals = None,
    pool: o.Pool = None,
    think_time: o.ThinkTimeOption = None,
    reconnect: o.Reconnect = None,
    slices: o.Slices = None,
    interval: o.Interval = None,
    intervals: o.Intervals = None,
    transport: o.Transport = None,
    busy_poll: o.BusyPoll = None,
    search: o.Search = None,
    over: o.Over = None,
    lowest: o.From = None,
    highest: o.To = None,
    within: o.Within = None,
    confidence: o.Confidence = None,
    as_json: o.Json = False,
) -> None:
    """Put one load on a server, with pgbench's options and scripts."""
    given = locals()
    from pgassay.cli.load.carrying_out import carry_out

    carry_out(given)
