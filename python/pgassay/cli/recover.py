"""`pgassay recover RUN`: undo what a killed run left changed on its server.

Enters: a run directory. Leaves: the server as the run found it, and the journal saying so.
Never: disturbs a run that is still going on, or acts for another user's directory.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pgassay.cli.terminal.options import option


def recover(
    run: Annotated[Path, typer.Argument(help="A run directory or its URL.")],
    dry_run: Annotated[bool, option("--dry-run", "Say what would be done, and stop.")] = False,
    yes: Annotated[
        bool, option("--yes -y", "Do also what your own record of changes does not have.")
    ] = False,
) -> None:
    """Undo what a killed run left changed on its server.

    A run directory is code: recover refuses one that others own or may write, and asks
    before it does what your own record of changes does not have.
    """
    from pgassay.cli.terminal.consent import print_acts, refuse_without_consent
    from pgassay.cli.terminal.console import err, out, plain, warn
    from pgassay.recovery import left_changed
    from pgassay.samples.own_runs import refuse_others
    from pgassay.samples.run_directory import RunDirectory
    from pgassay.samples.unfinished import locked
    from pgassay.stores.address import local_path, url_of
    from pgassay.stores.mirrored_run import MirroredRun

    url = url_of(run)
    if url is None:
        directory = RunDirectory.open(local_path(run))
    else:
        directory = MirroredRun.of_this_machine(url, warn)
    refuse_others(directory.path)
    with locked(directory.path):
        left = left_changed(directory)
        if dry_run:
            print_acts(left.acts(), out)
            return
        refuse_without_consent(left.acts(), yes=yes)
        left_alone = left.undo()
        if isinstance(directory, MirroredRun):
            err.print(directory.finish(), markup=False)
    if not left.changes:
        out.print("nothing to undo")
    for what in dict.fromkeys(change.what for change in reversed(left.changes)):
        out.print(f"undone: {plain(what)}")
    for note in left_alone:
        out.print(f"[yellow]note:[/yellow] {plain(note)}")
