"""The native module: the load engine, the samplers, and what is made of perf's profiles and of a
server's log.

Enters: JSON texts (the configurations below). Leaves: JSON texts and columns (dicts of equally
long lists). Never: decides what to run, knows a trial, writes a file.

All `*_ns` time stamps are nanoseconds of Unix time on one axis: the wall clock read once when the
process starts, plus the monotonic clock since, so a clock step cannot bend a run.
"""

from typing import Final, final

LEADING_BITS: Final[int]
"""Of a duration in the columns of `Load.intervals`: 256 buckets in each power of two."""

class CoreError(Exception):
    """Something the native module could not do; the message is one line and names the fix."""

    sqlstate: str | None
    """The server's SQLSTATE, where the server refused."""

class ConfigurationError(CoreError):
    """The configuration text is not one the engine or sampler accepts."""

class ScriptError(CoreError):
    """A script does not parse; the message starts with `FILE:LINE:COLUMN:`."""

    excerpt: str
    """Two lines: the offending line of the script, and a caret under the place."""

class ConnectionFailed(CoreError):
    """A session could not be opened: unreachable, refused, no TLS as demanded, wrong password, no
    such database, too few open files allowed."""

def now_ns() -> int:
    """The present time on the module's one time axis."""

def check_script(
    name: str,
    text: bytes,
    *,
    allow_shell: bool = False,
    binds: bool = False,
    given: list[str] = ...,
) -> list[str]:
    """Parse one script as the engine would; returns the variables it reads but never sets.

    `given` are variables that a file of parameters sets, which no protocol replaces in quotes.
    With `binds`, as for the extended and prepared protocols: a variable in quotes is refused.
    After a `\\gset` or `\\aset` without a prefix, which may set any, there are none.
    Raises ScriptError.
    """

def check_sql(name: str, text: str) -> None:
    """Refuse psql's commands, and data after COPY FROM STDIN, in SQL that the server gets as it is.

    Raises ScriptError.
    """

def script_statements(
    name: str, text: bytes, *, allow_shell: bool = False
) -> list[tuple[int, bytes]]:
    """The SQL commands of a script as they are prepared: line, text with $1, $2 … for variables.

    Variables in quotes and comments stay as they are written. Raises ScriptError.
    """

def fold_stacks(
    path: str,
    processes: dict[int, tuple[str, str]],
    *,
    clock_offset_ns: int = 0,
    off_cpu: bool = False,
    load: Load | None = None,
) -> tuple[str, str]:
    """Fold the text of `perf script -F comm,pid,tid,time,event,ip,sym,dso --ns` in a file.

    Returns the folded stacks, a line each: frames from the outermost on, joined by `;`, a blank, a
    weight; and a JSON of what there was: ``{"samples", "unnamed", "cut_off", "first_ns",
    "last_ns"}``, with times of perf's clock. A stack begins with the kind of its process and, where
    there is one, "scenario NAME" or "application NAME". `processes`: process number → the two; of
    a process that is not among them its functions tell the kind. The scenario is that of `load`,
    which must have kept its history; `clock_offset_ns` brings perf's clock to the module's.

    A weight counts samples; with `off_cpu` it is the microseconds from each sample, taken as a
    process was switched out, until it was switched in (``--show-switch-events``).
    """

def draw_flame_graph(stacks: str, drawing: str) -> str:
    """Folded stacks as SVG that loads nothing; names in it are inert.

    `drawing` is JSON: ``{"title": "…", "subtitle": "", "unit": "ns per transaction",
    "factor": 1.0, "interactive": false}``; weights are shown times `factor`, as whole numbers.
    Raises ConfigurationError, CoreError.
    """

def draw_difference(before: tuple[str, float], after: tuple[str, float], drawing: str) -> str:
    """The same of the stacks `after`, coloured by their difference from those `before`: red where
    there is more, or with ``"negated": true`` in `drawing` less. Each has its own factor, and that
    of `drawing` is not used."""

