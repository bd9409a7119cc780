"""The operating-system account that the server under test runs as.

Enters: who we are, and PGASSAY_SERVER_USER. Leaves: an `Account` that runs commands in a clean
environment. Never: runs Python as that account (our virtual environment may be closed to it), and
never lets a terminal's Ctrl-C reach a server before we have restored it.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from pgassay.interruption import interruptions_deferred
from pgassay.refusals.refusal import SetupRefused, TargetRefused

USER_VARIABLE = "PGASSAY_SERVER_USER"
# What a server may legitimately take from its surroundings: an experiment with another memory
# allocator or a private libc is chosen through these. Everything else is left behind.
# Debian's pg_ctlcluster looks for its clusters where the last one says.
KEPT_VARIABLES = ("PATH", "TZ", "LD_LIBRARY_PATH", "LD_PRELOAD", "LOCPATH", "PG_CLUSTER_CONF_ROOT")
_ENTERING = 'echo 0 >&0 && exec "$@" </dev/null'
"""Shell: enter the control group whose cgroup.procs is standard input, and be the command."""

_UNLINKING = 'find "$1" -type f -print0 | xargs -0 -r -P 8 -n 32 rm -f'
"""Shell: delete the files below a directory, eight processes at a time."""


@dataclass(frozen=True)
class Account:
    """A user of this machine; `switches` is false for the user that runs pgassay."""

    name: str
    uid: int
    gid: int
    switches: bool
    groups: tuple[int, ...] = ()
    """Its further groups, where what it runs needs them; a server of our own needs none."""

    def run(
        self,
        command: Sequence[str | Path],
        *,
        limit_s: float,
        text: str | None = None,
        libraries: Path | None = None,
        environment: Mapping[str, str] | None = None,
        enters: Path | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end; `text` is its standard input, its exit status is not judged.

        With an `environment` it has that instead of a clean one. `enters` is the cgroup.procs of a
        control group that it is in from its beginning, with all that it starts.
        """
        if environment is None:
            environment = clean_environment(os.environ, libraries)
        identity: dict[str, Any] = {}
        if self.switches:
            identity = {"user": self.uid, "group": self.gid, "extra_groups": self.groups}
        words = [str(word) for word in command]
        given: int | IO[bytes] = subprocess.DEVNULL if text is None else subprocess.PIPE
        started: list[subprocess.Popen[str]] = []
        try:
            # Known as soon as it runs: a program whose start was interrupted would work on.
            with interruptions_deferred():
                if enters is not None:
                    # Opened by us: the kernel asks for the rights of who opened the file.
                    given = enters.open("wb", buffering=0)
                    words = ["/bin/sh", "-c", _ENTERING, "sh", *words]
                started.append(
                    subprocess.Popen(
                        words,
                        stdin=given,
                        stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE,
                        text=True,
                        errors="replace",
                        cwd="/",
                        env=environment,
                        start_new_session=True,
                        **identity,
                    )
                )
            output, errors = started[0].communicate(text, timeout=limit_s)
        except OSError as error:
            if started:
                end_group(started[0])
                raise
            # 126: the program is closed to the account, or we may not become that account.
            status = 126 if isinstance(error, PermissionError) else 127
            return subprocess.CompletedProcess(words, status, "", f"{words[0]}: {error.strerror}")
        except subprocess.TimeoutExpired:
            end_group(started[0])
            program = Path(words[0]).name
            raise TargetRefused("program-does-not-end", program=program, seconds=limit_s) from None
        except BaseException:
            for process in started:
                end_group(process)
            raise
        finally:
            if not isinstance(given, int):
                given.close()
            for process in started:
                _close_pipes(process)
        return subprocess.CompletedProcess(words, started[0].returncode, output, errors)

    def unlink_files(self, directory: Path, limit_s: float) -> None:
        """Deletes the files below a directory, some of which may stay.

        A file system that discards the blocks of each file at once (ext4 without a journal) waits
        for each: beside busy programs a thousand files take three seconds one by one, and a
        quarter of a second eight at a time.
        """
        self.run(["sh", "-c", _UNLINKING, "sh", directory], limit_s=limit_s)

    def require(
        self,
        command: Sequence[str | Path],
        *,
        limit_s: float,
        text: str | None = None,
        libraries: Path | None = None,
    ) -> str:
        """Runs a command that must succeed; returns its standard output."""
        result = self.run(command, limit_s=limit_s, text=text, libraries=libraries)
        if result.returncode != 0:
            raise TargetRefused(
                "program-failed", name=Path(str(command[0])).name, said=last_line(result)
            )
        return result.stdout


def server_account(environment: Mapping[str, str] = os.environ) -> Account:
    """The user that runs pgassay or, for root, an unprivileged one: PostgreSQL refuses root."""
    uid = os.geteuid()
    if uid != 0:
        return Account(name_of(uid), uid, os.getegid(), switches=False)
    asked = environment.get(USER_VARIABLE)
    for name in [asked] if asked else ["postgres", "nobody"]:
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            if entry.pw_uid == 0:
                break
            return Account(entry.pw_name, entry.pw_uid, entry.pw_gid, switches=True)
    if asked:
        raise SetupRefused("no-such-account", name=asked)
    raise SetupRefused("no-account")


def account_named(name: str) -> Account | None:
    """Returns the account that a run has recorded; None where it is gone or may not be used."""
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        return None
    own = os.geteuid()
    if entry.pw_uid == own:
        return Account(name, own, entry.pw_gid, switches=False)
    if own == 0 and entry.pw_uid != 0:
        return Account(name, entry.pw_uid, entry.pw_gid, switches=True)
    return None


def clean_environment(
    environment: Mapping[str, str], libraries: Path | None = None
) -> dict[str, str]:
    """The environment of a server's programs: no PG* variable, messages in English."""
    kept = {name: environment[name] for name in KEPT_VARIABLES if name in environment}
    kept.setdefault("PATH", "/usr/local/bin:/usr/bin:/bin")
    if libraries is not None:
        rest = kept.get("LD_LIBRARY_PATH")
        kept["LD_LIBRARY_PATH"] = f"{libraries}:{rest}" if rest else str(libraries)
    return kept | {"LC_ALL": "C", "LC_MESSAGES": "C", "LANGUAGE": "C"}


def _close_pipes(process: subprocess.Popen[str]) -> None:
    """Close our ends of the pipes, also if a grandchild keeps the other ends open."""
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


def end_group(process: subprocess.Popen[str]) -> None:
    """Kills a command with its children; a postmaster has left the group by then."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


def last_line(result: subprocess.CompletedProcess[str]) -> str:
    """Returns the one line of a failed command that is worth showing."""
    for text in (result.stderr, result.stdout):
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if lines:
            return lines[-1]
    return f"exit status {result.returncode}, without a message"


def name_of(uid: int) -> str:
    """Returns the name of an account, or its number where it has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        # A container may run under a number that no file names.
        return str(uid)
