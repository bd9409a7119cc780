"""`pgassay recover RUN`: undo what a killed run left changed on its server.

Enters: a run directory. Leaves: the server as the run found it, and the journal saying so.
Never: disturbs a run that is still going on.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def recover(
    run: Annotated[Path, typer.Argument(help="A run directory or its URL.")],
) -> None:
    """Undo what a killed run left changed on its server."""
    from pgassay.cli.terminal.console import err, out, plain, warn
    from pgassay.recovery import undo_what_is_left
    from pgassay.samples.run_directory import RunDirectory
    from pgassay.samples.unfinished import locked
    from pgassay.stores.address import local_path, url_of
    from pgassay.stores.mirrored_run import MirroredRun

    url = url_of(run)
    if url is None:
        directory = RunDirectory.open(local_path(run))
    else:
        directory = MirroredRun.of_this_machine(url, warn)
    with locked(directory.path):
        changes, left_alone = undo_what_is_left(directory)
        if isinstance(directory, MirroredRun):
            err.print(directory.finish(), markup=False)
    if not changes:
        out.print("nothing to undo")
    for what in dict.fromkeys(change.what for change in reversed(changes)):
        out.print(f"undone: {plain(what)}")
    for note in left_alone:
        out.print(f"[yellow]note:[/yellow] {plain(note)}")
