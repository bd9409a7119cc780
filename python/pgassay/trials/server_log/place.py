"""Where a server's log is, and whether we may read it.

Enters: a session. Leaves: a `Place`, or a `Missing` with the one line that fixes it.
Never: guesses: a log whose file neither the server nor its processes name is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psycopg.rows import dict_row

from pgassay.notes import Note
from pgassay.server.connection.rights import own_role
from pgassay.server.hosts.host import Host
from pgassay.server.hosts.local import HERE
from pgassay.server.protocol import Connection
from pgassay.server.statements import statement
from pgassay.trials.server_log.follow import LogFollower, file_name_pattern
from pgassay.trials.server_log.line_prefix import line_pattern
from pgassay.trials.server_log.log_files import (
    BackendProcess,
    FilesOverSql,
    HostFiles,
    LogFiles,
    LogUnreadable,
    backend_process,
    current_file,
)

# The form with most details and fewest ambiguities comes first.
_FORMS = {"jsonlog": ".json", "csvlog": ".csv", "stderr": ".log"}
_COLLECT = (
    "ALTER SYSTEM SET logging_collector = on; then restart the server, "
    "or run pgassay on the server's host as its user or root"
)
_COLLECT_THERE = "ALTER SYSTEM SET logging_collector = on; then restart the server"
_ASKS_AS_MONITOR = 170000
"""From here on pg_monitor may call pg_current_logfile."""
_RELOAD = "SELECT pg_reload_conf();"


@dataclass(frozen=True)
class Missing:
    """Why there is no log to read, and what to do."""

    reason: Note
    fix: str


@dataclass(frozen=True)
class Place:
    """Where a readable log is, and in which form."""

    form: str
    where: str
    """For people: the file, and the way to it."""
    files: LogFiles
    first: str
    settings: Mapping[str, Any]
    """The row of server/sql/log/where.sql."""

    def follow(self) -> LogFollower:
        """Follows the log from its present end on. Raises LogUnreadable."""
        name = self.settings["file_name"]
        pattern = file_name_pattern(name, _FORMS[self.form]) if name else None
        return LogFollower(
            self.files,
            self.first,
            rotates_to=pattern if self.settings["collector"] else None,
            truncates=self.settings["truncates"],
        )


def log_settings(session: Connection) -> dict[str, Any]:
    """Returns the settings of the server that concern its log."""
    with session.cursor(row_factory=dict_row) as cursor:
        row = cursor.execute(statement("log/where"), prepare=False).fetchone()
    return dict(row or {})


def find_place(
    session: Connection,
    connect: Callable[[], Connection],
    host: str,
    own_file: Path | None = None,
    machine: Host | None = None,
) -> Place | Missing:
    """Finds the most detailed form of the log that can be read.

    `own_file` is that of a server we started, `machine` the server's host where we can look at it.
    """
    settings = log_settings(session)
    forms = _forms(settings)
    if not forms:
        return Missing(
            Note("trials/server_log/no-file", {"destination": settings["destination"]}),
            f"ALTER SYSTEM SET log_destination = 'stderr'; {_RELOAD}",
        )
    if forms == ["stderr"] and line_pattern(settings["prefix"]) is None:
        return Missing(
            Note("trials/server_log/no-time"),
            f"ALTER SYSTEM SET log_line_prefix = '%m [%p] %e %q%u@%d '; {_RELOAD}",
        )
    process = backend_process(settings, host, machine)
    if not settings["collector"]:
        return _standard_error(settings, process, own_file)
    here = process is not None and not process.host.name
    if not settings["may_ask"]:
        return Missing(
            Note("trials/server_log/may-not-ask"), _grants(session, settings, reading=not here)
        )
    for form in forms:
        found = _collected(session, connect, settings, form, process)
        if found is not None:
            return found
    if not (settings["may_read"] and settings["may_list"]):
        return Missing(
            Note("trials/server_log/may-not-read"), _grants(session, settings, reading=True)
        )
    return Missing(
        Note("trials/server_log/outside-data"),
        f"GRANT pg_read_server_files TO {own_role(session)};",
    )


def _forms(settings: Mapping[str, Any]) -> list[str]:
    written = {part.strip() for part in settings["destination"].split(",")}
    if not settings["collector"]:
        # Without a collector the other forms fall back to standard error, in its form.
        return ["stderr"] if written & _FORMS.keys() else []
    return [form for form in _FORMS if form in written]


def _standard_error(
    settings: Mapping[str, Any], process: BackendProcess | None, own_file: Path | None
) -> Place | Missing:
    """pg_ctl -l and Debian's packages: standard error is a file that our backend has open."""
    if own_file is not None:
        files = HostFiles(HERE, own_file.parent, own_file.stat().st_uid, lambda: own_file.name)
        return Place("stderr", str(own_file), files, own_file.name, settings)
    if process is None:
        return Missing(Note("trials/server_log/collector-off"), _COLLECT)
    there: Note | str = ""
    if process.host.name:
        there = Note("trials/server_log/there", {"host": process.host.label})
    fix = f"{_COLLECT_THERE}, or give target.sudo = true" if there else _COLLECT
    target = process.standard_error()
    if target is None:
        return Missing(Note("trials/server_log/no-standard-error", {"there": there}), fix)
    path = process.own_file(target)
    if path is None:
        return Missing(
            Note.of("trials/server_log/closed-standard-error", target=str(target), there=there), fix
        )
    files = process.files(path, lambda: path.name)
    return Place("stderr", process.described(path), files, path.name, settings)


def _collected(
    session: Connection,
    connect: Callable[[], Connection],
    settings: Mapping[str, Any],
    form: str,
    process: BackendProcess | None,
) -> Place | None:
    """Over the connection where the role may, but first by the file itself where it is here."""
    row = session.execute(statement("log/current_file"), (form,), prepare=False).fetchone()
    reported: str | None = row[0] if row else None
    if not reported:
        return None

    def by_its_file() -> Place | None:
        if process is None:
            return None
        path = process.own_file(reported, settings["data_directory"])
        if path is None:
            return None
        files = process.files(path, lambda: _asked_anew(connect, form))
        with suppress(LogUnreadable):
            with files.opened() as opened:
                opened.listing()
            return Place(form, process.described(path), files, path.name, settings)
        return None

    if process is not None and not process.host.name and (found := by_its_file()):
        return found
    if settings["may_read"] and settings["may_list"]:
        directory, _, name = reported.rpartition("/")
        over = FilesOverSql(connect, directory, form)
        with suppress(LogUnreadable):
            with over.opened() as opened:
                opened.read(name, 0, 1)
            return Place(form, f"{reported}, over the connection", over, name, settings)
    return by_its_file()


def _asked_anew(connect: Callable[[], Connection], form: str) -> str | None:
    """While the server is down, its log file stays the same."""
    try:
        with connect() as session:
            return current_file(session, form)
    except Exception:
        return None


def _grants(session: Connection, settings: Mapping[str, Any], *, reading: bool) -> str:
    """All that this role lacks, in one line."""
    role = own_role(session)
    wanted = []
    if not settings["may_list"]:
        wanted.append(f"GRANT pg_monitor TO {role};")
    if not settings["may_ask"] and settings["version_num"] < _ASKS_AS_MONITOR:
        wanted.append(f"GRANT EXECUTE ON FUNCTION pg_current_logfile(text) TO {role};")
    if reading and not settings["may_read"]:
        wanted.append(
            "GRANT EXECUTE ON FUNCTION "
            f"pg_read_binary_file(text, bigint, bigint, boolean) TO {role};"
        )
    return " ".join(wanted)
