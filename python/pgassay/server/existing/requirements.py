"""What an existing server says of itself.

Enters: a session. Leaves: facts, or the text of an error about what could not be restored.
Never: changes anything.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from pgassay.refusals.refusal import RestoreRefused
from pgassay.server.connection.session import server_row, version_text
from pgassay.server.protocol import Connection, ConnectionParameters, ServerFacts
from pgassay.server.settings.values import read_settings


def is_local(host: str, backend_pid: int) -> bool:
    """Returns whether the server shares this machine's /proc.

    The address alone would be fooled by a tunnel or a container: our own backend must be there.
    """
    if not (host.startswith(("/", "@", "127.")) or host in ("localhost", "::1")):
        return False
    try:
        return Path(f"/proc/{backend_pid}/comm").read_text().strip() == "postgres"
    except OSError:
        return False


def is_here(session: Connection) -> bool:
    """Returns whether the server of a session shares this machine's /proc."""
    return is_local(session.info.hostaddr or session.info.host, session.info.backend_pid)


def directory_here(session: Connection) -> Path | None:
    """Returns the data directory of a session's server where it is on this machine."""
    if not is_here(session):
        return None
    row = server_row(session)
    return own_directory(row.data_directory, account_of(row.backend))


def facts_of(session: Connection) -> ServerFacts:
    """Returns what the server says of itself; its directory only if this machine can see it."""
    row, data = server_row(session), directory_here(session)
    return ServerFacts(
        version_num=row.version_num,
        version=row.version,
        data_directory=None if data is None else str(data),
        is_local=is_here(session),
        log_file=None,
        settings=read_settings(session),
        build=version_text(session),
    )


def not_restored(
    parameters: ConnectionParameters | None,
    problems: Iterable[object],
    left: Sequence[str],
    commands: Sequence[str] = (),
) -> RestoreRefused:
    """Returns the error about what was not restored, with SQL for psql and shell commands."""
    of_sql = "not-restored-by-sql-by-commands" if commands else "not-restored-by-sql"
    of_none = "not-restored-by-commands" if commands else "not-restored"
    return RestoreRefused(
        of_sql if left else of_none,
        where=parameters.label if parameters else "the server",
        problems=tuple(problems) or ("unknown reason",),
        sql=tuple(left),
        commands=tuple(commands),
    )


def account_of(pid: int) -> int | None:
    """Returns the user id that a process of this machine runs under; None where it has ended."""
    try:
        return Path(f"/proc/{pid}").stat().st_uid
    except OSError:
        return None


def own_directory(reported: str | None, owner: int | None) -> Path | None:
    """Returns a directory that a server reports, if it is on this machine and belongs to
    `owner`."""
    if owner is None or not reported or not reported.startswith("/") or not reported.isprintable():
        return None
    try:
        path = Path(reported).resolve(strict=True)
        found = path.stat()
    except (OSError, RuntimeError):  # absent, out of reach, a loop of links
        return None
    return path if stat.S_ISDIR(found.st_mode) and found.st_uid == owner else None
