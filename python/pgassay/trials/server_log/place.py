"""Where a server's log is, and whether we may read it.

Enters: a session. Leaves: a `Place`, or a `Missing` with the one line that would mend it.
Never: guesses: a log whose file neither the server nor its processes name is missing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psycopg.rows import dict_row

from pgassay.server.connection.own_role import own_role
from pgassay.server.existing.requirements import is_local
from pgassay.server.existing.server_paths import account_of, own_directory, own_readable_file
from pgassay.server.hosts.host import Host
from pgassay.server.protocol import Connection
from pgassay.server.statements import statement
from pgassay.trials.server_log.follow import LogFollower, file_name_pattern
from pgassay.trials.server_log.host_files import ProcessThere, process_there
from pgassay.trials.server_log.log_files import (
    FilesOverSql,
    LocalFiles,
    LogFiles,
    LogUnreadable,
    current_file,
)
from pgassay.trials.server_log.stderr_form import line_pattern

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

    reason: str
    fix: str


@dataclass(frozen=True)
class Place:
    """A log that can be read."""

    form: str
    where: str
    """For people: the file, and the way to it."""
    files: LogFiles
    first: str
    settings: Mapping[str, Any]
    """The row of server/sql/log/where.sql."""

    def follow(self) -> LogFollower:
        """From its present end on. Raises LogUnreadable."""
        name = self.settings["file_name"]
        pattern = file_name_pattern(name, _FORMS[self.form]) if name else None
        return LogFollower(
            self.files,
            self.first,
            rotates_to=pattern if self.settings["collector"] else None,
            truncates=self.settings["truncates"],
        )


def log_settings(session: Connection) -> dict[str, Any]:
    """What the server says of its log."""
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
    """The best form of the log that can be read.

    `own_file` is that of a server we started, `machine` the server's host where we can look at it.
    """
    settings = log_settings(session)
    forms = _forms(settings)
    if not forms:
        return Missing(
            f"the log goes to {settings['destination']}, which is no file",
            f"ALTER SYSTEM SET log_destination = 'stderr'; {_RELOAD}",
        )
    if forms == ["stderr"] and line_pattern(settings["prefix"]) is None:
        return Missing(
            "log_line_prefix has no time",
            f"ALTER SYSTEM SET log_line_prefix = '%m [%p] %e %q%u@%d '; {_RELOAD}",
        )
    there = process_there(machine, settings)
    here = there is None and is_local(host, settings["pid"])
    owner = account_of(settings["pid"]) if here else None
    if not settings["collector"]:
        if own_file is None and there is not None:
            return _standard_error_there(settings, there)
        return _standard_error(settings, owner, own_file)
    if not settings["may_ask"]:
        return Missing(
            "this role may not ask for the log's file",
            _grants(session, settings, reading=owner is None),
        )
    for form in forms:
        found = _collected(session, connect, settings, form, owner, there)
        if found is not None:
            return found
    if not (settings["may_read"] and settings["may_list"]):
        return Missing(
            "this role may not list and read the log's files",
            _grants(session, settings, reading=True),
        )
    return Missing(
        "the log's file cannot be read over the connection: it is outside the data directory",
        f"GRANT pg_read_server_files TO {own_role(session)};",
    )


def _forms(settings: Mapping[str, Any]) -> list[str]:
    written = {part.strip() for part in settings["destination"].split(",")}
    if not settings["collector"]:
        # Without a collector the other forms fall back to standard error, in its form.
        return ["stderr"] if written & _FORMS.keys() else []
    return [form for form in _FORMS if form in written]


def _standard_error(
    settings: Mapping[str, Any], owner: int | None, own_file: Path | None
) -> Place | Missing:
    """pg_ctl -l and Debian's packages: standard error is a file that our backend has open."""
    if own_file is None:
        if owner is None:
            return Missing("logging_collector is off and the server is on another host", _COLLECT)
        try:
            target = str(Path(f"/proc/{settings['pid']}/fd/2").readlink())
        except OSError:
            return Missing(
                "logging_collector is off, and only the server's user or root may see "
                "where its standard error goes",
                _COLLECT,
            )
        own_file = own_readable_file(target, None, owner)
        if own_file is None:
            return Missing(
                f"the server's standard error is {target}, which cannot be read here", _COLLECT
            )
    if owner is None:
        owner = own_file.stat().st_uid
    name = own_file.name
    files = LocalFiles(own_file.parent, owner, lambda: name)
    return Place("stderr", str(own_file), files, name, settings)


def _standard_error_there(settings: Mapping[str, Any], there: ProcessThere) -> Place | Missing:
    """The same file on a host behind ssh."""
    target = there.standard_error()
    label = there.host.label
    if target is None:
        return Missing(
            f"logging_collector is off, and the server's standard error is no file of {label} "
            "that we may see",
            f"{_COLLECT_THERE}, or give target.sudo = true",
        )
    path = there.own_file(target)
    if path is None:
        return Missing(
            f"the server's standard error is {target} of {label}, which cannot be read",
            _COLLECT_THERE,
        )
    files = there.files(path, lambda: path.name)
    return Place("stderr", f"{path} of {label}, over ssh", files, path.name, settings)


def _collected(
    session: Connection,
    connect: Callable[[], Connection],
    settings: Mapping[str, Any],
    form: str,
    owner: int | None,
    there: ProcessThere | None,
) -> Place | None:
    row = session.execute(statement("log/current_file"), (form,), prepare=False).fetchone()
    reported: str | None = row[0] if row else None
    if not reported:
        return None
    name = reported.rpartition("/")[2]
    if owner is not None:
        path = own_readable_file(reported, _data_directory(settings, owner), owner)
        if path is not None and os.access(path.parent, os.R_OK | os.X_OK):
            files = LocalFiles(path.parent, owner, lambda: _asked_anew(connect, form))
            return Place(form, str(path), files, path.name, settings)
    if settings["may_read"] and settings["may_list"]:
        over = FilesOverSql(connect, reported.rpartition("/")[0], form)
        with suppress(LogUnreadable):
            with over.opened() as opened:
                opened.read(name, 0, 1)
            return Place(form, f"{reported}, over the connection", over, name, settings)
    path = None if there is None else there.own_file(reported, settings["data_directory"])
    if there is None or path is None:
        return None
    over_ssh = there.files(path, lambda: _asked_anew(connect, form))
    return Place(form, f"{path} of {there.host.label}, over ssh", over_ssh, path.name, settings)


def _data_directory(settings: Mapping[str, Any], owner: int) -> Path | None:
    reported: str | None = settings["data_directory"]
    if reported is None:
        try:
            reported = str(Path(f"/proc/{settings['pid']}/cwd").readlink())
        except OSError:
            return None
    return own_directory(reported, owner)


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
