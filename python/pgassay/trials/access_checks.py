"""Whether a server's host and service can be used as an experiment would use them.

Enters: a connection string, the way to the host. Leaves: `Check` values.
Never: raises for what it finds, and never restarts or changes anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from pgassay.errors import PgassayError, SpecError
from pgassay.spec.model import TargetTable
from pgassay.target.access import Access
from pgassay.target.host import Host
from pgassay.target.host_files import find_knob
from pgassay.target.located import Located, locate
from pgassay.target.preview_stopped import look_by_data
from pgassay.target.session import connect, resolve, told_as_target_error
from pgassay.trials.check import Check
from pgassay.trials.host_checks import check_files, check_server_host
from pgassay.trials.source_checks import check_log
from pgassay.trials.tracing_checks import check_tracing

KNOB = "vm.swappiness"


def target_table(given: Mapping[str, Any]) -> TargetTable:
    """A command's options checked as a spec's `[target]` is."""
    present = {name: value for name, value in given.items() if value not in (None, False)}
    try:
        return TargetTable.model_validate(present)
    except ValidationError as error:
        raise SpecError(error.errors()[0]["msg"].removeprefix("Value error, ")) from None


def check_data(dsn: str, access: Access) -> tuple[list[Check], str | None]:
    """The cluster of a data directory, and where SQL reaches it; None where it is stopped, for
    nothing is started to look closer."""
    try:
        # Whether it could be started is asked here, and the leave only in a spec.
        cluster, why_not = look_by_data(dsn, replace(access, allow_restart=True))
    except PgassayError as error:
        return [Check("data directory", "fail", str(error))], None
    found = f"{cluster.data}, PostgreSQL {cluster.version}, at {cluster.address}"
    if cluster.runs:
        return [Check("data directory", "ok", f"{found}: running")], cluster.dsn
    stopped = Check(
        "data directory", "note", f"{found}: stopped (pg_control: {cluster.state})",
        f"target.data = '{cluster.data}' with target.bin names it; with target.allow_restart = true"
        " a run starts it, and stops it again at its end",
    )  # fmt: skip
    return [stopped, *(Check("start", "fail", reason) for reason in why_not)], None


def check_access(dsn: str, access: Access) -> list[Check]:
    """The host, the service, the log, the knobs: one check each."""
    host = access.host()
    seen: list[Check] = []
    log: list[Check] = []
    try:
        parameters = resolve(dsn)
        with connect(parameters) as session, told_as_target_error("looking at the server"):
            server = locate(session, host)
            if host.name:
                seen = check_server_host(session, parameters, host)
                log = check_log(session, parameters, host)
    except PgassayError as error:
        host.close()
        return [Check("server's host", "fail", str(error))]
    try:
        who = "root" if host.uid == 0 else f"user {host.uid}"
        where = Check("server's host", "ok", f"{host.label}, as {who}; data in {server.data}")
        files = [*check_files(host), *check_tracing(host)] if host.name else []
        service, knobs = _check_service(access, host, server), _check_knobs(host)
        return [where, *files, *seen, *service, knobs, *log]
    finally:
        host.close()


def _check_service(access: Access, host: Host, server: Located) -> list[Check]:
    if access.control is None:
        return [
            Check(
                "restarts", "note", "no service was named: settings that need one are refused",
                "name it with --service or --cluster, and in target.service or target.cluster",
            )
        ]  # fmt: skip
    try:
        access.control.refuse_other(host, server)
    except PgassayError as error:
        return [Check("restarts", "fail", str(error))]
    return [Check("restarts", "ok", f"`{access.control.label}` is this server's")]


def _check_knobs(host: Host) -> Check:
    try:
        knob = find_knob(KNOB, None, host)
        knob.check(knob.read())
    except PgassayError as error:
        return Check("knobs of the host", "note", str(error))
    return Check("knobs of the host", "ok", f"{KNOB} can be written")
