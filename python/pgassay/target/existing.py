"""An existing server, reached through libpq.

Enters: a connection string, whether settings may change, signs of production that are accepted.
Leaves: the workload's data in a schema of its own, settings changed with a journalled undo; after
`close`, the server as found. Never: restarts it, touches another schema or database, or runs beside
another pgassay run.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import LiteralString

import psycopg

from pgassay.errors import RestoreFailed, TargetError
from pgassay.spec.reset import EXISTING_RULE, Caches, ResetRule
from pgassay.target import run_lock
from pgassay.target.alter_system import SystemSettings, refuse_unchangeable
from pgassay.target.host_knobs import HostKnobs
from pgassay.target.installation import OLDEST_MAJOR
from pgassay.target.left_over import undo_left_over
from pgassay.target.protocol import (
    NOTHING,
    Connection,
    ConnectionParameters,
    Journal,
    ResetLevel,
    ResetReport,
    ServerFacts,
)
from pgassay.target.reset_levels import Phases, refuse_unreadable, settle_existing
from pgassay.target.schema import (
    SCHEMA,
    WorkloadSchema,
    make_schema,
    refuse_elsewhere,
    refuse_foreign,
    settle,
)
from pgassay.target.server_memory import RememberedJournal
from pgassay.target.server_paths import account_of, own_directory, own_readable_file
from pgassay.target.session import (
    connect,
    identity,
    one_line,
    resolve,
    told_as_target_error,
)
from pgassay.target.settings import read_settings, show
from pgassay.target.signs import look_for_signs, refuse_signs
from pgassay.target.statements import statement
from pgassay.target.template_database import TemplateDatabase
from pgassay.target.undoing import undo_each

SEARCH_PATH = f"-c search_path={SCHEMA},public"


class ExistingTarget:
    """A server that is not ours."""

    logs_as_we_read = False
    kind: LiteralString = "existing"

    def __init__(
        self,
        dsn: str,
        journal: Journal,
        *,
        allow_changes: bool = False,
        accept: Collection[str] = (),
        rule: ResetRule = EXISTING_RULE,
    ) -> None:
        self._rule = rule
        self._dsn = dsn
        self._journal = RememberedJournal(journal)
        self._allow_changes = allow_changes
        self._accept = frozenset(accept)
        self._parameters: ConnectionParameters | None = None
        self._control: Connection | None = None
        self._settings: SystemSettings | None = None
        self._schema = WorkloadSchema(self._journal)
        self._database = TemplateDatabase(self._journal)
        self._at: str | None = None
        """The database of the workload, where it is not the user's."""
        self._host = HostKnobs(journal)
        self._seen: ServerFacts | None = None
        self._left_alone: list[str] = []
        """On what a killed run had left, and somebody has changed since."""
        self._held: dict[str, str] = {}
        self._held_host: dict[str, str] = {}
        self._prepared = False

    def __repr__(self) -> str:
        # The connection string may hold a password.
        where = self._parameters.label if self._parameters else "not open"
        return f"ExistingTarget({where})"

    def open(self) -> ServerFacts:
        self._parameters = resolve(self._dsn)
        self._settings = SystemSettings(self._parameters, self._journal)
        self._control = connect(self._parameters)
        with told_as_target_error("looking at the server"):
            reason = unfit(self._control, self._parameters.label)
        if reason is not None:
            raise TargetError(reason)
        run_lock.take(self._control)
        with told_as_target_error("looking for what a killed run has left"):
            server = identity(self._control) or self._parameters.label
            self._left_alone = undo_left_over(self._parameters, server)
        self._journal.speaks_of(server)
        if self._allow_changes:
            refuse_elsewhere(self._control)
        refuse_foreign(self._control)
        with told_as_target_error("looking for signs of production"):
            signs = look_for_signs(self._control, self._accept)
        refuse_signs(signs, self._parameters.label)
        return self.facts()

    def prepare(
        self,
        build: Callable[[Connection], None],
        held: Mapping[str, str],
        host: Mapping[str, str] = NOTHING,
    ) -> None:
        self._alive()
        self.check_settings(held)
        self._prepared = False
        self._held, self._held_host = dict(held), dict(host)
        self.check_host(host)
        self._host.apply(host, self._data_directory)
        self._apply(held)
        if self._rule.caches is Caches.COLD:
            refuse_unreadable(self._control_session(), self._data_directory)
        if self._rule.level is ResetLevel.TEMPLATE:
            self._at = None
            self._database.make(self._control_session())
            self._at = self._database.template
        with connect(self.parameters(), statement_limit_s=0) as session:
            make_schema(session) if self._at else self._schema.create(session)
            # Whatever `build` raises belongs to the workload and is its caller's to explain.
            build(session)
        with connect(self.parameters(), statement_limit_s=0) as session:
            settle(session)
        if self._at:
            self._at = None
            self._database.freeze(self._control_session())
        self._prepared = True

    def check_settings(self, settings: Mapping[str, str]) -> None:
        if not settings:
            return
        if not self._allow_changes:
            names = ", ".join(settings)
            raise TargetError(
                f"settings change only with target.allow_changes = true (asked for: {names})"
            )
        with told_as_target_error("checking settings"), self.connect() as session:
            refuse_unchangeable(session, settings)

    def check_host(self, knobs: Mapping[str, str]) -> None:
        if not knobs:
            return
        if self._seen is None:
            self._seen = self.facts()
        if not self._seen.is_local:
            raise TargetError(
                f"{next(iter(knobs))}: the server is not on this host, whose knobs alone can be "
                "set; run pgassay there, or leave out [factors.host] and [settings.host]"
            )
        self._host.check(knobs, self._data_directory)

    def reset(self, settings: Mapping[str, str], host: Mapping[str, str] = NOTHING) -> ResetReport:
        if not self._prepared:
            raise TargetError("reset before prepare: there is no data to settle")
        self._alive()
        phases, level = Phases(), self._rule.level
        wanted = {**self._held, **settings}
        if wanted and not self._allow_changes:
            self.check_settings(wanted)
        knobs = self._host.apply({**self._held_host, **host}, self._data_directory)
        with phases("settings"):
            notes = self._apply(wanted)
        copied = ""
        if level is ResetLevel.TEMPLATE:
            self._at = None
            with phases("copy"):
                copied = self._database.remake(self._control_session())
            self._at = self._database.name
        with (
            told_as_target_error("settling the server before a trial"),
            connect(self.parameters(), statement_limit_s=0) as session,
        ):
            said, caches = settle_existing(session, self._rule, self._data_directory, phases)
            shown = show(session, wanted)
        return ResetReport(
            level=level,
            duration_s=phases.total_s,
            restarted=False,
            settings=shown,
            notes=(*notes, *said, *self._left_alone, *self._host.notes),
            host=knobs,
            phases=phases.seconds,
            caches=caches,
            copied=copied,
        )

    def host_as_found(self) -> Mapping[str, str]:
        return self._host.found

    def parameters(self) -> ConnectionParameters:
        parameters, _ = self._opened()
        options = f"{parameters.options} {SEARCH_PATH}".strip()
        return replace(parameters, options=options, dbname=self._at or parameters.dbname)

    def connect(self) -> Connection:
        return connect(self.parameters())

    def facts(self) -> ServerFacts:
        parameters = self.parameters()
        with told_as_target_error("looking at the server"), connect(parameters) as session:
            row = session.execute(statement("server")).fetchone()
            if row is None:
                raise TargetError("the server says nothing of itself")
            local = is_local(parameters.hostaddr or parameters.host, row[4])
            owner = account_of(row[4]) if local else None
            data = own_directory(row[2], owner)
            return ServerFacts(
                version_num=row[0],
                version=row[1],
                data_directory=None if data is None else str(data),
                is_local=local,
                log_file=own_readable_file(reported_log(session), data, owner),
                settings=read_settings(session),
            )

    def close(self) -> None:
        undo_each(self._host.restore, self._restore_server)

    def _restore_server(self) -> None:
        problems: list[str] = []
        settings, schema, database = self._settings, self._schema, self._database
        if settings is not None and settings.left:
            try:
                settings.restore()
            except (TargetError, psycopg.Error) as error:
                problems.append(one_line(error))
        if database.left and self._parameters is not None:
            self._at = None
            try:
                with connect(self._parameters, statement_limit_s=0) as session:
                    database.drop(session)
            except (TargetError, psycopg.Error) as error:
                problems.append(one_line(error))
        if schema.left and self._parameters is not None:
            try:
                with connect(self._parameters, statement_limit_s=0) as session:
                    schema.drop(session)
            except (TargetError, psycopg.Error) as error:
                problems.append(one_line(error))
        self._prepared = False
        if self._control is not None:
            self._control.close()
            self._control = None
        left = [*(settings.left if settings else []), *schema.left, *database.left]
        if left:
            # Everything needed for another attempt is kept.
            raise RestoreFailed(not_restored(self._parameters, problems, left))
        self._settings = None
        self._parameters = None

    def _opened(self) -> tuple[ConnectionParameters, SystemSettings]:
        if self._parameters is None or self._settings is None:
            raise TargetError("the target is not open; call open first")
        return self._parameters, self._settings

    def _control_session(self) -> Connection:
        self._alive()
        if self._control is None:
            raise TargetError("the target is not open; call open first")
        return self._control

    def _apply(self, wanted: Mapping[str, str]) -> list[str]:
        with told_as_target_error("changing settings"):
            return self._opened()[1].apply(wanted)

    @property
    def _data_directory(self) -> Path | None:
        if self._seen is None:
            self._seen = self.facts()
        where = self._seen.data_directory
        return Path(where) if where else None

    def _alive(self) -> None:
        """The control session holds the lock; where it broke, the lock must be taken again."""
        parameters, _ = self._opened()
        if self._control is not None:
            with contextlib.suppress(psycopg.Error):
                self._control.execute("SELECT")
                return
            self._control.close()
        self._control = connect(parameters)
        run_lock.take(self._control)


