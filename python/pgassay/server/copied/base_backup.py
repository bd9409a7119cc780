"""Takes a base backup and puts it where an owned server's data belong.

Enters: programs, how the source is reached, a workspace. Leaves: the workspace's data directory,
without what would make a standby of it; words of a connection string for pg_basebackup, which may
be older than the libpq in use here: only what differs from libpq's own defaults.
Never: writes a password to a file or a command line; writes, as root, where the server's account
can.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from psycopg import pq
from psycopg.conninfo import make_conninfo

from pgassay.errors import TargetError
from pgassay.refusals.refusal import TargetRefused
from pgassay.server.connection.libpq import DEFAULT_FILES
from pgassay.server.hosts.account import Account, clean_environment, last_line
from pgassay.server.owned.cluster import COPY_LIMIT_S
from pgassay.server.owned.installation import Installation
from pgassay.server.owned.workspace import Workspace, free_bytes
from pgassay.server.protocol import ConnectionParameters

OURSELVES = Account("", -1, -1, switches=False)
DROPPED = (
    "standby.signal",
    "recovery.signal",
    "postgresql.auto.conf",
    "postgresql.conf",
    "pg_hba.conf",
    "pg_ident.conf",
)
"""Files of the source that the copy must not have, or has its own of."""


class BaseBackup:
    """One server's base backup, for one owned server or for several with the same data."""

    def __init__(self, *, shared: bool, options: Sequence[str] = ()) -> None:
        """`options` are pg_basebackup's, for how hard it may press the server."""
        self._shared, self._options = shared, options
        self._kept: Path | None = None
        """The backup that later servers are copied from."""

    def place(
        self, installation: Installation, parameters: ConnectionParameters, workspace: Workspace
    ) -> None:
        """Makes the data directory of a workspace from the base backup; there must be none
        before."""
        # Closed to the server's account until complete, so that no link of it is followed as root.
        workspace.aside.mkdir(mode=0o700, exist_ok=True)
        data = workspace.aside / "data"
        if self._kept is None or not self._kept.exists():
            _take(installation, parameters, data, self._options)
            for name in DROPPED:
                (data / name).unlink(missing_ok=True)
            if self._shared:
                self._kept = workspace.aside / "backup"
                data.rename(self._kept)
        if self._kept is not None:
            _run(["cp", "-a", "--reflink=auto", self._kept, data], data)
        account = workspace.account
        if account.switches:
            _run(["chown", "-R", "-h", f"{account.uid}:{account.gid}", data], data)
        data.rename(workspace.data)
        if not self._shared:
            shutil.rmtree(workspace.aside)


def _take(
    installation: Installation,
    parameters: ConnectionParameters,
    data: Path,
    options: Sequence[str],
) -> None:
    if parameters.libpq.get("sslpassword"):
        raise TargetRefused("key-password-for-a-copy")
    shutil.rmtree(data, ignore_errors=True)
    program = installation.program("pg_basebackup")
    command: list[str | Path] = [program, "-D", data, "-d", connection_words(parameters)]
    # No slot: a source that is written to should keep no WAL for us. No sync: `freeze` sees to it.
    command += ["--wal-method=stream", "--no-slot", *options]
    command += ["--no-sync", "--no-manifest", "--no-password"]
    environment = clean_environment(os.environ, installation.libraries)
    if parameters.password is not None:
        environment["PGPASSWORD"] = parameters.password
    try:
        _run(command, data, environment)
    except TargetError as error:
        raise TargetRefused("base-backup-failed", server=parameters.label, why=error) from None


def _run(command: list[str | Path], data: Path, environment: dict[str, str] | None = None) -> None:
    result = OURSELVES.run(command, limit_s=COPY_LIMIT_S, environment=environment)
    if result.returncode != 0:
        free = free_bytes(data.parent) / 2**30
        raise TargetRefused("copy-failed", said=last_line(result), free=free, folder=data.parent)


SECRETS = ("password", "sslpassword")
IMPLIED = {
    "sslcertmode": "allow",
    "sslnegotiation": "postgres",
    "sslsni": "1",
    "ssl_min_protocol_version": "TLSv1.2",
    "gssencmode": "prefer",
}
"""Defaults that libpq has without naming them; older ones do not know all of these options."""
NOT_FOR_REPLICATION = ("dbname", "options", "client_encoding", "target_session_attrs")


def connection_words(parameters: ConnectionParameters) -> str:
    """Returns libpq's words for the way to the server, without secrets."""
    return make_conninfo(**_words(parameters))


def replication_words(parameters: ConnectionParameters) -> str:
    """Returns libpq's words for a replication session opened in this process, with secrets."""
    given = {"password": parameters.password, "sslpassword": parameters.libpq.get("sslpassword")}
    found = {name: value for name, value in given.items() if value}
    return make_conninfo(**_words(parameters), **found, replication="true")


def _words(parameters: ConnectionParameters) -> dict[str, str]:
    compiled = {
        option.keyword.decode(): (option.compiled or b"").decode()
        for option in pq.Conninfo.get_defaults()
    }
    defaults = {**compiled, **IMPLIED}
    return {
        name: str(value)
        for name, value in parameters.for_psycopg().items()
        if name not in (*SECRETS, *NOT_FOR_REPLICATION)
        and str(value) not in ("", defaults.get(name))
        and not (name in DEFAULT_FILES and not Path(str(value)).exists())
    }
