"""The native module: the load engine and the samplers.

Enters: JSON texts (the configurations below). Leaves: JSON texts and columns (dicts of equally
long lists). Never: decides what to run, knows a trial, writes a file.

All `*_ns` time stamps are nanoseconds of Unix time on one axis: the wall clock read once when the
process starts, plus the monotonic clock since, so a clock step cannot bend a run.
"""

from typing import final

class CoreError(Exception):
    """Something the native module could not do; the message is one line and names the fix."""

    sqlstate: str | None
    """The server's SQLSTATE, where the server refused."""

class ConfigurationError(CoreError):
    """The configuration text is not one the engine or sampler accepts."""

class ScriptError(CoreError):
    """A script does not parse; the message starts with `FILE:LINE:`."""

class ConnectionFailed(CoreError):
    """A session could not be opened: unreachable, refused, no TLS as demanded, wrong password, no
    such database, too few open files allowed."""

def now_ns() -> int:
    """The present time on the module's one time axis."""

def check_script(name: str, text: str) -> list[str]:
    """Parse one script as the engine would; returns the variables it reads but never sets.

    Raises ScriptError.
    """

@final
class Load:
    """One load: connections opened ahead, then a schedule of steps run to its end.

    `configuration` is JSON::

        {"connection": {"host": "db.example", "hostaddr": "192.0.2.7", "port": 5432, "user": "u",
                        "password": null, "dbname": "d", "options": "-c search_path=bank",
                        "connect_timeout_s": 10.0,
                        "tls": {"sslmode": "verify-full", "sslrootcert": "/etc/ssl/lab.crt"},
                        "require_auth": "",
                        "keepalive": {"enabled": true, "idle_s": 0, "interval_s": 0, "count": 0,
                                      "user_timeout_ms": 0}},
         "application_name": "pgassay",
         "scenarios": [{"name": "payment", "file": "payment.sql", "script": "…", "weight": 3.0}],
         "steps": [{"clients": 8, "duration_s": 5.0, "measured": false},
                   {"clients": 8, "duration_s": 20.0, "measured": true}],
         "transactions_per_client": null,
         "protocol": "prepared",
         "threads": 1,
         "seed": 42,
         "interval_s": 1.0,
         "variables": {"scale": 10}}

    Connections are opened once, as many as the largest step asks for. A transaction belongs to
    the step and interval in which it ends. `transactions_per_client` ends the load when every
    client has done that many (pgbench's -t).

    Of `connection`, host, port, user, dbname and password are needed. A host that begins with `/`
    is a directory with a unix socket, one with `@` the same in the abstract namespace; without
    `hostaddr` the host is looked up for each connection. `tls` has libpq's parameters by their
    names: sslmode (left out: disable), sslnegotiation, sslrootcert (a file or "system"), sslcrl,
    sslcert, sslkey, sslpassword, sslcertmode (allow or disable), sslsni (a boolean),
    ssl_min_protocol_version, ssl_max_protocol_version, channel_binding. No file is looked for
    that is not named. In `keepalive` 0 is the system's default.
    """

    def __init__(self, configuration: str) -> None:
        """Raises ConfigurationError, ScriptError."""
    def connect(self) -> None:
        """Open every connection, up to 16 at a time; of several failures the first by number is
        told. Raises the soft limit of open files where it is too low. Raises ConnectionFailed."""
    def start(self) -> None:
        """Begin the schedule; returns at once."""
    def stop(self) -> None:
        """Ask for an early end: no new transactions, those in flight are finished or cut at 5 s."""
    def wait(self, timeout_s: float) -> bool:
        """Wait without holding the interpreter; True when the load has ended."""
    def progress(self) -> str:
        """JSON of totals so far, cheap enough to ask ten times a second.

        ``{"elapsed_s", "step", "clients", "measured", "transactions", "failed", "tps"}``; `step`
        is the index into `steps`, `tps` that of the latest whole interval.
        """
    def result(self) -> str:
        """JSON, once ended. Warm-up steps are left out of everything but `steps`.

        The object of `pgassay.load/1` (tps, transactions, failed, skipped, duration_s,
        client_cpu_s, latency_ms, connections, scenarios) and beside it::

            "started_ns": …, "ended_ns": …, "backend": "epoll", "lost_connections": 0,
            "first_error": {"sqlstate": "40001", "message": "…", "scenario": "payment"} or null,
            "steps": [{"index", "clients", "measured", "start_ns", "end_ns", "transactions",
                       "failed", "tps", "latency_ms": {…}, "client_cpu_s"}]

        `latency_ms` has mean, p50, p95, p99, p999 and max; all null where nothing succeeded.
        `errors` of a scenario maps SQLSTATE (or "connection" for a lost connection, "client" for
        a script's own error) to a count.
        """
    def intervals(self) -> dict[str, list[object]]:
        """One row per interval × scenario, in order of time; once ended.

        Columns: start_ns, step, measured, scenario, transactions, failed, latency_sum_ns,
        latency_ns (list: highest value of each HDR bucket used), latency_count (list: its count).
        Buckets are those of one HDR histogram layout, so rows merge by adding counts.
        """

@final
class Sampler:
    """Reads one server and, if asked, this host on a jittered clock, from connections of its own.

    `configuration` is JSON::

        {"connection": {…as for Load…},
         "application_name": "pgassay sampler",
         "waits": {"sql": "…", "every_s": 0.1, "jitter": 0.5},
         "counters": [{"source": "pg_stat_wal", "sql": "…", "every_s": 1.0}],
         "host": {"every_s": 1.0, "proc": "/proc"}}

    `waits`, `host` may be null. The waits query returns, in this order and with these types:
    pid int4, leader_pid int4, backend_type text, state text, wait_event_type text,
    wait_event text, query_id int8, xact_age_us int8; every one but pid may be NULL. A counters
    query returns text columns, joined with `/` into the row's `object`, and int8 or float8
    columns, each a value under its column's name.
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
        """Raw values read since the last call: time_ns, source, object, name, value (float)."""
    def take_host(self) -> dict[str, list[object]]:
        """The same columns for /proc: stat, meminfo, vmstat, diskstats, loadavg, pressure."""
    def warnings(self) -> list[str]:
        """What could not be read, one line each, each once."""
    def cost(self) -> str:
        """JSON: ``{"cpu_s", "wait_ticks", "counter_reads", "host_reads", "late_ticks"}``."""
