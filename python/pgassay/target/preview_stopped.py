"""What a run would do to a cluster that is stopped, seen without starting it.

Enters: the cluster, settings, what may be done. Leaves: a `Preview`: that it is stopped, what the
run does about that, what would stop it, which checks come only in the run. Never: starts it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing

from pgassay.errors import ConnectionRefused, TargetError
from pgassay.spec.reset import ResetLevel, ResetRule
from pgassay.target.access import Access
from pgassay.target.by_data import Cluster, control_of, look
from pgassay.target.found_stopped import refuse_start
from pgassay.target.host import Host
from pgassay.target.left_by_data import left_running, way_as_left
from pgassay.target.left_on_copy import told_of_copies
from pgassay.target.left_started import left_started
from pgassay.target.preview_model import PlannedChange, Preview
from pgassay.target.schema import SCHEMA
from pgassay.target.seat import Seat
from pgassay.target.server_memory import remembered

COPIES = (
    "the data directory is kept aside and put back at the end; until then the server runs on copies"
    " of it beside it, in which everybody's writes are lost"
)


def look_by_data(dsn: str, access: Access) -> tuple[Cluster, tuple[str, ...]]:
    """The cluster that `target.data` names, and where it is stopped, why a run may not start it."""
    host = access.host()
    try:
        way = way_as_left(dsn, left_running(access, host), access, host)
        if way:
            down = ConnectionRefused(f"the server of {access.data} on {host.label} is down")
            raise told_of_copies(down, way, access)
        try:
            cluster = look(dsn, access, host)
        except TargetError as error:
            left = left_started(access, host)
            if left is None:
                raise
            raise TargetError(
                f"{error}; a run that was killed had started the {left.change.what}: a run undoes"
                " that before all else, and so does `pgassay recover RUN`"
            ) from None
        return cluster, () if cluster.runs else tuple(_refusals(cluster, access, host))
    finally:
        host.close()


def preview_stopped(
    cluster: Cluster,
    refusals: tuple[str, ...],
    access: Access,
    settings: Mapping[str, Sequence[str]],
    rule: ResetRule,
) -> Preview:
    """What is known of the run while the server is stopped."""
    return Preview(
        server=f"{cluster.address} (stopped)",
        version=cluster.version,
        signs=(),
        accepted=(),
        refusals=refusals,
        changes=(*_changes(cluster, access, settings, rule),),
        data_directory=str(cluster.data) if access.ssh is None else None,
        stopped=True,
        later=tuple(_later(settings, rule)),
    )


def _refusals(cluster: Cluster, access: Access, host: Host) -> Iterator[str]:
    # What a killed run has left is undone before all else, by a start and a stop.
    if left_started(access, host) is not None and access.allow_restart:
        return
    try:
        refuse_start(cluster, access, host)
    except TargetError as error:
        yield str(error)


def _changes(
    cluster: Cluster, access: Access, settings: Mapping[str, Sequence[str]], rule: ResetRule
) -> Iterator[PlannedChange]:
    program = control_of(access).bin_directory / "pg_ctl"
    yield PlannedChange(
        "server",
        f"`{program} start -D {cluster.data}`, for it is stopped; stopped again at the end, also"
        " after Ctrl-C or an error (-m fast)",
        "first, and last",
    )
    for name, values in settings.items():
        yield PlannedChange(
            "server", f"{name}: {' / '.join(values)} in the run", "reload or restart"
        )
    yield PlannedChange(
        "server", f"CREATE SCHEMA {SCHEMA}, and the workload's data in it", "at once"
    )
    if rule.level is ResetLevel.SNAPSHOT:
        yield PlannedChange("host", COPIES, "a stop and a start before every trial")
    with closing(access.host()) as host:
        here = Seat(data=str(host.resolve(cluster.data)), host=host.name)
    for change in reversed(remembered(cluster.identity, here)):
        yield PlannedChange("server", f"undo what a killed run left: {change.what}", "first")


def _later(settings: Mapping[str, Sequence[str]], rule: ResetRule) -> Iterator[str]:
    yield "whether the user is let in, and signs of production"
    if settings:
        yield "whether the server takes these settings, and whether changes of others wait"
    yield "whether its connections and its memory are enough for every arm"
    if rule.level is ResetLevel.SNAPSHOT:
        yield "whether there is room for the copies, and whether anybody follows the server"