def unfit(session: Connection, label: str) -> str | None:
    """Why no experiment can be run on a server, whatever the user accepts."""
    row = session.execute(statement("server")).fetchone()
    if row is None or row[0] < OLDEST_MAJOR * 10000:
        found = row[1] if row else "?"
        return f"PostgreSQL {found}: pgassay works with {OLDEST_MAJOR} and later"
    if row[3]:
        return f"{label} is a standby, where no data can be made; name its primary"
    return None


def is_local(host: str, backend_pid: int) -> bool:
    """Whether the server shares this machine's /proc.

    The address alone would be fooled by a tunnel or a container: our own backend must be there.
    """
    if not (host.startswith(("/", "@", "127.")) or host in ("localhost", "::1")):
        return False
    try:
        return Path(f"/proc/{backend_pid}/comm").read_text().strip() == "postgres"
    except OSError:
        return False


def reported_log(session: Connection) -> str | None:
    """The server's log file by its own word, where we may ask."""
    try:
        row = session.execute("SELECT pg_current_logfile('stderr')").fetchone()
    except psycopg.Error:
        return None
    return None if row is None else row[0]


def not_restored(
    parameters: ConnectionParameters | None, problems: Sequence[str], left: Sequence[str]
) -> str:
    where = parameters.label if parameters else "the server"
    why = "; ".join(dict.fromkeys(problems)) or "unknown reason"
    return f"{where} is not as it was found ({why}); run there by hand: {'; '.join(left)};"
