"""Putting back what a run that died had changed.

Enters: the entries its journal still holds open. Leaves: each undone and marked so, or a
RestoreFailed with what is left to do by hand. Never: disturbs a run that is alive.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import psycopg

from pgassay.errors import RestoreFailed, TargetError
from pgassay.target import run_lock
from pgassay.target.alter_system import RELOAD, reload
from pgassay.target.existing import not_restored
from pgassay.target.protocol import Change, Connection, Journal
from pgassay.target.session import connect, one_line, resolve, told_as_target_error
from pgassay.target.workspace import sweep


def recover(dsn: str | None, changes: Sequence[Change], journal: Journal) -> None:
    """Undo open changes, newest first; `dsn` is the run's `target.dsn`, if it had one."""
    if dsn is None:
        recover_owned(changes, journal)
    elif changes:
        recover_existing(dsn, changes, journal)


def recover_owned(changes: Sequence[Change], journal: Journal) -> None:
    """Remove the servers that a dead run started and left."""
    for change in reversed(changes):
        directory = Path(shlex.split(change.undo)[2])
        sweep(directory.parent)
        if directory.exists():
            raise RestoreFailed(
                f"{directory} is still there: its run is alive, or it belongs to another user; "
                f"end the run, or as that user: {change.undo}"
            )
        journal.undone(change.id)


def recover_existing(dsn: str, changes: Sequence[Change], journal: Journal) -> None:
    """Run the undo statements on the existing server."""
    parameters = resolve(dsn)
    left = list(changes)
    with connect(parameters, statement_limit_s=0) as session:
        with told_as_target_error("taking the run lock"):
            run_lock.take(session)
        try:
            while left:
                _undo(session, left[-1])
                journal.undone(left.pop().id)
        except (TargetError, psycopg.Error) as error:
            todo = [*(change.undo for change in reversed(left)), RELOAD]
            raise RestoreFailed(not_restored(parameters, [one_line(error)], todo)) from error


def _undo(session: Connection, change: Change) -> None:
    session.execute(change.undo.encode(), prepare=False)
    if change.undo.startswith("ALTER SYSTEM"):
        reload(session)
