"""An existing server, reached through libpq.

Enters: a connection string, what may change, signs of production that are accepted, the way to its
host and service where there is one. Leaves: the workload's data in a schema `pgassay`, settings
changed with a journalled undo; after `close`, the server as found. Never: restarts it unasked,
touches another schema or database, or runs beside another pgassay run.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path
from typing import LiteralString

import psycopg

from pgassay.errors import ConnectionRefused, TargetError
from pgassay.notes import Note
from pgassay.refusals.refusal import RestoreRefused, TargetRefused, found_by, opened, refuse
from pgassay.server.comparison import Comparison
from pgassay.server.connection.session import (
    STATEMENT_LIMIT_S,
    Work,
    as_target_error,
    connect,
    identity,
    lift_guards,
    one_line,
    resolve,
)
from pgassay.server.data.installed_tables import search_path
from pgassay.server.data.reset import Phases, refuse_unreadable, settle_existing
from pgassay.server.data.schema import SEARCH_PATH
from pgassay.server.existing.access import SQL_ONLY, Access, refuse_late_knobs
from pgassay.server.existing.data import ExistingData
from pgassay.server.existing.refusals import FIT, UNUSED, Found
from pgassay.server.existing.requirements import facts_of, not_restored
from pgassay.server.existing.signs import look_for_signs, refuse_signs
from pgassay.server.existing.snapshot import AsFound, begin_mark
from pgassay.server.existing.system_settings import SystemSettings
from pgassay.server.hosts.host import Host
from pgassay.server.hosts.memory_group import MemoryUse
from pgassay.server.hosts.server_process import ServerProcess, find_server_process
from pgassay.server.knobs.host_knobs import HostKnobs
from pgassay.server.protocol import (
    NO_LEVELS,
    NOTHING,
    Connection,
    ConnectionParameters,
    Journal,
    Levels,
    ResetReport,
    SchemaVariant,
    ServerFacts,
    Testbed,
)
from pgassay.server.service.service import Service
from pgassay.server.settings.changeable import needs_restart
from pgassay.server.settings.pending_changes import refuse_reload
from pgassay.server.settings.values import show
from pgassay.server.undo import run_lock
from pgassay.server.undo.change_record import RecordedJournal
from pgassay.server.undo.killed_run import explained, refuse_killed_run_on
from pgassay.server.undo.marking import MarkedJournal, ServerMark
from pgassay.server.undo.undoing import undo_each
from pgassay.spec.server.reset import EXISTING_RULE, Caches, ResetRule
from pgassay.spec.workload.folder import InstalledTables


class ExistingTarget:
    """The target of a run on a server that pgassay did not start; the methods are those of
    `Target`."""

    kind: LiteralString

    def __init__(
        self,
        dsn: str,
        journal: Journal,
        *,
        allow_changes: bool = False,
        accept: Collection[str] = (),
        access: Access = SQL_ONLY,
        rule: ResetRule = EXISTING_RULE,
        installed: InstalledTables | None = None,
    ) -> None:
        self.kind = access.kind
        self._rule = rule
        self._dsn = dsn
        # A journal that is not on this machine has its change record there too.
        self._record = journal if isinstance(journal, RecordedJournal) else RecordedJournal(journal)
        self._mark = ServerMark()
        self._journal = MarkedJournal(self._record, self._mark)
        self._allow_changes = allow_changes
        self._accept = frozenset(accept)
        self._access = access
        self._machine = access.host()
        self._process: ServerProcess | None = None
        self._needing_restart: set[str] = set()
        self._parameters: ConnectionParameters | None = None
        self._control: Connection | None = None
        self._settings: SystemSettings | None = None
        self._installed = installed
        self._path = SEARCH_PATH if installed is None else search_path(installed)
        self._data = ExistingData(
            self._journal, rule, builds=installed is None, marks=allow_changes
        )
        self._host = HostKnobs(MarkedJournal(journal, self._mark), self._machine)
        self._facts: ServerFacts | None = None
        self._as_found = AsFound()
        self._set_here: AbstractSet[str] = frozenset()
        """The settings that this run has changed on the server, and nobody else since."""
        self._held: dict[str, str] = {}
        self._held_host: dict[str, str] = {}

    def __repr__(self) -> str:
        # The connection string may hold a password.
        where = self._parameters.label if self._parameters else "not open"
        return f"ExistingTarget({where})"

    def open(self) -> ServerFacts:
        try:
            self._parameters = resolve(self._dsn)
        except ConnectionRefused as refused:
            raise explained(refused, self._dsn) from None
        self._control = connect(self._parameters)
        with as_target_error("looking at the server"):
            found = Found(self._control, self._parameters, self._dsn, makes=self._data.makes)
            refuse(found_by(FIT, found))
            # From here on the setting may be one of the run's own.
            lift_guards(self._control, Work.OWN_CHANGES, STATEMENT_LIMIT_S)
            system = identity(self._control)
        service = self._find_service(self._control, system)
        self._settings = SystemSettings(
            self._parameters, self._journal, service, self._access.scope(self._control)
        )
        run_lock.take(self._control)
        server = system or self._parameters.label
        refuse(found_by(UNUSED, found))
        self._record.begin(server, self._parameters.address)
        refuse_killed_run_on(self._machine)
        with as_target_error("looking for signs of production"):
            refuse_signs(look_for_signs(self._control, self._accept), self._parameters.label)
        self._facts = self.facts()
        self._as_found.look(self._parameters)
        if self._allow_changes:
            begin_mark(self._mark, self._journal, self._as_found, self._parameters)
        return self._facts

    def prepare(
        self,
        build: Callable[[Connection], None],
        held: Mapping[str, str],
        host: Mapping[str, str] = NOTHING,
    ) -> None:
        self._control_session()
        self.check_settings(held)
        self._data.is_built = False
        self._held, self._held_host = dict(held), dict(host)
        self.check_host(host)
        if self._rule.caches is Caches.COLD:
            refuse_unreadable(self._control_session(), self._data_here)
        self._host.apply(host, self._data_directory)
        # A role without a database writes its mark on the schema, so that is made first.
        self._data.make(self._control_session, self._unlimited)
        self._apply(held)
        self._data.build(self._control_session, self._unlimited, build)

    def choose(self, testbed: Testbed) -> ServerFacts:
        self._data.variant = testbed.schema
        if self._facts is None:
            self._facts = self.facts()
        return self._facts

    def vary(self, variant: SchemaVariant) -> float | None:
        if not self._allow_changes:
            raise TargetRefused("schema-without-allow-changes", variant=variant.name)
        with self._unlimited() as session:
            return self._data.variants.add(session, variant)

    def check_settings(self, settings: Mapping[str, str]) -> None:
        if not settings:
            return
        if not self._allow_changes:
            raise TargetRefused("settings-without-allow-changes", names=", ".join(settings))
        with as_target_error("checking settings"), self.connect() as session:
            self._access.refuse_unchangeable(session, settings)
            if self._access.scope(session).reloads and not self._opened()[1].left:
                refuse_reload(session)
            wanting = {name for name in settings if needs_restart(session, name)}
            if wanting - self._needing_restart:
                self._opened()[1].refuse_restart(session)
            self._needing_restart |= wanting

    def check_host(self, knobs: Mapping[str, str]) -> None:
        if not knobs:
            return
        self._opened()
        if self.host() is None:
            raise TargetRefused("knobs-elsewhere", next(iter(knobs)))
        refuse_late_knobs(knobs, self._access)
        self._host.check(knobs, self._data_directory)

    def reset(
        self,
        settings: Mapping[str, str],
        host: Mapping[str, str] = NOTHING,
        *,
        restart: bool | None = None,
    ) -> ResetReport:
        if not self._data.is_built:
            raise TargetRefused("not-prepared", step="reset")
        self._control_session()
        phases = Phases()
        wanted = {**self._held, **settings}
        if wanted and not self._allow_changes:
            self.check_settings(wanted)
        knobs = self._host.apply({**self._held_host, **host}, self._data_directory)
        # A restart for one arm is one for every arm: all of them start with the same cold caches.
        differ = bool(self._needing_restart - self._held.keys())
        restarts = differ if restart is None else restart and not self._access.why_no_restart
        with phases("settings"):
            notes = self._apply(wanted, restart=restarts)
            self._control_session()
        copied = self._data.put_back(self._control_session, phases)
        with as_target_error("settling the server before a trial"), self._unlimited() as session:
            self._data.variants.bring(session, self._data.variant)
            said, caches = settle_existing(
                session, self._rule, self._data_here, phases, self._installed
            )
            shown = show(session, wanted)
        return ResetReport(
            level=self._rule.level,
            duration_s=phases.total_s,
            restarted=restarts,
            settings=shown,
            notes=(*notes, *said),
            host=knobs,
            phases=phases.seconds,
            caches=caches,
            copied=copied,
        )

    def announce(self, settings: Levels, host: Levels = NO_LEVELS) -> None:
        self._opened()[1].announce(settings)
        self._host.announce(host, self._data_directory)

    def alternate(self, host: Mapping[str, str]) -> Mapping[str, str]:
        return self._host.alternate(host, self._data_directory)

    def host(self) -> Host | None:
        local = self._facts is not None and self._facts.is_local
        return self._machine if self._process is not None or local else None

    def host_as_found(self) -> Mapping[str, str]:
        return self._host.found

    def memory_use(self) -> MemoryUse | None:
        return None

    def parameters(self) -> ConnectionParameters:
        parameters, _ = self._opened()
        startup = {**parameters.startup, **self._path}
        return replace(parameters, startup=startup, dbname=self._data.at or parameters.dbname)

    def connect(self) -> Connection:
        return connect(self.parameters())

    def _unlimited(self) -> Connection:
        return connect(self.parameters(), work=Work.OWN_CHANGES, statement_limit_s=0)

    def facts(self) -> ServerFacts:
        with as_target_error("looking at the server"), self.connect() as session:
            found = facts_of(session)
        if self._process is None:
            return found
        here = not self._machine.name
        return replace(found, data_directory=str(self._process.data), is_local=here)

    def close(self) -> None:
        undo_each(self._host.restore, self._restore_server, self._compare, self._machine.close)

    def compared(self) -> Comparison | None:
        return self._as_found.comparison

    def _restore_server(self) -> None:
        problems: list[object] = []
        theirs: list[str] = []
        settings = self._settings
        if settings is not None and (self._left or settings.commands_left):
            try:
                settings.bring_up()
                theirs += settings.restore()
            except TargetError as error:
                problems.append(error)
            except psycopg.Error as error:
                problems.append(one_line(error))
            except KeyboardInterrupt:
                down = settings.left_down
                if not down:
                    raise
                raise KeyboardInterrupt(down) from None
        problems += self._data.remove(self._parameters)
        if self._control is not None:
            self._control.close()
            self._control = None
        commands = settings.commands_left if settings else []
        if self._left or commands:
            # Everything needed for another attempt is kept.
            problems += theirs
            raise not_restored(self._parameters, problems, self._left, commands)
        if settings is not None:
            self._set_here = settings.set_here
        self._settings = None
        self._parameters = None
        if theirs:
            raise RestoreRefused("not-put-back-each", problems=tuple(theirs))

    def _compare(self) -> None:
        self._as_found.compare(
            self._set_here, self._data.databases, is_restored=self._settings is None
        )

    @property
    def _left(self) -> list[str]:
        """The SQL that would undo all changes of this run."""
        settings = self._settings.left if self._settings else []
        left = [*settings, *self._data.left]
        return [*left, *self._mark.left] if left else []

    def _opened(self) -> tuple[ConnectionParameters, SystemSettings]:
        return self._opened_at(), opened(self._settings)

    def _find_service(self, session: Connection, system: str) -> Service | None:
        """Where the spec names a host or a service, check that it is this server's."""
        if not self._access.reaches_host:
            return None
        with as_target_error("looking for the server on its host"):
            self._process = find_server_process(session, self._machine)
        control = self._access.control
        if control is None:
            return None
        control.refuse_other(self._machine, self._process)
        if not self._access.allow_restart:
            return None
        return Service(self._opened_at(), self._machine, control, self._process, system=system)

    def _opened_at(self) -> ConnectionParameters:
        return opened(self._parameters)

    def _apply(self, wanted: Mapping[str, str], *, restart: bool = False) -> list[Note]:
        with as_target_error("changing settings"):
            return self._opened()[1].apply(wanted, restart=restart)

    @property
    def _data_directory(self) -> Path | None:
        if self._facts is None:
            self._facts = self.facts()
        where = self._facts.data_directory
        return Path(where) if where else None

    @property
    def _data_here(self) -> Path | None:
        """The data directory, if its files are on this machine."""
        where = self._data_directory
        return where if self._facts is not None and self._facts.is_local else None

    def _control_session(self) -> Connection:
        """The control session, which holds the run lock; opened and locked again if it broke."""
        parameters, _ = self._opened()
        if self._control is not None:
            with contextlib.suppress(psycopg.Error):
                self._control.execute("SELECT")
                return self._control
            self._control.close()
        self._control = connect(parameters, work=Work.OWN_CHANGES)
        run_lock.take(self._control)
        return self._control