def speedscope(stacks: str, name: str, unit_ns: float) -> str:
    """Folded stacks as speedscope's JSON; a weight stands for `unit_ns`."""

def pprof(stacks: str, value: str, unit_ns: float, time_ns: int, duration_ns: int) -> bytes:
    """Folded stacks as pprof's protocol buffer, not compressed; `value` names what is measured."""

@final
class Parameters:
    """The rows of a file of parameters, which loads share; they are never shown."""

    def __init__(self, kinds: list[str]) -> None:
        """`kinds` is of each column int, double, bool or text. Raises ConfigurationError."""
    def add(self, length: int, columns: list[tuple[bytes | None, bytes | None, bytes]]) -> None:
        """Add the next rows, before a load takes them.

        Of each column its buffers in Arrow's layout, from its first value on: bits of what is not
        NULL (None: all), where texts begin (32 bits; None for other kinds), values (64 bits, bits
        of booleans, or bytes of texts in UTF-8). Raises CoreError; then none of them is added.
        """
    def __len__(self) -> int:
        """The number of rows."""

@final
class Load:
    """One load: connections opened ahead, then a schedule of steps run to its end.

    `configuration` is JSON::

        {"connection": {"host": "db.example", "hostaddr": "192.0.2.7", "port": 5432, "user": "u",
                        "password": null, "dbname": "d", "options": "-c work_mem=8MB",
                        "parameters": {"search_path": "bank", "client_encoding": "LATIN1"},
                        "connect_timeout_s": 10.0,
                        "tls": {"sslmode": "verify-full", "sslrootcert": "/etc/ssl/lab.crt"},
                        "require_auth": "",
                        "keepalive": {"enabled": true, "idle_s": 0, "interval_s": 0, "count": 0,
                                      "user_timeout_ms": 0}},
         "application_name": "pgassay",
         "scenarios": [{"name": "payment", "file": "payment.sql", "script": "…", "weight": 3.0,
                        "parameters": {"columns": ["id"], "order": "random", "private": true}}],
         "steps": [{"clients": 8, "duration_s": 5.0, "measured": false, "rate": null},
                   {"clients": 8, "duration_s": 20.0, "measured": true, "rate": 500.0}],
         "transactions_per_client": null,
         "protocol": "prepared",
         "threads": 1,
         "seed": 42,
         "interval_s": 1.0,
         "variables": {"scale": 10},
         "allow_shell": false,
         "arrivals": "poisson",
         "latency_limit_ms": null,
         "pools": "shared",
         "think_time_s": 0.0,
         "think_time": "constant",
         "max_tries": 1,
         "reconnect": "never",
         "slices": {"variants": [{"name": "a", "sql": ["SET …"], "scenarios": ["payment"]}],
                    "schedule": [[0, 0.5]]},
         "statements": false,
         "log": {"prefix": "pgbench_log", "sampling_rate": 1.0, "aggregate_interval_s": null,
                 "failures_detailed": false},
         "exit_on_abort": false,
         "verbose_errors": false,
         "transport": "auto",
         "busy_poll_us": 0,
         "share": {"index": 0, "of": 1}}

    From `arrivals` on all may be left out; the values shown are then taken, and null for `slices`
    and `log`. `protocol` is simple, extended or prepared; `interval_s` is 0.1 or more.

    `parameters` of a scenario names the columns of its rows, which are given apart: each
    transaction takes a row, at random or in "sequential" order (shared by all clients; after the
    last row the first), and its values are variables. Bound, they are sent as they are; in the
    simple protocol a text becomes a literal in quotes. `private` (true where it is left out) leaves
    out texts of failures that may show a value.

    Connections are opened once, as many as the largest step asks for. A transaction belongs to
    the step and interval in which it ends. `transactions_per_client` ends the load when every
    client has done that many (pgbench's -t).

    A script that is not UTF-8 is an array of its bytes in place of a string, and so is the value of
    a variable. `parameters` are settings that the start-up message names.

    Of `connection`, host, port, user, dbname and password are needed. A host that begins with `/`
    is a directory with a unix socket, one with `@` the same in the abstract namespace; without
    `hostaddr` the host is looked up for each connection. `tls` has libpq's parameters by their
    names: sslmode (left out: disable), sslnegotiation, sslrootcert (a file or "system"), sslcrl,
    sslcert, sslkey, sslpassword, sslcertmode (allow or disable), sslsni (a boolean),
    ssl_min_protocol_version, ssl_max_protocol_version, channel_binding. No file is looked for
    that is not named. In `keepalive` 0 is the system's default.

    `allow_shell` (false where it is missing) lets scripts run programs with
    `\\shell` and `\\setshell`. `client_id`, `scale` (1), `random_seed` and `default_seed` are
    set as pgbench sets them, unless `variables` has them; with the same seed and as many
    clients, functions draw the numbers that they draw in pgbench 15 and later.

    With a `rate` a step is an open loop: so many transactions are meant to begin per second,
    in one sequence of `arrivals` ("poisson" or "constant") for all threads. An idle connection
    claims the next arrival; where all are busy, arrivals wait in one queue, and the wait is part
    of the response. What has not begun when the step ends is its `backlog`.

    `latency_limit_ms` is pgbench's -L: a transaction that would begin later than that is skipped,
    one that ends later (from its intended start, or in a closed loop its start) is late.
    `pools` "per_scenario" gives each scenario ceil(clients × share) connections, and one of
    weight −n n connections in every step; in an open loop those of weight −n stay closed.
    `think_time_s` passes between transactions of one client ("exponential": its mean).
    `max_tries` (0: no limit) tries transactions that meet 40001 or 40P01 again, as pgbench does,
    with the variables and random numbers of the first try; pauses of scripts are slept again.
    `reconnect` "on_loss" opens lost connections again, after pauses of 10 ms to 1 s;
    "each_transaction" gives every transaction a session of its own, and also reopens lost ones.

    `slices` alternates variants in measured steps: [index of a variant, seconds ≥ 0.25], over and
    over from each step's start. At an edge a connection finishes its transaction, runs the
    variant's SQL (not counted) and goes on with the variant's scenarios (null: all). A
    transaction belongs to the slice in which it began if it also ended in it; else it crosses.
    A refused statement of a variant ends the load without a result.
    Variants may each have a `connection` of their own, in the form above: the load then opens all
    its clients once for every one of them. In its slices a server's own clients run, and those of
    the others rest on their open connections; steps that are not measured load all at once. With
    a rate this is an error.

    `log` writes files as pgbench -l does, `prefix.PID` and `prefix.PID.N`, for measured steps.

    `exit_on_abort` ends the load without a result at the first failure for which pgbench would
    abort a client: any but 40001 and 40P01. `verbose_errors` writes a line for each failure to
    standard error.

    `transport` is auto, io_uring or epoll. auto takes io_uring where this process may use it and
    its waits are not counted as the host's iowait (Linux 6.15), else epoll; io_uring works from
    Linux 6.1 on. Encrypted connections are served by epoll; with them io_uring is an error of
    `connect`. Where all are plain under io_uring, those opened later are plain too.

    With `busy_poll_us` a wait looks for answers so long before the thread sleeps, and others on
    its processor go first. Waits that mostly end in vain look ever more rarely.

    With `share` several engines, on as many hosts if you like, run one load: each gets the same
    configuration but for `index`, and has every `of`-th connection of each server. All else
    describes the whole load, so a client keeps its number and draws the same random numbers
    whichever engine has it. Arrivals of an open loop are dealt out to the connections of a step in
    turn; an engine's connections share those of any of them. `backlog` is of the engine's own. An
    engine without a connection ends at once; its result has no transactions, lasts 0 s, and its
    `backend` is empty. `Merging` makes one result of them all.
    """

    def __init__(self, configuration: str, parameters: list[Parameters | None] = ...) -> None:
        """`parameters` are the rows of each scenario, None for one without. Raises
        ConfigurationError, ScriptError."""
    def connect(self) -> None:
        """Open every connection, up to 16 at a time; of several failures the first by number is
        raised. Raises the soft limit of open files where it is too low. Raises ConnectionFailed."""
    def keep_history(self) -> None:
        """Keep from now on when each transaction began, for `fold_stacks`; it takes some
        microseconds of each, so it is not for a measured load."""

    def start(self, at_ns: int | None = None) -> None:
        """Begin the schedule and return at once.

        With `at_ns`, a time of `now_ns`, it begins then, or as soon as it can where that has
        passed: `started_ns` of the result says when it did.
        """
    def backends(self) -> list[int]:
        """The server's processes that serve the connections now."""
    def started_ns(self) -> int | None:
        """When the schedule began, of the module's clock; None before."""
    def stop(self) -> None:
        """Ask for an early end: no new transactions; those in flight are finished or, at 5 s, cut.

        Statements that are cut are cancelled on the server, which may take another second.
        """
    def wait(self, timeout_s: float) -> bool:
        """Wait without holding the interpreter; True when the load has ended."""
    def progress(self) -> str:
        """JSON of totals so far, cheap enough to ask ten times a second.

        ``{"elapsed_s", "step", "clients", "measured", "transactions", "failed", "skipped",
        "retried", "retries", "latency_ms", "latency_ms2", "lag_ms", "tps"}``; `step` is the index
        into `steps`, `tps` that of the latest whole interval. latency_ms is the sum over
        successes from their intended start, latency_ms2 that of its squares, lag_ms of the part
        before they began.
        """
    def result(self) -> str:
        """JSON, once ended. Warm-up steps are left out of everything but `steps`.

        The object of `pgassay.load/1` (tps, transactions, failed, skipped, duration_s,
        client_cpu_s, latency_ms, connections, scenarios) and beside it::

            "late", "retried", "retries", "response_ms": {…} (only with a rate),
            "schedule_lag_ms": {"mean", "max"}, "rate_asked", "rate_reached", "backlog",
            "connect_ms": {"mean", "max"}, "initial_connect_ms",
            "outages": [{"start_ns", "end_ns", "connections"}], "client_limited": false,
            "busy_poll_s": time spent looking for answers, which is not in client_cpu_s,
            "slices": [{"index", "variant", "step", "start_ns", "end_ns", "transactions",
                        "failed", "crossing", "tps", "latency_ms": {…}, "edge_lag_ms"}],
            "started_ns": …, "ended_ns": …, "backend": "epoll", "lost_connections": 0,
            "first_error": {"sqlstate": "40001", "message": "…", "scenario": "payment"} or null,
            "steps": [{"index", "clients", "measured", "start_ns", "end_ns", "transactions",
                       "failed", "skipped", "late", "retried", "retries", "tps",
                       "latency_ms": {…}, "response_ms": {…}, "schedule_lag_ms", "rate_asked",
                       "rate_reached", "backlog", "client_cpu_s", "busy_poll_s", "client_limited"}]

        A scenario also has late, skipped, failed, retried, retries, response_ms,
        schedule_lag_ms, connect_ms, and with `statements`::

            "statements": [{"command", "line", "latency_ms": {…}, "failures", "retries"}]

        `latency_ms` is the service time, `response_ms` that from the intended start.
        `schedule_lag_ms` is from the intended start to the beginning. `connect_ms` is of sessions
        opened while the load ran, null without any. `outages` are the times in which at least
        one connection was lost. `crossing` counts transactions, failed ones too, that ended in a
        slice and began before it; `transactions` and `failed` of a slice leave them out.
        `edge_lag_ms` is the longest that a connection at rest took to see the slice's edge.
        `client_limited` is true where a thread of the load was busy for more than 90 % of a
        measured step, or began arrivals late that had an idle connection.

        `statements` has every command of the script, meta commands too, as pgbench -r; where none
        ran to its end its latencies are null. They are kept to 1 %, the mean is exact.
        A statement in a pipeline has no latency of its own: `\\endpipeline` has one, of all that
        the pipeline was waited for, and its failures and retries.

        `latency_ms` has mean, p50, p95, p99, p999 and max; all null where nothing succeeded.
        `errors` of a scenario maps SQLSTATE (or "connection" for a lost connection, "client" for
        a script's own error) to a count.
        """
    def intervals(self) -> dict[str, list[object]]:
        """One row per interval × scenario, in order of time; once ended.

        Columns: start_ns, step, slice, measured, scenario, transactions, failed, error_sqlstate
        and error_count (two lists), retried, retries, skipped, late, latency_sum_ns, latency_ns
        (list: highest value of each HDR bucket used), latency_count (list: its count),
        response_sum_ns, response_ns, response_count (empty without a rate), lag_sum_ns,
        lag_max_ns, connects, connect_sum_ns (sessions opened while the load ran).

        With slices an interval is cut at their edges; transactions that cross an edge have a row
        of their own without a slice, so that the sum of all rows is always the whole.
        Buckets are those of one HDR histogram layout, so rows merge by adding counts.
        """
    def report(self) -> bytes:
        """All that this engine counted, for `Merging`; once ended. Its times are since the start of
        the load, so that it does not matter what the clock of another host shows."""

