"""What a run that died had changed, undone from its directory alone.

Enters: a run directory. Leaves: the target as the run had found it. Never: needs what analyses or
runs trials: whoever calls for help should not wait for that to load.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgassay.samples.journal import JOURNAL, open_changes
from pgassay.samples.run_directory import RunDirectory
from pgassay.spec.model import ExperimentFile
from pgassay.spec.paths import path_from
from pgassay.spec.tables import read_table
from pgassay.target import recover
from pgassay.target.access import access_of
from pgassay.target.protocol import Change


def undo_what_is_left(run: RunDirectory) -> tuple[Sequence[Change], Sequence[str]]:
    """Undo what a dead run left changed: the changes, and notes on what was left as it is."""
    changes = open_changes(run.path / JOURNAL)
    if not changes:
        return (), ()
    source = str(run.path / "spec.toml")
    target = read_table(ExperimentFile, run.read_text("spec.toml"), source).target
    access = access_of(target, lambda text: path_from(text, run.path))
    return changes, recover.recover(target.dsn, changes, run.journal(), access)
