"""Undoes what a killed run has changed, from its run directory alone.

Enters: a run directory. Leaves: the target as the run had found it. Never: imports what analyses or
runs trials: a recovery should not wait for that to load.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgassay.samples.journal import JOURNAL, open_changes, run_of
from pgassay.samples.run_directory import RunDirectory
from pgassay.server.existing.access import access_of
from pgassay.server.protocol import Change
from pgassay.server.recovery import recover
from pgassay.server.undo.change_record import forget_never_made
from pgassay.spec.model import ExperimentFile
from pgassay.spec.reading.tables import read_table


def undo_what_is_left(run: RunDirectory) -> tuple[Sequence[Change], Sequence[str]]:
    """Undo what a killed run left changed: the changes, and notes on those left as they are."""
    changes = open_changes(run.path / JOURNAL)
    forget_never_made(run_of(run.path / JOURNAL), {change.id for change in changes})
    if not changes:
        return (), ()
    source = str(run.path / "spec.toml")
    file = read_table(ExperimentFile, run.read_text("spec.toml"), source)
    target = file.target
    dsn = target.dsn if file.loads_existing else None
    return changes, recover.recover(dsn, changes, run.journal(), access_of(target))
