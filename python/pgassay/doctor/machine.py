"""What can be run and measured on this machine, without any server.

Enters: nothing. Leaves: `Check` values. Never: raises for what it finds, or starts a server.
"""

from __future__ import annotations

from pathlib import Path

from pgassay import _core
from pgassay.doctor.host import check_files
from pgassay.errors import PgassayError
from pgassay.refusals.refusal import Refusal, SetupRefused
from pgassay.server.hosts.account import server_account
from pgassay.server.hosts.local import HERE
from pgassay.server.hosts.memory_group import parent_group
from pgassay.server.owned.installation import DEFAULT_MAJOR, WHEELS, embedded_installation
from pgassay.server.owned.readable_copy import runnable_by
from pgassay.trials.model.check import Check
from pgassay.trials.profile.perf import RIGHT, program, sees_kernel
from pgassay.trials.trace.requirements import missing

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
    except Refusal as refusal:
        return Check(name, "note", f"{refusal.key}: {refusal.text}", refusal.fix)
    version = 1 if controller else 2
    return Check(
        name, "ok", f"placement.server_memory: control groups version {version}, below {parent}"
    )


def _check_perf() -> Check:
    try:
        program()
    except SetupRefused as refused:
        return Check(_PERF, "note", refused.text, refused.fix)
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
        return Check(name, "fail" if major == DEFAULT_MAJOR else "note", str(error))
    return Check(name, "ok", f"{installation.version}, run as {account.name}")


def _check_tracing() -> Check:
    lack = missing()
    if lack is None:
        return Check("tracing", "ok", "pgassay trace works here, with bpftrace")
    return Check("tracing", "note", f"pgassay trace: {lack.what}", lack.fix)
