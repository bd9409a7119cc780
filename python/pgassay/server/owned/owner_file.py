"""NAME.owner, the marker beside a workspace: what belongs to it, for the removal after a kill.

Enters: a workspace's name and parts, or the file's text. Leaves: the file on disk; or what it
names, all of which is of that name. Never: takes a path from the file that no run writes there.
"""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from pgassay.refusals.refusal import TargetRefused
from pgassay.server.hosts.account import Account, account_named
from pgassay.server.hosts.memory_group import is_group_of

SOCKETS, SOCKET_PREFIX = Path("/tmp"), "pgassay-"  # noqa: S108 (mkdtemp makes the name)
"""Where a socket directory is made if its path in the workspace were too long."""


@dataclass(frozen=True)
class Owner:
    """The run that a workspace belongs to, and what it has beside its directory."""

    account: Account
    socket: Path
    memory_group: Path | None


def write_owner(lock: int, owner: Owner) -> None:
    """Writes the owner's file, which is open and locked, and syncs it."""
    said = {
        "account": owner.account.name,
        "socket": str(owner.socket),
        **({} if owner.memory_group is None else {"memory_group": str(owner.memory_group)}),
    }
    os.pwrite(lock, json.dumps(said).encode(), 0)
    os.fsync(lock)


def read_owner(lock: int, path: Path) -> Owner | None:
    """Reads an owner file; None where its run was killed before it wrote it; raises TargetError
    where it names what is not of that name."""
    directory = path.with_suffix("")
    try:
        said = json.loads(os.pread(lock, 65536, 0) or b"{}")
    except (ValueError, RecursionError):
        said = {}
    if said == {}:
        return None
    named = said if isinstance(said, dict) else {}
    account = account_named(str(named.get("account")))
    if account is None:
        raise _foreign(path, "an account that pgassay may not use here")
    if not _is_of(account, directory):
        raise _foreign(path, "an account that its directory does not belong to")
    socket = Path(str(named.get("socket")))
    elsewhere = socket.parent == SOCKETS and socket.name.startswith(SOCKET_PREFIX)
    if socket != directory / "socket" and not (elsewhere and _is_of(account, socket)):
        raise _foreign(path, "a directory for sockets that is not of its server")
    group = Path(str(named["memory_group"])) if "memory_group" in named else None
    if group is not None and not is_group_of(group, directory.name):
        raise _foreign(path, "a control group that is not of its server")
    return Owner(account, socket, group)


def _is_of(account: Account, path: Path) -> bool:
    """Whether a directory, no link, is the account's or was just made for it; or is gone."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return True
    return stat.S_ISDIR(found.st_mode) and found.st_uid in (account.uid, os.geteuid())


def _foreign(path: Path, what: str) -> TargetRefused:
    return TargetRefused("owner-file-not-ours", path=path, what=what)
