"""Starting and ending one server process, and reading why it would not start.

Enters: a data directory, an account, an installation. Leaves: a running server, or a StartError
with the server's own words. Never: ends a process that does not work in that data directory.
"""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Container, Iterable, Mapping
from pathlib import Path

from pgassay.refusals.refusal import TargetRefused
from pgassay.server.hosts.account import Account, last_line
from pgassay.server.owned.installation import Installation

START_LIMIT_S = 120
POLL_S = 0.02
KILL_LIMIT_S = 10.0
PROGRAMS = frozenset({b"initdb", b"pg_ctl", b"cp", b"rm", b"find", b"sync", b"tee", b"mkdir"}) | {
    b"pg_basebackup",
    b"sh",
    b"chown",
    b"pg_upgrade",
    b"pg_dump",
    b"pg_restore",
    b"psql",
}
"""Programs that are run with a run's directory among their arguments."""
_LEVEL = re.compile(r"\b(FATAL|PANIC|ERROR|LOG|HINT|DETAIL):\s+(.*)")


class StartError(TargetRefused):
    """The server did not start; `words` are its reason and hints, which may name a setting."""

    def __init__(self, why: str, words: str) -> None:
        self.words = words
        super().__init__("server-not-started", why=why)


def start(
    installation: Installation,
    account: Account,
    data: Path,
    log_file: Path,
    limit_s: int,
    enters: Path | None = None,
) -> None:
    """Starts the server and waits until it takes connections; `enters` is that of `Account.run`."""
    before = _size(log_file)
    command: list[str | Path] = [installation.program("pg_ctl"), "start", "-s", "-w"]
    command += ["-t", str(limit_s), "-D", data, "-l", log_file]
    result = account.run(
        command, limit_s=limit_s + 15, libraries=installation.libraries, enters=enters
    )
    if result.returncode == 0:
        return
    end_servers(data)
    reason, words = failure(_tail(log_file, before))
    if not reason:
        reason = f"not ready within {limit_s} s" if _size(log_file) > before else last_line(result)
    raise StartError(reason, words)


def end_servers(data: Path, *, gentle_s: float = 0.0) -> None:
    """End the server of a data directory: fast within `gentle_s`, then at once, then by force.

    By signals, not pg_ctl: the programs of a killed run may be gone, and a postmaster that has not
    written its pid file yet must be found too.
    """
    for number, limit_s in (
        (signal.SIGINT, gentle_s),
        (signal.SIGQUIT, KILL_LIMIT_S),
        (signal.SIGKILL, KILL_LIMIT_S),
    ):
        if limit_s == 0.0:
            continue
        pids = working_in(data)
        if not pids:
            return
        # Backends have the same working directory; only the postmaster is asked to shut down.
        chosen = pids if number == signal.SIGKILL else [p for p in pids if _parent(p) not in pids]
        for pid in chosen:
            _signal(pid, number)
        end = time.monotonic() + limit_s
        # All processes are looked at once more when these have ended: on a busy host that look
        # takes longer than the pause.
        while (pids := working_in(data, pids) or working_in(data)) and time.monotonic() < end:
            time.sleep(POLL_S)
        if not pids:
            return
    if pids := working_in(data):
        raise TargetRefused("server-not-ended", data=data, processes=pids)


def end_programs(directory: Path, uid: int) -> None:
    """End programs that a killed run had called: initdb, pg_ctl, cp and the like.

    They have its directory among their arguments, and would go on filling it. pg_ctl starts the
    server by a shell in a session of its own, which lives on when pg_ctl is killed.
    """
    wanted = os.fsencode(directory)
    starting = b'-D "%b/' % wanted
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if entry.stat().st_uid != uid:
                    continue
                words = Path(entry.path, "cmdline").read_bytes().split(b"\0")
                program = os.path.basename(words[0])  # noqa: PTH119 (bytes)
                if (program == b"sh" and any(starting in word for word in words[1:])) or (
                    program in PROGRAMS
                    and any(word == wanted or word.startswith(wanted + b"/") for word in words[1:])
                ):
                    _signal(int(entry.name), signal.SIGKILL)
            except OSError:
                continue


def working_in(data: Path, among: Iterable[int] | None = None) -> list[int]:
    """Ids of the PostgreSQL processes of a data directory, of all or `among` these: postmaster and
    children.

    They work in it; a postmaster that is just being started has it among its arguments only.
    """
    wanted, argument = {str(data), os.path.realpath(data)}, os.fsencode(data)
    if among is None:
        among = [int(one.name) for one in os.scandir("/proc") if one.name.isdigit()]
    return [pid for pid in among if _works_in(pid, wanted, argument)]


def _works_in(pid: int, wanted: Container[str], argument: bytes) -> bool:
    try:
        # A shell may have the same working directory. All processes are asked: without a Path.
        with open(f"/proc/{pid}/comm", "rb", buffering=0) as file:  # noqa: PTH123
            if file.read().strip() not in (b"postgres", b"postmaster"):
                return False
        process = Path(f"/proc/{pid}")
        # A removed directory reads as "… (deleted)"; its server must be ended no less.
        where = str((process / "cwd").readlink()).removesuffix(" (deleted)")
        return where in wanted or argument in (process / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return False


def failure(log: str) -> tuple[str, str]:
    """The reason in a server's log why it ended, and the same with details and hints."""
    lines = [(match[1], match[2].strip()) for match in _LEVEL.finditer(log)]
    fatal = [i for i, (level, _) in enumerate(lines) if level in ("FATAL", "PANIC")]
    if not fatal:
        return "", ""
    last = fatal[-1]
    reason = lines[last][1]
    if "contains errors" in reason:
        # The errors themselves stand before, as LOG.
        earlier = [text for level, text in lines[:last] if level == "LOG"]
        reason = earlier[-1] if earlier else reason
    around = [text for level, text in lines[last:] if level in ("HINT", "DETAIL")]
    return reason, " ".join([reason, *around])


def blamed(words: str, settings: Mapping[str, str]) -> list[str]:
    """The settings that a refusal to start mentions by name or value; all if it mentions none."""
    said = words.lower()
    by_name = [n for n in settings if re.search(rf"\b{re.escape(n.lower())}\b", said)]
    by_value = [name for name, value in settings.items() if f'"{value.lower()}"' in said]
    return by_name or by_value or list(settings)


def _parent(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return -1
    return int(text.rpartition(")")[2].split()[1])


def _signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
    except PermissionError:
        raise TargetRefused("process-not-ended", pid=pid) from None


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0


def _tail(path: Path, offset: int) -> str:
    # Opened without following links: the directory belongs to the server's account.
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
            file.seek(offset)
            return file.read(1 << 20).decode("utf-8", "replace")
    except OSError:
        return ""
