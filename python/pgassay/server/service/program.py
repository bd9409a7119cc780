"""Whether a restart would run another version of PostgreSQL than the one that runs.

Enters: a session, the server's process and account on its host. Leaves: a PendingChanges error
where a restart would be an upgrade, or would find no program. Never: starts a server.

A package upgrade puts new programs under the paths of the old ones, which go on running.
"""

from __future__ import annotations

from pathlib import Path

from pgassay.server.hosts.host import Host, is_there
from pgassay.server.protocol import Connection
from pgassay.server.settings.pending_changes import PendingChanges

_NAME = "postgres (PostgreSQL) "
_GONE = " (deleted)"
"""What the kernel adds to the path of a running program whose file was replaced (proc(5), exe)."""


def refuse_other_program(session: Connection, host: Host, account: str, postmaster: int) -> None:
    """Raises PendingChanges where the next start would run another version; passes where this user
    may not see the program."""
    path = _running_program(host, account, postmaster)
    if path is None:
        return
    runs = session.info.parameter_status("server_version") or ""
    if not is_there(host, path):
        raise PendingChanges(
            f"a restart would fail: {path} of {host.label}, from which the server was started, no"
            " longer exists; install it again, or restart the server yourself first"
        )
    done = host.run([path, "--version"], user=account)
    said = done.stdout.strip()
    if done.returncode or not said.startswith(_NAME):
        return
    starts = said.removeprefix(_NAME)
    if starts != runs:
        raise PendingChanges(
            f"a restart would be an upgrade: the server runs {runs}, and {path} of {host.label} is"
            f" now {starts}; restart the server yourself first"
        )


def _running_program(host: Host, account: str, postmaster: int) -> Path | None:
    done = host.run(["readlink", f"/proc/{postmaster}/exe"], user=account)
    path = done.stdout.removesuffix("\n").removesuffix(_GONE)
    return Path(path) if done.returncode == 0 and path.startswith("/") else None
