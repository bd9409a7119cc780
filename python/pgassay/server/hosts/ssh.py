"""A host behind ssh as a `Host`.

Enters: paths and commands. Leaves: what they say over there, by the programs that every Linux has
(coreutils, util-linux). Never: puts an unquoted word before a shell, or a secret on a command line.
"""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from pgassay.refusals.refusal import TargetRefused
from pgassay.server.hosts.account import last_line
from pgassay.server.hosts.host import COMMAND_LIMIT_S, REPLACE, FileFacts, Finished, NoLocks
from pgassay.server.hosts.ssh_connection import SshConnection, quoted

# System programs are not on everybody's path, and messages are read.
_SHELL = 'PATH="$PATH:/usr/sbin:/sbin"; LC_ALL=C; export PATH LC_ALL; exec "$@"'
_KEPT = "echo held; exec cat >/dev/null"
_HELD_BY_ANOTHER = 75
_ERRORS = {
    os.strerror(number): number
    for number in (
        errno.ENOENT,
        errno.EACCES,
        errno.EPERM,
        errno.EROFS,
        errno.EINVAL,
        errno.ENOTDIR,
        errno.EISDIR,
        errno.EBUSY,
        errno.ELOOP,
        errno.ENOSPC,
        *NoLocks.NUMBERS,
    )
}


class SshLock:
    """A lock held by a program on that host for as long as we keep its input open."""

    def __init__(self, holder: subprocess.Popen[bytes]) -> None:
        self._holder = holder

    def held(self) -> bool:
        return self._holder.poll() is None

    def release(self) -> None:
        _close(self._holder)


