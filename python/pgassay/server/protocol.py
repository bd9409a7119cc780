"""What every server under test can do, of whichever kind.

Enters: nothing. Leaves: the `Target` protocol and the small values of its calls.
Never: knows a trial, a block, or a workload's content.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, LiteralString, Protocol

from pgassay.notes import Note
from pgassay.server.change import Change
from pgassay.server.comparison import Comparison
from pgassay.server.connection.libpq import as_options, for_engine
from pgassay.server.hosts.host import Host
from pgassay.server.hosts.memory_group import MemoryUse
from pgassay.spec.server.reset import Caches
from pgassay.spec.server.reset import ResetLevel as ResetLevel
from pgassay.stored_notes import coded

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[tuple[Any, ...]]
else:
    # To load psycopg takes a tenth of a second, and a report of a stored run needs none.
    Connection = Any


class Context(StrEnum):
    """When a change of a setting reaches the server, as `pg_settings.context` says."""

    INTERNAL = "internal"
    POSTMASTER = "postmaster"
    SIGHUP = "sighup"
    SUPERUSER_BACKEND = "superuser-backend"
    BACKEND = "backend"
    SUPERUSER = "superuser"
    USER = "user"

    @property
    def needs_restart(self) -> bool:
        return self is Context.POSTMASTER


NOTHING: Mapping[str, str] = {}
Levels = Mapping[str, Sequence[str]]
NO_LEVELS: Levels = {}
CONTROL_NAME, SAMPLER_NAME, LOAD_NAME = "pgassay control", "pgassay sampler", "pgassay"
"""Values of application_name of our sessions. They are compared whole, here and in SQL: a client
whose name only begins as ours must not be left out of what is read of the server."""


@dataclass(frozen=True)
class Setting:
    """One row of pg_settings; `value` is in `unit`, as the server counts it."""

    name: str
    value: str
    unit: str | None
    context: Context
    vartype: str
    enumvals: tuple[str, ...]
    min_val: str | None
    max_val: str | None
    boot_val: str | None
    source: str
    pending_restart: bool
    sourcefile: str | None = None
    sourceline: int | None = None
    """Where it was set, for those who may see it."""


PATIENCE_S = 120.0
"""About as long as Linux tries to reach a host that does not answer (tcp_syn_retries)."""


@dataclass(frozen=True)
class ConnectionParameters:
    """Where a session goes, after libpq has resolved every default, service and password file.

    `host` is a socket directory when it begins with `/` or `@`. `hostaddr` is the address behind
    it that was reached: of several hosts, every later session goes to that one. Passwords are
    never shown by repr and never written to a file.
    """

    host: str
    port: int
    user: str
    dbname: str
    password: str | None = None
    options: str = ""
    """Of the user."""
    startup: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Settings that a session starts with: setting, in lower case → value. They are sent as libpq
    sends PGTZ, because poolers take no `options`."""
    client_encoding: str = ""
    """That of the load's sessions as the user names it; empty for the server's default."""
    sslmode: str = "prefer"
    hostaddr: str = ""
    connect_timeout_s: float = 10.0
    chose_timeout: bool = False
    """Whether the user gave `connect_timeout`."""
    libpq: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Further parameters by libpq's own names: those of `target.libpq.KEPT`."""

    def __repr__(self) -> str:
        return f"ConnectionParameters({self.label})"

    @property
    def label(self) -> str:
        return f"{self.user}@{self.host}:{self.port}/{self.dbname}"

    @property
    def address(self) -> str:
        """The host and port where the server listens."""
        return f"{self.host}:{self.port}"

    @property
    def all_options(self) -> str:
        """The options of a session that libpq opens, with what it starts with."""
        return " ".join(part for part in (self.options, as_options(self.startup)) if part)

    def for_core(self) -> dict[str, Any]:
        """The `connection` object the native module reads, for a session that reads names."""
        return self._for_core({**self.startup, "client_encoding": "UTF8"})

    def _for_core(self, startup: Mapping[str, str]) -> dict[str, Any]:
        return {
            "host": self.host,
            "hostaddr": self.hostaddr,
            "port": self.port,
            "user": self.user,
            "password": self.password,
            "dbname": self.dbname,
            "options": self.options,
            "parameters": dict(startup),
            "connect_timeout_s": self.connect_timeout_s,
            **for_engine({**self.libpq, "sslmode": self.sslmode}),
        }

    def for_load(self) -> dict[str, Any]:
        """Return the `connection` object for the many sessions of a load.

        By then the server has answered a session, so a server that is slow to take thousands is
        waited for. As with pgbench, the encoding is what the user names, else the server's default.
        """
        named = {"client_encoding": self.client_encoding} if self.client_encoding else {}
        found = self._for_core({**named, **self.startup})
        if self.chose_timeout:
            return found
        return {**found, "connect_timeout_s": max(self.connect_timeout_s, PATIENCE_S)}

    def for_psycopg(self) -> dict[str, Any]:
        """Keyword arguments of psycopg.connect, for a session of the same kind as the load's.

        Those that could divert the session are given even where empty, so that PGHOSTADDR,
        PGOPTIONS or a service file in the caller's environment cannot.
        """
        given: dict[str, Any] = {
            **self.libpq,
            "host": self.host,
            "port": self.port,
            "user": self.user,
            "dbname": self.dbname,
            "sslmode": self.sslmode,
            "options": self.all_options,
            "client_encoding": "UTF8",
            "hostaddr": self.hostaddr,
            "connect_timeout": math.ceil(self.connect_timeout_s),
            "target_session_attrs": "any",
            "gssencmode": "disable",
        }
        return given if self.password is None else {**given, "password": self.password}