@final
class Merged:
    """The reports of the engines that ran shares of one load, as one."""

    def result(self) -> str:
        """JSON as of `Load.result`, what one engine would have counted of the same transactions.

        Beside it, for each report in the order in which they came, what its engine did in measured
        steps::

            "generators": [{"connections", "transactions", "failed", "client_cpu_s",
                            "busy_poll_s", "client_limited", "backend"}]

        `client_limited` is true where it is so for any engine, `initial_connect_ms` is the
        longest, `backlog` the sum, and `backend` names each that was used, as in
        "epoll, io_uring". The load ended where the last of its engines ended, even if others were
        stopped before: no transaction that was counted lies after its end.
        """
    def intervals(self) -> dict[str, list[object]]:
        """The columns of `Load.intervals`."""

@final
class Merging:
    """Adds up what the engines of one load reported (`Load.report`), on all processors.

    Reports need not be there at the same time: in groups of eight, the memory that many take is
    that of eight and their sum.
    """

    def __init__(self, configuration: str) -> None:
        """`configuration` is that of the load, whichever its `share`. Raises ConfigurationError,
        ScriptError."""
    def add(self, reports: list[bytes]) -> None:
        """Raises CoreError for a report that was made by another version of pgassay, is of another
        load, or is damaged."""
    def finish(self, started_ns: int) -> Merged:
        """The whole, once; `started_ns` is taken for the time at which all began."""

