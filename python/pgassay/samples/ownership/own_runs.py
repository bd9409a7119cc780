"""Whether a run directory is the user's own: nobody else could write it, and it was begun here.

Enters: a run directory. Leaves: a RunDirectoryError with the fix, or a mark that the user has begun
this experiment here. Never: follows a symbolic link, or keeps more of an experiment than a digest.

A run directory is code: it names commands, programs and SQL, and servers to change. Files of others
are not acted on. A copy that the user has made of them looks like the user's own; so what runs such
things asks, unless the user has begun the same experiment, word for word.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress
from pathlib import Path

import platformdirs

from pgassay.durable import make_directory, write_atomically
from pgassay.refusals.refusal import DirectoryRefused
from pgassay.samples.layout import ENVIRONMENT, FAILED, JOURNAL, PLAN, SPEC, STATEMENTS, TRIALS
from pgassay.server.hosts.account import name_of
from pgassay.spec.stored import WORKLOAD_COPY

MOST_KEPT = 1000
_FILES = (
    SPEC,
    WORKLOAD_COPY,
    JOURNAL,
    PLAN,
    ENVIRONMENT,
    FAILED,
    STATEMENTS,
    TRIALS,
)


def refuse_others(path: Path) -> None:
    """Refuses a run directory that another user made, or could have changed."""
    _refuse(path)
    for name in _FILES:
        if os.path.lexists(path / name):
            _refuse(path / name)
    with suppress(FileNotFoundError):
        for entry in os.scandir(path / TRIALS):
            if entry.name.isdigit():
                _refuse(Path(entry.path))


def remember_begun(path: Path) -> None:
    """Notes that this user has begun the experiment of a run directory on this machine. Where the
    disk does not take that, resuming the run asks."""
    folder = _folder()
    with suppress(OSError):
        make_directory(folder, parents=True, exist_ok=True)
        write_atomically(folder / _digest(path), b"")
        marks = sorted(folder.iterdir(), key=lambda one: one.stat().st_mtime_ns)
        for old in marks[:-MOST_KEPT]:
            old.unlink(missing_ok=True)


def was_begun_here(path: Path) -> bool:
    """Returns whether this user has begun the experiment of a run directory on this machine."""
    with suppress(OSError):
        mark = (_folder() / _digest(path)).lstat()
        return stat.S_ISREG(mark.st_mode) and mark.st_uid == os.geteuid()
    return False


def _refuse(path: Path) -> None:
    try:
        found = path.lstat()
    except OSError as error:
        raise DirectoryRefused("cannot-be-opened", path, why=error.strerror) from None
    if stat.S_ISLNK(found.st_mode):
        raise DirectoryRefused("is-a-link", path)
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
        raise DirectoryRefused("neither-file-nor-directory", path)
    us = os.geteuid()
    if found.st_uid != us:
        owner, user = name_of(found.st_uid), name_of(us)
        raise DirectoryRefused("belongs-to-another", path, owner=owner, user=user)
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise DirectoryRefused("others-may-write", path, mode=stat.S_IMODE(found.st_mode))


def _digest(path: Path) -> str:
    """Of everything that says what the run does."""
    whole = hashlib.sha256()
    for name in (SPEC, WORKLOAD_COPY):
        whole.update(hashlib.sha256((path / name).read_bytes()).digest())
    return whole.hexdigest()


def _folder() -> Path:
    return platformdirs.user_state_path("pgassay") / "begun"
