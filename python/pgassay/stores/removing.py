"""Removes a run from a store.

Enters: its URL. Leaves: nothing of it there and here; or one line that says why it stays.
Never: removes a folder that is no run of pgassay, or a run that this machine is carrying out or has
changes of to undo.
"""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from pgassay.refusals.refusal import DirectoryRefused
from pgassay.samples.layout import PROFILES_INDEX, TRACE
from pgassay.samples.ownership.removal import (
    Removable,
    mark_in,
    refuse_changes_left,
    removable,
    remove,
)
from pgassay.stores.address import working_copy_of
from pgassay.stores.fetching import AT_ONCE, fetched
from pgassay.stores.library import clear_errors, opened
from pgassay.stores.listing import everything_below
from pgassay.stores.wanted import OVERVIEW, Wanted


@dataclass(frozen=True)
class StoredRemovable(Removable):
    """A run in a store; `path` is that of its copy here."""

    url: str
    working_copy: Removable | None
    """Where this machine carried it out and it is not whole in the store."""


def removable_of(url: str) -> StoredRemovable:
    """Checks whether a run may be removed; refuses what must stay."""
    copy = fetched(Path(url), OVERVIEW | Wanted(whole=(TRACE, PROFILES_INDEX)))
    mark = mark_in(copy)
    if mark is None:
        raise DirectoryRefused("of-no-kind", url)
    refuse_changes_left(copy)
    here = working_copy_of(url)
    working_copy = removable(here) if here.exists() else None
    with clear_errors(url):
        system, root = opened(url)
        found = everything_below(system, root)
    return StoredRemovable(
        copy, mark, sum(one["size"] for one in found.values()), url, working_copy
    )


def remove_stored(found: StoredRemovable) -> None:
    """Removes a run from the store; the file that shows what it is goes last."""
    if found.working_copy is not None:
        remove(found.working_copy)
    with clear_errors(found.url, "cannot be removed"):
        system, root = opened(found.url)
        names = set(everything_below(system, root)) - {found.mark.name}
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(lambda name: system.rm_file(f"{root}/{name}"), names))
        system.rm_file(f"{root}/{found.mark.name}")
    shutil.rmtree(found.path, ignore_errors=True)
