"""This machine as a `Host`.

Enters: paths and commands. Leaves: what they say, by system calls and child processes.
Never: asks for a password; another user's name is taken on only by root.
"""

from __future__ import annotations

import errno
import fcntl
import os
import pwd
import stat
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pgassay.refusals.refusal import TargetRefused
from pgassay.server.hosts.account import Account, account_named, last_line
from pgassay.server.hosts.host import COMMAND_LIMIT_S, REPLACE, FileFacts, Finished, NoLocks


class LocalLock:
    """A lock on a file of this machine, held by flock on a descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def held(self) -> bool:
        return self._descriptor >= 0

    def release(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __del__(self) -> None:
        # Ctrl-C may come before a variable refers to it; it would then be held until we end.
        self.release()


class LocalHost:
    """This machine as a `Host`."""

    name = ""
    label = "this host"

    @property
    def uid(self) -> int:
        return os.geteuid()

    def run(
        self,
        words: Sequence[str | Path],
        *,
        text: str = "",
        user: str | None = None,
        limit_s: float = COMMAND_LIMIT_S,
    ) -> Finished:
        return _account(user).run(words, limit_s=limit_s, text=text)

    def command(self, words: Sequence[str | Path]) -> list[str]:
        return [str(word) for word in words]

    def read(self, path: Path, offset: int = 0) -> bytes:
        with path.open("rb") as file:
            if offset:
                file.seek(offset)
            return file.read()

    def piece(self, path: Path, offset: int, length: int) -> bytes:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            return os.pread(file, length, offset)
        finally:
            os.close(file)

    def write(self, path: Path, text: str) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)

    def check_writable(self, path: Path) -> None:
        # os.access says yes to root in a container whose /proc/sys is read-only.
        os.close(os.open(path, os.O_WRONLY | os.O_CLOEXEC))

    def replace(self, path: Path, text: str, user: str) -> None:
        done = self.run(["sh", "-c", REPLACE, "sh", path], text=text, user=user)
        if done.returncode:
            raise OSError(0, last_line(done))

    def facts(self, path: Path) -> FileFacts:
        found = path.stat()
        try:
            account = pwd.getpwuid(found.st_uid).pw_name
        except KeyError:
            account = str(found.st_uid)
        return FileFacts(
            uid=found.st_uid,
            account=account,
            size=found.st_size,
            is_directory=stat.S_ISDIR(found.st_mode),
            is_file=stat.S_ISREG(found.st_mode),
        )

    def resolve(self, path: Path) -> Path:
        try:
            return path.resolve(strict=True)
        except RuntimeError:  # what Python 3.11 says of links that go round
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from None

    def names(self, directory: Path) -> list[str]:
        return [path.name for path in directory.iterdir()]

    def lock(self, path: Path) -> LocalLock | None:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        lock = LocalLock(descriptor)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock.release()
            if isinstance(error, BlockingIOError):
                return None
            if error.errno in NoLocks.NUMBERS:
                raise NoLocks(path, self.label, error) from None
            raise
        return lock

    def close(self) -> None:
        """Does nothing: nothing is open."""


HERE = LocalHost()


def lock_run(directory: Path) -> LocalLock | None:
    """Lock the directory of a run, as the run does itself; None where the run is alive."""
    try:
        return HERE.lock(directory)
    except NoLocks as error:
        raise TargetRefused("used-by-a-run", why=error, directory=directory) from None


def _account(user: str | None) -> Account:
    own = os.geteuid()
    if user is None:
        return Account("", own, os.getegid(), switches=False)
    account = account_named(user)
    if account is None:
        raise TargetRefused("takes-an-account", user=user)
    # A server under a service may read its key through a group, as Debian's does (ssl-cert).
    return replace(account, groups=tuple(os.getgrouplist(user, account.gid)))
