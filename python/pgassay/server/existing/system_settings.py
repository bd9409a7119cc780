"""Settings of an existing server, changed through ALTER … SET and put back.

Enters: connection parameters, a journal, wanted values, the scope they are written to, the service
if it may be restarted. Leaves: the values in force, read back on a fresh session; after `restore`,
the file, the database or the role as it was before. Never: changes a setting
before its undo is on disk, or restarts for what a reload brings.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence

import psycopg
from psycopg import sql

from pgassay.errors import ConnectionRefused, SettingRejected, TargetError
from pgassay.notes import Note
from pgassay.refusals.refusal import RestoreRefused, SettingRefused, TargetRefused
from pgassay.server.change import RestartChange, SettingChange
from pgassay.server.connection.answering import is_up, wait_while_changing
from pgassay.server.connection.session import Work, as_target_error, connect, identity
from pgassay.server.owned.postmaster import StartError, blamed
from pgassay.server.protocol import Connection, ConnectionParameters, Journal, Setting
from pgassay.server.service.service import READY_LIMIT_S, Service, put_back_stopped
from pgassay.server.settings.auto_conf import value_in
from pgassay.server.settings.changeable import Touched, as_found
from pgassay.server.settings.own_lines import Author, found_before, line_now, refuse_taken_over
from pgassay.server.settings.pending_changes import PendingChanges, refuse_restart
from pgassay.server.settings.scope import SERVER, Scope
from pgassay.server.settings.statements import execute, put_in_order, reload
from pgassay.server.settings.values import confirm, find, read_settings, same_value
from pgassay.server.undo.undo_sql import RELOAD, assignment
from pgassay.spec.secrets.redaction import shown_of


class SystemSettings:
    """The settings of one server that this run has changed."""

    def __init__(
        self,
        parameters: ConnectionParameters,
        journal: Journal,
        service: Service | None = None,
        scope: Scope = SERVER,
    ) -> None:
        self._parameters = parameters
        self._journal = journal
        self._service = service
        self._scope = scope
        self._touched: dict[str, Touched] = {}
        self._order: list[str] = []
        """The names in postgresql.auto.conf as found, where they may be read."""
        self.set_here: set[str] = set()
        """Names, in small letters, of settings that this run has changed, and nobody else since."""
        self._restart: RestartChange | None = None
        """In the journal where no change of a setting says where the server's data are."""

    def apply(self, wanted: Mapping[str, str], *, restart: bool = False) -> list[Note]:
        """Make exactly `wanted` differ from how the server was found; notes on odd read-backs.

        With `restart` the server is restarted also where a reload would do.
        """
        before = {name: t.ours for name, t in self._touched.items() if t.ours is not None}
        file = self._service.auto_conf() if self._service is not None else ""
        touched = [one for one in self._touched.values() if one.changes]
        if touched:
            with connect(self._parameters, work=Work.OWN_CHANGES) as session:
                refuse_taken_over(session, self._scope, touched)
        try:
            return self._move_to(wanted, restart=restart)
        except StartError as error:
            raise self._rolled_back(wanted, before, file, error) from None
        except TargetError:
            # What cannot be put back now stays on the list of `restore`.
            with contextlib.suppress(TargetError, psycopg.Error):
                self._move_to(before)
            raise

    def announce(self, settings: Mapping[str, Sequence[str]]) -> None:
        """Journals values that switches between slices will write, so that each counts as one of
        the run's own."""
        with (
            as_target_error("journaling settings"),
            connect(self._parameters, work=Work.OWN_CHANGES) as session,
        ):
            for name, values in settings.items():
                for value in values:
                    self._record(session, name, value)

    @property
    def left(self) -> list[str]:
        """The SQL that would put the settings back."""
        undo = [t.undo_text for t in reversed(self._touched.values()) if t.changes]
        return [*undo, RELOAD] if undo and self._scope.reloads else undo

    @property
    def commands_left(self) -> list[str]:
        """The shell command that a person would run after that SQL."""
        open_ = [one for one in self._touched.values() if one.changes]
        late = any(one.in_force.context.needs_restart for one in open_)
        if self._service is None or not (late or (self._restart is not None and not open_)):
            return []
        return [self._service.command]

    @property
    def left_down(self) -> str:
        """A sentence where the restoring is broken off while the server is down."""
        return "" if self._service is None else self._service.left_down()

    def bring_up(self) -> None:
        """Wait for a server that recovers from a crash; start one that is down, where that is
        allowed, without the settings of this run."""
        if self._service is not None:
            self._service.wait_for_restart()
        wait_while_changing(self._parameters, READY_LIMIT_S)
        try:
            connect(self._parameters).close()
        except ConnectionRefused:
            if self._service is None:
                raise
            if is_up(self._parameters):
                connect(self._parameters).close()  # it is up since, or refuses us for good
                return
            made = [change for one in self._touched.values() for change in one.changes]
            self._service.start_with(found_before(made, self._service.auto_conf()))
            for one in self._touched.values():
                # The line is out of the file but may be in force, if others have started the
                # server before us. The value found is brought into force like any other.
                one.ours = one.line = None

    def restore(self) -> list[str]:
        """Put everything back, newest first, and verify it; one failure does not stop the others.

        A sentence for each line that others have changed since; it stays.
        """
        touched = [t for t in reversed(self._touched.values()) if t.changes]
        if not touched and self._restart is None:
            return []
        problems: list[TargetError] = []
        theirs: list[str] = []
        with connect(self._parameters, work=Work.OWN_CHANGES) as session:
            for one in list(touched):
                try:
                    line = line_now(session, self._scope, one)
                    if line.author is Author.OTHERS:
                        touched.remove(one)
                        self.set_here.discard(one.name.lower())
                        self._settled(one)
                        if not one.reported and line.written != one.written:
                            theirs.append(line.described(one.name, one.undo_text))
                        continue
                    one.ours = one.line = None
                    execute(session, one.undo, one.name)
                except TargetError as error:
                    problems.append(error)
            put_in_order(session, self._order)
            held_up = self._try_to_bring_into_force(session, touched) if touched else None
        with connect(self._parameters, work=Work.OWN_CHANGES) as session:
            found = read_settings(session)
            for one in touched:
                try:
                    self._confirm_restored(session, one, found, held_up)
                except TargetError as error:
                    problems.append(error)
        if self._restart is not None:
            self._journal.undone(self._restart.id)
            self._restart = None
        if problems:
            raise RestoreRefused("not-put-back-each", problems=(*problems, *theirs))
        return theirs

    def refuse_restart(self, session: Connection) -> None:
        """PendingChanges where a restart would bring more into force than what this run has set, or
        has put back."""
        if self._service is None:
            return
        open_ = [one for one in self._touched.values() if one.changes]
        ours = {one.name: one.in_force if one.ours is None else None for one in open_}
        refuse_restart(session, ours)
        self._service.refuse_other_program(session)

    def _try_to_bring_into_force(
        self, session: Connection, touched: Sequence[Touched]
    ) -> tuple[str, TargetError] | None:
        """Bring the values that were put back into force; else the code of when they will be, and
        why not now."""
        try:
            self._bring_into_force(session, touched)
        except StartError:
            raise
        except PendingChanges as error:
            # What takes no restart.
            with contextlib.suppress(TargetError):
                reload(session)
            return "back-with-restart", error
        except TargetError as error:
            return "back-with-reload", error
        return None

    def _settled(self, touched: Touched) -> None:
        while touched.changes:
            self._journal.undone(touched.changes[-1].id)
            touched.changes.pop()

    def _move_to(self, wanted: Mapping[str, str], *, restart: bool = False) -> list[Note]:
        with connect(self._parameters, work=Work.OWN_CHANGES) as session:
            given_back = [
                touched
                for touched in reversed(self._touched.values())
                if touched.changes and touched.name not in wanted
            ]
            for touched in given_back:
                touched.ours = touched.line = None
                execute(session, touched.undo, touched.name)
            set_now = [name for name, value in wanted.items() if self._set(session, name, value)]
            moved = [*given_back, *(self._touched[name] for name in set_now)]
            if moved or restart:
                self._bring_into_force(session, moved, restart=restart)
        with connect(self._parameters, work=Work.OWN_CHANGES) as session:
            found = read_settings(session)
            for touched in given_back:
                self._confirm_restored(session, touched, found)
            for name in wanted:
                self._touched[name].line = self._scope.written(session, name)
        notes = [
            confirm(value, find(found, name), name, self._scope) for name, value in wanted.items()
        ]
        return [note for note in notes if note is not None]

    def _set(self, session: Connection, name: str, value: str) -> bool:
        touched = self._touched.get(name)
        if touched is not None and touched.ours == value:
            return False
        touched, command = self._record(session, name, value)
        execute(session, command, name)
        touched.ours = value
        return True

    def _record(self, session: Connection, name: str, value: str) -> tuple[Touched, sql.Composed]:
        """Journal a change of a setting; the setting, and the statement that makes the change."""
        touched = self._touched.get(name)
        if touched is None or not touched.changes:
            # As found just now: between two of our changes others may have made one of theirs.
            if not any(one.changes for one in self._touched.values()):
                self._order = [name for name, _ in self._scope.lines(session) or ()]
            touched = as_found(session, name, find(read_settings(session), name), self._scope)
            self._touched.pop(name, None)
            self._touched[name] = touched
        command = assignment(name, value, self._scope.alter)
        try:
            change = SettingChange(
                server=identity(session),
                name=name,
                value=value,
                found=touched.written,
                scope=self._scope.at,
                of=self._scope.of,
                **self._for_journal(),
            )
        except ValueError as error:
            raise SettingRefused(name, "setting-not-journaled", why=error) from None
        # Known to us before it is in the journal, in the journal before it is made: whatever
        # interrupts, `restore` has it on its list.
        touched.ours = touched.line = None
        touched.changes.append(change)
        self._journal.record(change)
        self.set_here.add(name.lower())
        return touched, command

    def _bring_into_force(
        self, session: Connection, moved: Sequence[Touched], *, restart: bool = False
    ) -> None:
        """Reload, or restart if one of the settings takes a restart."""
        if not self._scope.reloads:
            return  # new sessions have it
        if self._service is None or not (restart or self._wants_restart(session, moved)):
            reload(session)
            return
        self.refuse_restart(session)
        self._journal_restart(session, self._service)
        # Ours is the first of the sessions that a restart would end.
        session.close()
        self._service.restart()

    def _journal_restart(self, session: Connection, service: Service) -> None:
        """Journal where the server's data are, for a recovery after a kill in the restart."""
        if self._restart is not None or any(one.changes for one in self._touched.values()):
            return
        self._restart = RestartChange(
            command=service.command, server=identity(session), **self._for_journal()
        )
        self._journal.record(self._restart)

    def _wants_restart(self, session: Connection, moved: Sequence[Touched]) -> bool:
        found: Mapping[str, Setting] | None = None
        for touched in moved:
            if not touched.in_force.context.needs_restart:
                continue
            found = read_settings(session) if found is None else found
            now, was = find(found, touched.name), touched.in_force
            # Put back before any restart used it, the value in force has not changed.
            if (
                touched.ours is not None
                or not now
                or (now.value, now.source) != (was.value, was.source)
            ):
                return True
        return False

    def _rolled_back(
        self, wanted: Mapping[str, str], before: Mapping[str, str], file: str, error: StartError
    ) -> SettingRejected:
        """Start the server again without the settings that kept it down; the error to raise."""
        assert self._service is not None  # noqa: S101 (nothing else raises StartError)
        touched = [one for one in self._touched.values() if one.changes]
        put_back_stopped(self._service, {one.name: value_in(file, one.name) for one in touched})
        for one in touched:
            one.ours, one.line = before.get(one.name), None
        moved = {name: value for name, value in wanted.items() if before.get(name) != value}
        culprits = blamed(error.words, moved)
        values = ", ".join(wanted[name] for name in culprits)
        return SettingRefused(
            ", ".join(culprits), "server-started-without", value=values, why=error
        )

    def _for_journal(self) -> Mapping[str, str]:
        """Fields for the journal with which recovery can start a server that is down."""
        return {} if self._service is None else self._service.for_journal()

    def _confirm_restored(
        self,
        session: Connection,
        touched: Touched,
        found: Mapping[str, Setting],
        held_up: tuple[str, TargetError] | None = None,
    ) -> None:
        now = find(found, touched.name)
        value_is_back = now is not None and same_value(touched.in_force.value, now)
        if held_up and not value_is_back:
            code, why = held_up
            raise TargetRefused(code, name=touched.name, why=str(why))
        # Somebody may have edited postgresql.conf; then it is enough that our line is gone.
        line_is_back = self._scope.written(session, touched.name) == (True, touched.written)
        if not value_is_back and not line_is_back:
            was = shown_of(touched.name, touched.in_force.value)
            after = {"name": touched.name, "was": was, "by": touched.undo_text}
            if now is None:
                raise TargetRefused("gone-after-undo", **after)
            now_shown = shown_of(touched.name, now.value)
            raise TargetRefused("other-after-undo", now=now_shown, **after)
        self._settled(touched)
