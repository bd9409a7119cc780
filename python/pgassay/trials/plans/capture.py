"""Asks a server for the plans of a load's statements; none of them is executed.

Enters: the experiment, the plan, the servers of a trial after its load. Leaves: the object of
plans.json: per arm and statement its plan as EXPLAIN gives it, or the reason why there is none.
Never: fails a trial, or works while a load is measured.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import psycopg
from psycopg import sql

from pgassay import _core
from pgassay.errors import ConnectionRefused, TargetError
from pgassay.notes import Note
from pgassay.plan.model import ALL_ARMS, Arm, Plan
from pgassay.server.connection.session import connect, one_line
from pgassay.server.protocol import Connection, ConnectionParameters
from pgassay.server.statements import statement
from pgassay.spec.arms import spec_of_arm
from pgassay.spec.experiment import Spec
from pgassay.spec.reading.texts import shown
from pgassay.stored_notes import coded, said_at
from pgassay.trials.load.engine import as_the_client

_STATEMENT_LIMIT_S = 5.0
_ALL_LIMIT_S = 30.0
"""For all statements of an arm: the next trial waits for them."""
_MOST_STATEMENTS = 200
_MOST_CHARACTERS = 200_000
"""Of one plan, as JSON: some two hundred partitions."""
_NAME = b"pgassay_plan"
_NO_PLAN = Note("trials/plans/no-plan")
_TOO_LARGE = Note("trials/plans/too-large", {"kilobytes": _MOST_CHARACTERS // 1000})
_PRUNED = '"Subplans Removed"'
_SHOWS_PRUNED_FROM = 160000
"""Before EXPLAIN (GENERIC_PLAN), partitions are left out that NULL as parameter rules out."""


def plans_of_trial(
    whole: Spec, plan: Plan, servers: Mapping[str, ConnectionParameters]
) -> dict[str, Any]:
    """Returns the object of plans.json; empty where none are asked for, or a program is the load.

    `servers` are those of the trial by arm; one on which all arms alternate is asked for each.
    """
    if not whole.file.sampling.plans or not whole.file.runs_scripts:
        return {}
    shared = servers.get(ALL_ARMS)
    arms = [
        _plans_of_arm(arm, spec_of_arm(whole, arm.by_kind), server)
        for arm in plan.arms
        if (server := servers.get(arm.id, shared)) is not None
    ]
    return {"arms": arms}


def plan_notes(plans: Mapping[str, Any]) -> tuple[Note, ...]:
    """Returns why plans could not be read, the same for several arms once."""
    notes = (said_at(arm, "note") for arm in plans.get("arms", ()))
    return tuple(dict.fromkeys(note for note in notes if note is not None))


def _plans_of_arm(arm: Arm, spec: Spec, server: ConnectionParameters) -> dict[str, Any]:
    found: list[dict[str, Any]] = []
    described: dict[str, Any] = {"arm": arm.id, "statements": found}
    client = as_the_client(server, spec.file.load)
    try:
        with connect(
            client, statement_limit_s=_STATEMENT_LIMIT_S, lasts_s=_ALL_LIMIT_S, keeps_path=True
        ) as session:
            session.execute(statement("plans/generic_plans"), prepare=False)
            given = client.startup.get("client_encoding") or client.client_encoding
            encoding = given or session.info.parameter_status("server_encoding") or "UTF8"
            found.extend(
                {**each, **explained(session, sent, encoding)} for each, sent in _statements(spec)
            )
    except (psycopg.Error, ConnectionRefused, TargetError) as error:
        note = Note("trials/plans/unreadable", {"error": one_line(error)})
        described |= coded("note", note)
    return described


def _statements(spec: Spec) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Each statement of the scenarios once, up to a limit, and the bytes that are sent."""
    known: set[tuple[str, bytes]] = set()
    for scenario in spec.workload.scenarios:
        for line, text in _core.script_statements(
            scenario.file, scenario.script_bytes, allow_shell=spec.file.load.allow_shell
        ):
            if (scenario.name, text) not in known and len(known) < _MOST_STATEMENTS:
                known.add((scenario.name, text))
                yield {"scenario": scenario.name, "line": line, "sql": shown(text)}, text


def _prepared(session: Connection, text: bytes, encoding: str) -> psycopg.pq.abc.PGresult:
    """By the protocol: as the engine does, and it takes one command only."""
    if text.isascii():
        return session.pgconn.prepare(_NAME, text)
    # The encoding of the load's sessions says what these bytes mean.
    session.execute("SELECT pg_catalog.set_config('client_encoding', %s, false)", (encoding,))
    try:
        return session.pgconn.prepare(_NAME, text)
    finally:
        session.execute("SET client_encoding = 'UTF8'")


def explained(session: Connection, text: bytes, encoding: str) -> dict[str, Any]:
    """`plan`, or the `reason` why there is none."""
    try:
        prepared = _prepared(session, text, encoding)
        if prepared.status != psycopg.pq.ExecStatus.COMMAND_OK:
            return _refused(_message(prepared))
        parameters = session.pgconn.describe_prepared(_NAME).nparams
        try:
            plan = _plan_of(session, text, parameters)
        finally:
            if not session.broken:
                session.execute(statement("plans/forget"), prepare=False)
    except psycopg.OperationalError:
        if session.broken or session.closed:
            raise
        return coded("reason", Note("trials/plans/slow", {"limit_s": _STATEMENT_LIMIT_S}))
    except psycopg.Error as error:
        return _refused(one_line(error))
    if plan is None:
        return coded("reason", _NO_PLAN)
    if len(json.dumps(plan)) > _MOST_CHARACTERS:
        return coded("reason", _TOO_LARGE)
    return {"plan": plan}


def _refused(sentence: str) -> dict[str, Any]:
    """The server's own words."""
    return coded("reason", Note("trials/plans/refused", {"sentence": sentence}))


def _plan_of(session: Connection, text: bytes, parameters: int) -> Any:
    nulls = sql.SQL(", ").join([sql.NULL] * parameters)
    values = sql.SQL("({})").format(nulls) if parameters else sql.SQL("")
    asked = sql.SQL(statement("plans/explain").decode()).format(values=values)
    rows = session.execute(asked, prepare=False).fetchall()
    plan = rows[0][0] if rows else None
    if not (isinstance(plan, list) and plan and isinstance(plan[0], dict) and "Plan" in plan[0]):
        return None
    if session.info.server_version < _SHOWS_PRUNED_FROM or _PRUNED not in json.dumps(plan):
        return plan
    if not text.isascii():
        return plan
    # Without values it takes a simple query; that this is one command is known by now.
    command = statement("plans/explain_generic").replace(b"{statement}", text)
    whole = session.pgconn.exec_(command)
    if whole.status != psycopg.pq.ExecStatus.TUPLES_OK:
        return plan
    return json.loads(whole.get_value(0, 0) or b"null")


def _message(result: psycopg.pq.abc.PGresult) -> str:
    text = result.error_field(psycopg.pq.DiagnosticField.MESSAGE_PRIMARY) or b""
    return text.decode(errors="replace").replace("\n", " ")
