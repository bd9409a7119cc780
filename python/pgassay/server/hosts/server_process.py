"""The process of an existing server on its host: process number, data directory, account.

Enters: a session, a host. Leaves: a `ServerProcess`, or a TargetError where the session's server
does not run on that host; of a process of this machine its children. Never: uses a path that the
server reports before its process is found on the host.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pgassay.refusals.refusal import TargetRefused
from pgassay.server.change import ServerChange
from pgassay.server.connection.rights import own_role
from pgassay.server.connection.session import server_row
from pgassay.server.hosts.host import Host, text_of
from pgassay.server.protocol import Connection

SERVER_PROGRAMS = ("postgres", "postmaster")
PID_FILE = "postmaster.pid"
LOG_FILES = "current_logfiles"
"""What the logging collector writes into, also when the server has gone since."""


@dataclass(frozen=True)
class ServerProcess:
    """A running server on its host."""

    data: Path
    account: str
    """The user it runs as."""
    postmaster: int
    output: Path | None
    """The file that its standard error goes to; None for a pipe, or where it may not be read."""
    collects: bool
    """Whether its logging collector takes over that output once it runs."""


def find_server_process(session: Connection, host: Host) -> ServerProcess:
    """Find the server of a session among the processes of a host."""
    row = server_row(session)
    reported = row.data_directory
    postmaster = postmaster_of(session, row.backend, host)
    where = f"{session.info.host}:{session.info.port}"
    if reported is None:
        raise TargetRefused("data-directory-hidden", user=session.info.user, role=own_role(session))
    data = Path(reported)
    try:
        owner = host.facts(Path(f"/proc/{postmaster}"))
        there = host.facts(data)
    except OSError as error:
        raise TargetRefused(
            "data-directory-closed",
            data=data,
            host_label=host.label,
            why=error.strerror,
            instead=account_needed(host),
        ) from None
    # A server could name any path; only its own directory says its own process.
    own = reported.startswith("/") and reported.isprintable() and there.uid == owner.uid
    if not own or not there.is_directory:
        raise TargetRefused("data-directory-of-another", data=data, host=host.label, where=where)
    running = running_in(host, data)
    if running != postmaster:
        raise TargetRefused("data-directory-of-another", data=data, host=host.label, where=where)
    collects = session.execute("SHOW logging_collector").fetchone() == ("on",)
    return ServerProcess(data, owner.account, postmaster, output_of(host, postmaster), collects)


def as_journaled(data: Path, account: str, change: ServerChange) -> ServerProcess:
    """A server that is down, from what the journal of a killed run says of it."""
    log = Path(change.log) if change.log else None
    return ServerProcess(data, account, 0, log, collects=not change.log)


def postmaster_of(session: Connection, backend: int, host: Host) -> int:
    """The parent of a session's backend; TargetError where that is not on this host."""
    postmaster = _parent(host, backend)
    if postmaster is None or _program(host, postmaster) not in SERVER_PROGRAMS:
        where = f"{session.info.host}:{session.info.port}"
        code = "server-not-on-host" if host.name else "server-not-here"
        raise TargetRefused(code, where=where, host=host.label)
    return postmaster


def running_in(host: Host, data: Path) -> int | None:
    """The postmaster of a data directory; None where none runs."""
    pid = _pid_in(host, data)
    works = _program(host, pid) in SERVER_PROGRAMS and not _is_zombie(host, pid)
    return pid if works and not _works_elsewhere(host, pid, data) else None


def _works_elsewhere(host: Host, pid: int, data: Path) -> bool:
    """Whether a process belongs to another cluster: after a crash the number in a stale pid file
    may be reused. Compared by inode, because a container may name the directory differently; a
    process that may not be read counts as this cluster's."""
    done = host.run(["stat", "-L", "-c", "%d %i", f"/proc/{pid}/cwd", data])
    where = done.stdout.splitlines()
    return len(where) == 2 and where[0] != where[1]


