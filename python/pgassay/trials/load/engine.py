"""What is asked of the engine, and opening and starting it.

Enters: scenarios, steps, a connection. Leaves: an engine's load, its connections open.
Never: measures anything itself, or waits for the load.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import asdict, dataclass, field, replace
from threading import Thread
from typing import Any

from pgassay import _core
from pgassay.plan.steps import Step
from pgassay.refusals.refusal import NotConnected, Refusal
from pgassay.server.hosts.placement import Place, confirm_place, run_in, threads
from pgassay.server.protocol import LOAD_NAME, ConnectionParameters
from pgassay.spec.load.amounts import ThinkTime
from pgassay.spec.load.slices import SlicesTable
from pgassay.spec.load.table import LoadTable
from pgassay.spec.reading.texts import shown
from pgassay.spec.workload.folder import Scenario
from pgassay.spec.workload.parameters import ParameterFile
from pgassay.trials.load.scripts import wrong_script
from pgassay.trials.load.slices import engine_slices

_REPORT_EVERY_S = 5.0
LAST_S = 8.0
"""Transactions in flight are cut 5 s after a load is stopped, then cancelled."""
_OF_TRANSACTIONS = ("transactions", "failed", "skipped", "retried", "retries")
COUNTS = (*_OF_TRANSACTIONS, "latency_ms", "latency_ms2", "lag_ms")
"""Figures of an engine's progress that grow while the load runs; latencies and lags are sums."""


@dataclass(frozen=True)
class LogRequest:
    """Where pgbench's transaction log is written, and how much of it."""

    prefix: str
    sampling_rate: float | None = None
    aggregate_interval_s: int | None = None
    failures_detailed: bool | None = None


@dataclass(frozen=True)
class LoadRequest:
    """A load for the engine: scripts, clients or rate, duration, and the server.

    A field that is None is not sent: the engine takes its default.
    """

    scenarios: Sequence[Scenario]
    steps: Sequence[Step]
    variables: Mapping[str, int | float | str]
    seed: int
    threads: int = 1
    protocol: str = "prepared"
    transactions_per_client: int | None = None
    interval_s: float = 1.0
    arrivals: str | None = None
    latency_limit_ms: float | None = None
    pools: str | None = None
    think_time: ThinkTime | None = None
    max_tries: int | None = None
    reconnect: str | None = None
    statements: bool | None = None
    log: LogRequest | None = None
    allow_shell: bool | None = None
    transport: str | None = None
    busy_poll_s: float | None = None
    slices: SlicesTable | None = None
    exit_on_abort: bool | None = None
    verbose_errors: bool | None = None
    servers: Mapping[str, ConnectionParameters] | None = None
    """Name of a variant of `slices` → its server, where each variant has another."""
    contents: Mapping[str, bytes] = field(default_factory=dict)
    """Of files of parameters on another machine, by their hash."""
    private: bool = True
    """Whether texts of failures that may show a parameter are left out."""
    share: tuple[int, int] | None = None
    """This engine runs share i of n; None: all of it."""

    def configuration(self, connection: ConnectionParameters) -> str:
        """Returns the configuration that the engine reads, as JSON."""
        servers = {name: server.for_load() for name, server in (self.servers or {}).items()}
        busy_poll_s, think_time = self.busy_poll_s, self.think_time
        asked = {
            **{name: getattr(self, name) for name in _SENT_AS_GIVEN},
            "connection": self._sessions(connection).for_load(),
            "application_name": LOAD_NAME,
            "scenarios": [
                {"name": s.name, "file": s.file, "weight": s.weight}
                | {"script": list(s.script_bytes) if s.script_base64 else s.script}
                | ({"parameters": self._columns(s.parameters)} if s.parameters else {})
                for s in self.scenarios
            ],
            "steps": [_present(asdict(step)) for step in self.steps],
            "variables": {name: _sent(value) for name, value in self.variables.items()},
            "think_time_s": think_time.mean_s if think_time else None,
            "think_time": think_time.kind if think_time else None,
            "log": _present(asdict(self.log)) if self.log else None,
            "busy_poll_us": None if busy_poll_s is None else round(busy_poll_s * 1e6),
            "slices": engine_slices(self.slices, servers) if self.slices else None,
            "share": {"index": self.share[0], "of": self.share[1]} if self.share else None,
        }
        always = {"transactions_per_client": self.transactions_per_client}
        return json.dumps(_present(asked) | always)

    @property
    def parameter_files(self) -> list[ParameterFile]:
        """The files whose rows its scenarios take, in their order."""
        return [one.parameters for one in self.scenarios if one.parameters is not None]

    def rows(self) -> list[_core.Parameters | None]:
        """Returns the rows of each scenario's file of parameters; raises SpecError."""
        if not self.parameter_files:
            return []
        from pgassay.trials.load.parameters import rows_of  # pyarrow, for these alone

        files = [one.parameters for one in self.scenarios]
        return [None if one is None else rows_of(one, self.contents) for one in files]

    def _columns(self, file: ParameterFile) -> dict[str, Any]:
        return {"columns": file.names, "order": file.order, "private": self.private}

    def _sessions(self, connection: ConnectionParameters) -> ConnectionParameters:
        """Texts of files are UTF-8, so that their sessions are."""
        if not self.parameter_files:
            return connection
        named = connection.startup.get("client_encoding") or connection.client_encoding
        if named and re.sub("[^a-z0-9]", "", named.lower()) not in _UTF8:
            raise Refusal("parameters-encoding", encoding=named)
        return replace(connection, client_encoding="UTF8")


