"""What a run would do to an existing server, seen without doing it.

Enters: its connection string, accepted signs, settings, the workload's SQL. Leaves: a `Preview`:
signs of production, everything that would stop the run, every change it would make.
Never: changes anything; its session is read-only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from pgassay.errors import ConnectionRefused, TargetError
from pgassay.plan.demands import Demand
from pgassay.spec.redaction import shown_of
from pgassay.spec.reset import EXISTING_RULE, Caches, ResetRule
from pgassay.target.access import SQL_ONLY, Access
from pgassay.target.capacity import capacity_of, lacking, own_sessions
from pgassay.target.changeable import needs_restart
from pgassay.target.copy_room import COPIES, Room
from pgassay.target.existing_copied import refuse_followed
from pgassay.target.left_on_copy import LeftCopy, left_up, refuse_left, told_of_copies
from pgassay.target.moved import lines_of_dead_runs
from pgassay.target.preview_host import look_at_host
from pgassay.target.preview_model import PlannedChange, Preview
from pgassay.target.preview_stopped import COPIES as ON_COPIES
from pgassay.target.preview_stopped import look_by_data, preview_stopped
from pgassay.target.protocol import Change, Connection, Context, ResetLevel
from pgassay.target.recover_copy import with_the_copy
from pgassay.target.reset_levels import refuse_unreadable
from pgassay.target.run_lock import refuse_other_runs
from pgassay.target.schema import SCHEMA, refuse_elsewhere, refuse_foreign
from pgassay.target.seat import seat_here
from pgassay.target.server_memory import remembered
from pgassay.target.server_paths import account_of, own_directory
from pgassay.target.session import connect, identity, resolve, told_as_target_error
from pgassay.target.setting_scope import Scope
from pgassay.target.settings import find, read_settings, show
from pgassay.target.signs import look_for_signs
from pgassay.target.standing import is_local, unfit
from pgassay.target.statements import statement
from pgassay.target.template_database import refuse_uncopied
from pgassay.target.waiting import OthersWait, refuse_reload, refuse_restart

_CREATES = re.compile(
    r"\bCREATE\s+(?:OR\s+REPLACE\s+)?((?:[A-Z]+\s+){0,3}?)"
    r"(TABLE|INDEX|SEQUENCE|VIEW|FUNCTION|PROCEDURE|EXTENSION|SCHEMA|TYPE|ROLE|DATABASE)\s+"
    r'(?:CONCURRENTLY\s+)?(?:IF\s+NOT\s+EXISTS\s+)?("[^"]+"|[\w.]+)',
    re.IGNORECASE,
)


def preview_existing(
    dsn: str,
    *,
    accept: Collection[str],
    settings: Mapping[str, Sequence[str]],
    building_sql: Sequence[str],
    access: Access = SQL_ONLY,
    rule: ResetRule = EXISTING_RULE,
    allow_changes: bool = False,
    restarts_for_knobs: bool = False,
    schema_variants: int = 0,
    demands: Iterable[Demand] = (),
) -> Preview:
    """Look at the server as a run would, and say what that run would find and do."""
    if access.data is not None:
        cluster, why_not = look_by_data(dsn, access)
        if not cluster.runs:
            return preview_stopped(cluster, why_not, access, settings, rule)
        dsn = cluster.dsn
    try:
        parameters = resolve(dsn)
    except ConnectionRefused as refused:
        raise told_of_copies(refused, dsn, access) from None
    with told_as_target_error("looking at the server"), connect(parameters) as session:
        session.execute("SET default_transaction_read_only = on")
        reason = unfit(session, parameters.label)
        signs = tuple(look_for_signs(session))
        server = identity(session) or parameters.label
        with closing(access.host()) as host:
            here = seat_here(session, parameters, host)
        left, remains = left_up(server, here), remembered(server, here)
        # What a dead run has left there takes room until it is given back.
        copies = COPIES + schema_variants if left is None else 0
        restarts = not access.why_no_restart and (
            restarts_for_knobs
            or rule.level is ResetLevel.SNAPSHOT
            or any(needs_restart(session, name) for name in settings)
        )
        on_host = look_at_host(session, access, rule, copies=copies, restarts=restarts)
        data = on_host.data or data_here(session, access)
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
                *([] if reason is None else [reason]),
                *_left_refusals(left, access),
                *lines_of_dead_runs(session, server, here),
                *_refusals(session, settings, access, rule, allow_changes=allow_changes),
                *_waiting(
                    session,
                    access,
                    remains,
                    reloads=bool(settings),
                    restarts=restarts,
                ),
                *on_host.refusals,
                *lacking(asked, side_by_side=False),
            ),
            changes=(
                *_setting_changes(session, settings, access.scope(session)),
                *_restarts(session, settings, access, for_knobs=restarts_for_knobs),
                *_data_changes(session, building_sql, rule),
                *_room_changes(on_host.room),
                *_left_over(remains, left),
            ),
            data_directory=None if data is None else str(data),
            sees_host=access.reaches_host or _is_here(session),
        )


def data_here(session: Connection, access: Access) -> Path | None:
    """The server's data directory, where its files are this machine's."""
    row = session.execute(statement("server")).fetchone()
    if row is None or access.ssh is not None or not _is_here(session):
        return None
    return own_directory(row[2], account_of(row[4]))


def _is_here(session: Connection) -> bool:
    return is_local(session.info.hostaddr or session.info.host, session.info.backend_pid)


def _restarts(
    session: Connection,
    settings: Mapping[str, Sequence[str]],
    access: Access,
    *,
    for_knobs: bool,
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
    allow_changes: bool,
) -> Iterator[str]:
    checks: list[Callable[[Connection], object]] = [refuse_other_runs, refuse_foreign]
    if rule.level is ResetLevel.TEMPLATE:
        checks.append(refuse_uncopied)
    if rule.level is ResetLevel.SNAPSHOT:
        checks.append(refuse_followed)
    if allow_changes:
        checks.append(refuse_elsewhere)
    if rule.caches is Caches.COLD:
        checks.append(lambda session: refuse_unreadable(session, data_here(session, access)))
    for check in checks:
        try:
            check(session)
        except TargetError as error:
            yield str(error)
    for name, values in settings.items():
        for value in values:
            try:
                access.refuse_unchangeable(session, {name: value})
            except TargetError as error:
                yield str(error)
                break


def _waiting(
    session: Connection,
    access: Access,
    remains: Sequence[Change],
    *,
    reloads: bool,
    restarts: bool,
) -> Iterator[str]:
    """What somebody has edited, and a run would bring into force."""
    # What a killed run has left is undone before all else.
    left = dict.fromkeys(one.setting for one in remains)
    if reloads and access.scope(session).reloads:
        try:
            refuse_reload(session, left)
        except OthersWait as error:
            yield str(error)
    if restarts:
        try:
            refuse_restart(session, left)
        except OthersWait as error:
            yield str(error)


def _setting_changes(
    session: Connection, settings: Mapping[str, Sequence[str]], scope: Scope
) -> Iterator[PlannedChange]:
    known = read_settings(session)
    for name, values in settings.items():
        setting = find(known, name)
        if setting is None:
            continue  # told as a refusal
        now = shown_of(name, show(session, [name])[name])
        yield PlannedChange(
            scope.key or "server",
            f"{name}: {now} now, {' / '.join(values)} in the run",
            takes(setting.context) if scope.reloads else "new session",
        )


def _data_changes(
    session: Connection, building_sql: Sequence[str], rule: ResetRule
) -> Iterator[PlannedChange]:
    where = session.info.dbname
    if rule.level is ResetLevel.TEMPLATE:
        yield from _database_changes(session)
        where = "the copy"
    yield PlannedChange("server", f"CREATE SCHEMA {SCHEMA} in database {where}", "at once")
    for text in building_sql:
        for match in _CREATES.finditer(re.sub(r"--[^\n]*", "", text)):
            kind = " ".join(f"{match[1]}{match[2]}".upper().split())
            yield PlannedChange("server", f"CREATE {kind} {match[3]} in {SCHEMA}", "at once")
    match rule.level:
        case ResetLevel.VACUUM:
            vacuum = "VACUUM (FREEZE, ANALYZE) of these tables and CHECKPOINT"
            yield PlannedChange("server", vacuum, "before every trial")
        case ResetLevel.TEMPLATE:
            yield PlannedChange("server", "CHECKPOINT", "before every trial")
        case ResetLevel.SNAPSHOT:
            yield PlannedChange(
                "host",
                ON_COPIES,
                "a stop and a start before every trial",
            )


def _room_changes(room: Room | None) -> Iterator[PlannedChange]:
    if room is not None:
        yield PlannedChange("host", room.described(), "until the end")


def _left_refusals(left: LeftCopy | None, access: Access) -> Iterator[str]:
    if left is not None:
        try:
            refuse_left(left, access)
        except TargetError as error:
            yield str(error)


def _left_over(changes: Sequence[Change], left: LeftCopy | None) -> Iterator[PlannedChange]:
    if left is not None:
        changes, _ = with_the_copy(left.change, changes)
        yield PlannedChange(
            "host",
            f"give back {left.change.what}, which a killed run has left on a copy; what was"
            " written to the copy is lost, unless the host has booted since",
            "first, by a stop and a start",
        )
    for change in reversed(changes):
        yield PlannedChange("server", f"undo what a killed run left: {change.what}", "first")


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
    """What brings a changed setting into force, as `pg_settings.context` says."""
    if context.needs_restart:
        return "restart"
    if context in (Context.BACKEND, Context.SUPERUSER_BACKEND):
        return "reload, new session"
    return "reload"
