"""Reads runs of a store: a copy on this machine with the files that a command reads.

Enters: a path as a user gave it, which files are wanted. Leaves: a path of this machine; for a URL
that of a copy which agrees with the store's listing of this moment; copies are kept within a limit
of disk space. Never: puts anything into a store but the reports that a command wrote into the copy.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pgassay.durable import make_directory
from pgassay.refusals.refusal import DirectoryRefused
from pgassay.samples.address import local_path, url_of
from pgassay.samples.overview import HEAD_KEYS
from pgassay.samples.storage.json_head import HEAD_BYTES, first_values_of
from pgassay.stores.address import copies_folder, copy_of
from pgassay.stores.library import clear_errors, opened, version_of
from pgassay.stores.listing import PARTS, Entries, entries, folders, is_run, run_listing
from pgassay.stores.wanted import Wanted

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

AT_ONCE = 32
"""Requests: most of each is waiting."""
_WHOLE, _HEAD = "whole", "head"


def fetched(path: Path, wanted: Wanted) -> Path:
    """Fetches a run, or a folder of runs, as a path of this machine."""
    url = url_of(path)
    if url is None:
        return local_path(path)
    trim(copies_folder())
    with clear_errors(url):
        return _fetched(url, wanted)


@contextmanager
def written_back(path: Path, wanted: Wanted, on_stored: Callable[[str], None]) -> Iterator[Path]:
    """Fetch a run for a command that writes into its top folder, then store what it wrote.

    `on_stored` is called with the URL of each stored file.
    """
    here, url = fetched(path, wanted), url_of(path)
    before = _in_top_folder(here) if url else {}
    yield here
    if url is None:
        return
    with clear_errors(url, "the report could not be stored there"):
        system, root = opened(url)
        for name, version in sorted(_in_top_folder(here).items()):
            if before.get(name) != version:
                system.put_file(str(here / name), f"{root}/{name}")
                on_stored(f"{url}/{name}")


def _fetched(url: str, wanted: Wanted) -> Path:
    system, root = opened(url)
    copy, top = copy_of(url), entries(system, root)
    if not top:
        raise DirectoryRefused("nothing-in-store", url)
    make_directory(copy, parents=True, exist_ok=True)
    if is_run(top):
        _Copy(system, root, copy).agree(top, wanted)
        return copy

    def fetch(name: str) -> bool:
        below = entries(system, f"{root}/{name}")
        if is_run(below):
            make_directory(copy / name, exist_ok=True)
            _Copy(system, f"{root}/{name}", copy / name).agree(below, wanted)
        return is_run(below)

    names = folders(top)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        runs = {name for name, found in zip(names, pool.map(fetch, names), strict=True) if found}
    for gone in copy.iterdir():
        if gone.name not in runs and (gone / NOTES).exists():
            shutil.rmtree(gone)
    return copy


@dataclass(frozen=True)
class _Copy:
    """The copy of one run."""

    system: AbstractFileSystem
    root: str
    path: Path

    def agree(self, top: Entries, wanted: Wanted) -> None:
        """Makes the copy agree with the store, with the wanted files in it."""
        listing = run_listing(self.system, self.root, top, parts_only=not wanted.has_other_folders)
        versions = {name: version_of(one) for name, one in listing.files.items()}
        # A list of runs reads a little of each; that keeps no copy from being trimmed.
        with _notes(self.path, is_read=not wanted.heads) as notes:
            for name in [n for n, (version, _) in notes.items() if versions.get(n) != version]:
                if name in versions or wanted.has_other_folders or _is_listed(name):
                    (self.path / name).unlink(missing_ok=True)
                    del notes[name]
            self._remove_unknown(notes, listing.parts)
            for part in listing.parts:
                (self.path / part).mkdir(mode=0o700, parents=True, exist_ok=True)
            whole = [name for name in versions if wanted.is_whole(name)]
            self._get(name for name in whole if notes.get(name, "")[1:] != [_WHOLE])
            notes |= {name: [versions[name], _WHOLE] for name in whole}
            for name in wanted.heads:
                if name in versions and name not in notes:
                    notes[name] = [versions[name], self._get_head(name)]

    def _remove_unknown(self, notes: dict[str, list[str]], parts: Iterable[str]) -> None:
        """What a command wrote here and is not in the store, and trials that are gone."""
        for file in self.path.iterdir():
            if file.is_file() and file.name not in notes and file.name != NOTES:
                file.unlink()
        for folder in PARTS:
            for part in (self.path / folder).glob("*"):
                if f"{folder}/{part.name}" not in parts:
                    shutil.rmtree(part, ignore_errors=True)

    def _get(self, names: Iterable[str]) -> None:
        some = list(names)
        self.system.get(
            [f"{self.root}/{name}" for name in some], [str(self.path / name) for name in some]
        )

    def _get_head(self, name: str) -> str:
        """The beginning of a file; all of it where the beginning lacks what is read of it."""
        path = self.path / name
        head = self.system.cat_file(f"{self.root}/{name}", start=0, end=HEAD_BYTES)
        path.write_bytes(head)
        if len(head) < HEAD_BYTES:
            return _WHOLE
        if HEAD_KEYS[name] in first_values_of(path, HEAD_KEYS[name]):
            return _HEAD
        self._get([name])
        return _WHOLE


def _is_listed(name: str) -> bool:
    """Whether every listing has this file, if it is there."""
    folder = name.partition("/")[0]
    return folder == name or folder in PARTS


@contextmanager
def _notes(copy: Path, *, is_read: bool) -> Iterator[dict[str, list[str]]]:
    """File → its version and how much of it is here; for one process at a time."""
    descriptor = os.open(copy / NOTES, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        text = file.read()
        notes: dict[str, list[str]] = json.loads(text) if text else {}
        before = os.fstat(descriptor)
        yield notes
        file.seek(0)
        file.truncate()
        json.dump(notes, file)
        file.flush()
        if text and not is_read:
            os.utime(descriptor, ns=(before.st_atime_ns, before.st_mtime_ns))


def _in_top_folder(path: Path) -> dict[str, tuple[int, int]]:
    found = (entry for entry in os.scandir(path) if entry.is_file() and entry.name != NOTES)
    return {one.name: (one.stat().st_size, one.stat().st_mtime_ns) for one in found}


NOTES = ".fetched.json"
"""Beside the files of a copy: which versions they are. Its time is when the copy was last read."""
_DAY_S = 86_400
_KEPT_S = 30 * _DAY_S


def trim(copies: Path) -> None:
    """Removes copies that were not read for 30 days; they can be fetched again."""
    looked = copies / ".trimmed"
    with suppress(OSError):
        make_directory(copies, parents=True, exist_ok=True)
        if looked.exists() and _age_s(looked.stat()) < _DAY_S:
            return
        looked.touch()
        for folder, below, names in os.walk(copies):
            if NOTES in names:
                below.clear()
                _remove_unread(Path(folder))


def _remove_unread(copy: Path) -> None:
    with suppress(OSError), (copy / NOTES).open("rb") as notes:
        fcntl.flock(notes, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _age_s(os.fstat(notes.fileno())) > _KEPT_S:
            shutil.rmtree(copy, ignore_errors=True)


def _age_s(found: os.stat_result) -> float:
    return time.time() - found.st_mtime
