"""What can be measured on an existing server, one check at a time.

Enters: a server's connection string. Leaves: `Check` values.
Never: raises for what it finds, and never changes the server.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from pgassay.doctor.host import check_guards, check_server_host
from pgassay.errors import ConnectionRefused, PgassayError
from pgassay.refusals.refusal import found_by
from pgassay.server.connection.rights import may_checkpoint, own_role
from pgassay.server.connection.session import as_target_error, connect, resolve
from pgassay.server.existing.refusals import UNUSED, Found
from pgassay.server.existing.signs import look_for_signs
from pgassay.server.protocol import Connection, ConnectionParameters
from pgassay.server.statements import statement
from pgassay.server.undo.killed_run import explained
from pgassay.server.undo.marking import words_of
from pgassay.trials.sampling.not_measured import (
    Check,
    check_extensions,
    check_log,
    check_settings,
    preloaded_in,
)
from pgassay.trials.sampling.queries import Extension, extensions_in
from pgassay.trials.sampling.samplers import has_read_each, open_sampler
from pgassay.trials.sampling.statement_statistics import StatementWatch

_SAMPLING_LIMIT_S = 30.0


def check_server(dsn: str, *, log_elsewhere: bool = False) -> list[Check]:
    """Checks whether a load and its samplers can work on this server.

    `log_elsewhere` says that its log is looked for on its host (`check_access`).
    """
    try:
        try:
            parameters = resolve(dsn)
        except ConnectionRefused as refused:
            raise explained(refused, dsn) from None
        with connect(parameters) as session:
            row = session.execute(statement("existing/checkup")).fetchone()
            with as_target_error("looking for signs of production"):
                signs = look_for_signs(session)
                extensions = extensions_in(session)
                preloaded = preloaded_in(session)
                hidden = check_settings(session)
            log = [] if log_elsewhere else check_log(session, parameters)
            host = check_server_host(session)
            if not log_elsewhere:
                host += check_guards(session)
            role, checkpoints = own_role(session), may_checkpoint(session)
            left = _check_earlier_runs(session, parameters)
    except PgassayError as error:
        return [Check.refused("connection", error)]
    if row is None:
        return [Check("connection", "fail", f"{parameters.label}: no answer")]
    version_num, version, monitor, superuser, standby = row
    checks = [
        Check("connection", "ok", parameters.label),
        Check("version", "ok", " ".join(version.split()[:2])),
    ]
    checks.append(_check_version(version_num))
    checks.append(
        Check("other sessions' waits", "ok", "visible")
        if monitor or superuser
        else Check(
            "other sessions' waits",
            "note",
            "only those of the same user are visible",
            f"GRANT pg_monitor TO {role};",
        )
    )
    if not superuser:
        checks.append(
            Check(
                "changing settings", "note", "needs a superuser or GRANT ALTER SYSTEM ON PARAMETER"
            )
        )
    if not checkpoints:
        enables = f"GRANT pg_checkpoint TO {role};"
        checks.append(
            Check(
                "CHECKPOINT",
                "note",
                "this role may not run it, so trials begin without one",
                enables if version_num >= 150000 else "connect as a superuser",
            )
        )
    checks += left
    checks += hidden
    if standby:
        checks.append(Check("standby", "note", "the server is in recovery: read-only loads only"))
    checks += [
        Check(
            f"in use: {sign.name}",
            "note",
            f"{sign.found}; {sign.why}",
            f'a run stops here unless target.accept has "{sign.name}"',
        )
        for sign in signs
    ]
    checks += log
    checks += host
    checks += check_extensions(version_num, extensions, preloaded)
    checks.append(_check_sampling(parameters, version_num, extensions))
    return checks


def _check_earlier_runs(session: Connection, parameters: ConnectionParameters) -> list[Check]:
    """Checks for runs that use this server, or have changed it and not put it back, and for a
    schema of the name of ours."""
    found = found_by(UNUSED, Found(session, parameters, words_of(parameters)))
    return [Check.refused("earlier runs", error) for error in found]


def _check_version(version_num: int) -> Check:
    if version_num >= 140000:
        return Check("supported version", "ok", "yes")
    return Check("supported version", "note", "below 14: WAL statistics are missing")


def _check_sampling(
    parameters: ConnectionParameters, version_num: int, extensions: Mapping[str, Extension]
) -> Check:
    """Sample as a trial would, until each query was asked once."""
    try:
        statements = StatementWatch(lambda: connect(parameters), version_num, extensions)
        sampler, _ = open_sampler(
            parameters, version_num, load=None, extensions=extensions, observes=True
        )
    except PgassayError as error:
        return Check.refused("sampling", error)
    end = time.monotonic() + _SAMPLING_LIMIT_S
    while not (each := has_read_each(sampler, version_num, extensions)):
        if time.monotonic() > end:
            break
        time.sleep(0.02)
    sampler.stop()
    problems = [*sampler.warnings(), *map(str, statements.notes)]
    if not each:
        problems.append(f"not every query was answered within {_SAMPLING_LIMIT_S:g} s")
    if problems:
        return Check("sampling", "note", "; ".join(problems))
    return Check("sampling", "ok", "every query of the samplers works")
