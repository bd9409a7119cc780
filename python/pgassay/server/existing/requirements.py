"""What an existing server must be for an experiment, and what it says of itself.

Enters: a session. Leaves: facts, a reason why it cannot be used, or the text of an error about what
could not be restored. Never: changes anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pgassay.errors import TargetError
from pgassay.server.connection.session import version_text
from pgassay.server.existing.server_paths import account_of, own_directory
from pgassay.server.owned.installation import OLDEST_MAJOR
from pgassay.server.protocol import Connection, ConnectionParameters, ServerFacts
from pgassay.server.settings.values import read_settings
from pgassay.server.statements import statement


def unfit(session: Connection, label: str) -> str | None:
    """Why no experiment can be run on a server, whatever the user accepts."""
    row = session.execute(statement("existing/server")).fetchone()
    if row is None or row[0] < OLDEST_MAJOR * 10000:
        found = row[1] if row else "?"
        return f"PostgreSQL {found}: pgassay works with {OLDEST_MAJOR} and later"
    if row[3]:
        return f"{label} is a standby, where no data can be made; name its primary"
    return None


def refuse_unfit(session: Connection, label: str) -> None:
    """TargetError with that reason."""
    reason = unfit(session, label)
    if reason is not None:
        raise TargetError(reason)


def is_local(host: str, backend_pid: int) -> bool:
    """Whether the server shares this machine's /proc.

    The address alone would be fooled by a tunnel or a container: our own backend must be there.
    """
    if not (host.startswith(("/", "@", "127.")) or host in ("localhost", "::1")):
        return False
    try:
        return Path(f"/proc/{backend_pid}/comm").read_text().strip() == "postgres"
    except OSError:
        return False


def data_directory(session: Connection) -> str | None:
    """As the server reports it; None where this user may not see it."""
    row = session.execute(statement("existing/server")).fetchone()
    return str(row[2]) if row and row[2] else None


def facts_of(session: Connection, parameters: ConnectionParameters) -> ServerFacts:
    """What the server says of itself; its directory only if this machine can see it."""
    row = session.execute(statement("existing/server")).fetchone()
    if row is None:
        raise TargetError("the server did not answer the query for its version")
    local = is_local(parameters.hostaddr or parameters.host, row[4])
    data = own_directory(row[2], account_of(row[4]) if local else None)
    return ServerFacts(
        version_num=row[0],
        version=row[1],
        data_directory=None if data is None else str(data),
        is_local=local,
        log_file=None,
        settings=read_settings(session),
        build=version_text(session),
    )


def not_restored(
    parameters: ConnectionParameters | None,
    problems: Sequence[str],
    left: Sequence[str],
    commands: Sequence[str] = (),
) -> str:
    """The text of an error; `left` is SQL as psql takes it, `commands` follow in a shell."""
    where = parameters.label if parameters else "the server"
    why = "; ".join(dict.fromkeys(problems)) or "unknown reason"
    sql = f" {'; '.join(left)};" if left else ""
    then = f"{' then' if sql else ''} in a shell: {'; '.join(commands)}" if commands else ""
    return f"{where} is not as it was found ({why}); run there yourself:{sql}{then}"
