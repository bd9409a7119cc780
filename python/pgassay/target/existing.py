"""An existing server, reached through libpq.

Enters: a connection string, what may change, signs of production that are accepted, the way to its
host and service where there is one. Leaves: the workload's data in a schema of its own, settings
changed with a journalled undo; after `close`, the server as found. Never: restarts it unasked,
touches another schema or database, or runs beside another pgassay run.
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
from pgassay.target.access import SQL_ONLY, Access, refuse_late_knobs
from pgassay.target.alter_system import SystemSettings
from pgassay.target.by_data import refuse_elsewhere_than
from pgassay.target.changeable import needs_restart
from pgassay.target.existing_data import ExistingData
from pgassay.target.found_stopped import FoundStopped
from pgassay.target.host import Host
from pgassay.target.host_knobs import HostKnobs, sweep_host
from pgassay.target.left_by_data import left_running, way_as_left
from pgassay.target.left_on_copy import reach
from pgassay.target.left_over import restart_for_dead_run, told_of_others, undo_dead_run
from pgassay.target.left_started import put_left_down, told_of_start
from pgassay.target.located import Located, locate
from pgassay.target.moved import refuse_moved
from pgassay.target.protocol import (
    NOTHING,
    Connection,
    ConnectionParameters,
    Ground,
    Journal,
    ResetReport,
    SchemaVariant,
    ServerFacts,
)
from pgassay.target.reset_levels import Phases, refuse_unreadable, settle_existing
from pgassay.target.schema import SCHEMA, refuse_elsewhere, refuse_foreign
from pgassay.target.seat import seat_here
from pgassay.target.server_memory import RememberedJournal
from pgassay.target.service import Service
from pgassay.target.session import (
    connect,
    identity,
    one_line,
    told_as_target_error,
)
from pgassay.target.settings import show
from pgassay.target.signs import look_for_signs, refuse_signs
from pgassay.target.standing import facts_of, not_restored, refuse_unfit
from pgassay.target.undoing import undo_each
from pgassay.target.waiting import refuse_reload

SEARCH_PATH = f"-c search_path={SCHEMA},public"


class ExistingTarget:
    """A server that is not ours."""

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
    ) -> None:
        self.kind = access.kind
        self._rule = rule
        self._dsn = dsn
        self._journal = RememberedJournal(journal)
        self._allow_changes = allow_changes
        self._accept = frozenset(accept)
        self._access = access
        self._machine = access.host()
        self._found_stopped = FoundStopped(access, self._machine, journal)
        self._located: Located | None = None
        self._needing_restart: set[str] = set()
        self._parameters: ConnectionParameters | None = None
        self._control: Connection | None = None
        self._settings: SystemSettings | None = None
        self._data = ExistingData(self._journal, rule)
        self._host = HostKnobs(journal, self._machine)
        self._seen: ServerFacts | None = None
        self._left_alone: list[str] = []
        """On what a killed run had left, and somebody has changed since."""
        self._given_back: list[str] = []
        self._held: dict[str, str] = {}
        self._held_host: dict[str, str] = {}

    def __repr__(self) -> str:
        # The connection string may hold a password.
        where = self._parameters.label if self._parameters else "not open"
        return f"ExistingTarget({where})"

    def open(self) -> ServerFacts:
        # Before all else: whatever server is started here shall start on the host as it was.
        sweep_host(self._machine)
        dsn, said = self._dsn, list[str]()
        if self._access.data is not None:
            said = put_left_down(self._access, self._machine, self._journal, self._accept)
            left = left_running(self._access, self._machine)
            way = way_as_left(dsn, left, self._access, self._machine)
            # One that ran, and that a dead run has left down, is not ours to stop at the end.
            dsn, self._access = (way, self._access) if way else self._found_stopped.bring_up(dsn)
        self._parameters, given_back = reach(
            dsn, self._access, self._machine, self._journal, self._accept
        )
        self._given_back = [*said, *given_back]
        self._control = connect(self._parameters)
        with told_as_target_error("looking at the server"):
            refuse_unfit(self._control, self._parameters.label)
        service = self._find_service(self._control)
        self._settings = SystemSettings(
            self._parameters, self._journal, service, self._access.scope(self._control)
        )
        run_lock.take(self._control)
        with told_as_target_error("looking for what a killed run has left"):
            server = identity(self._control) or self._parameters.label
            here = seat_here(self._control, self._parameters, self._machine)
            self._left_alone = undo_dead_run(
                self._parameters, server, here, self._machine, self._journal
            )
        if self._access.data is None:
            self._given_back += told_of_start(server, here)
        with told_as_target_error("looking for what a killed run has left"):
            refuse_moved(self._control, server, here)
        self._given_back += told_of_others(server, here)
        self._journal.speaks_of(server, here)
        if self._allow_changes:
            refuse_elsewhere(self._control)
        refuse_foreign(self._control)
        with told_as_target_error("looking for signs of production"):
            refuse_signs(look_for_signs(self._control, self._accept), self._parameters.label)
        # A run that is refused has no business restarting a server.
        with told_as_target_error("restarting for what a killed run has left"):
            self._left_alone += restart_for_dead_run(
                self._parameters, server, here, self._access, self._machine, self._journal
            )
            self._alive()
        self._seen = self.facts()
        return self._seen

    def prepare(
        self,
        build: Callable[[Connection], None],
        held: Mapping[str, str],
        host: Mapping[str, str] = NOTHING,
    ) -> None:
        self._alive()
        self.check_settings(held)
        self._data.is_built = False
        self._held, self._held_host = dict(held), dict(host)
        self.check_host(host)
        if self._rule.caches is Caches.COLD:
            refuse_unreadable(self._alive(), self._data_here)
        self._host.apply(host, self._data_directory)
        # The mark that other machines read is there before the first setting is changed.
        self._data.make(self._alive, self._unlimited)
        self._apply(held)
        self._data.build(self._alive, self._unlimited, build)

    def choose(self, ground: Ground) -> ServerFacts:
        self._data.variant = ground.schema
        if self._seen is None:
            self._seen = self.facts()
        return self._seen

    def vary(self, variant: SchemaVariant) -> None:
        if not self._allow_changes:
            raise TargetError(f"{variant.name}: the schema varies only with allow_changes = true")
        with self._unlimited() as session:
            self._data.add(session, variant)

    def check_settings(self, settings: Mapping[str, str]) -> None:
        if not settings:
            return
        if not self._allow_changes:
            asked = f"(asked for: {', '.join(settings)})"
            raise TargetError(f"settings change only with target.allow_changes = true {asked}")
        with told_as_target_error("checking settings"), self.connect() as session:
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
            raise TargetError(
                f"{next(iter(knobs))}: the server is not on this host; name its host in "
                "target.ssh, or leave out [factors.host] and [settings.host]"
            )
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
            raise TargetError("reset before prepare: there is no data to settle")
        self._alive()
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
            self._alive()
        copied = self._put_back_data(phases)
        with (
            told_as_target_error("settling the server before a trial"),
            self._unlimited() as session,
        ):
            self._data.bring_variant(session)
            said, caches = settle_existing(session, self._rule, self._data_here, phases)
            shown = show(session, wanted)
        told_once, self._given_back = self._given_back, []
        return ResetReport(
            level=self._rule.level,
            duration_s=phases.total_s,
            restarted=restarts,
            settings=shown,
            notes=(*told_once, *notes, *said, *self._left_alone, *self._host.notes),
            host=knobs,
            phases=phases.seconds,
            caches=caches,
            copied=copied,
        )

    def _put_back_data(self, phases: Phases) -> str:
        """How the data were put back, where they are."""
        return self._data.put_back(self._alive, phases)

    def announce(self, settings: Mapping[str, Sequence[str]]) -> None:
        self._opened()[1].announce(settings)

    def host(self) -> Host | None:
        local = self._seen is not None and self._seen.is_local
        return self._machine if self._located is not None or local else None

    def host_as_found(self) -> Mapping[str, str]:
        return self._host.found

    def parameters(self) -> ConnectionParameters:
        parameters, _ = self._opened()
        options = f"{parameters.options} {SEARCH_PATH}".strip()
        return replace(parameters, options=options, dbname=self._data.at or parameters.dbname)

    def connect(self) -> Connection:
        return connect(self.parameters())

    def _unlimited(self) -> Connection:
        return connect(self.parameters(), statement_limit_s=0)

    def facts(self) -> ServerFacts:
        parameters = self.parameters()
        with told_as_target_error("looking at the server"), connect(parameters) as session:
            found = facts_of(session, parameters)
        if self._located is None:
            return found
        here = not self._machine.name
        return replace(found, data_directory=str(self._located.data), is_local=here)

    def close(self) -> None:
        undo_each(self._host.restore, self._restore_server, self._put_down, self._machine.close)

    def _put_down(self) -> None:
        commands = self._settings.commands_left if self._settings else []
        self._found_stopped.put_down(left=bool(self._left or commands))

    def _forget(self, gone: Collection[str]) -> None:
        """Changes, by their ids, that nobody need undo any more."""
        self._data.forget(gone)
        if self._settings is not None:
            self._settings.forget(gone)

    def _restore_server(self) -> None:
        problems: list[str] = []
        theirs: list[str] = []
        settings = self._settings
        if settings is not None and (self._left or settings.commands_left):
            try:
                settings.bring_up()
                theirs += settings.restore()
            except (TargetError, psycopg.Error) as error:
                problems.append(one_line(error))
        problems += self._data.remove(self._parameters)
        if self._control is not None:
            self._control.close()
            self._control = None
        commands = settings.commands_left if settings else []
        if self._left or commands:
            # Everything needed for another attempt is kept.
            problems += theirs
            raise RestoreFailed(not_restored(self._parameters, problems, self._left, commands))
        self._settings = None
        self._parameters = None
        if theirs:
            raise RestoreFailed("; ".join(theirs))

    @property
    def _left(self) -> list[str]:
        """The SQL that is still to run before the server is as it was."""
        settings = self._settings.left if self._settings else []
        return [*settings, *self._data.left]

    def _opened(self) -> tuple[ConnectionParameters, SystemSettings]:
        if self._settings is None:
            raise TargetError("the target is not open; call open first")
        return self._opened_at(), self._settings

    def _find_service(self, session: Connection) -> Service | None:
        """Where the spec names a host or a service, see that it is this very server's."""
        if not self._access.reaches_host:
            return None
        with told_as_target_error("looking for the server on its host"):
            self._located = locate(session, self._machine)
        control = self._access.control
        if control is None:
            return None
        refuse_elsewhere_than(session, self._located, self._access, self._machine)
        control.refuse_other(self._machine, self._located)
        if not self._access.allow_restart:
            return None
        return Service(self._opened_at(), self._machine, control, self._located)

    def _opened_at(self) -> ConnectionParameters:
        if self._parameters is None:
            raise TargetError("the target is not open; call open first")
        return self._parameters

    def _apply(self, wanted: Mapping[str, str], *, restart: bool = False) -> list[str]:
        with told_as_target_error("changing settings"):
            return self._opened()[1].apply(wanted, restart=restart)

    @property
    def _data_directory(self) -> Path | None:
        if self._seen is None:
            self._seen = self.facts()
        where = self._seen.data_directory
        return Path(where) if where else None

    @property
    def _data_here(self) -> Path | None:
        """The same, where its files are this machine's."""
        where = self._data_directory
        return where if self._seen is not None and self._seen.is_local else None

    def _alive(self) -> Connection:
        """The control session holds the lock; where it broke, the lock must be taken again."""
        parameters, _ = self._opened()
        if self._control is not None:
            with contextlib.suppress(psycopg.Error):
                self._control.execute("SELECT")
                return self._control
            self._control.close()
        self._control = connect(parameters)
        run_lock.take(self._control)
        return self._control
