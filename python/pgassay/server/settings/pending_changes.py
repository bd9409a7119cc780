"""Changes of others in a server's files that a reload or a restart would bring into force.

Enters: a session; of settings that this run changes, what is to be in force. Leaves: a
`PendingChanges` error, one line that says what is pending and what to do. Never: changes anything,
or takes for a change of others what this user may not see.

PostgreSQL documentation: pg_file_settings, pg_hba_file_rules (both read the files as they are, not
as they were loaded); pg_settings.pending_restart.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import psycopg

from pgassay.errors import TargetError
from pgassay.server.protocol import Connection, Context, Setting
from pgassay.server.settings.file_lines import FileLines, Written, read_file_lines
from pgassay.server.settings.values import find, read_settings, same_value, show
from pgassay.server.statements import statement
from pgassay.spec.secrets.redaction import shown_of

# PostgreSQL's own words for what a restart takes (guc-file.l); they are not translated.
_NOT_WITHOUT_RESTART = "setting could not be applied"
_FROM_FILES = "configuration file"


class PendingChanges(TargetError):
    """A restart or a reload would bring more into force than this run's own settings."""


def refuse_restart(session: Connection, ours: Mapping[str, Setting | None] | None = None) -> None:
    """PendingChanges where a restart would bring a change of others into force, or would fail.

    `ours` are settings of this run: as they were found where that is to come back, None where a
    line of ours is to come into force.
    """
    files = read_file_lines(session)
    names = _pending(session)
    _refuse_broken(session, files, names, "a restart would fail")
    pending = [
        _described(session, name, files.lines.get(name) if files else None, known=files is not None)
        for name in sorted(names)
        if not _is_ours(name, files, ours or {})
    ]
    if pending:
        raise PendingChanges(
            "a restart would bring pending changes of others into force:"
            f" {', '.join(pending)}; restart the server first, or take them back (ALTER SYSTEM"
            " RESET, or the line in the file, then a reload)"
        )


def refuse_reload(session: Connection, ours: Collection[str] = ()) -> None:
    """PendingChanges where a reload would bring edits of others into force, or would fail; `ours`
    are settings that are not checked."""
    files = read_file_lines(session)
    if files is None:
        return
    _refuse_broken(session, files, _pending(session), "the server cannot load its files")
    pending = list(_unloaded(session, files, {name.lower() for name in ours}))
    if pending:
        raise PendingChanges(
            "a reload would bring edits of others into force that nobody has loaded yet:"
            f" {', '.join(pending)}; SELECT pg_reload_conf() first, or take them back"
        )


def _pending(session: Connection) -> set[str]:
    """Names of settings that are pending a restart, in small letters."""
    return {row[0] for row in session.execute(statement("settings/pending_restart")).fetchall()}


def _refuse_broken(
    session: Connection,
    files: FileLines | None,
    waiting: set[str],
    what: str,
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
        raise PendingChanges(f"{what}: {found[0]}; correct that first")


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


def _unloaded(session: Connection, files: FileLines, ours: set[str]) -> Iterator[str]:
    """Settings and files that a reload would change."""
    try:
        paths = sorted({line.file for line in files.lines.values()})
        rows = session.execute(statement("settings/edited_since"), (paths,)).fetchall()
    except psycopg.errors.InsufficientPrivilege:
        return
    # A value may read back in another spelling. Then its file was mostly not written since, and
    # where it was, the reload that is asked for settles it.
    edited = {row[0] for row in rows}
    if not edited:
        return
    yield from (f"{path} was edited" for path in sorted(edited.difference(paths)))
    known = read_settings(session)
    for name, line in files.lines.items():
        setting = find(known, name)
        if setting is None or not _loads(setting) or line.file not in edited or name in ours:
            continue
        if not _reads_back(line.value, setting):
            yield _described(session, name, line, known=True)
    for name, setting in known.items():
        from_file = setting.source == _FROM_FILES and _loads(setting)
        if from_file and name.lower() not in files.lines.keys() | ours:
            yield _described(session, name, None, known=True)


def _reads_back(written: str, setting: Setting) -> bool:
    if setting.vartype == "string" and written.casefold() == setting.value.casefold():
        return True
    return same_value(written, setting)


def _loads(setting: Setting) -> bool:
    """Whether a reload decides on it, as far as this session can tell."""
    fixed = setting.context.needs_restart or setting.context is Context.INTERNAL
    return not fixed and setting.source in (_FROM_FILES, "default")