@final
class Replay:
    """One replay of a trace: sessions that connect and leave at their times, each statement with
    its own parameters.

    `settings` is JSON::

        {"connection": {…as for Load…}, "application_name": "pgassay load",
         "speed": 1.0, "sessions": 40, "rate": 900.0, "statements": 10000,
         "interval_s": 1.0, "limit_s": 3600.0, "busy_poll_us": 0}

    speed: null is as fast as answers come. sessions: the most that may be open at one time.
    statements: how many of their numbers are counted apart.
    """

    def __init__(self, settings: str) -> None:
        """Raises ConfigurationError."""
    def connect(self) -> None:
        """Open and close one session. Raises ConnectionFailed."""
    def feed(self, rows: dict[str, bytes]) -> bool:
        """Hand over the next rows, and wait while enough are ahead; False once the replay has
        ended.

        Columns, little-endian, one value a row: session (i4), at_us (i8), kind (u1: connect,
        simple, extended, prepared, disconnect), statement and name (i4, the place of a text, −1 for
        none), failed_there (5 bytes: the source's SQLSTATE, or zeros), is_last (u1, of its
        session); first_value (u4, one more than
        rows: where the row's parameters begin), value_is_null (u1). Texts are `values`,
        `statements` and `names`: UTF-8 one after the other, with `…_ends` (u4, from 0).
        `numbers` (u4) has the number of each of `statements`. Raises ConfigurationError.
        """
    def end_of_trace(self) -> None:
        """Say that no more rows come."""
    def start(self, at_ns: int | None = None) -> None:
        """Begin, now or at a time of `now_ns`; returns at once. Raises CoreError."""
    def started_ns(self) -> int | None:
        """When the replay began; None before."""
    def stop(self) -> None:
        """Ask for an early end."""
    def wait(self, timeout_s: float) -> bool:
        """True when the replay has ended."""
    def progress(self) -> str:
        """JSON of totals so far, as of `Load.progress`."""
    def result(self) -> str:
        """JSON of the whole, as of `Load.result`, once ended. Raises CoreError."""
    def figures(self) -> str:
        """JSON of what only a replay counts, once ended: sessions, transactions, failures here and
        at the source, lateness (null without a speed), and counts by number of the statement."""
    def intervals(self) -> dict[str, list[object]]:
        """The columns of `Load.intervals`."""

