"""`pgassay rm RUN…`: removes stored runs.

Enters: directories. Leaves: one line per removed one on stdout. Never: removes one of several
before all of them have been checked, or any without a yes.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pgassay.cli.terminal.console import err, one_line, out
from pgassay.cli.terminal.options import option
from pgassay.refusals.refusal import SetupRefused

if TYPE_CHECKING:
    from pgassay.samples.ownership.removal import Removable


def rm(
    runs: Annotated[list[Path], typer.Argument(help="Their directories or URLs.")],
    yes: Annotated[bool, option("--yes -y", "Remove without asking.")] = False,
    dry_run: Annotated[bool, option("--dry-run", "Say what would be removed, and stop.")] = False,
) -> None:
    """Remove stored runs, observations, traces and profiles.

    What is running, or has changes on a server that are not undone, is refused.
    """
    found = {one.path: one for one in map(_checked, runs)}  # named twice, it is removed once
    lines = {path: _described(one) for path, one in found.items()}
    if dry_run:
        for line in lines.values():
            out.print(f"would remove {line}", markup=False)
        return
    if not yes:
        if not sys.stdin.isatty():
            raise SetupRefused("nobody-to-ask")
        for line in lines.values():
            err.print(line, markup=False)
        these = "this directory" if len(found) == 1 else f"these {len(found)} directories"
        if not typer.confirm(f"Remove {these}?", err=True):
            err.print("nothing was removed", markup=False)
            return
    for path, one in found.items():
        _remove(one)
        out.print(f"removed {lines[path]}", markup=False)


def _checked(run: Path) -> Removable:
    from pgassay.samples.address import local_path, url_of
    from pgassay.samples.ownership.removal import removable
    from pgassay.stores.removing import removable_of

    url = url_of(run)
    return removable(local_path(run)) if url is None else removable_of(url)


def _remove(found: Removable) -> None:
    from pgassay.samples.ownership.removal import remove
    from pgassay.stores.removing import StoredRemovable, remove_stored

    remove_stored(found) if isinstance(found, StoredRemovable) else remove(found)


def _described(found: Removable) -> str:
    from pgassay.samples.layout import OBSERVATION, PLAN
    from pgassay.samples.overview import overview_of
    from pgassay.stores.address import shown

    about = found.mark.stem
    if found.mark.name in (PLAN, OBSERVATION):
        run = overview_of(found.path)
        about = ", ".join(filter(None, (run.state, run.badge, run.question)))
    return one_line(f"{shown(found.path)} ({found.bytes / 2**20:,.1f} MB; {about})")
