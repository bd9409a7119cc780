"""What a run would do to an existing server, found out without changing it.

Enters: its connection string, accepted signs, settings, the workload's SQL. Leaves: a `Preview`:
signs of production, everything that would stop the run, every change it would make.
Never: changes anything; its session is read-only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from pgassay.errors import ConnectionRefused, PgassayError, TargetError
from pgassay.plan.demands import Demand
from pgassay.refusals.refusal import found_by
from pgassay.server.connection.rights import may_checkpoint
from pgassay.server.connection.session import as_target_error, connect, resolve
from pgassay.server.data.installed_tables import refuse_missing
from pgassay.server.data.reset import refuse_unreadable
from pgassay.server.data.template_database import refuse_uncopied
from pgassay.server.existing.access import SQL_ONLY, Access
from pgassay.server.existing.capacity import capacity_of, lacking, own_sessions
from pgassay.server.existing.refusals import FIT, UNUSED, Found
from pgassay.server.existing.requirements import directory_here, is_here
from pgassay.server.existing.signs import look_for_signs
from pgassay.server.hosts.local import HERE
from pgassay.server.hosts.server_process import postmaster_of
from pgassay.server.preview.host import PlannedChange, Preview, look_at_host
from pgassay.server.protocol import NOTHING, Connection, Context, ResetLevel
from pgassay.server.settings.changeable import needs_restart, refuse_in_sessions
from pgassay.server.settings.pending_changes import refuse_reload, refuse_restart
from pgassay.server.settings.scope import Scope
from pgassay.server.settings.values import find, read_settings, show
from pgassay.server.undo.killed_run import explained
from pgassay.server.undo.marking import place_for
from pgassay.server.undo.undo_sql import SCHEMA
from pgassay.spec.secrets.redaction import shown_of
from pgassay.spec.server.reset import EXISTING_RULE, Caches, ResetRule
from pgassay.spec.workload.folder import InstalledTables

_CREATES = re.compile(
    r"\bCREATE\s+(?:OR\s+REPLACE\s+)?((?:[A-Z]+\s+){0,3}?)"
    r"(TABLE|INDEX|SEQUENCE|VIEW|FUNCTION|PROCEDURE|EXTENSION|SCHEMA|TYPE|ROLE|DATABASE)\s+"
    r'(?:CONCURRENTLY\s+)?(?:IF\s+NOT\s+EXISTS\s+)?("[^"]+"|[\w.]+)',
    re.IGNORECASE,
)

_WITHOUT_CHECKPOINT = ", without a CHECKPOINT, which takes a superuser or pg_checkpoint (15+)"


def preview_existing(
    dsn: str,
    *,
    accept: Collection[str],
    settings: Mapping[str, Sequence[str]],
    in_sessions: Mapping[str, Sequence[str]] = NOTHING,
    building_sql: Sequence[str],
    installed: InstalledTables | None = None,
    access: Access = SQL_ONLY,
    rule: ResetRule = EXISTING_RULE,
    allow_changes: bool = False,
    restarts_for_knobs: bool = False,
    demands: Iterable[Demand] = (),
) -> Preview:
    """Look at the server as a run would, and say what that run would find and do.

    `settings` are the server's, `in_sessions` those that only the load's sessions set.
    """
    try:
        parameters = resolve(dsn)
    except ConnectionRefused as refused:
        raise explained(refused, dsn) from None
    with as_target_error("looking at the server"), connect(parameters) as session:
        makes = installed is None or allow_changes or rule.level is ResetLevel.TEMPLATE
        # Asked before this session sets it itself.
        as_found = Found(session, parameters, dsn, makes=makes)
        unfit = found_by(FIT, as_found)
        session.execute("SET default_transaction_read_only = on")
        signs = tuple(look_for_signs(session))
        restarts = not access.why_no_restart and (
            restarts_for_knobs or any(needs_restart(session, name) for name in settings)
        )
        on_host = look_at_host(session, access, restarts=restarts)
        data = on_host.data or _data_here(session, access)
        capacity = capacity_of(
            session,
            read_settings(session),
            on_host.memory,
            own_sessions(is_ours=False, sees_host=data is not None),
            in_own_database=rule.level is ResetLevel.TEMPLATE,
        )
        asked = [(demand, capacity) for demand in demands]
        return Preview(
            server=parameters.label,
            version=session.info.parameter_status("server_version") or "?",
            signs=signs,
            accepted=tuple(sign.name for sign in signs if sign.name in accept),
            refusals=(
                *unfit,
                *found_by(UNUSED, as_found),
                *_refusals(
                    session,
                    settings,
                    access,
                    rule,
                    in_sessions=in_sessions,
                    allow_changes=allow_changes,
                    restarts=restarts,
                    installed=installed,
                ),
                *on_host.refusals,
                *lacking(asked, side_by_side=False),
            ),
            changes=(
                *_setting_changes(session, settings, access.scope(session)),
                *_restarts(session, settings, access, for_knobs=restarts_for_knobs),
                *_data_changes(session, building_sql, rule, installed, marks=allow_changes),
                *_mark_changes(session, marks=allow_changes),
            ),
            data_directory=None if data is None else str(data),
            sees_host=access.reaches_host or is_here(session),
            postmaster=_postmaster_here(session),
        )


def _postmaster_here(session: Connection) -> int | None:
    """The server's first process; None where that is not to be seen on this host."""
    if not is_here(session):
        return None
    with suppress(TargetError):
        return postmaster_of(session, session.info.backend_pid, HERE)
    return None


