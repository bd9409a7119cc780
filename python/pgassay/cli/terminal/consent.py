"""Shows what is about to be done for a run directory, and asks where its user may not know of it.

Enters: acts. Leaves: nothing where they may be done; a SetupError where they may not.
Never: asks about what the user's own record has.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer
from rich.console import Console

from pgassay.cli.terminal.console import err
from pgassay.refusals.refusal import SetupRefused
from pgassay.server.recovery.acts import Act

NOT_RECORDED = "not in your own record"


def print_acts(acts: Sequence[Act], console: Console = err) -> None:
    """Prints a line for each thing that would be done."""
    for act in acts:
        of = "" if act.recorded else f" ({NOT_RECORDED})"
        console.print(f"to do{of}: {act.text}", markup=False)


def refuse_without_consent(acts: Sequence[Act], *, yes: bool, quiet: bool = False) -> None:
    """Prints what is to be done, and asks where the user's own record lacks some of it."""
    unknown = [act for act in acts if not act.recorded]
    print_acts(unknown if quiet else acts)
    if not unknown or yes:
        return
    if not sys.stdin.isatty():
        raise SetupRefused("unknown-lines", count=len(unknown))
    if not typer.confirm("Do this?", err=True):
        raise SetupRefused("nothing-done")
