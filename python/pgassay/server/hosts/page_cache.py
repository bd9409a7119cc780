"""The host's page cache, of one directory's files.

Enters: directories of a server on this host. Leaves: their pages dropped or read, and the share of
them that the kernel holds. Never: changes a file, follows a link, or touches the pages of others.

posix_fadvise(2) drops the pages of one file and needs no right but to read it, where
/proc/sys/vm/drop_caches would take every other program's pages too. mincore(2) says what remains.
"""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

_READ_AT_ONCE = 1 << 20
_MAPPED_AT_ONCE = 1 << 30
_PROT_READ, _MAP_SHARED = 1, 1
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int64,
)
_libc.mincore.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p)
_libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
_FAILED = ctypes.c_void_p(-1).value


def drop(directories: Sequence[Path]) -> None:
    """Drops every page of the files from the host's cache, after a sync: the kernel keeps dirty
    ones."""
    for descriptor, _ in _files(directories):
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


def read(directories: Sequence[Path]) -> None:
    """Reads every file from its beginning to its end."""
    piece = bytearray(_READ_AT_ONCE)
    for descriptor, _ in _files(directories):
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_SEQUENTIAL)
        offset = 0
        while got := os.preadv(descriptor, [piece], offset):
            offset += got


def cached_share(directories: Sequence[Path]) -> float | None:
    """Returns the share of the files' pages that are in memory; None where the kernel does
    not say."""
    pages = held = 0
    for descriptor, size in _files(directories):
        for offset in range(0, size, _MAPPED_AT_ONCE):
            length = min(_MAPPED_AT_ONCE, size - offset)
            resident = _resident(descriptor, offset, length)
            if resident is None:
                return None
            pages += len(resident)
            held += sum(page & 1 for page in resident)
    return held / pages if pages else None


def readable(directories: Sequence[Path]) -> bool:
    """Returns whether this user may read what lies in these directories."""
    return bool(directories) and all(os.access(one, os.R_OK | os.X_OK) for one in directories)


def _resident(descriptor: int, offset: int, length: int) -> bytes | None:
    address = _libc.mmap(None, length, _PROT_READ, _MAP_SHARED, descriptor, offset)
    if address == _FAILED:
        return None
    try:
        count = -(-length // os.sysconf("SC_PAGESIZE"))
        resident = ctypes.create_string_buffer(count)
        return resident.raw if _libc.mincore(address, length, resident) == 0 else None
    finally:
        _libc.munmap(address, length)


def _files(directories: Sequence[Path]) -> Iterator[tuple[int, int]]:
    """A descriptor of each regular file, and its size; a file that is gone meanwhile is left out.

    Opened without following links: the directory belongs to the server's account.
    """
    for directory in directories:
        for folder, _, names in os.walk(directory):
            for name in names:
                with suppress(OSError), _opened(Path(folder, name)) as (descriptor, size):
                    if size:
                        yield descriptor, size


@contextmanager
def _opened(path: Path) -> Iterator[tuple[int, int]]:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(path, flags)
    try:
        found = os.fstat(descriptor)
        yield descriptor, found.st_size if stat.S_ISREG(found.st_mode) else 0
    finally:
        os.close(descriptor)
