"""What can be measured on a server's host, and on this machine without any server.

Enters: a session of a server, the way to it. Leaves: `Check` values, one for each kind of source.
Never: changes anything, starts a server, or raises for what it finds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pgassay import _core
from pgassay.errors import PgassayError
from pgassay.refusals.refusal import Refusal
from pgassay.server.connection.rights import own_role
from pgassay.server.connection.session import as_target_error, connect, resolve, server_row
from pgassay.server.existing.access import Access
from pgassay.server.existing.requirements import facts_of, is_here
from pgassay.server.hosts.account import server_account
from pgassay.server.hosts.control_groups import SOURCE as CONTROL_GROUP
from pgassay.server.hosts.host import Host, is_there
from pgassay.server.hosts.local import HERE
from pgassay.server.hosts.memory_group import parent_group
from pgassay.server.hosts.server_process import ServerProcess, find_server_process
from pgassay.server.knobs.knob_files import find_knob
from pgassay.server.owned.installation import DEFAULT_MAJOR, WHEELS, embedded_installation
from pgassay.server.owned.readable_copy import runnable_by
from pgassay.server.protocol import Connection, ServerFacts
from pgassay.spec.model import TargetTable
from pgassay.spec.reading.tables import check_table
from pgassay.trials.guards.thresholds import unwatched
from pgassay.trials.host.host_sources import (
    describe_storage,
    grants,
    host_files,
    host_sources,
    sources_over_sql,
)
from pgassay.trials.profile.perf import RIGHT, program, sees_kernel
from pgassay.trials.sampling.not_measured import Check, check_log
from pgassay.trials.trace.requirements import missing


def check_files(host: Host) -> list[Check]:
    """Checks which of the kernel's counters are on a host."""
    absent = [file for file in host_files() if not is_there(host, Path(file["path"]))]
    if not absent:
        return [Check("host counters", "ok", "CPU, memory, disks, network and pressure")]
    return [
        Check(
            "host counters",
            "note",
            f"{file['path']} is missing: reported without it",
            file.get("needs", ""),
        )
        for file in absent
    ]


_NOT_SPLIT = ("trials/host/processes-hidden", "trials/host/no-schedstat")
"""Codes of notes: the host does not show how long a process waited for a processor."""


def check_server_host(session: Connection, host: Host | None = None) -> list[Check]:
    """Checks what can be measured of the server's host, its processes and disks: here, over ssh, or
    by the server itself."""
    row = server_row(session)
    if host is None and is_here(session):
        host = HERE
    if host is None:
        return [_over_sql(session)]
    here = not host.name
    facts = replace(facts_of(session), data_directory=row.data_directory, is_local=here)
    sources = host_sources(host, session, facts)
    split = [note for note in sources.notes if note.code in _NOT_SPLIT]
    processes = (
        Check("server's processes", "note", str(split[0]), "run pgassay beside them, or --ssh HOST")
        if split
        else Check("server's processes", "ok", "CPU time and CPU queue are measured separately")
    )
    groups = sorted(f["object"] for f in sources.files if f["source"] == CONTROL_GROUP)
    grouped = [Check("control group", "ok", ", ".join(groups))] if groups else []
    return [processes, *grouped, *_disks(host, facts)]


def check_guards(session: Connection) -> list[Check]:
    """Names what no guard can check on a server that only SQL reaches."""
    if is_here(session):
        return []
    return [Check("guards", "note", unwatched(), "name its host: target.ssh, doctor --ssh")]


def _disks(host: Host, facts: ServerFacts) -> Iterator[Check]:
    storage = describe_storage(host, facts)["storage"]
    if not storage:
        yield Check(
            "server's disks",
            "note",
            "the data directory is unknown: counters of all disks are kept",
            "GRANT pg_read_all_settings to the role",
        )
    for name, place in storage.items():
        if place.get("devices"):
            found = f"{name}: {' on '.join(place['devices'])} ({place['file_system']})"
            yield Check("server's disks", "ok", found)
        else:
            found = f"{name}: {place['path']} {place['reason']}: counters of all disks are kept"
            yield Check("server's disks", "note", found)


def _over_sql(session: Connection) -> Check:
    sources = sources_over_sql(session)
    if sources.files:
        return Check("server's host", "ok", "its counters are read over the connection")
    return Check(
        "server's host",
        "note",
        "its counters are out of reach: it is elsewhere",
        f"--ssh HOST, or: {grants(own_role(session))}",
    )


_PERF = "profiles"


def check_machine() -> list[Check]:
    """Checks the native module, the embedded servers, the host's counters, control groups
    and perf."""
    return [
        Check("native module", "ok", Path(_core.__file__ or "built in").name),
        *(_check_embedded(major) for major in sorted(WHEELS, reverse=True)),
        *check_files(HERE),
        _check_memory_limit(),
        _check_perf(),
        _check_tracing(),
    ]


def _check_memory_limit() -> Check:
    name = "memory limit"
    try:
        parent, controller = parent_group()
    except Refusal as error:
        return Check.refused(name, error, "note")
    version = 1 if controller else 2
    return Check(
        name, "ok", f"placement.server_memory: control groups version {version}, below {parent}"
    )


def _check_perf() -> Check:
    try:
        program()
    except PgassayError as error:
        return Check.refused(_PERF, error, "note")
    if not sees_kernel():
        return Check(_PERF, "note", "without functions of the kernel, and without waits", RIGHT)
    return Check(_PERF, "ok", "perf can profile a server on this host, by function")


def _check_embedded(major: int) -> Check:
    name = f"embedded PostgreSQL {major}"
    try:
        account = server_account()
        installation = runnable_by(embedded_installation(major), account)
    except PgassayError as error:
        # Only the default one belongs to every installation of pgassay.
        return Check.refused(name, error, "fail" if major == DEFAULT_MAJOR else "note")
    return Check(name, "ok", f"{installation.version}, run as {account.name}")


def _check_tracing() -> Check:
    lack = missing()
    if lack is None:
        return Check("tracing", "ok", "pgassay trace works here, with bpftrace")
    return Check.refused("tracing", lack, "note")


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
        return [Check.refused("server's host", error)]
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
        return [Check.refused("restarts", error)]
    return [Check("restarts", "ok", f"`{access.control.label}` is this server's")]


def _check_knobs(host: Host) -> Check:
    try:
        knob = find_knob(KNOB, None, host)
        knob.check(knob.read())
    except PgassayError as error:
        return Check.refused("knobs of the host", error, "note")
    return Check("knobs of the host", "ok", f"{KNOB} can be written")
