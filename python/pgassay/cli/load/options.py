"""The options of `pgassay load`.

Enters: nothing. Leaves: `LoadOptions`, from which the command line is made and in which its values
arrive. Letters and meanings are pgbench's wherever pgbench has the option. Never: imports more
than the help needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from pgassay.cli.connection import Database, DatabaseName, Host, Port, User
from pgassay.cli.terminal.options import Json, option, seconds_of
from pgassay.spec.load.amounts import is_stages

_log = partial(option, panel="Log")
OUR_PANELS = ("Load shapes", "Search for the highest load that meets an objective")
"""Panels of the help whose options pgbench does not have."""
_shape, _search = (partial(option, panel=panel) for panel in OUR_PANELS)


@dataclass(frozen=True)
class LoadOptions:
    """The options of `pgassay load`; None where one was not given."""

    database: Database = None
    dbname: DatabaseName = None
    host: Host = None
    port: Port = None
    user: User = None
    files: Annotated[
        list[str] | None, option("-f --file", "Run this script: FILE or FILE@WEIGHT; repeatable.")
    ] = None
    builtins: Annotated[
        list[str] | None,
        option(
            "-b --builtin",
            "Run tpcb-like, simple-update or select-only (NAME@WEIGHT); list: show them.",
        ),
    ] = None
    select_only: Annotated[
        int, option("-S --select-only", "Same as -b select-only; repeatable.", count=True)
    ] = 0
    simple_update: Annotated[
        int, option("-N --skip-some-updates", "Same as -b simple-update; repeatable.", count=True)
    ] = 0
    version: Annotated[bool, option("-V --version", "Print pgassay's version and exit.")] = False
    show_script: Annotated[
        str | None, option("--show-script", "Print a builtin script and exit.")
    ] = None
    define: Annotated[
        list[str] | None,
        option("-D --define", "Define a variable of scripts: VARIABLE=VALUE; repeatable."),
    ] = None
    scale: Annotated[
        int | None, option("-s --scale", "Value of :scale in scripts given by -f.", min=1)
    ] = None
    random_seed: Annotated[
        str | None,
        option("--random-seed", "An integer, 'time' or 'rand' [PGBENCH_RANDOM_SEED, else time]."),
    ] = None
    allow_shell: Annotated[
        bool, option("--allow-shell", "Let scripts run programs by \\shell and \\setshell.")
    ] = False
    clients: Annotated[
        int | None, option("-c --client", "Number of clients [1].", min=1, max=1000000)
    ] = None
    threads: Annotated[int, option("-j --jobs", "Number of engine threads.", min=1, max=1024)] = 1
    duration: Annotated[
        float | None,
        option(
            "-T --time",
            "Length of the load, or of each step: seconds, or such as 5min.",
            parser=partial(seconds_of, "-T", least=0.001, most=1e9),
            metavar="<time>",
        ),
    ] = None
    transactions: Annotated[
        int | None,
        option("-t --transactions", "Transactions of each client [10].", min=1, max=2**31 - 1),
    ] = None
    rate: Annotated[
        str | None,
        option("-R --rate", "Transactions to start per second; '100..800 log 4' makes steps."),
    ] = None
    latency_limit: Annotated[
        float | None,
        option("-L --latency-limit", "Longer transactions are late, in milliseconds.", min=0.001),
    ] = None
    max_tries: Annotated[
        int | None,
        option(
            "--max-tries",
            "Tries of a transaction that fails to serialize or deadlocks; 0: no limit [1].",
            min=0,
            max=2**32 - 1,
        ),
    ] = None
    protocol: Annotated[
        Literal["simple", "extended", "prepared"],
        option("-M --protocol", "Protocol of the statements."),
    ] = "simple"
    connect: Annotated[
        bool, option("-C --connect", "Open a new connection for each transaction.")
    ] = False
    no_vacuum: Annotated[
        bool, option("-n --no-vacuum", "Do not VACUUM pgbench's tables before the load.")
    ] = False
    vacuum_all: Annotated[
        bool, option("-v --vacuum-all", "Also VACUUM ANALYZE pgbench_accounts before it.")
    ] = False
    progress: Annotated[
        float | None,
        option("-P --progress", "Print a line of progress every so many seconds.", min=0.1),
    ] = None
    progress_timestamp: Annotated[
        bool, option("--progress-timestamp", "Print Unix time in the lines of -P.")
    ] = False
    report_per_command: Annotated[
        bool, option("-r --report-per-command", "Print latency, failures, retries of each command.")
    ] = False
    failures_detailed: Annotated[
        bool, option("--failures-detailed", "Count failures by their kind.")
    ] = False
    exit_on_abort: Annotated[
        bool, option("--exit-on-abort", "Stop the load at a failure that cannot be retried.")
    ] = False
    continue_on_error: Annotated[
        bool, option("--continue-on-error", "Keep exit status 0 after failures of any kind.")
    ] = False
    verbose_errors: Annotated[
        bool, option("--verbose-errors --debug", "Print a line for each failure and each retry.")
    ] = False
    as_json: Json = False

    log: Annotated[bool, _log("-l --log", "Write pgbench's transaction log.")] = False
    log_prefix: Annotated[
        str | None, _log("--log-prefix", "Prefix of the log's file names [pgbench_log].")
    ] = None
    sampling_rate: Annotated[
        float | None, _log("--sampling-rate", "Share of transactions to log, up to 1.")
    ] = None
    aggregate_interval: Annotated[
        int | None,
        _log(
            "--aggregate-interval",
            "Log one line per so many seconds, not one per transaction.",
            min=1,
            max=2**31 - 1,
        ),
    ] = None

    steps: Annotated[
        str | None,
        _shape(
            "--steps", "Vary the clients: '5,8,12', '5..22 log 6', '5..20 lin 4', '30s:10,2m:50'."
        ),
    ] = None
    shuffle: Annotated[bool, _shape("--shuffle", "Run the steps in a random order.")] = False
    warmup: Annotated[
        str | None, _shape("--warmup", "Load before the first step, not measured, such as 10s.")
    ] = None
    arrivals: Annotated[
        Literal["poisson", "constant"] | None,
        _shape("--arrivals", "Distribution of the starts of -R [poisson]."),
    ] = None
    parameters: Annotated[
        Path | None,
        _shape("--parameters", "Each transaction of -f takes a row: FILE.parquet or FILE.csv."),
    ] = None
    row_order: Annotated[
        Literal["random", "sequential"] | None,
        _shape("--row-order", "Order of the rows of --parameters [random]."),
    ] = None
    pool: Annotated[
        Literal["shared", "per-scenario"] | None,
        _shape("--pool", "Connections run every script, or each script has its own [shared]."),
    ] = None
    think_time: Annotated[
        str | None,
        _shape("--think-time", "Pause between a client's transactions: 10ms or 10ms:exp."),
    ] = None
    reconnect: Annotated[
        Literal["never", "on-loss", "each-transaction"] | None,
        _shape("--reconnect", "When to open a new connection [never]."),
    ] = None
    slices: Annotated[
        str | None,
        _shape("--slices", "Alternate the variants in the [load.slices] of this TOML file."),
    ] = None
    interval: Annotated[
        str | None,
        _shape("--interval", "Interval of the series in --json and --intervals, from 100ms [1s]."),
    ] = None
    intervals: Annotated[
        Path | None,
        _shape("--intervals", "Write the series with its histograms: FILE.parquet or FILE.csv."),
    ] = None
    transport: Annotated[
        Literal["auto", "io_uring", "epoll"] | None,
        _shape("--transport", "Interface to the kernel [auto]."),
    ] = None
    busy_poll: Annotated[
        str | None,
        _shape("--busy-poll", "How long a thread polls for answers before it sleeps: 50us [off]."),
    ] = None

    replay: Annotated[
        Path | None,
        _shape("--replay", "Replay this trace, drawn from a server's log, instead of scripts."),
    ] = None
    speed: Annotated[
        str | None,
        _shape("--speed", "Of --replay: 0.1 to 100 times as fast as at the source, or max [1]."),
    ] = None

    search: Annotated[str | None, _search("--search", "The objective, such as 'p99 <= 20ms'.")] = (
        None
    )
    over: Annotated[
        Literal["rate", "clients"] | None, _search("--over", "What the search varies.")
    ] = None
    lowest: Annotated[float | None, _search("--from", "Lowest level.")] = None
    highest: Annotated[float | None, _search("--to", "Highest level.")] = None
    within: Annotated[str | None, _search("--within", "Distance between levels [5%].")] = None
    confidence: Annotated[
        str | None, _search("--confidence", "Confidence of the answer [95%].")
    ] = None

    @property
    def uses_builtin(self) -> bool:
        """Whether one of pgbench's own scripts runs, so that its tables give the scale."""
        return not self.files or bool(self.builtins or self.select_only or self.simple_update)

    @property
    def stages(self) -> bool:
        """Whether `--steps` lists stages with their own times, such as `30s:10`."""
        return self.steps is not None and is_stages(self.steps)

    @property
    def counts_transactions(self) -> bool:
        """Whether transactions are counted (-t, or its default), not seconds."""
        return self.duration is None and not self.stages
