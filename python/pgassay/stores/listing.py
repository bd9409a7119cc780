"""What a store holds of a run.

Enters: an open store and a path in it. Leaves: names with what the store says of each object.
Never: reads an object.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pgassay.samples.layout import MARKS

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

Entries = Mapping[str, Mapping[str, Any]]
PARTS = {"trials": "trial.json", "segments": "segment.json"}
"""Folders of parts, and the file that is put last: with it a part is whole."""


@dataclass(frozen=True)
class RunListing:
    """The objects of one run by their names below it, without parts that are not whole yet."""

    files: Entries
    parts: frozenset[str]
    """Such as trials/0001."""


def entries(system: AbstractFileSystem, path: str) -> Entries:
    """Lists what lies directly in a folder, by name; nothing where there is none."""
    try:
        found = system.ls(path, detail=True)
    except FileNotFoundError:
        return {}
    named = {str(one["name"]).rstrip("/").rpartition("/")[2]: one for one in found}
    own = path.rpartition("/")[2]
    if own in named and str(named[own]["name"]).strip("/") == path.strip("/"):
        del named[own]  # an empty object that stands for the folder itself
    return {name: one for name, one in named.items() if name not in ("", ".", "..")}


def is_run(found: Entries) -> bool:
    """Returns whether these are the entries of a directory that pgassay made."""
    return any(mark in found for mark in MARKS)


def folders(found: Entries) -> list[str]:
    """Returns the names of folders among entries."""
    return [name for name, one in found.items() if one["type"] == "directory"]


def run_listing(
    system: AbstractFileSystem, path: str, top: Entries, *, parts_only: bool = False
) -> RunListing:
    """Lists the objects of a run whose top folder has been listed."""
    files = {name: one for name, one in top.items() if one["type"] != "directory"}
    parts = set[str]()
    for folder in folders(top):
        if folder in PARTS:
            below = everything_below(system, path, folder)
            whole = {name.rpartition("/")[0] for name in below if _ends_part(name)}
            parts |= whole
            files |= {n: one for n, one in below.items() if n.rpartition("/")[0] in whole}
        elif not parts_only:
            files |= everything_below(system, path, folder)
    return RunListing(files, frozenset(parts))


def everything_below(system: AbstractFileSystem, path: str, folder: str = "") -> dict[str, Any]:
    """Returns every object of a run or of one of its folders, by its name below the run."""
    try:
        found = system.find(f"{path}/{folder}" if folder else path, detail=True)
    except FileNotFoundError:
        return {}
    named = {str(name)[len(path) + 1 :]: one for name, one in found.items()}
    return {
        name: one
        for name, one in named.items()
        if name and not name.endswith("/") and ".." not in name.split("/")
    }


def _ends_part(name: str) -> bool:
    match name.split("/"):
        case [folder, number, file]:
            return number.isdigit() and PARTS.get(folder) == file
    return False
