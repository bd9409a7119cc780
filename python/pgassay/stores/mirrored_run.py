"""A run whose results go into a store while it is carried out on this machine.

Enters: a URL, trials as they finish. Leaves: objects, in an order in which a reader never sees a
part without what it rests on; at the end nothing on this machine, if the store has everything.
Never: ends a run because the store fails: what could not be stored stays here, and is said.

The journal is stored when the run ends: until then this machine alone can undo what it changed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shlex import quote
from typing import Self

from pgassay.durable import make_directory
from pgassay.errors import PgassayError
from pgassay.refusals.refusal import DirectoryRefused
from pgassay.samples.journal import open_changes
from pgassay.samples.layout import ANALYSIS, JOURNAL, PLAN, PROFILES_INDEX, SPEC
from pgassay.samples.run_directory import RunDirectory
from pgassay.stores.address import copy_of, url_of_working_copy, working_copy_of
from pgassay.stores.fetching import fetched
from pgassay.stores.library import clear_errors, opened
from pgassay.stores.listing import PARTS, entries, everything_below, run_listing
from pgassay.stores.wanted import EVERYTHING
from pgassay.trials.model.record import TrialRecord

_REPORTS = "report."
_ENDS_FOLDER = (*PARTS.values(), PROFILES_INDEX)
"""Each is put after all else in its folder."""


class MirroredRun(RunDirectory):
    """A run directory below the user's data; `warn` is told what could not be stored."""

    warn: Callable[[str], None]

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.url = url_of_working_copy(path)
        self._stored: dict[str, tuple[int, int]] = {}
        """File → its size and time when it was put into the store."""

    @classmethod
    def begin(cls, url: str, spec_text: str, warn: Callable[[str], None]) -> Self:
        """Begins a new run; its experiment file is stored at once, to see that the store takes
        files."""
        path = working_copy_of(url)
        with clear_errors(url):
            system, root = opened(url)
            found = entries(system, root)
        if found:
            raise DirectoryRefused("already-exists", url)
        if path.exists():
            raise DirectoryRefused(
                "begun-and-not-stored", url, run=quote(url), copy=quote(str(path))
            )
        make_directory(path.parent, parents=True, exist_ok=True)
        run = cls.create(path)
        run.warn = warn
        try:
            run.write_text(SPEC, spec_text)
            with clear_errors(url, "cannot be written"):
                run._put_all()
        except BaseException:
            shutil.rmtree(path, ignore_errors=True)
            raise
        return run

    @classmethod
    def again(cls, url: str, warn: Callable[[str], None]) -> Self:
        """Opens a run that was begun: its working copy, or else what the store has of it."""
        path = working_copy_of(url)
        with clear_errors(url):
            system, root = opened(url)
            top = entries(system, root)
            stored = run_listing(system, root, top)
        if not path.exists():
            _bring_here(url, path)
        elif any(not (path / part).exists() for part in stored.parts):
            raise DirectoryRefused("continued-elsewhere", url, copy=quote(str(path)))
        run = cls.open(path)
        run.warn = warn
        for name, size in ((name, one["size"]) for name, one in stored.files.items()):
            if "/" in name and (path / name).is_file():
                here = _version(path / name)
                if here[0] == size:
                    run._stored[name] = here
        return run

    @classmethod
    def of_this_machine(cls, url: str, warn: Callable[[str], None]) -> Self:
        """Opens a run that was carried out here and is not stored whole; refuses any other."""
        if not working_copy_of(url).exists():
            raise DirectoryRefused("carried-out-elsewhere", url)
        return cls.again(url, warn)

    @property
    def place(self) -> str:
        """The URL of the run."""
        return self.url

    def write_trial(self, record: TrialRecord) -> None:
        """Stores a trial on this machine, then in the store."""
        super().write_trial(record)
        with self._warned("the run goes on, and it is tried again after the next trial"):
            self._put_all()

    def discard_if_empty(self) -> bool:
        """Remove the run here and in the store if it is empty; return whether it was removed."""
        if not super().discard_if_empty():
            return False
        with suppress(Exception):
            system, root = opened(self.url)
            for name in self._stored:
                system.rm_file(f"{root}/{name}")
        return True

    def finish(self) -> str:
        """The run has ended, well or not: store the rest. Where it is, in a line."""
        done = False
        with self._warned("nothing is lost"):
            self._put_all(ended=True)
            done = self._is_whole_there()
        if done and self.has(ANALYSIS) and not open_changes(self.path / JOURNAL):
            shutil.rmtree(self.path, ignore_errors=True)
            return f"stored in {self.url}"
        here = f"the whole copy on this machine is {self.path}"
        return f"stored in {self.url}; {here}" if done else f"not all is in {self.url}; {here}"

    @contextmanager
    def _warned(self, then: str) -> Iterator[None]:
        try:
            with clear_errors(self.url, "could not be stored"):
                yield
        except PgassayError as error:
            self.warn(f"{error}; {then}")

    def _put_all(self, *, ended: bool = False) -> None:
        system, root = opened(self.url)
        for name in sorted(_files_in(self.path), key=_order):
            if name.startswith((JOURNAL, ANALYSIS, _REPORTS)) and not ended:
                continue
            version = _version(self.path / name)
            if self._stored.get(name) != version:
                system.put_file(str(self.path / name), f"{root}/{name}")
                self._stored[name] = version

    def _is_whole_there(self) -> bool:
        system, root = opened(self.url)
        there = everything_below(system, root)
        here = _files_in(self.path)
        return all(n in there and there[n]["size"] == _version(self.path / n)[0] for n in here)


def _bring_here(url: str, path: Path) -> None:
    copy = fetched(Path(url), EVERYTHING)
    if not (copy / PLAN).is_file():
        raise DirectoryRefused("is-another-kind", url, kind=RunDirectory.KIND, mark=PLAN)
    if open_changes(copy / JOURNAL):
        raise DirectoryRefused("changes-left-elsewhere", url)
    make_directory(path.parent, parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.part")
    shutil.rmtree(aside, ignore_errors=True)
    shutil.copytree(copy, aside, ignore=shutil.ignore_patterns(".*"))
    aside.rename(path)
    shutil.rmtree(copy_of(url), ignore_errors=True)


def _files_in(path: Path) -> list[str]:
    """Files of the run by their names below it: not what is being written, or left of a failure."""
    found = []
    for folder, folders, names in os.walk(path):
        folders[:] = [one for one in folders if not one.startswith((".", "output-"))]
        below = Path(folder).relative_to(path)
        found += [(below / name).as_posix() for name in names if not name.startswith(".")]
    return found


def _order(name: str) -> tuple[int, str, bool, str]:
    """What a reader may see first comes first."""
    folder, _, file = name.rpartition("/")
    last = next(
        (n for n, one in enumerate((JOURNAL, ANALYSIS, _REPORTS), 2) if name.startswith(one)),
        1 if folder else 0,
    )
    return last, folder, file in _ENDS_FOLDER, file


def _version(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns
