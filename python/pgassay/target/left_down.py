"""A server that a killed run has left down in a restart, met by the next run.

Enters: what this machine remembers, the next run's way to the server's host. Leaves: the server up
without what that run had set, and a sentence; or nothing done. Never: starts a server under a run
that is alive, or by another command than the one it was restarted by.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgassay.errors import ConnectionRefused
from pgassay.target.access import Access
from pgassay.target.answering import is_up
from pgassay.target.dead_run import stays_dead
from pgassay.target.host import Host
from pgassay.target.protocol import Change
from pgassay.target.recover_service import bring_up
from pgassay.target.server_memory import all_remembered
from pgassay.target.session import first_address


def start_left_down(dsn: str, access: Access, machine: Host, refused: ConnectionRefused) -> str:
    """Wait for it, or start it: a sentence for the run's notes; empty where it is not known."""
    changes = restarts_left(dsn, access)
    if not changes or access.why_no_restart or changes[-1].restarted_by != access.restarted_by:
        return ""
    with stays_dead(changes):
        note = bring_up(dsn, changes, access, machine, refused)
    return (
        "the server did not answer: a run that was killed while it restarted it had left it so;"
        f" brought up by `{access.restarted_by}`{f'; {note}' if note else ''}"
    )


def told_of_restart(refused: ConnectionRefused, dsn: str, access: Access) -> ConnectionRefused:
    """A server does not answer: with what a killed run may have to do with it."""
    changes = restarts_left(dsn, access)
    if not changes:
        return refused
    by = changes[-1].restarted_by
    same = not access.why_no_restart and by == access.restarted_by
    then = "a run starts it before all else" if same else "`pgassay recover RUN` starts it"
    return ConnectionRefused(
        f"{refused}; a run that was killed may have left it down in a restart (`{by}`): {then}",
        sqlstate=refused.sqlstate,
    )


def restarts_left(dsn: str, access: Access) -> Sequence[Change]:
    """What a run that could restart it has left open, oldest first; by the address and the host.
    Nothing where the server is up, and refuses us for a reason of its own."""
    if is_up(dsn):
        return ()
    address, here = first_address(dsn), access.ssh or ""
    for _, changes in all_remembered():
        lying = [one for one in changes if one.data]
        if lying and not any(one.copy for one in lying):
            last = lying[-1]
            if last.host == here and last.reached == address != "":
                return lying
    return ()
