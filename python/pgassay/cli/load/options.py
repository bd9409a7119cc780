"""The options of `pgassay load`, one type each.

Enters: nothing. Leaves: annotated types for the command's signature; letters and meanings are
pgbench's wherever pgbench has the option. Never: decides what an option does.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_SHAPE = "Load shapes"
_SEARCH = "Search for the highest load that holds an objective"
_LOG = "Log"

# What is run.
Files = Annotated[
    list[str] | None, typer.Option("-f", "--file", help="Script FILE or FILE@WEIGHT; repeatable.")
]
Builtins = Annotated[
    list[str] | None,
    typer.Option(
        "-b",
        "--builtin",
        help="NAME or NAME@WEIGHT of tpcb-like, simple-update, select-only; list: show them.",
    ),
]
SelectOnly = Annotated[bool, typer.Option("-S", "--select-only", help="-b select-only.")]
SimpleUpdate = Annotated[bool, typer.Option("-N", "--skip-some-updates", help="-b simple-update.")]
ShowScript = Annotated[
    str | None, typer.Option("--show-script", help="Print a builtin script and exit.")
]
Define = Annotated[
    list[str] | None, typer.Option("-D", "--define", help="VARIABLE=VALUE; repeatable.")
]
Scale = Annotated[
    int | None, typer.Option("-s", "--scale", min=1, help=":scale of scripts given by -f.")
]
RandomSeed = Annotated[
    str | None,
    typer.Option("--random-seed", help="Integer, time or rand [PGBENCH_RANDOM_SEED, else time]."),
]
AllowShell = Annotated[
    bool, typer.Option("--allow-shell", help="Scripts may run programs by \\shell, \\setshell.")
]

# How hard and how long.
Clients = Annotated[
    int | None, typer.Option("-c", "--client", min=1, max=1_000_000, help="Connections [1].")
]
Threads = Annotated[int, typer.Option("-j", "--jobs", min=1, max=1024, help="Engine threads.")]
DurationS = Annotated[
    float | None, typer.Option("-T", "--time", min=0.001, help="Seconds; of each step.")
]
Transactions = Annotated[
    int | None, typer.Option("-t", "--transactions", min=1, max=2**31 - 1, help="Per client [10].")
]
Rate = Annotated[
    str | None,
    typer.Option("-R", "--rate", help="Transactions a second to start; '100..800 log 4' steps."),
]
LatencyLimitMs = Annotated[
    float | None,
    typer.Option("-L", "--latency-limit", min=0.001, help="Milliseconds; later is late."),
]
MaxTries = Annotated[
    int | None,
    typer.Option(
        "--max-tries",
        min=0,
        max=2**32 - 1,
        help="Of a serialization failure or deadlock; 0: no end.",
    ),
]
Protocol = Annotated[str, typer.Option("-M", "--protocol", help="simple, extended or prepared.")]
Connect = Annotated[
    bool, typer.Option("-C", "--connect", help="A new connection for each transaction.")
]
NoVacuum = Annotated[bool, typer.Option("-n", "--no-vacuum", help="No VACUUM before the run.")]
VacuumAll = Annotated[
    bool, typer.Option("-v", "--vacuum-all", help="Also VACUUM ANALYZE pgbench_accounts before.")
]

# What is told.
ProgressS = Annotated[
    float | None, typer.Option("-P", "--progress", min=0.1, help="A line every SEC.")
]
ProgressTimestamp = Annotated[bool, typer.Option("--progress-timestamp", help="-P with Unix time.")]
PerCommand = Annotated[
    bool, typer.Option("-r", "--report-per-command", help="Latency, failures, retries of each.")
]
FailuresDetailed = Annotated[
    bool, typer.Option("--failures-detailed", help="Failures by their kind.")
]
ExitOnAbort = Annotated[
    bool, typer.Option("--exit-on-abort", help="Stop all at a failure that is no retryable one.")
]
VerboseErrors = Annotated[
    bool, typer.Option("--verbose-errors", help="A line on stderr for each failure and retry.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Log = Annotated[
    bool, typer.Option("-l", "--log", help="Write pgbench's log.", rich_help_panel=_LOG)
]
LogPrefix = Annotated[
    str | None,
    typer.Option("--log-prefix", help="Of the log's files [pgbench_log].", rich_help_panel=_LOG),
]
SamplingRate = Annotated[
    float | None,
    typer.Option(
        "--sampling-rate", help="Share of transactions logged, to 1.", rich_help_panel=_LOG
    ),
]
AggregateIntervalS = Annotated[
    int | None,
    typer.Option(
        "--aggregate-interval",
        min=1,
        max=2**31 - 1,
        help="Log a line per SEC instead.",
        rich_help_panel=_LOG,
    ),
]

# What pgbench does not have.
Steps = Annotated[
    str | None,
    typer.Option(
        "--steps",
        help="Clients by steps: '5,8,12', '5..22 log 6', '5..20 lin 4', '30s:10,2m:50'.",
        rich_help_panel=_SHAPE,
    ),
]
Shuffle = Annotated[
    bool, typer.Option("--shuffle", help="Steps in a drawn order.", rich_help_panel=_SHAPE)
]
WarmupS = Annotated[
    str | None,
    typer.Option("--warmup", help="Load before, not measured: 10s.", rich_help_panel=_SHAPE),
]
Arrivals = Annotated[
    str | None,
    typer.Option("--arrivals", help="Of -R: poisson or constant.", rich_help_panel=_SHAPE),
]
Pool = Annotated[
    str | None,
    typer.Option(
        "--pool", help="shared or per-scenario; there @-3 is 3 connections.", rich_help_panel=_SHAPE
    ),
]
ThinkTimeOption = Annotated[
    str | None,
    typer.Option(
        "--think-time", help="Between transactions: 10ms or 10ms:exp.", rich_help_panel=_SHAPE
    ),
]
Reconnect = Annotated[
    str | None,
    typer.Option(
        "--reconnect", help="never, on-loss or each-transaction (-C).", rich_help_panel=_SHAPE
    ),
]
Slices = Annotated[
    str | None,
    typer.Option(
        "--slices",
        help="Variants that alternate: the [load.slices] of this TOML file.",
        rich_help_panel=_SHAPE,
    ),
]
Interval = Annotated[
    str | None,
    typer.Option(
        "--interval",
        help="Of the series in --json and --intervals: 100ms and up [1s].",
        rich_help_panel=_SHAPE,
    ),
]
Intervals = Annotated[
    Path | None,
    typer.Option(
        "--intervals",
        help="Write the series with its histograms: FILE.parquet or FILE.csv.",
        rich_help_panel=_SHAPE,
    ),
]
Transport = Annotated[
    str | None,
    typer.Option("--transport", help="auto, io_uring or epoll.", rich_help_panel=_SHAPE),
]
BusyPoll = Annotated[
    str | None,
    typer.Option(
        "--busy-poll",
        help="A wait looks for answers so long before it sleeps: 50us [off].",
        rich_help_panel=_SHAPE,
    ),
]

# The search.
Search = Annotated[
    str | None,
    typer.Option("--search", help="Objective: 'p99 <= 20ms'.", rich_help_panel=_SEARCH),
]
Over = Annotated[
    str | None, typer.Option("--over", help="rate or clients.", rich_help_panel=_SEARCH)
]
From = Annotated[
    float | None, typer.Option("--from", help="Lowest level.", rich_help_panel=_SEARCH)
]
To = Annotated[float | None, typer.Option("--to", help="Highest level.", rich_help_panel=_SEARCH)]
Within = Annotated[
    str | None, typer.Option("--within", help="Distance of levels [5%].", rich_help_panel=_SEARCH)
]
Confidence = Annotated[
    str | None, typer.Option("--confidence", help="Of the answer [95%].", rich_help_panel=_SEARCH)
]
