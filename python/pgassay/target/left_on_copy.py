"""A server that a killed run has left on a copy of its data directory, met by the next run.

Enters: what this machine remembers, the next run's way to server and host. Leaves: the server up on
its own directory and the dead run's changes forgotten; or an error that names `pgassay recover`.
Never: takes one server for another, or stops one that shows signs of production.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from pgassay.errors import ConnectionRefused, TargetError
from pgassay.target import run_lock
from pgassay.target.access import Access
from pgassay.target.answering import POLL_S, is_up
from pgassay.target.data_place import DataPlace
from pgassay.target.host import Host
from pgassay.target.left_down import start_left_down, told_of_restart
from pgassay.target.located import locate
from pgassay.target.protocol import Change, Connection, ConnectionParameters
from pgassay.target.recover_copy import (
    GivenBack,
    give_back_held,
    newest_copy,
    place_of,
    with_the_copy,
)
from pgassay.target.seat import Seat, seat_here, seat_of
from pgassay.target.server_memory import (
    RememberedJournal,
    all_remembered,
    forgetting,
    remembered,
)
from pgassay.target.service import Service
from pgassay.target.service_control import PgCtl
from pgassay.target.session import (
    connect,
    first_address,
    identity,
    resolve,
    told_as_target_error,
)
from pgassay.target.signs import look_for_signs, refuse_signs

SETTLE_LIMIT_S = 30.0
"""How long a server that a dying run was stopping or starting may take to be down or up."""


@dataclass(frozen=True)
class LeftCopy:
    """What a dead run has done to one server."""

    server: str
    """The name of its memory."""
    change: Change

    @property
    def by_hand(self) -> str:
        return f"{self.change.undo}; then {forgetting(self.server, self.change)}"

    def note(self, given: GivenBack) -> str:
        """What a run says that has given it back."""
        missing = f"; {given.missing}" if given.missing else ""
        if not given.moved:
            return (
                f"{self.change.what}: a run was killed while it made copies of it, and the server"
                f" was still on its own; the copies are removed{missing}"
            )
        return (
            f"{self.change.what}: a run that was killed had left the server on a copy of it; given"
            f" back, and {given.kept or 'what was written to the copy is lost'}{missing}"
        )

    @property
    def still(self) -> bool:
        """Whether nobody has given it back meanwhile."""
        return self.change in remembered(self.server)


def left_up(server: str, here: Seat) -> LeftCopy | None:
    """Whether a server that takes connections is on a dead run's copy, by its own identity."""
    change = newest_copy(remembered(server, here))
    return None if change is None else LeftCopy(server, change)


def left_down(dsn: str, access: Access) -> LeftCopy | None:
    """The same of one that does not, by the address and the host it was on."""
    address, here = first_address(dsn), access.ssh or ""
    for server, changes in all_remembered():
        change = newest_copy(changes)
        if change is not None and change.host == here and change.reached == address != "":
            return LeftCopy(server, change)
    return None


def why_not(left: LeftCopy, access: Access) -> str:
    """Why a run with this access does not give it back; empty where it does."""
    if left.change.host != (access.ssh or ""):
        where = f"target.ssh = {left.change.host!r}" if left.change.host else "no target.ssh"
        return f"that run had {where}"
    if access.control is None:
        return "the spec names no service, cluster or bin"
    return "" if access.allow_restart else "target.allow_restart is not true"


def refuse_left(left: LeftCopy, access: Access) -> None:
    """TargetError where a run with this access does not give it back."""
    reason = why_not(left, access)
    if reason:
        raise TargetError(
            "a run that was killed has left this server on a copy of its data directory; here"
            f" {reason}, but `pgassay recover RUN` gives it its own back, or by hand:"
            f" {left.by_hand}"
        )


def told_of_copies(refused: ConnectionRefused, dsn: str, access: Access) -> ConnectionRefused:
    """A server does not answer: with what a killed run may have to do with it."""
    left = left_down(dsn, access)
    if left is not None:
        reason = why_not(left, access) or _other_service(left, access)
        then = (
            f"here {reason}, but `pgassay recover RUN` gives it back"
            if reason
            else "a run gives it back before all else"
        )
        what = left.change.what
    else:
        here = _left_on(access.ssh or "")
        if access.control is None or not here:
            return told_of_restart(refused, dsn, access)
        by_name = not isinstance(access.control, PgCtl)
        same = [one for one in here if by_name and one.restarted_by == access.restarted_by]
        then = "`pgassay recover RUN` gives it back"
        if not same:
            # Another server, as far as we know: pg_ctl's command is the same for many of them.
            others = " or ".join(dict.fromkeys(one.what for one in here))
            return ConnectionRefused(
                f"{refused}; if this is the server of {others}, a run that was killed has left it"
                f" on a copy, perhaps stopped: {then}",
                sqlstate=refused.sqlstate,
            )
        what = same[-1].what
    return ConnectionRefused(
        f"{refused}; a run that was killed has left {what} on a copy, perhaps stopped: {then}",
        sqlstate=refused.sqlstate,
    )


