"""`pgassay recover RUN`: undo what a run that died had left changed.

Enters: a run directory. Leaves: the target as the run had found it, and the journal saying so.
Never: disturbs a run that is alive.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pgassay.cli.console import out, plain
from pgassay.samples.journal import JOURNAL, open_changes
from pgassay.samples.run_directory import RunDirectory
from pgassay.spec.model import ExperimentFile
from pgassay.spec.tables import read_table
from pgassay.target import recover as target_recover


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("recover")(recover)


def recover(run: Annotated[Path, typer.Argument(help="A run directory.")]) -> None:
    """Undo what a run that died had left changed."""
    directory = RunDirectory.open(run)
    changes = open_changes(directory.path / JOURNAL)
    if not changes:
        out.print("nothing to undo")
        return
    spec = directory.path / "spec.toml"
    target = read_table(ExperimentFile, directory.read_text("spec.toml"), str(spec)).target
    left_alone = target_recover.recover(target.dsn, changes, directory.journal())
    for what in dict.fromkeys(change.what for change in reversed(changes)):
        out.print(f"settled: {plain(what)}")
    for note in left_alone:
        out.print(f"[yellow]note:[/yellow] {plain(note)}")
