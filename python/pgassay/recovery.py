"""What a run that died had changed, undone from its directory alone.

Enters: a run directory. Leaves: the target as the run had found it. Never: needs what analyses or
runs trials: whoever calls for help should not wait for that to load.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgassay.samples.journal import JOURNAL, open_changes, run_of
from pgassay.samples.run_directory import RunDirectory
from pgassay.spec.model import ExperimentFile
from pgassay.spec.paths import path_from
from pgassay.spec.tables import read_table
from pgassay.target import recover
from pgassay.target.access import access_of
from pgassay.target.protocol import Change
from pgassay.target.server_memory import forget_never_made


def undo_what_is_left(
    run: RunDirectory, *, moved_to: str | None = None
) -> tuple[Sequence[Change], Sequence[str]]:
    """Undo what a dead run left changed: the changes, and notes on what was left as it is.
    `moved_to`: where its server is now, if that is elsewhere."""
    changes = open_changes(run.path / JOURNAL)
    forget_never_made(run_of(run.path / JOURNAL), {change.id for change in changes})
    if not changes:
        return (), ()
    source = str(run.path / "spec.toml")
    target = read_table(ExperimentFile, run.read_text("spec.toml"), source).target
    access = access_of(target, lambda text: path_from(text, run.path))
    return changes, recover.recover(target.way, changes, run.journal(), access, moved_to=moved_to)
