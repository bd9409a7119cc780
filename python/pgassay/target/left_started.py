"""A server that a killed run had found stopped and started, met by the next run.

Enters: what this machine remembers, the next run's `target.data`. Leaves: what that run had changed
undone and the server stopped again, as it was found. Never: disturbs a run that is alive, or stops
a server that shows signs of production.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from pgassay.errors import TargetError
from pgassay.target import run_lock
from pgassay.target.access import Access
from pgassay.target.answering import is_up, wait_while_on_its_way
from pgassay.target.dead_run import stays_dead
from pgassay.target.found_stopped import is_down, is_ours
from pgassay.target.host import Host
from pgassay.target.left_by_data import is_another, same_place, told_of_another
from pgassay.target.protocol import Change, Journal
from pgassay.target.recover import recover_started
from pgassay.target.seat import Seat
from pgassay.target.server_memory import all_remembered, forget, remembered
from pgassay.target.session import connect, resolve, told_as_target_error
from pgassay.target.signs import look_for_signs, refuse_signs

SETTLE_LIMIT_S = 30.0
"""How long a server that somebody is starting or stopping may take to be up or down."""


@dataclass(frozen=True)
class LeftStarted:
    """What a run has left of one server: that it was started, and what came after."""

    server: str
    """The name of its memory."""
    changes: tuple[Change, ...]

    @property
    def change(self) -> Change:
        """The start."""
        return next(change for change in self.changes if change.started)


def left_started(access: Access, host: Host) -> LeftStarted | None:
    """Whether this machine remembers that of the cluster that `target.data` names."""
    here = _started_here(access, host)
    return next((left for left in here if not is_another(left.change, access, host)), None)


def _started_here(access: Access, host: Host) -> list[LeftStarted]:
    """What is remembered of every cluster that was started at this path."""
    data = access.data
    if data is None:
        return []
    return [
        LeftStarted(server, tuple(changes))
        for server, changes in all_remembered()
        for change in changes
        if change.started
        and change.host == host.name
        and same_place(Path(change.started), data, host)
    ]


def put_left_down(
    access: Access, host: Host, journal: Journal, accept: Collection[str]
) -> list[str]:
    """Undo and stop it, before all else; sentences on what was found."""
    left = left_started(access, host)
    if left is None:
        # Remembered by the path alone, and what lies there is left as it is.
        return [told_of_another(one.change, host) for one in _started_here(access, host)]
    with stays_dead(left.changes):
        if not access.allow_restart:
            raise TargetError(
                f"a run that was killed has started the {left.change.what}; here"
                " target.allow_restart is not true, but `pgassay recover RUN` undoes it"
            )
        _refuse_in_use(left.change, host, accept)
        notes: list[str] = []
        recover_started(left.changes, _TheirJournal(journal, left), access, host, notes)
    return [f"{left.change.what}: a run that was killed had started it; undone", *notes]


def _refuse_in_use(change: Change, host: Host, accept: Collection[str]) -> None:
    """TargetError where it is up and shows signs of production, whoever has started it: undoing may
    take a restart, and one on a copy is stopped."""
    wait_while_on_its_way(change.reached, SETTLE_LIMIT_S)
    if is_down(change, host):
        return
    if not is_up(change.reached):
        if is_ours(change, host):
            return  # nobody is let in yet
        raise TargetError(
            f"a run that was killed has started the {change.what}; somebody has started it since,"
            " and it takes no connections where that run had it; `pgassay recover RUN` undoes it"
        )
    with closing(connect(resolve(change.reached))) as session:
        run_lock.refuse_other_runs(session)
        with told_as_target_error("looking for signs of production"):
            signs = look_for_signs(session, accept)
    refuse_signs(signs, change.what)


def told_of_start(server: str, here: Seat) -> list[str]:
    """Sentences for a run that does not name the data directory, and so leaves it up."""
    return [
        f"{change.what}: a run that was killed had started it; once this one is over,"
        " `pgassay recover RUN` stops it"
        for change in remembered(server, here)
        if change.started
    ]


class _TheirJournal:
    """The journal of the run that is gone, as far as undoing takes it."""

    def __init__(self, journal: Journal, left: LeftStarted) -> None:
        self._journal, self._server = journal, left.server
        self._places = {change.id: change.journal for change in left.changes}

    @property
    def place(self) -> str:
        return ""

    @property
    def run(self) -> str:
        return ""

    def record(self, change: Change) -> None:
        self._journal.record(change)

    def undone(self, change_id: str) -> None:
        forget(self._server, change_id)
        self._journal.undone_at(self._places.get(change_id, ""), change_id)

    def undone_at(self, place: str, change_id: str) -> None:
        self._journal.undone_at(place, change_id)
