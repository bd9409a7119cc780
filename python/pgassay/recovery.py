"""Undoes what a killed run has changed, from its run directory alone.

Enters: a run directory. Leaves: the target as the run had found it. Never: imports what analyses or
runs trials: a recovery should not wait for that to load.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgassay.errors import RestoreFailed, TargetError
from pgassay.samples.journal import JOURNAL, open_changes, run_of
from pgassay.samples.run_directory import RunDirectory
from pgassay.server.change import Change
from pgassay.server.existing.access import access_of
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
    target, notes, failed = file.target, list[str](), list[TargetError]()
    dsn = target.dsn if file.loads_existing else None
    for server in dict.fromkeys(change.dsn for change in changes):
        own = [change for change in changes if change.dsn == server]
        try:
            notes += recover.recover(server or dsn, own, run.journal(), access_of(target))
        except TargetError as error:
            # One server of a fleet that is gone keeps no other from being put back.
            failed.append(RestoreFailed(f"{server}: {error}") if server else error)
    if len(failed) == 1 and not notes:
        raise failed[0]
    if failed:
        raise RestoreFailed("; ".join([*map(str, failed), *notes]))
    return changes, notes