@dataclass(frozen=True)
class ServerFacts:
    """What a server says of itself once it is up: version, directory, log and settings."""

    version_num: int
    version: str
    data_directory: str | None
    is_local: bool
    log_file: Path | None
    """Of a server we started; where another's is, trials/server_log/place.py finds out."""
    settings: Mapping[str, Setting]
    build: str = ""
    """`SELECT version()`: with compiler and platform."""


class Journal(Protocol):
    """The write-ahead record of changes; `record` returns only when the entry is on disk."""

    @property
    def place(self) -> str:
        """The path of the journal's file; empty where there is none."""
        ...

    @property
    def run(self) -> str:
        """A name drawn for the journal, on disk in it before a change is; empty without a file."""
        ...

    @property
    def machine(self) -> str:
        """The user and machine that can undo what the journal holds; empty for this one."""
        ...

    def record(self, change: Change) -> None: ...
    def undone(self, change_id: str) -> None: ...


@dataclass(frozen=True)
class Testbed:
    """The server, data, schema variant and arm that a trial runs on; empty fields stand for what
    `open` and `prepare` gave."""

    server: str = ""
    """The name of a level, where servers are varied."""
    data: str = ""
    """The name of what was built, where that is varied."""
    schema: str = ""
    """The name of a `SchemaVariant` of these data; empty for the data as they were built."""
    arm: str = ""
    """The arm that alone has this server, where each has one."""


@dataclass(frozen=True)
class SchemaVariant:
    """SQL on top of the built data, run once per testbed; its parts run in this order."""

    name: str
    parts: Mapping[str, str]
    """What a part is called in errors → its statements."""
    undo: Mapping[str, str] = field(default_factory=dict)
    """What takes each part back, where the data are not a copy that is thrown away."""


@dataclass(frozen=True)
class CacheState:
    """What a reset did about caches, and which share of the data they held afterwards."""

    rule: Caches
    how: str
    cached_share: float | None = None
    """Of the data's bytes, those in the host's page cache; None where that is unknown."""
    buffered_blocks: int | None = None
    """Blocks that pg_prewarm read into shared buffers; None without it."""


