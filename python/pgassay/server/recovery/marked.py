"""Putting a server back from the marks that killed runs have left on it, and from nothing else.

Enters: a connection string. Leaves: what would be done; then the server as the runs had found it,
without their marks, or a RestoreFailed with what a person has to do. Never: runs a statement or a
command that a mark holds, writes a value that may name a program, gives a mark more rights than
those of the role that could write it, or overwrites what others have changed since.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Self

import psycopg
from psycopg import sql

from pgassay.errors import TargetError
from pgassay.refusals.refusal import RestoreRefused
from pgassay.server.change import (
    Change,
    KnobChange,
    SchemaChange,
    SettingChange,
    VariantChange,
    visible,
)
from pgassay.server.comparison import Comparison
from pgassay.server.connection.session import Work, as_target_error, connect, identity, one_line
from pgassay.server.existing.access import SQL_ONLY
from pgassay.server.existing.requirements import not_restored
from pgassay.server.existing.snapshot import compared_with_digests
from pgassay.server.hosts.local import HERE
from pgassay.server.protocol import Connection, ConnectionParameters
from pgassay.server.recovery.acts import Act, acts_of
from pgassay.server.recovery.undo_changes import OwedRestart, Place, undo_newest
from pgassay.server.settings.statements import put_in_order
from pgassay.server.undo import run_lock
from pgassay.server.undo.change_record import forget_equal, recorded_of
from pgassay.server.undo.mark import Mark, bare, with_changes
from pgassay.server.undo.marking import REMOVAL_OF_SCHEMA, FoundMark, found_marks
from pgassay.server.undo.undo_sql import sql_to_paste, undo_text
from pgassay.spec.secrets.redaction import hides, shown_of
from pgassay.spec.untrusted import is_harmless_setting

_WORD = re.compile(r"[\w.%+-]*")


@dataclass(frozen=True)
class Undone:
    """What became of one mark on a server."""

    changes: Sequence[Change]
    """Those that are undone,"""
    notes: Sequence[str]
    """what is left as it is,"""
    comparison: Comparison
    """how the server differs from before,"""
    by_hand: RestoreRefused | None
    """and what a person has to do, for which the mark is kept."""


def acts_of_mark(found: FoundMark) -> list[Act]:
    """Returns what undoing a mark would do."""
    by_hand = _by_hand(found.mark)
    done = [_shown(one) for one in found.mark.changes if one not in by_hand]
    who = f"{found.mark.who} has changed on this server ({found.source})"
    return [
        Act(f"undo what {who}", recorded=False),
        *acts_of(done, ()),
        *(Act(_manual(found, one), recorded=False) for one in by_hand),
    ]


def _by_hand(mark: Mark) -> list[Change]:
    """The changes of a mark that a person has to undo."""
    own = {bare(one) for one in recorded_of(mark.id)}
    return [
        one
        for one in mark.changes
        if isinstance(one, VariantChange | KnobChange)
        or (_may_name_a_program(one) and one not in own)
    ]


def _may_name_a_program(change: Change) -> bool:
    """Whether a setting's value may name a program or a file, or be a secret. The owner of a
    database, also an earlier one, can have written it into the comment."""
    if not isinstance(change, SettingChange):
        return False
    if "." in change.name:  # of an extension: a number, a word or a switch is harmless
        values = (change.value, change.found or "")
        return hides(change.name) or not all(_WORD.fullmatch(one) for one in values)
    return hides(change.name) or not is_harmless_setting((change.name,))


def _shown(change: Change) -> Change:
    """A change without a value that may hold a secret."""
    if not isinstance(change, SettingChange):
        return change
    found = None if change.found is None else shown_of(change.name, change.found)
    return replace(change, value=shown_of(change.name, change.value), found=found)


def _manual(found: FoundMark, change: Change) -> str:
    """What is said of a change that a person has to undo."""
    if isinstance(change, SettingChange):
        what = replace(found.mark, changes=(change,)).what
        return f"left for you: {what}, whose value may name a program or a file, or be a secret"
    if not found.of_superuser:
        return f"left for you: {change.what}"
    of = f" in database {change.database}" if isinstance(change, VariantChange) else ""
    return visible(f"print for you to run{of}: {undo_text(change)}")


@dataclass
class MarkedServer:
    """A server of which no run is alive while this context manager is open."""

    parameters: ConnectionParameters

    def __post_init__(self) -> None:
        self._opened = ExitStack()

    def __enter__(self) -> Self:
        with self._opened:
            self._session = self._opened.enter_context(self._connect())
            run_lock.take(self._session)
            with as_target_error("looking for what killed runs have left"):
                self.marks, self.unread = found_marks(self._session)
            self._opened = self._opened.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def undo(self, found: FoundMark) -> Undone:
        """Undo what one mark says, and remove it, or keep in it what a person has to undo."""
        notes: list[str] = []
        undone: list[Change] = []
        by_hand = _by_hand(found.mark)
        left = [one for one in found.mark.changes if one not in by_hand]
        with as_target_error("looking at the mark"):
            server = identity(self._session) or self.parameters.label
            removal = found.place.removal(self._session)
        try:
            self._undo(found, left, by_hand, undone, notes)
        except (TargetError, psycopg.Error) as error:
            problems = [one_line(error) if isinstance(error, psycopg.Error) else error, *notes]
            raise self._to_do(found, [*left, *by_hand], problems, removal) from error
        forget_equal(server, found.mark.id, lambda one: bare(one) in undone)
        if found.mark.role == self._session.info.user:
            comparison = compared_with_digests(self.parameters, found.mark.digests)
        else:
            comparison = Comparison(unknown=f"that run was connected as {visible(found.mark.role)}")
        kept = f"the mark of {found.mark.who} is kept for what only a person undoes"
        to_do = self._to_do(found, by_hand, [kept], removal) if by_hand else None
        return Undone(undone, notes, comparison, to_do)

    def _undo(
        self,
        found: FoundMark,
        left: list[Change],
        by_hand: Sequence[Change],
        undone: list[Change],
        notes: list[str],
    ) -> None:
        settled: set[Place] = set()
        back: dict[str, object] = {}
        restart = OwedRestart(SQL_ONLY, HERE)
        with self._connect(found) as session:
            while left:
                change = left[-1]
                if isinstance(change, SchemaChange) and change.database != session.info.dbname:
                    with self._connect(found, change.database) as there:
                        note = undo_newest(there, left, settled)
                else:
                    note = undo_newest(session, left, settled)
                before = getattr(change, "found", None)
                back.setdefault(change.what, before if note is None else note)
                if note is not None:
                    # The sentence has SQL made of the mark's values.
                    other = f"{change.what} is left as it is: others have changed it since"
                    notes.append(note if found.of_superuser else other)
                # Of a setting with several changes the newest decides what is written.
                if note is None and back[change.what] == before:
                    undone.append(change)
                if isinstance(change, SettingChange) and change.scope == "server":
                    restart.add(change)
                left.pop()
            put_in_order(session, found.mark.order)
            notes += restart.carry_out(session, self.parameters)
            found.place.write(session, with_changes(found.mark, by_hand))

    def _to_do(
        self,
        found: FoundMark,
        changes: Sequence[Change],
        problems: Sequence[object],
        removal: Sequence[str],
    ) -> RestoreRefused:
        """The error with what a person has to do. It has SQL and commands made of a
        mark only where a superuser has written that, and none that may name a program."""
        if not found.of_superuser:
            author = visible(found.author)
            manual = [_manual(found, one) for one in changes if one in _by_hand(found.mark)]
            return RestoreRefused(
                "not-restored-by-a-mark",
                where=self.parameters.label,
                problems=(*problems, *manual),
                source=found.source,
                author=author,
                removal=tuple(removal) or (REMOVAL_OF_SCHEMA,),
            )
        in_order = [one for one in found.mark.changes if one in changes]
        manual = [_manual(found, one) for one in in_order if _may_name_a_program(one)]
        commands = [undo_text(one) for one in in_order if isinstance(one, KnobChange)]
        by_sql = [one for one in in_order if not isinstance(one, KnobChange)]
        by_sql = [one for one in by_sql if not _may_name_a_program(one)]
        sql_left = [*sql_to_paste(by_sql, self.parameters.dbname), *removal]
        return not_restored(self.parameters, [*problems, *manual], sql_left, commands)

    def _connect(self, found: FoundMark | None = None, database: str = "") -> Connection:
        """A session with no more rights than those of the role that can have written the mark."""
        parameters = replace(self.parameters, dbname=database or self.parameters.dbname)
        session = connect(parameters, work=Work.OWN_CHANGES, statement_limit_s=0)
        if found is not None and not found.of_superuser:
            try:
                with as_target_error(f"{visible(found.author)} could write this mark"):
                    session.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(found.author)))
            except BaseException:
                session.close()
                raise
        return session
