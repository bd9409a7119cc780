"""A cluster that `target.data` names, and that ran when a run began to change it which died since.

Enters: what this machine remembers, or a journal holds open; the way to the cluster's host. Leaves:
the changes, and where SQL reached that server. Never: takes it for one that was found stopped, or
another cluster that lies there by now for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from pgassay.errors import TargetError
from pgassay.target.access import Access
from pgassay.target.by_data import control_of, look, pg_control, reached_at
from pgassay.target.host import Host
from pgassay.target.located import running_in
from pgassay.target.protocol import Change
from pgassay.target.server_memory import all_remembered, forgetting


def left_running(access: Access, host: Host) -> Sequence[Change]:
    """What a run that could restart it has left open, oldest first. Nothing where a run had found
    it stopped: `left_started`."""
    if access.data is None:
        return ()
    for _, changes in all_remembered():
        lying = [one for one in changes if one.data and one.host == host.name]
        if not lying or any(one.started for one in changes):
            continue
        last = lying[-1]
        if same_place(Path(last.data), access.data, host) and not is_another(last, access, host):
            return lying
    return ()


def way_as_left(dsn: str, changes: Sequence[Change], access: Access, host: Host) -> str:
    """Where SQL reached it, of one that cannot be asked; empty where it runs and can.

    A dead run may have left it without a directory at its path, on a copy, or with a line of ours
    that keeps it down; so nothing of it is looked at.
    """
    lying = [one for one in changes if one.data and one.reached]
    if not lying or access.data is None:
        return ""
    with suppress(TargetError):
        if running_in(host, access.data) is not None and look(dsn, access, host).runs:
            return ""
    place, _, port = lying[-1].reached.rpartition(":")
    return reached_at(dsn, place, port, host)[0]


def is_another(change: Change, access: Access, host: Host) -> bool:
    """Whether another cluster lies by now where this change was made, by what pg_control says.
    Not so where nothing lies there: it may be kept aside just now."""
    data, was = Path(change.started or change.data), change.server.partition("/")[0]
    try:
        account = host.facts(data).account
        now, _ = pg_control(control_of(access).bin_directory, data, account, host)
    except (OSError, TargetError):
        return False
    return was not in ("", now)


def told_of_another(change: Change, host: Host) -> str:
    """That nothing of it is undone there, and what a person may do."""
    where = f"{change.started or change.data} of {host.label}"
    return (
        f"a run that was killed has left changes on a cluster in {where}, and another cluster lies"
        f" there by now, which is left as it is; where that one is gone for good,"
        f" {forgetting(change.server.partition('/')[0], change)}"
    )


def same_place(one: Path, other: Path, host: Host) -> bool:
    """Whether two paths lead to one place, also where nothing lies there now."""
    return one == other or _without_links(one, host) == _without_links(other, host)


def _without_links(path: Path, host: Host) -> str:
    # Of one that is not there `Host.resolve` says nothing.
    return host.run(["realpath", "-m", "--", path]).stdout.removesuffix("\n") or str(path)
