"""Removes a stored run, observation, trace or profile.

Enters: the path of one. Leaves: nothing of it; or one line that says why it stays, with all of it.
Never: follows a symbolic link, removes a directory that pgassay did not make, or one whose run is
alive or has changes left to undo.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from pgassay.refusals.refusal import DirectoryRefused
from pgassay.samples.layout import JOURNAL, MARKS
from pgassay.samples.ownership.unfinished import locked
from pgassay.samples.storage.files import clear_errors
from pgassay.samples.storage.journal_lines import open_entries
from pgassay.samples.storage.json_head import values_of


@dataclass(frozen=True)
class Removable:
    """A directory that may be removed."""

    path: Path
    mark: Path
    """The file that shows what it is; the last that goes, so that a removal can be repeated."""
    bytes: int


def removable(path: Path) -> Removable:
    """Checks a directory that is to be removed; refuses what must stay."""
    if path.is_symlink():
        raise DirectoryRefused("is-a-link", path)
    if not path.is_dir():
        raise DirectoryRefused("not-a-directory", path)
    path = path.resolve()
    mark = mark_in(path)
    if mark is None:
        raise DirectoryRefused("not-of-pgassay", path, marks=", ".join(MARKS))
    with locked(path):
        refuse_changes_left(path)
    return Removable(path, mark, _bytes_in(path))


def remove(found: Removable) -> None:
    """Removes the directory."""
    with locked(found.path):
        refuse_changes_left(found.path)  # a resumed run may have made some since the check
        try:
            for entry in list(os.scandir(found.path)):
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path)
                elif entry.path != str(found.mark):
                    Path(entry.path).unlink()
            shutil.rmtree(found.path)
        except OSError as error:
            place = error.filename or found.path
            raise DirectoryRefused("cannot-be-removed", place, why=error.strerror) from None


def mark_in(path: Path) -> Path | None:
    """Returns the file that shows that a directory is of pgassay."""
    return next((path / name for name in MARKS if _is_ours(path / name)), None)


def _is_ours(mark: Path) -> bool:
    try:
        return str(values_of(mark, "schema").get("schema", "")).startswith("pgassay.")
    except (OSError, ValueError):
        return False


def refuse_changes_left(path: Path) -> None:
    """Refuses a directory whose run has changes that are not undone."""
    if open_entries(path / JOURNAL):
        raise DirectoryRefused("changes-left", path, run=quote(str(path)))


def _bytes_in(path: Path) -> int:
    with clear_errors(path):
        return sum(
            os.lstat(Path(folder, name)).st_size
            for folder, _, names in os.walk(path)
            for name in names
        )
