"""Refuses a restart that would take a server out of its systemd unit, or run another version.

Enters: a host, a located server, a session. Leaves: nothing, or a TargetError that names the unit
(restarted by anything else the server would go on outside of it, and whatever watches the unit
would take it for down), or PendingChanges where a restart would be an upgrade, or would
find no program. Never: asks systemd (the unit is read from the control group), or starts a server.

A package upgrade puts new programs under the paths of the old ones, which go on running.
"""

from __future__ import annotations

import re
from pathlib import Path

from pgassay.refusals.refusal import TargetRefused
from pgassay.server.hosts.control_groups import parse_groups
from pgassay.server.hosts.host import Host, is_there, text_of
from pgassay.server.hosts.server_process import ServerProcess
from pgassay.server.protocol import Connection
from pgassay.server.settings.pending_changes import PendingChanges

_TREES = ("name=systemd", "")
"""Where systemd keeps its units: a separate tree in version 1, the only tree in version 2."""
_OF_PEOPLE = re.compile(r"(?:sshd?|crond?|atd|(?:[a-z]+-)?getty)(?:@.*)?\.service")
"""Units from which people start what they like, none of which is the unit's own."""
_OF_POSTGRESQL = re.compile("postgres|pgsql", re.IGNORECASE)


def unit_in(text: str) -> str:
    """Returns the system's service in /proc/PID/cgroup, empty where there is none: a session or a
    container is a scope, and what a user's own systemd starts is the user's."""
    groups = dict(parse_groups(text))
    for tree in _TREES:
        parts = groups.get(tree, "").strip("/").split("/")
        units = [part for part in parts if part.endswith((".service", ".scope"))]
        is_users = "user.slice" in parts or any(part.startswith("user@") for part in parts)
        if units and not is_users and units[-1].endswith(".service"):
            return "" if _OF_PEOPLE.fullmatch(units[-1]) else units[-1]
    return ""


def refuse_leaving_unit(host: Host, server: ServerProcess, key: str, through: str = "") -> None:
    """TargetError where the server belongs to a unit, and not to the one that it is restarted
    `through`. A server in the unit that pgassay itself runs in passes."""
    unit = unit_in(text_of(host, Path(f"/proc/{server.postmaster}/cgroup")) or "")
    if unit in ("", through):
        return
    if unit == unit_in(text_of(host, Path("/proc/self/cgroup")) or ""):
        return
    name = unit.removesuffix(".service")
    is_its = _OF_POSTGRESQL.search(name)
    code = "server-in-a-unit-of-its-own" if is_its else "server-in-a-foreign-unit"
    raise TargetRefused(code, f"target.{key}", unit=unit, host=host.label, name=name)


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
        raise PendingChanges("restart-without-program", path=path, host=host.label)
    done = host.run([path, "--version"], user=account)
    said = done.stdout.strip()
    if done.returncode or not said.startswith(_NAME):
        return
    starts = said.removeprefix(_NAME)
    if starts != runs:
        values = {"runs": runs, "path": path, "host": host.label, "starts": starts}
        raise PendingChanges("restart-is-an-upgrade", **values)


def _running_program(host: Host, account: str, postmaster: int) -> Path | None:
    done = host.run(["readlink", f"/proc/{postmaster}/exe"], user=account)
    path = done.stdout.removesuffix("\n").removesuffix(_GONE)
    return Path(path) if done.returncode == 0 and path.startswith("/") else None
