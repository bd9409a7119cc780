"""The directories of owned servers: removed with their run, or by the next run if it was killed.

Enters: an account. Leaves: a `Workspace`, locked for as long as this process lives.
Never: touches the directory of a live run, never follows a link as root (the account itself removes
its files).

    BASE/                  of this process's user; others may pass through
      NAME.owner           of this process's user: who made NAME, locked while that run lives
      NAME.aside           of this process's user, 0700: a base backup, while it is made or kept
      NAME/                of the server's account, 0700: data, snapshot, server.log, socket
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import platformdirs

from pgassay.errors import TargetError
from pgassay.refusals.refusal import SetupRefused, TargetRefused
from pgassay.server.hosts.account import Account
from pgassay.server.hosts.memory_group import MemoryGroup, remove_group
from pgassay.server.owned.owner_file import SOCKET_PREFIX, SOCKETS, Owner, read_owner, write_owner
from pgassay.server.owned.postmaster import POLL_S, end_programs, end_servers

DATA_VARIABLE = "PGASSAY_DATA"
ROOT_BASE = Path("/var/lib/pgassay")
OLD = "old"
SOCKET_NAME = ".s.PGSQL.5432"
SOCKET_BYTES = 107
REMOVE_LIMIT_S = 300.0
EMPTY_LIMIT_S = 2.0
LOCK_LIMIT_S = 10.0


@dataclass
class Workspace:
    """One run's directory; while `lock` is held, sweeps of other runs leave it alone."""

    account: Account
    directory: Path
    owner_file: Path
    socket_directory: Path
    lock: int = field(repr=False)
    memory: MemoryGroup | None = None
    """The control group that its server runs in, where its memory is limited."""

    @property
    def data(self) -> Path:
        return self.directory / "data"

    @property
    def old(self) -> Path:
        """The data directory that pg_upgrade upgrades, while it does."""
        return self.directory / OLD

    @property
    def upgraded(self) -> Path:
        """The data directory that servers of other builds of the same version start from."""
        return self.directory / "upgraded"

    def snapshot(self, number: int = 0) -> Path:
        """Returns the directory of a snapshot, by its number: names of variants are the user's and
        may be no file names."""
        return self.directory / (f"snapshot-{number}" if number else "snapshot")

    @property
    def log_file(self) -> Path:
        return self.directory / "server.log"

    @property
    def aside(self) -> Path:
        """The directory in which a base backup is made, closed to the server's account until it is
        complete."""
        return aside_of(self.directory)

    def remove(self) -> None:
        """Ends what still runs in the directory, removes it, and releases the lock."""
        remove_directories(self.account, self.directory, self.socket_directory)
        if self.memory is not None:
            remove_group(self.memory.path)
        self.owner_file.unlink(missing_ok=True)
        if self.lock >= 0:
            os.close(self.lock)
            self.lock = -1


def aside_of(directory: Path) -> Path:
    """Returns the directory beside a workspace that the server's account cannot enter."""
    return directory.with_name(f"{directory.name}.aside")


def base_of(account: Account) -> Path:
    """Returns the directory that workspaces are made in; makes nothing."""
    return _base(account, os.environ)


def disk_of_workspaces(account: Account) -> Path:
    """Returns a directory on the disk that workspaces are made on; makes nothing."""
    base = base_of(account)
    return next(path for path in (base, *base.parents) if path.is_dir())


def _base(account: Account, environment: Mapping[str, str]) -> Path:
    asked = environment.get(DATA_VARIABLE)
    if asked:
        return Path(asked).expanduser().absolute()
    return ROOT_BASE if account.switches else platformdirs.user_cache_path("pgassay") / "servers"


def base_directory(account: Account, environment: Mapping[str, str] = os.environ) -> Path:
    """Where workspaces go; made if absent, and checked to be open to the account."""
    base = _base(account, environment)
    try:
        if not base.is_dir():
            base.mkdir(parents=True, mode=0o711 if account.switches else 0o700)
            base.chmod(0o711 if account.switches else 0o700)
        mode = base.stat().st_mode
    except OSError as error:
        raise SetupRefused("data-folder-not-made", folder=base, why=error.strerror) from None
    if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        raise SetupRefused("data-folder-open", folder=base)
    if account.run(["test", "-x", base], limit_s=20).returncode != 0:
        raise SetupRefused("data-folder-closed", account=account.name, folder=base)
    return base


