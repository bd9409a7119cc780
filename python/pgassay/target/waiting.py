"""What somebody has changed in a server's files, and what a reload or a restart would make of it.

Enters: a session; of settings that are ours to change, what is to be in force. Leaves: an
`OthersWait` with one line that says what waits and what to do. Never: changes anything, or takes
for somebody's what this user may not see.

PostgreSQL documentation: pg_file_settings, pg_hba_file_rules (both read the files as they are, not
as they were loaded); pg_settings.pending_restart.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import psycopg

from pgassay.errors import TargetError
from pgassay.spec.redaction import shown_of
from pgassay.target.file_lines import FileLines, Written, read_file_lines
from pgassay.target.protocol import Connection, Context, Setting
from pgassay.target.settings import find, read_settings, same_value, show
from pgassay.target.statements import statement

# PostgreSQL's own words for what a restart takes (guc-file.l); they are not translated.
_NOT_WITHOUT_RESTART = "setting could not be applied"
_FROM_FILES = "configuration file"


class OthersWait(TargetError):
    """A restart or a reload would bring more into force than this run's own settings."""


def refuse_restart(session: Connection, ours: Mapping[str, Setting | None] | None = None) -> None:
    """OthersWait where a restart would bring somebody's change into force, or would fail.

    `ours` are settings of this run: as they were found where that is to come back, None where a
    line of ours is to come into force.
    """
    files = read_file_lines(session)
    waiting = _pending(session)
    _refuse_broken(session, files, waiting, "a restart would fail")
    told = [
        _told(session, name, files.lines.get(name) if files else None, known=files is not None)
        for name in sorted(waiting)
        if not _is_ours(name, files, ours or {})
    ]
    if told:
        raise OthersWait(
            "a restart would bring others' changes into force, which wait for one:"
            f" {', '.join(told)}; restart the server first, or take them back (ALTER SYSTEM RESET,"
            " or the line in the file, then a reload)"
        )


def refuse_reload(session: Connection, ours: Collection[str] = ()) -> None:
    """OthersWait where a reload would bring somebody's edits into force, or cannot; `ours` are
    settings that are seen to otherwise."""
    files = read_file_lines(session)
    if files is None:
        return
    _refuse_broken(session, files, _pending(session), "the server cannot load its files")
    told = list(_unloaded(session, files, {name.lower() for name in ours}))
    if told:
        raise OthersWait(
            "a reload would bring others' edits into force, which nobody has loaded yet:"
            f" {', '.join(told)}; SELECT pg_reload_conf() first, or take them back"
        )


def refuse_start(session: Connection, without: Path) -> None:
    """OthersWait where a server that runs could not be started again; files below `without` are
    others by then."""
    _refuse_broken(
        session, read_file_lines(session), _pending(session), "a start would fail", without
    )


def _pending(session: Connection) -> set[str]:
    """In small letters."""
    return {row[0] for row in session.execute(statement("pending_restart")).fetchall()}


def _refuse_broken(
    session: Connection,
    files: FileLines | None,
    waiting: set[str],
    what: str,
    without: Path | None = None,
) -> None:
    def counts(file: str) -> bool:
        return without is None or without not in Path(file).parents

    found = [
        str(one)
        for one in (files.errors if files else ())
        if counts(one.file) and not (one.error == _NOT_WITHOUT_RESTART and one.setting in waiting)
    ]
    try:
        row = session.execute(statement("hba_error"), prepare=False).fetchone()
    except psycopg.errors.InsufficientPrivilege:
        row = None
    if row is not None and counts(row[0]):
        found.append(f"{row[0]} line {row[1]}: {row[2]}")
    if found:
        raise OthersWait(f"{what}: {found[0]}; mend that first, or take it back")


def _is_ours(name: str, files: FileLines | None, ours: Mapping[str, Setting | None]) -> bool:
    mine = {key.lower(): setting for key, setting in ours.items()}
    if name not in mine:
        return False
    found = mine[name]
    # What the server chose for itself stands in no file as it is in force.
    if files is None or found is None or found.source == "override":
        return True
    line = files.lines.get(name)
    return found.source != _FROM_FILES if line is None else same_value(line.value, found)


def _told(session: Connection, name: str, line: Written | None, *, known: bool) -> str:
    """A setting, what is in force, and what waits."""
    now = shown_of(name, next(iter(show(session, [name]).values()), "?"))
    if line is None:
        waits = "its line is taken out" if known else "another value waits"
        return f"{name} ({now} in force, {waits})"
    return f"{name} ({now} in force, {shown_of(name, line.value)} in {line.file} line {line.line})"


def _unloaded(session: Connection, files: FileLines, ours: set[str]) -> Iterator[str]:
    """What a reload would change."""
    try:
        paths = sorted({line.file for line in files.lines.values()})
        rows = session.execute(statement("edited_since"), (paths,)).fetchall()
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
            yield _told(session, name, line, known=True)
    for name, setting in known.items():
        from_file = setting.source == _FROM_FILES and _loads(setting)
        if from_file and name.lower() not in files.lines.keys() | ours:
            yield _told(session, name, None, known=True)


def _reads_back(written: str, setting: Setting) -> bool:
    if setting.vartype == "string" and written.casefold() == setting.value.casefold():
        return True
    return same_value(written, setting)


def _loads(setting: Setting) -> bool:
    """Whether a reload decides on it, as far as this session can tell."""
    fixed = setting.context.needs_restart or setting.context is Context.INTERNAL
    return not fixed and setting.source in (_FROM_FILES, "default")
