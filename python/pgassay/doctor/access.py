"""Whether a server's host and service can be used as an experiment would use them.

Enters: a connection string, the way to the host. Leaves: `Check` values.
Never: raises for what it finds, and never restarts or changes anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pgassay.doctor.host import check_files, check_server_host
from pgassay.errors import PgassayError
from pgassay.refusals.refusal import Refusal
from pgassay.server.connection.session import as_target_error, connect, resolve
from pgassay.server.existing.access import Access
from pgassay.server.hosts.host import Host
from pgassay.server.hosts.server_process import ServerProcess, find_server_process
from pgassay.server.knobs.knob_files import find_knob
from pgassay.spec.model import TargetTable
from pgassay.spec.reading.tables import check_table
from pgassay.trials.model.check import Check
from pgassay.trials.sampling.not_measured import check_log

KNOB = "vm.swappiness"


def target_table(given: Mapping[str, Any]) -> TargetTable:
    """Returns a command's options as a checked `[target]` table."""
    present = {name: value for name, value in given.items() if value not in (None, False)}
    try:
        return check_table(TargetTable, present, "")
    except Refusal as refusal:
        raise refusal.at(None) from None  # an option was given, no key


def check_access(dsn: str, access: Access) -> list[Check]:
    """Checks the host, the service, the log and the knobs, one check each."""
    host = access.host()
    of_host: list[Check] = []
    log: list[Check] = []
    try:
        parameters = resolve(dsn)
        with connect(parameters) as session, as_target_error("looking at the server"):
            server = find_server_process(session, host)
            if host.name:
                of_host = check_server_host(session, host)
                log = check_log(session, parameters, host)
    except PgassayError as error:
        host.close()
        return [Check("server's host", "fail", str(error))]
    try:
        who = "root" if host.uid == 0 else f"user {host.uid}"
        where = Check("server's host", "ok", f"{host.label}, as {who}; data in {server.data}")
        files = check_files(host) if host.name else []
        service, knobs = _check_service(access, host, server), _check_knobs(host)
        return [where, *files, *of_host, *service, knobs, *log]
    finally:
        host.close()


def _check_service(access: Access, host: Host, server: ServerProcess) -> list[Check]:
    if access.control is None:
        return [
            Check(
                "restarts",
                "note",
                "no service was named: settings that need one are refused",
                "name it with --service or --cluster, and in target.service or target.cluster;"
                " where neither runs the server, give target.restart_command",
            )
        ]
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
