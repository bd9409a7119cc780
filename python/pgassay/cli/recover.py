"""`pgassay recover RUN`: undo what a run that died had left changed.

Enters: a run directory. Leaves: the target as the run had found it, and the journal saying so.
Never: disturbs a run that is alive.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pgassay.cli.console import out, plain
from pgassay.errors import SpecError
from pgassay.recovery import undo_what_is_left
from pgassay.samples.handover import held
from pgassay.samples.run_directory import RunDirectory
from pgassay.spec.passwords import refuse_password


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("recover")(recover)


def recover(
    run: Annotated[Path, typer.Argument(help="A run directory.")],
    *,
    moved_to: Annotated[
        str | None,
        typer.Option(
            metavar="DSN",
            help="Where its server is now, if its data or address are others than then.",
        ),
    ] = None,
) -> None:
    """Undo what a run that died had left changed."""
    if moved_to is not None:
        try:
            refuse_password(moved_to)
        except ValueError as error:
            raise SpecError(str(error), key="--moved-to") from None
    directory = RunDirectory.open(run)
    with held(directory.path):
        changes, left_alone = undo_what_is_left(directory, moved_to=moved_to)
    if not changes:
        out.print("nothing to undo")
    for what in dict.fromkeys(change.what for change in reversed(changes)):
        out.print(f"settled: {plain(what)}")
    for note in left_alone:
        out.print(f"[yellow]note:[/yellow] {plain(note)}")