@final
class Sampler:
    """Reads one server and, if asked, this host on a jittered clock, from connections of its own.

    `configuration` is JSON::

        {"connection": {…as for Load…},
         "application_name": "pgassay sampler",
         "waits": {"sql": "…", "every_s": 0.1, "jitter": 0.5},
         "counters": [{"source": "pg_stat_wal", "sql": "…", "every_s": 1.0}],
         "host": {"every_s": 1.0, "devices": ["vda"], "postmaster": 123,
                  "files": [{"path": "/proc/stat", "source": "stat", "object": "",
                             "format": "stat"}]},
         "busy_share": 0.1}

    `waits`, `host`, `devices` (then all are kept), `postmaster` may be null.
    With `reader`, a program's words, the files are read by it (trials/host_reader.sh); with `sql`,
    by a query of the server that returns path and text. Both may be left out. Formats of a file are
    stat, meminfo, vmstat, diskstats, loadavg, pressure, net_dev, net_snmp, pairs, number,
    cgroup_io, file_system (a path: the room of its file system).

    With `busy_share` (null: no such limit) a reading that took long is followed by a rest of up to
    60 s, so that readings of one query take no more than that share of the time.

    The waits query returns, in this order and with these types:
    pid int4, leader_pid int4, backend_type text, state text, wait_event_type text,
    wait_event text, query_id int8, xact_start_us int8, clock_us int8 (both by the server's clock);
    every one but pid and clock_us may be NULL. A counters query returns text columns, joined with
    `/` into the row's `object`, and int8 or float8 columns, each a value under its column's name.
    """

    def __init__(self, configuration: str, load: Load | None = None) -> None:
        """With a load, client backends of it are tagged with the scenario they run.

        Raises ConfigurationError.
        """
    def start(self) -> None:
        """Open the connections and begin; returns at once. Raises ConnectionFailed."""
    def stop(self) -> None:
        """End sampling and close the connections; safe to call twice."""
    def take_waits(self) -> dict[str, list[object]]:
        """Columns read since the last call: tick_ns, pid, leader_pid, backend_type, state,
        wait_event_type, wait_event, query_id, xact_start_ns, scenario.

        Every tick has a row: one with a NULL pid stands for a tick that found nobody busy.
        """
    def take_counters(self) -> dict[str, list[object]]:
        """Raw values read since the last call: time_ns, source, object, name, value (float).

        Of a stretch of equal values only the first and the last are reported.
        """
    def take_host(self) -> dict[str, list[object]]:
        """The same columns for the host's files, and the source `processes`: what the server's own
        processes took, summed by backend type since sampling began."""
    def read_host(self, host: str) -> None:
        """From the host's next reading on, what is read of it: the `host` object as JSON.

        Sums of `processes` go on. Raises ConfigurationError.
        """
    def current(self, sources: list[str]) -> str:
        """JSON of the running sums and the latest readings, cheap enough for each second.

        Takes no row.

        ``{"ticks", "checkpointing", "busy": {"IO:WALSync": n, "CPU": n}, "readings":
        {"stat": {"time_ns", "objects": {"cpu": {"user": v}}}}}``; `busy` counts client backends
        since the start, `checkpointing` the ticks with the checkpointer at work, `readings` are
        the last of the sources asked for.
        """
    def warnings(self) -> list[str]:
        """What could not be read, one line each, each once."""
    def cost(self) -> str:
        """JSON: ``{"cpu_s", "wait_ticks", "counter_reads", "host_reads", "late_ticks",
        "rested_ticks"}``."""