@dataclass(frozen=True)
class ResetReport:
    """What one reset did, as trial.json stores it."""

    level: ResetLevel
    duration_s: float
    restarted: bool
    settings: Mapping[str, str]
    """Each setting asked for, as `current_setting` shows it afterwards."""
    notes: tuple[Note, ...] = ()
    host: Mapping[str, str] = field(default_factory=dict)
    """Each knob of the host asked for, as read back."""
    placement: Mapping[str, str] = field(default_factory=dict)
    """Where the owned server runs, and within which memory, as /proc and its control group say;
    empty where it was not asked."""
    phases: Mapping[str, float] = field(default_factory=dict)
    """What was done, in its order, with the seconds each took."""
    caches: CacheState | None = None
    """What the caches held afterwards; None where they were left as they were."""
    copied: str = ""
    """How the data were put back, where there is more than one way."""

    def described(self) -> dict[str, Any]:
        """Returns the object of trial.json."""
        return {**asdict(self), **coded("notes", self.notes)}


class Target(Protocol):
    """The PostgreSQL under test.

    The order of calls is open, prepare, then reset once per trial, then close. Where an experiment
    has several testbeds, `choose` says which of them the calls after it are about. `close` restores
    and may be called at any time, also twice. Every method raises a TargetError whose message is
    one line that names the fix.
    """

    kind: LiteralString

    def open(self) -> ServerFacts:
        """Starts or reaches the server, and returns what it says of itself."""
        ...

    def choose(self, testbed: Testbed) -> ServerFacts:
        """Switch to the server of a testbed, and return its facts as they were when it was opened.

        Other servers of this run are stopped, unless they run side by side.
        """
        ...

    def vary(self, variant: SchemaVariant) -> float | None:
        """Make and keep a variant of the prepared data, and return how long its SQL took (s).

        Any number of them may follow `prepare`; None for one that is there already.
        """
        ...

    def prepare(
        self,
        build: Callable[[Connection], None],
        held: Mapping[str, str],
        host: Mapping[str, str] = NOTHING,
    ) -> None:
        """Apply what is held for every arm, run `build` once to make the data, freeze it."""
        ...

    def check_settings(self, settings: Mapping[str, str]) -> None:
        """Refuse, before any trial, a setting this target cannot apply. Changes nothing."""
        ...

    def check_host(self, knobs: Mapping[str, str]) -> None:
        """Refuse, before any trial, a knob of the host that cannot be written. Changes nothing."""
        ...

    def reset(
        self,
        settings: Mapping[str, str],
        host: Mapping[str, str] = NOTHING,
        *,
        restart: bool | None = None,
    ) -> ResetReport:
        """Bring the server to the trial's starting state with these settings on top of the held.

        Every setting is read back and compared in the server's own unit. Knobs of the host are
        set before the server starts. `restart` asks for a fresh start, or says that none is needed
        unless a setting changes that takes one; with None every trial has one where arms differ in
        such a setting.
        """
        ...

    def announce(self, settings: Levels, host: Levels = NO_LEVELS) -> None:
        """Journal that these settings, and these knobs of the host, will have these values by turns
        until the next reset, which has set one of each. Changes nothing; the caller changes the
        settings and puts them back, the knobs by `alternate`."""
        ...

    def alternate(self, host: Mapping[str, str]) -> Mapping[str, str]:
        """Writes announced values of knobs, while the server runs; returns what each one was."""
        ...

    def host(self) -> Host | None:
        """Returns the server's host, where pgassay can look at it; None where it cannot."""
        ...

    def host_as_found(self) -> Mapping[str, str]:
        """Returns the value that each knob of the host had when it was checked."""
        ...

    def memory_use(self) -> MemoryUse | None:
        """Returns what the server's control group counts; None where pgassay has not made one."""
        ...

    def parameters(self) -> ConnectionParameters:
        """Returns where the load and the samplers connect."""
        ...

    def connect(self) -> Connection:
        """A control session: autocommit, application_name set, with its own statement timeout."""
        ...

    def facts(self) -> ServerFacts:
        """Asks the server anew what it says of itself."""
        ...

    def close(self) -> None:
        """Undo what was changed, newest first; stop what was started. Raises RestoreFailed."""
        ...

    def compared(self) -> Comparison | None:
        """Returns, after `close`, how the server differs from what `open` found; None for a server
        of pgassay's own, or where nothing was opened."""
        ...