class SshHost:
    """A machine reached by ssh, as the user's own configuration reaches it."""

    def __init__(self, name: str, *, sudo: bool = False) -> None:
        self.name = name
        self._sudo = sudo
        self._sudo_checked = not sudo
        self._connection = SshConnection(name)

    @property
    def label(self) -> str:
        return self.name

    @property
    def uid(self) -> int:
        if self._connection.uid < 0:
            self._require("true")
        return 0 if self._sudo else self._connection.uid

    def run(
        self,
        words: Sequence[str | Path],
        *,
        text: str = "",
        user: str | None = None,
        limit_s: float = COMMAND_LIMIT_S,
    ) -> Finished:
        done = self._run(words, text.encode(), user, limit_s)
        return subprocess.CompletedProcess(
            done.args,
            done.returncode,
            done.stdout.decode("utf-8", "replace"),
            done.stderr.decode("utf-8", "replace"),
        )

    def command(self, words: Sequence[str | Path]) -> list[str]:
        return self._connection.command(self._command(words, None))

    def read(self, path: Path, offset: int = 0) -> bytes:
        if offset:
            return self._require("tail", "-c", f"+{offset + 1}", "--", path)
        return self._require("cat", "--", path)

    def piece(self, path: Path, offset: int, length: int) -> bytes:
        return self._require(
            "dd",
            f"if={path}",
            "bs=1M",
            f"skip={offset}",
            f"count={length}",
            "status=none",
            "iflag=nofollow,nonblock,fullblock,skip_bytes,count_bytes",
        )

    def write(self, path: Path, text: str) -> None:
        self._require(
            "dd",
            f"of={path}",
            "bs=4096",
            "iflag=fullblock",
            "conv=notrunc,nocreat",
            "status=none",
            text=text,
        )

    def check_writable(self, path: Path) -> None:
        self._require("dd", "if=/dev/null", f"of={path}", "conv=notrunc,nocreat", "status=none")

    def replace(self, path: Path, text: str, user: str) -> None:
        self._require("sh", "-c", REPLACE, "sh", path, text=text, user=user)

    def facts(self, path: Path) -> FileFacts:
        # The name comes last: it may have blanks in it ("domain user"), and all else has no colon.
        words: list[str | Path] = ["stat", "-L", "-c", "%u:%s:%F:%U", "--", path]
        said = self._require(*words).decode("utf-8", "surrogateescape").removesuffix("\n")
        uid, size, kind, account = said.split(":", 3)
        return FileFacts(
            uid=int(uid),
            account=uid if account == "UNKNOWN" else account,
            size=int(size),
            is_directory=kind == "directory",
            is_file=kind.startswith("regular"),
        )

    def resolve(self, path: Path) -> Path:
        said = self._require("realpath", "-e", "--", path)
        return Path(os.fsdecode(said.removesuffix(b"\n")))

    def names(self, directory: Path) -> list[str]:
        return self._require("ls", "-A1", "--", directory).decode("utf-8", "replace").splitlines()

    def lock(self, path: Path) -> SshLock | None:
        words: list[str | Path] = ["flock", "-n", "-E", str(_HELD_BY_ANOTHER), path]
        words += ["sh", "-c", _KEPT]
        self._check_sudo()
        holder = self._connection.start(self._command(words, None))
        assert holder.stdout is not None  # noqa: S101 (a pipe was asked for)
        try:
            with self._connection.answering(holder):
                first_line = holder.stdout.readline()
        except BaseException:
            holder.kill()
            _close(holder)
            raise
        if first_line == b"held\n":
            return SshLock(holder)
        status, said = _close(holder)
        if status == _HELD_BY_ANOTHER:
            return None
        failed = self._failed(status, said)
        if isinstance(failed, OSError) and failed.errno in NoLocks.NUMBERS:
            raise NoLocks(path, self.label, failed)
        raise failed

    def close(self) -> None:
        self._connection.close()

    def _require(self, *words: str | Path, text: str = "", user: str | None = None) -> bytes:
        """Run a command on files; its failure is an OSError, as on this host."""
        done = self._run(words, text.encode(), user, COMMAND_LIMIT_S)
        if done.returncode:
            raise self._failed(done.returncode, done.stderr)
        return done.stdout

    def _run(
        self, words: Sequence[str | Path], text: bytes, user: str | None, limit_s: float
    ) -> subprocess.CompletedProcess[bytes]:
        self._check_sudo()
        process = self._connection.start(self._command(words, user))
        try:
            output, errors = process.communicate(text, timeout=limit_s)
        except subprocess.TimeoutExpired:
            raise TargetRefused(
                "program-does-not-end-on",
                program=Path(words[0]).name,
                host=self.name,
                seconds=limit_s,
            ) from None
        finally:
            if process.returncode is None:
                process.kill()
                process.wait()
            # Not read to their end: the connection itself may hold the other ends a while longer.
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()
        if self._connection.lost(process.returncode):
            raise self._connection.unreachable(errors.decode("utf-8", "replace"))
        return subprocess.CompletedProcess(words, process.returncode, output, errors)

    def _command(self, words: Sequence[str | Path], user: str | None) -> str:
        command: list[str | Path] = ["sh", "-c", _SHELL, "sh"]
        if self._sudo:
            command += ["sudo", "-n", *(["-u", user] if user else []), "--", "env", "LC_ALL=C"]
        elif user is not None:
            command += self._as(user)
        return quoted([*command, *words])

    def _check_sudo(self) -> None:
        """Check once that sudo asks for no password: its refusal would look like a file's error."""
        if self._sudo_checked:
            return
        self._sudo_checked = True
        try:
            done = self._run(["true"], b"", None, COMMAND_LIMIT_S)
        except BaseException:
            self._sudo_checked = False
            raise
        if done.returncode:
            self._sudo_checked = False
            words = done.stderr.decode("utf-8", "replace")
            said = last_line(subprocess.CompletedProcess([], done.returncode, "", words))
            raise TargetRefused("sudo-refused", host=self.name, said=said)

    def _as(self, user: str) -> list[str]:
        if self._connection.uid < 0:
            self._require("true")
        if self._connection.uid == 0:
            return ["runuser", "-u", user, "--"]
        # Without root there is only ourselves; another user's files will say so.
        return []

    def _failed(self, status: int, said: bytes) -> Exception:
        words = said.decode("utf-8", "replace")
        if self._connection.lost(status):
            return self._connection.unreachable(words)
        line = last_line(subprocess.CompletedProcess([], status, "", words))
        reason = line.rpartition(": ")[2]
        return OSError(_ERRORS.get(reason, 0), reason if reason in _ERRORS else line)


def _close(process: subprocess.Popen[bytes]) -> tuple[int, bytes]:
    """End a program on that host by closing its input."""
    with suppress(OSError):
        if process.stdin is not None:
            process.stdin.close()
        process.stdin = None
    try:
        _, errors = process.communicate(timeout=COMMAND_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        _, errors = process.communicate()
    return process.returncode, errors
