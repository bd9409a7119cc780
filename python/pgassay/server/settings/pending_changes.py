"""Changes of others in a server's files that a reload or a restart would bring into force.

Enters: a session; of settings that this run changes, what is to be in force. Leaves: what the files
say, loaded or not; a `PendingChanges` error, one line that says what is pending and what to do.
Never: changes anything, or takes for a change of others what this user may not see.

PostgreSQL documentation: pg_file_settings, pg_hba_file_rules (both read the files as they are, not
as they were loaded); pg_settings.pending_restart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import psycopg

from pgassay.refusals.refusal import TargetRefused
from pgassay.server.protocol import Connection, Setting
from pgassay.server.settings.values import same_value, show
from pgassay.server.statements import statement
from pgassay.spec.secrets.redaction import shown_of

# PostgreSQL's own words for what a restart takes (guc-file.l); they are not translated.
_NOT_WITHOUT_RESTART = "setting could not be applied"
_FROM_FILES = "configuration file"


class PendingChanges(TargetRefused):
    """A restart or a reload would bring more into force than this run's own settings."""


def refuse_restart(session: Connection, ours: Mapping[str, Setting | None] | None = None) -> None:
    """Raise PendingChanges if a restart would apply a change somebody else made, or would fail.

    `ours` maps each setting of this run to the value that the restart is to restore, or to None
    where it is to apply the line that this run wrote.
    """
    files = read_file_lines(session)
    names = _pending(session)
    _refuse_broken(session, files, names, "restart-would-fail")
    pending = [
        _described(session, name, files.lines.get(name) if files else None, known=files is not None)
        for name in sorted(names)
        if not _is_ours(name, files, ours or {})
    ]
    if pending:
        raise PendingChanges("restart-brings-changes-of-others", pending=", ".join(pending))


def refuse_reload(session: Connection) -> None:
    """Raises PendingChanges where a reload would bring edits of others into force, or would
    fail."""
    files = read_file_lines(session)
    if files is None:
        return
    _refuse_broken(session, files, _pending(session), "files-would-not-load")
    paths = sorted({line.file for line in files.lines.values()})
    try:
        rows = session.execute(statement("settings/edited_since"), (paths,)).fetchall()
    except psycopg.errors.InsufficientPrivilege:
        return
    if rows:
        edited = ", ".join(sorted(row[0] for row in rows))
        raise PendingChanges("reload-brings-edits-of-others", files=edited)


def _pending(session: Connection) -> set[str]:
    """Names of settings that are pending a restart, in small letters."""
    return {row[0] for row in session.execute(statement("settings/pending_restart")).fetchall()}


def _refuse_broken(
    session: Connection, files: FileLines | None, waiting: set[str], code: str
) -> None:
    found = [
        str(one)
        for one in (files.errors if files else ())
        if not (one.error == _NOT_WITHOUT_RESTART and one.setting in waiting)
    ]
    try:
        row = session.execute(statement("settings/hba_error"), prepare=False).fetchone()
    except psycopg.errors.InsufficientPrivilege:
        row = None
    if row is not None:
        found.append(f"{row[0]} line {row[1]}: {row[2]}")
    if found:
        raise PendingChanges(code, line=found[0])


def _is_ours(name: str, files: FileLines | None, ours: Mapping[str, Setting | None]) -> bool:
    mine = {key.lower(): setting for key, setting in ours.items()}
    if name not in mine:
        return False
    found = mine[name]
    # A value that the server chose itself is in no file.
    if files is None or found is None or found.source == "override":
        return True
    line = files.lines.get(name)
    return found.source != _FROM_FILES if line is None else same_value(line.value, found)


def _described(session: Connection, name: str, line: Written | None, *, known: bool) -> str:
    """A setting with the value in force and the pending one."""
    now = shown_of(name, next(iter(show(session, [name]).values()), "?"))
    if line is None:
        written = "its line is gone" if known else "another value is pending"
        return f"{name} ({now} in force, {written})"
    return f"{name} ({now} in force, {shown_of(name, line.value)} in {line.file} line {line.line})"


@dataclass(frozen=True)
class Written:
    """The last line of a setting in the configuration files as they are."""

    file: str
    line: int
    value: str


@dataclass(frozen=True)
class FileError:
    """A line of a configuration file that the server cannot load."""

    file: str
    line: int
    setting: str
    """Empty where the file itself is wrong."""
    error: str

    def __str__(self) -> str:
        name = f"{self.setting}: " if self.setting else ""
        return f"{self.file} line {self.line}: {name}{self.error}"


@dataclass(frozen=True)
class FileLines:
    """What the server's configuration files say."""

    lines: Mapping[str, Written]
    """By the setting's name in small letters."""
    errors: tuple[FileError, ...]


def read_file_lines(session: Connection) -> FileLines | None:
    """Reads the lines of the configuration files; None where this user may not see them."""
    try:
        rows = session.execute(statement("settings/file_settings"), prepare=False).fetchall()
    except psycopg.errors.InsufficientPrivilege:
        return None
    lines = {row[2]: Written(row[0], row[1], row[3]) for row in rows if row[2] and row[0]}
    # Without a file: a line that was taken out, and whose absence takes a restart.
    wrong = [row for row in rows if row[4] is not None and row[0] is not None]
    return FileLines(lines, tuple(FileError(row[0], row[1], row[2] or "", row[4]) for row in wrong))
