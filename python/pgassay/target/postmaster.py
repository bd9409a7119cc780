"""Starting and ending one server process, and reading why it would not start.

Enters: a data directory, an account, an installation. Leaves: a running server, or a StartError
with the server's own words. Never: ends a process that does not work in that data directory.
"""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Mapping
from pathlib import Path

from pgassay.errors import TargetError
from pgassay.target.account import Account, last_line
from pgassay.target.installation import Installation

START_LIMIT_S = 120
POLL_S = 0.02
KILL_LIMIT_S = 10.0
PROGRAMS = frozenset({b"initdb", b"pg_ctl", b"cp", b"rm", b"find", b"sync", b"tee", b"mkdir"})
"""What an account is asked to run with a run's directory among its words."""
_LEVEL = re.compile(r"\b(FATAL|PANIC|ERROR|LOG|HINT|DETAIL):\s+(.*)")


_CRASH = re.compile(
    r"((?:PANIC:\s+.*|(?<=LOG:  )[^\n]*\(PID \d+\) (?:was terminated by signal|exited with)[^\n]*))"
)


class StartError(TargetError):
    """The server did not come up; `words` is what it and its hints say, for naming the culprit."""

    def __init__(self, message: str, words: str) -> None:
        self.words = words
        super().__init__(message)


def start(
    installation: Installation, account: Account, data: Path, log_file: Path, limit_s: int
) -> None:
    """Start and wait until the server takes connections."""
    seen = _size(log_file)
    command: list[str | Path] = [installation.program("pg_ctl"), "start", "-s", "-w"]
    command += ["-t", str(limit_s), "-D", data, "-l", log_file]
    result = account.run(command, limit_s=limit_s + 15, libraries=installation.libraries)
    if result.returncode == 0:
        return
    end_servers(data)
    reason, words = failure(_tail(log_file, seen))
    if not reason:
        reason = f"not ready within {limit_s} s" if _size(log_file) > seen else last_line(result)
    raise StartError(f"the server did not start: {reason}", words)


def end_servers(data: Path, *, gentle_s: float = 0.0) -> None:
    """End the server of a data directory: fast within `gentle_s`, then at once, then by force.

    Through signals, not pg_ctl: the programs of a dead run may be gone, and a postmaster that
    has not yet written its pid file must be found too.
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
        # Backends work there as well; only the postmaster may be told to shut down.
        chosen = pids if number == signal.SIGKILL else [p for p in pids if _parent(p) not in pids]
        for pid in chosen:
            _signal(pid, number)
        end = time.monotonic() + limit_s
        while working_in(data) and time.monotonic() < end:
            time.sleep(POLL_S)
    if working_in(data):
        raise TargetError(
            f"the server in {data} cannot be ended: {working_in(data)} do not react to SIGKILL"
        )


def end_programs(directory: Path, uid: int) -> None:
    """End what a dead run had called and nobody ended: initdb, pg_ctl, cp and their like.

    They name the directory, which no other run does; left alone they would go on filling it.
    """
    wanted = os.fsencode(directory)
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if entry.stat().st_uid != uid:
                    continue
                words = Path(entry.path, "cmdline").read_bytes().split(b"\0")
                program = os.path.basename(words[0])  # noqa: PTH119 (bytes)
                if program in PROGRAMS and any(
                    word == wanted or word.startswith(wanted + b"/") for word in words[1:]
                ):
                    _signal(int(entry.name), signal.SIGKILL)
            except OSError:
                continue


def working_in(data: Path) -> list[int]:
    """PostgreSQL processes whose working directory is `data`: a postmaster and its children."""
    found = []
    wanted = str(data)
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                # Not a person's shell that happens to stand there.
                if Path(entry.path, "comm").read_text().strip() not in ("postgres", "postmaster"):
                    continue
                # A removed directory reads as "… (deleted)"; its server must be ended no less.
                where = str(Path(entry.path, "cwd").readlink()).removesuffix(" (deleted)")
            except OSError:
                continue
            if where == wanted or where == os.path.realpath(wanted):
                found.append(int(entry.name))
    return found


def failure(log: str) -> tuple[str, str]:
    """The line of a server log that says why it ended, and all its words about it."""
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
    """The settings a refusal to start speaks of, by name or by value; all where it does not."""
    said = words.lower()
    by_name = [n for n in settings if re.search(rf"\b{re.escape(n.lower())}\b", said)]
    by_value = [name for name, value in settings.items() if f'"{value.lower()}"' in said]
    return by_name or by_value or list(settings)


def crash(log: str) -> str:
    """The line of a running server's log that says why it went down; empty where it did not."""
    found = _CRASH.search(log)
    return found[1].strip() if found else ""


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
        raise TargetError(f"process {pid} of a server cannot be ended: not permitted") from None


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