def has_processes_left(host: Host, server: ServerProcess) -> bool:
    """Whether processes of a killed server would make a start fail: an unreaped postmaster still
    owns its sockets, and orphaned sessions hold its shared memory. Only a killed server leaves its
    pid file behind."""
    pid = _pid_in(host, server.data)
    if not pid:
        return False
    is_unreaped = _program(host, pid) in SERVER_PROGRAMS and _is_zombie(host, pid)
    return is_unreaped or bool(_orphans_in(host, server))


def _pid_in(host: Host, data: Path) -> int:
    """The number in the pid file; 0 where there is no file."""
    try:
        first = host.read(data / PID_FILE).decode("ascii", "replace").split("\n", 1)[0]
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise TargetRefused(
            "data-directory-file-closed",
            file=data / PID_FILE,
            host_label=host.label,
            why=error.strerror,
            instead=account_needed(host),
        ) from None
    return int(first) if first.strip().isdigit() else 0


def _orphans_in(host: Host, server: ServerProcess) -> list[int]:
    """The processes of a server whose postmaster is gone, which work in its data directory."""
    there = re.sub(r"([][*?\\])", r"\\\1", str(host.resolve(server.data)))
    words = ["find", "/proc", "-mindepth", "2", "-maxdepth", "2", "-name", "cwd", "-lname", there]
    # Processes end while it looks, and most are not its to see.
    found = host.run(words, user=server.account).stdout.split()
    pids = [int(path.split("/")[2]) for path in found if path.split("/")[2].isdigit()]
    return [pid for pid in pids if _program(host, pid) in SERVER_PROGRAMS]


def collected_log(host: Host, server: ServerProcess) -> Path | None:
    """The file that its logging collector writes to or wrote to last, if there is one."""
    lines = (text_of(host, server.data / LOG_FILES) or "").splitlines()
    named = next((line.partition(" ")[2] for line in lines if line.startswith("stderr ")), "")
    if not named.isprintable() or not named:
        return None
    path = server.data / named
    try:
        facts = host.facts(path)
    except OSError:
        return None
    # The server names the file; one that belongs to another account is not read.
    return path if facts.is_file and facts.account == server.account else None


def output_of(host: Host, postmaster: int) -> Path | None:
    """The file that its standard error goes to; None for a pipe, or where it may not be read."""
    try:
        return host.resolve(Path(f"/proc/{postmaster}/fd/2"))
    except OSError:
        return None


def account_needed(host: Host) -> str:
    """The end of an error about files that may not be read: the account that may."""
    if host.name:
        return "log in there as root or as the server's account, or give target.sudo = true"
    return "run pgassay as root or as the server's account"


def _is_zombie(host: Host, pid: int) -> bool:
    """A zombie: killed, and not yet reaped by its parent (proc(5), the state in stat)."""
    stat = text_of(host, Path(f"/proc/{pid}/stat")) or ""
    return stat.rpartition(")")[2].split()[:1] == ["Z"]


def _program(host: Host, pid: int) -> str | None:
    return text_of(host, Path(f"/proc/{pid}/comm"))


def _parent(host: Host, pid: int) -> int | None:
    """The parent of a backend of ours; None where there is no such PostgreSQL process."""
    stat = text_of(host, Path(f"/proc/{pid}/stat"))
    if stat is None or _program(host, pid) not in SERVER_PROGRAMS:
        return None
    return int(stat.rpartition(")")[2].split()[1])


def fields_of(process: int) -> list[str]:
    """Returns the fields of /proc/PID/stat after the process's name: state, parent … (proc(5));
    raises OSError if it is gone."""
    # PID (COMM) STATE PPID …; a comm may hold anything, also a parenthesis.
    return Path(f"/proc/{process}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()


def children_of(parent: int) -> list[int]:
    """Returns the numbers of the children that a process of this machine has now, in their
    order."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):  # it has ended meanwhile
            if entry.name.isdigit() and int(fields_of(int(entry.name))[1]) == parent:
                found.append(int(entry.name))
    return sorted(found)
