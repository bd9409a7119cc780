"""Undoes what a killed run has changed, from its run directory alone.

Enters: a run directory. Leaves: what undoing would do, or the target as the run had found it.
Never: imports what analyses or runs trials: a recovery should not wait for that to load; or asks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from pgassay.errors import TargetError
from pgassay.refusals.refusal import RestoreRefused
from pgassay.samples.journal import open_changes, run_of
from pgassay.samples.layout import JOURNAL, SPEC
from pgassay.samples.ownership.own_runs import was_begun_here
from pgassay.samples.run_directory import RunDirectory
from pgassay.server.change import Change
from pgassay.server.comparison import Comparison
from pgassay.server.existing.access import access_of
from pgassay.server.recovery import recover
from pgassay.server.recovery.acts import Act, acts_of, way_acts
from pgassay.server.undo.change_record import forget_never_made, recorded_of
from pgassay.spec.model import ExperimentFile
from pgassay.spec.reading.tables import read_table


@dataclass(frozen=True)
class LeftChanged:
    """What a run has left changed, oldest first."""

    run: RunDirectory
    changes: Sequence[Change]

    def acts(self, *, own_spec: bool = False) -> list[Act]:
        """Says what `undo` would do; with `own_spec` the user has given the run's experiment
        file."""
        if not self.changes:
            return []
        own = own_spec or was_begun_here(self.run.path)
        access = access_of(self._file.target)
        return [
            *way_acts(self._dsns, self.changes, access, recorded=own),
            *acts_of(self.changes, recorded_of(run_of(self.run.path / JOURNAL))),
        ]

    def undo(self, compared: Callable[[Comparison], None] = lambda _: None) -> Sequence[str]:
        """Undoes all of it; returns notes on what is left as it is. `compared` gets how each
        server differs from before."""
        made = {change.id for change in self.changes}
        forget_never_made(run_of(self.run.path / JOURNAL), made)
        notes, failed = list[str](), list[TargetError]()
        for server in dict.fromkeys(change.dsn for change in self.changes):
            own = [change for change in self.changes if change.dsn == server]
            access = access_of(self._file.target)
            try:
                notes += recover.recover(
                    server or self._dsn, own, self.run.journal(), access, compared
                )
            except TargetError as error:
                # One server of a fleet that is gone keeps no other from being put back.
                of_server = {"server": server, "why": error}
                failed.append(
                    RestoreRefused("server-not-put-back", **of_server) if server else error
                )
        if len(failed) == 1 and not notes:
            raise failed[0]
        if failed:
            raise RestoreRefused("not-put-back-each", problems=(*failed, *notes))
        return notes

    @cached_property
    def _file(self) -> ExperimentFile:
        return read_table(ExperimentFile, self.run.read_text(SPEC), str(self.run.path / SPEC))

    @property
    def _dsns(self) -> Sequence[str]:
        """The connection strings of the experiment file."""
        fleet = self._file.target.fleet
        return [self._dsn] if self._dsn is not None else fleet.servers if fleet else []

    @property
    def _dsn(self) -> str | None:
        return self._file.target.dsn if self._file.loads_existing else None


def left_changed(run: RunDirectory) -> LeftChanged:
    """Returns what a run has left changed, as its run directory says."""
    return LeftChanged(run, open_changes(run.path / JOURNAL))


def undo_what_is_left(run: RunDirectory) -> tuple[Sequence[Change], Sequence[str]]:
    """Undoes what a run left changed; returns the changes, and notes on those left as they are."""
    left = left_changed(run)
    return left.changes, left.undo()