_UTF8 = ("utf8", "unicode")
_SENT_AS_GIVEN = (
    "seed",
    "threads",
    "protocol",
    "interval_s",
    "arrivals",
    "latency_limit_ms",
    "pools",
    "max_tries",
    "reconnect",
    "statements",
    "allow_shell",
    "transport",
    "exit_on_abort",
    "verbose_errors",
)


def _sent(value: float | str) -> float | str | list[int]:
    """A text that is not UTF-8 as its bytes."""
    if not isinstance(value, str) or shown(value) == value:
        return value
    return list(value.encode("utf-8", "surrogateescape"))


def _present(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def open_load(
    request: LoadRequest,
    connection: ConnectionParameters,
    tell: Callable[[int, float], None] | None = None,
) -> _core.Load:
    """Opens all connections of a load and returns it, ready to start.

    `tell` is called every few seconds with how many are being opened, and for how long (s). An
    interrupt takes effect at once: sessions that are still being opened end with the process.
    """
    try:
        configuration, rows = request.configuration(connection), request.rows()
        load = _core.Load(configuration, rows) if rows else _core.Load(configuration)
        opening: Future[None] = Future()
        Thread(target=_settle, args=(opening, load.connect), daemon=True).start()
        began = time.monotonic()
        while not wait([opening], _REPORT_EVERY_S).done:
            if tell is not None:
                tell(max(step.clients for step in request.steps), time.monotonic() - began)
        opening.result()
    except _core.ConnectionFailed as error:
        raise NotConnected("not-connected", sqlstate=error.sqlstate, why=error) from None
    except _core.ScriptError as error:
        raise wrong_script(error) from None
    except _core.ConfigurationError as error:
        raise Refusal("load-not-possible", why=str(error)) from None
    return load


def _settle(opening: Future[None], work: Callable[[], None]) -> None:
    try:
        work()
        opening.set_result(None)
    except BaseException as error:
        opening.set_exception(error)


def start_in(
    load: _core.Load | _core.Replay, place: Place | None, at_ns: int | None
) -> dict[str, str]:
    """Starts an opened load at a given time, or at once; returns where its threads run, as read
    back."""
    before = threads()
    run_in(place, lambda: load.start(at_ns))
    try:
        return confirm_place("client", place, threads() - before)
    except BaseException:
        load.stop()
        load.wait(LAST_S)
        raise


def as_the_client(connection: ConnectionParameters, load: LoadTable) -> ConnectionParameters:
    """Returns the connection parameters with the session settings of `[load]`; a program gets them
    as PGOPTIONS."""
    given = {name.lower(): value for name, value in load.settings.items()}
    startup = {**connection.startup, **given}
    return replace(connection, startup=startup, sslmode=load.sslmode or connection.sslmode)