def make_workspace(
    account: Account, base: Path, name: str, memory: MemoryGroup | None = None
) -> Workspace:
    """A fresh directory `name` under `base`, locked before it exists, with its control group."""
    owner_file = base / f"{name}.owner"
    lock = _locked(owner_file)
    directory = owner_file.with_suffix("")
    socket_directory = directory / "socket"
    workspace = Workspace(account, directory, owner_file, socket_directory, lock, memory)
    try:
        if len(os.fsencode(workspace.socket_directory / SOCKET_NAME)) >= SOCKET_BYTES:
            workspace.socket_directory = Path(tempfile.mkdtemp(prefix=SOCKET_PREFIX, dir=SOCKETS))
            os.chown(workspace.socket_directory, account.uid, account.gid)
        group = None if memory is None else memory.path
        write_owner(lock, Owner(account, workspace.socket_directory, group))
        if memory is not None:
            memory.make()
        directory.mkdir(mode=0o700)
        os.chown(directory, account.uid, account.gid)
        if workspace.socket_directory.parent == directory:
            account.require(["mkdir", "-m", "0700", workspace.socket_directory], limit_s=20)
    except BaseException as error:
        workspace.remove()
        if isinstance(error, OSError):
            raise SetupRefused(
                "data-folder-not-made", folder=directory, why=error.strerror
            ) from None
        raise
    return workspace


def new_name() -> str:
    return f"run-{secrets.token_hex(6)}"


def sweep(base: Path) -> list[Path]:
    """Stops and removes what killed runs have left under `base`; returns the directories
    removed."""
    removed: list[Path] = []
    for owner_file in sorted(base.glob("*.owner")):
        with contextlib.suppress(OSError, TargetError):
            removed += sweep_one(owner_file)
    return removed


def sweep_one(owner_file: Path) -> list[Path]:
    """Stop and remove what a killed run left under one name; nothing where its run is alive, or
    another user's. TargetError where the file names what is not of that name."""
    lock = os.open(owner_file, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if os.fstat(lock).st_uid != os.geteuid() or not _try_lock(lock, owner_file):
            return []
        directory = owner_file.with_suffix("")
        owner = read_owner(lock, owner_file)
        if owner is not None:
            remove_directories(owner.account, directory, owner.socket)
            if owner.memory_group is not None:
                remove_group(owner.memory_group)
        owner_file.unlink()
        return [directory]
    finally:
        os.close(lock)


def remove_directories(account: Account, directory: Path, socket_directory: Path) -> None:
    """End programs and servers below `directory`, then remove it and what belongs to it."""
    end_programs(directory, account.uid)
    end_programs(aside_of(directory), os.geteuid())
    for data in (directory / "data", directory / OLD):
        if not data.is_symlink():  # its account could have put one there
            end_servers(data)
    # Only this user can write there, so no link leads out of it.
    shutil.rmtree(aside_of(directory), ignore_errors=True)
    for path in (directory, socket_directory):
        if path.is_symlink() or path.exists():
            _remove(account, path)


def _remove(account: Account, path: Path) -> None:
    """The account empties its directory; its entry in the base directory is removed by us."""
    end = time.monotonic() + EMPTY_LIMIT_S
    account.unlink_files(path, REMOVE_LIMIT_S)
    while True:
        account.run(["find", path, "-mindepth", "1", "-delete"], limit_s=REMOVE_LIMIT_S)
        try:
            path.rmdir()
        except OSError as error:
            # A program that has just been killed may have made the file it was about to make.
            if error.errno == errno.ENOTEMPTY and time.monotonic() < end:
                time.sleep(POLL_S)
                continue
            raise TargetRefused("data-folder-left-over", path=path, why=error.strerror) from None
        return


def free_bytes(path: Path) -> int:
    return shutil.disk_usage(path).free


def _locked(owner_file: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    end = time.monotonic() + LOCK_LIMIT_S
    problem = "another run holds it"
    while time.monotonic() < end:
        try:
            lock = os.open(owner_file, flags, 0o600)
        except FileExistsError:
            time.sleep(POLL_S)
            continue
        except OSError as error:
            problem = error.strerror or str(error)
            break
        if _try_lock(lock, owner_file):
            return lock
        # The sweep of another run took the empty file for a leftover and is removing it.
        os.close(lock)
    raise SetupRefused("data-folder-not-made", folder=owner_file, why=problem)


def _try_lock(lock: int, path: Path) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.fstat(lock).st_ino == os.lstat(path).st_ino
    except OSError:
        return False