def _restarts(
    session: Connection, settings: Mapping[str, Sequence[str]], access: Access, *, for_knobs: bool
) -> Iterator[PlannedChange]:
    control = access.control
    needing = {name: values for name, values in settings.items() if needs_restart(session, name)}
    if control is not None and (needing or for_knobs) and not access.why_no_restart:
        where = f" on {access.ssh}" if access.ssh else ""
        differ = for_knobs or any(len(set(values)) > 1 for values in needing.values())
        yield PlannedChange(
            "server",
            f"`{control.label}`{where}, which ends everybody's sessions",
            "before trials" if differ else "at the start and the end",
        )


def _refusals(
    session: Connection,
    settings: Mapping[str, Sequence[str]],
    access: Access,
    rule: ResetRule,
    *,
    in_sessions: Mapping[str, Sequence[str]],
    allow_changes: bool,
    restarts: bool,
    installed: InstalledTables | None,
) -> list[PgassayError]:
    """Returns what would stop a run beside the state of the server, its signs, its host and its
    demands."""
    checks: list[Callable[[], object]] = []
    if rule.level is ResetLevel.TEMPLATE:
        checks.append(lambda: refuse_uncopied(session))
    if installed is not None:
        checks.append(lambda: refuse_missing(session, installed))
    if rule.caches is Caches.COLD:
        checks.append(lambda: refuse_unreadable(session, _data_here(session, access)))
    for refuse, asked in (
        (access.refuse_unchangeable, settings),
        (refuse_in_sessions, in_sessions),
    ):
        pairs = [{name: value} for name, values in asked.items() for value in values]
        checks += [partial(refuse, session, pair) for pair in pairs]
    if settings and access.scope(session).reloads:
        checks.append(lambda: refuse_reload(session))
    if restarts:
        checks.append(lambda: refuse_restart(session))
    return found_by(checks)


def _data_here(session: Connection, access: Access) -> Path | None:
    return None if access.ssh is not None else directory_here(session)


def _setting_changes(
    session: Connection, settings: Mapping[str, Sequence[str]], scope: Scope
) -> Iterator[PlannedChange]:
    known = read_settings(session)
    for name, values in settings.items():
        setting = find(known, name)
        if setting is None:
            continue  # a refusal says so
        now = shown_of(name, show(session, [name])[name])
        yield PlannedChange(
            scope.place if scope.of else "server",
            f"{name}: {now} now, {' / '.join(values)} in the run",
            takes(setting.context) if scope.reloads else "new session",
        )


def _data_changes(
    session: Connection,
    building_sql: Sequence[str],
    rule: ResetRule,
    installed: InstalledTables | None,
    *,
    marks: bool,
) -> Iterator[PlannedChange]:
    where = session.info.dbname
    if rule.level is ResetLevel.TEMPLATE:
        yield from _database_changes(session)
        where = "the copy"
    elif installed is not None:
        written = f"what the scripts write to {', '.join(installed.tables) or 'tables'} stays there"
        yield PlannedChange("server", written, "in every trial")
    if installed is None or (marks and rule.level is not ResetLevel.TEMPLATE):
        yield PlannedChange("server", f"CREATE SCHEMA {SCHEMA} in database {where}", "at once")
    for text in building_sql:
        for match in _CREATES.finditer(re.sub(r"--[^\n]*", "", text)):
            kind = " ".join(f"{match[1]}{match[2]}".upper().split())
            yield PlannedChange("server", f"CREATE {kind} {match[3]} in {SCHEMA}", "at once")
    match rule.level:
        case ResetLevel.VACUUM:
            what = "VACUUM (FREEZE, ANALYZE) of these tables"
            what += " and CHECKPOINT" if may_checkpoint(session) else _WITHOUT_CHECKPOINT
            yield PlannedChange("server", what, "before every trial")
        case ResetLevel.TEMPLATE if may_checkpoint(session):
            yield PlannedChange("server", "CHECKPOINT", "before every trial")


def _mark_changes(session: Connection, *, marks: bool) -> Iterator[PlannedChange]:
    database = place_for(session).database
    if marks and database:
        what = f"COMMENT ON DATABASE {database}: who has changed what, below its own text"
        yield PlannedChange("server", what, "until the end")
    elif marks:
        yield PlannedChange(
            "server",
            f"COMMENT ON SCHEMA {SCHEMA}: who has changed what; {session.info.user} owns no"
            " database, so if the run is killed, runs in other databases of this server do not"
            " see it",
            "until the end",
        )


def _database_changes(session: Connection) -> Iterator[PlannedChange]:
    name = session.info.dbname
    row = session.execute(
        "SELECT pg_size_pretty(2 * pg_database_size(current_database()))"
    ).fetchone()
    size = row[0] if row else "?"
    yield PlannedChange("server", f"CREATE DATABASE, a copy of {name}, for the template", "at once")
    yield PlannedChange(
        "server",
        f"CREATE DATABASE, a copy of the template; with it {size} and twice the workload's data",
        "before every trial",
    )


def takes(context: Context) -> str:
    """Returns what brings a changed setting into force, as `pg_settings.context` says: a restart or
    a reload."""
    if context.needs_restart:
        return "restart"
    if context in (Context.BACKEND, Context.SUPERUSER_BACKEND):
        return "reload, new session"
    return "reload"