@final
class LogReader:
    """Reads a server's log piece by piece, as scenarios or as the rows of a trace.

    `configuration` is JSON::

        {"form": "csv",
         "prefix": "%m [%p] ",
         "database": null, "user": null, "application": null,
         "without_applications": ["pgassay"],
         "most_rows": 100000, "seed": 1, "trace": false}

    `form` is csv, json or stderr, which needs `prefix`, log_line_prefix. Only entries of the named
    database, user and application are read, null for all; applications whose names begin as
    `without_applications` say are passed over. `most_rows` is that of one scenario.
    """

    def __init__(self, configuration: str) -> None:
        """Raises ConfigurationError, or CoreError for a prefix without a time or a session."""
    def feed(self, data: bytes, *, last: bool = False) -> None:
        """Read on; `last` at the end of each file. Files come in the order of their times."""
    def finish(self) -> None:
        """Close what sessions have open, after the last file."""
    def summary(self) -> str:
        """JSON of all that was read but for the rows of values.

        ``{"entries", "statements", "with_duration", "shortest_us", "failed", "first_us", "last_us",
        "back", "whole_seconds", "simple", "extended", "prepared", "sessions", "cut", "not_utf8",
        "unread", "left_out", "databases": [{"name", "user" (of most statements), "commits",
        "rollbacks", "partial", "busy_us", "sessions_at_once"}],
        "templates": [{"text", "parameters", "constants", "data"}],
        "scenarios": [{"database", "explicit", "rolled_back", "statements", "transactions",
        "time_us", "done": [{"time_us", "failed"}], "without_values", "pauses_us"}],
        "lost": [{"reason", "template", "calls", "time_us"}]}``; databases and templates are named
        by their places in these lists, times are µs of the log's own zone since 1970.
        """
    def columns(self, scenario: int) -> list[tuple[bytes, bytes, bytes]]:
        """The sampled values of a scenario, a column for each parameter in order: tags (a byte a
        row: 0 NULL, 1 a number, 2 a text, 3 true or false), offsets (int64) and texts, as Arrow's
        large strings have them."""
    def waiting(self) -> int:
        """How many rows of a trace `rows` would return."""
    def rows(self) -> dict[str, bytes]:
        """Rows of a trace since the last call, as columns of int64 but for: `kind` (a byte, as
        `Replay.feed` takes it), `statement` and `values` (texts, with their offsets),
        `values_known` (a byte: 0 is NULL). `counts` has how many of the values each row has. -1
        stands for none; name, sqlstate, database, user and application are places in
        `names()`."""
    def names(self) -> list[str]:
        """The names that columns of rows refer to; later calls of `rows` add to them."""
