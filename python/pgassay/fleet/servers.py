"""Finds the existing servers of a fleet, and leaves every server of one as it should be.

Enters: the `[target.fleet]` table, members, a run directory. Leaves: servers that this machine
reaches; at the end servers as found, those of lost members too, or a RestoreFailed. Never: runs a
trial.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pgassay.cluster.calls import Actor, outcomes
from pgassay.errors import RestoreFailed, TargetError
from pgassay.fleet.existing import FoundServer, found_servers
from pgassay.recovery import undo_what_is_left
from pgassay.refusals.refusal import RestoreRefused, TrialRefused
from pgassay.samples.journal import open_changes
from pgassay.samples.layout import JOURNAL
from pgassay.samples.ownership.unfinished import pending_undo
from pgassay.samples.run_directory import RunDirectory
from pgassay.server.comparison import Comparison, ServerCompared
from pgassay.spec.server.fleet import FleetTable
from pgassay.trials.run.progress import ProgressListener
from pgassay.trials.run.restoring import signals_held_off

_LIMITS_S = {"stop": 10.0, "close": 300.0}
"""To stop sets a flag; to close waits for what still runs, and undoes it."""


def existing_servers(
    table: FleetTable, listener: ProgressListener, resumed: Path | None
) -> list[FoundServer]:
    """Returns the servers that are there already; a run that goes on, whose directory is
    `resumed`, does so without those that are gone, or that it could not put back."""

    def left_out(error: TargetError) -> None:
        listener.warned(f"the run goes on without a server: {error}")

    found = []
    for one in found_servers(table.servers, left_out if resumed else None, resumed):
        try:
            one.refuse_killed_run(resumed)
            found.append(one)
        except TargetError as error:
            if resumed is None:
                raise
            left_out(error)
    if table.servers and not found:
        raise TrialRefused("no-server-reached")
    return found


@contextmanager
def left_at_the_end(
    actors: Sequence[Actor], listener: ProgressListener, run: RunDirectory
) -> Iterator[None]:
    """Breaks off, at the end, what the members run, then closes each: a server of pgassay's own is
    stopped, one of the user's put back."""
    try:
        yield
    finally:
        with _restoring(run, listener):
            listener.preparing("leaving the servers of the fleet")
            for method, limit_s in _LIMITS_S.items():
                came = outcomes([(actor, method, ()) for actor in actors], limit_s)
                for actor, outcome in zip(actors, came, strict=True):
                    # A node that is gone has nothing to close; the next run there clears it, and
                    # what it has changed on a server of the user's is put back from here.
                    if isinstance(outcome, RestoreFailed):
                        listener.warned(f"on {actor.name}: {outcome}")
                    elif isinstance(outcome, Comparison):
                        listener.compared(ServerCompared(actor.name, outcome))


@contextmanager
def put_back_at_the_end(run: RunDirectory, listener: ProgressListener) -> Iterator[None]:
    """Undoes, at the end, what members that were lost have left changed on servers of the
    user's."""
    try:
        yield
    except RestoreFailed:
        raise  # a person has given up
    except BaseException:
        _put_back(run, listener)
        raise
    else:
        _put_back(run, listener)


def _put_back(run: RunDirectory, listener: ProgressListener) -> None:
    if not open_changes(run.path / JOURNAL):
        return
    with _restoring(run, listener):
        listener.preparing("restoring the servers of lost members")
        try:
            _, left_alone = undo_what_is_left(run)
        except TargetError as error:
            why = RestoreRefused("not-put-back", why=error, left=pending_undo(run.path))
            raise why from None
        for note in left_alone:
            listener.warned(note)


@contextmanager
def _restoring(run: RunDirectory, listener: ProgressListener) -> Iterator[None]:
    """A second Ctrl-C gives up, as on a single server."""
    with signals_held_off(listener, lambda: pending_undo(run.path)):
        try:
            yield
        except KeyboardInterrupt:
            why = RestoreRefused("restoring-stopped", left=pending_undo(run.path))
            raise why from None