def _left_on(host: str) -> list[Change]:
    """The copies on one host that dead runs have left servers on."""
    found = (newest_copy(changes) for _, changes in all_remembered())
    return [one for one in found if one is not None and one.host == host]


def reach(
    dsn: str, access: Access, machine: Host, journal: RememberedJournal, accept: Collection[str]
) -> tuple[ConnectionParameters, list[str]]:
    """`resolve`, once the server is on its own directory; with a note where it was not."""
    try:
        parameters = resolve(dsn)
    except ConnectionRefused as refused:
        left = left_down(dsn, access)
        if left is None:
            note = start_left_down(dsn, access, machine, refused)
            if note:
                return resolve(dsn), [note]
        if left is None or why_not(left, access) or _other_service(left, access):
            raise told_of_copies(refused, dsn, access) from None
        place = place_of(dsn, left.change, access, machine)
        with place.held():
            given = left.still and _is_down(dsn, place.service)
            if given:
                note = left.note(_give_back(left, place, journal))
        if given:
            return _as_it_was(dsn, left), [note]
        parameters = resolve(dsn)
    with (
        told_as_target_error("looking for a copy that a killed run has left"),
        closing(connect(parameters)) as session,
    ):
        here = seat_here(session, parameters, machine)
        left = left_up(identity(session) or parameters.label, here)
        if left is None:
            return parameters, []
        if why_not(left, access):
            run_lock.refuse_other_runs(session)
            refuse_left(left, access)
        place = place_of(dsn, left.change, access, machine)
        # A living run holds this lock through its restarts, when that on the server is free.
        with place.held():
            if not left.still:
                return parameters, []
            run_lock.take(session)
            _refuse_other_server(session, left, access, machine)
            refuse_signs(look_for_signs(session, accept), parameters.label)
            note = left.note(_give_back(left, place, journal))
    return parameters, [note]


def _other_service(left: LeftCopy, access: Access) -> str:
    """Why what the spec names may not be the service of a server that is down."""
    if left.change.restarted_by == access.restarted_by:
        return ""
    return f"the server is restarted by `{access.restarted_by}`, there by another command"


def _is_down(dsn: str, service: Service) -> bool:
    """Whether it is down; ConnectionRefused where it runs and refuses us for another reason."""
    began, refused_for_good = time.monotonic(), False
    while not service.is_down():
        try:
            resolve(dsn)
        except ConnectionRefused:
            if refused_for_good or time.monotonic() - began > SETTLE_LIMIT_S:
                raise
            # Asked once more even so: it may have come up just now.
            refused_for_good = is_up(dsn)
            time.sleep(POLL_S)
        else:
            return False
    return True


def _refuse_other_server(
    session: Connection, left: LeftCopy, access: Access, machine: Host
) -> None:
    """Where it was left, and by the service that the spec names: nothing else is stopped."""
    located = locate(session, machine)
    if machine.resolve(located.data) != Path(left.change.data):
        raise TargetError(
            f"a run that was killed has left {left.change.what} on a copy, and the server now runs"
            f" in {located.data}; look there, and by hand: {left.by_hand}"
        )
    if access.control is not None:
        access.control.refuse_other(machine, located)


def _give_back(left: LeftCopy, place: DataPlace, journal: RememberedJournal) -> GivenBack:
    try:
        given = give_back_held(left.change, place)
    except KeyboardInterrupt:
        # Half-way the server is down; a second Ctrl-C is heeded.
        give_back_held(left.change, place)
        raise
    # What was changed on the copy went with it; the copy itself last, for we may be killed here.
    _, gone = with_the_copy(left.change, remembered(left.server, seat_of(left.change)))
    for change in reversed(gone):
        journal.settled(left.server, change)
    return given


def _as_it_was(dsn: str, left: LeftCopy) -> ConnectionParameters:
    """Where the server is reached now; TargetError where another one answers there."""
    parameters = resolve(dsn)
    with told_as_target_error("looking at the server"), closing(connect(parameters)) as session:
        found = identity(session)
    if found and left.change.server not in ("", found):
        raise TargetError(
            f"{parameters.label} is not the server that a run had left on a copy; that one has its"
            " own data directory again"
        )
    return parameters
