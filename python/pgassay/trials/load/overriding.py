"""Whether the transactions of a load run with the settings that the experiment gives them.

Enters: an arm's experiment, how its load connects, the result of a load. Leaves: the settings that
scripts, or functions that they call, set themselves, with the scenarios. Never: makes a run fail,
or runs while a load is measured.

A name in a script or function is seen in its text. What is put together at run time is seen in a
session of the load: it runs a transaction of each scenario, then asks which settings the session
has set. Where the experiment itself sets them in sessions (a switchback), the texts alone decide.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import psycopg

from pgassay.errors import PgassayError
from pgassay.plan.steps import Step
from pgassay.server.connection.session import connect
from pgassay.server.protocol import ConnectionParameters
from pgassay.server.statements import statement
from pgassay.spec.experiment import Spec
from pgassay.spec.workload.folder import Scenario
from pgassay.spec.workload.settings_in_sql import functions_in, overriding
from pgassay.trials.load.engine import LoadRequest, as_the_client
from pgassay.trials.load.engine_load import EngineLoad
from pgassay.trials.load.group import OnThisMachine

_SQLSTATE = "PGS01"
_QUICK_MS = 1000.0
"""Mean of a scenario whose transaction may be run once more."""
_LIMIT_S = 5.0


def overridden(
    spec: Spec, server: ConnectionParameters, result: Mapping[str, Any], *, in_sessions: bool
) -> dict[str, list[str]]:
    """Returns, by setting of the experiment, the scenarios that set it themselves; `spec` is the
    arm's, and `in_sessions` says that the load's sessions set its settings."""
    names = spec.file.controlled
    if not names or not spec.file.runs_scripts:
        return {}
    connection = as_the_client(server, spec.file.load)
    functions = functions_in(spec.workload.schema_sql, spec.workload.data_sql)
    with suppress(psycopg.Error, PgassayError), connect(connection) as session:
        rows = session.execute(statement("trials/functions"), prepare=False).fetchall()
        for name, text in rows:
            functions[name] = f"{functions.get(name, '')} ; {text}"
    found = overriding(spec.workload, names, functions, in_sessions=in_sessions)
    if in_sessions:
        return found
    quick = {
        one["name"]
        for one in result.get("scenarios", ())
        if ((one.get("latency_ms") or {}).get("mean") or _QUICK_MS) < _QUICK_MS
    }
    for scenario in spec.workload.scenarios:
        if scenario.name in quick:
            with suppress(PgassayError):
                for name in _set_in_session(scenario, spec, connection, names):
                    if scenario.name not in found.setdefault(name, []):
                        found[name].append(scenario.name)
    return found


def _set_in_session(
    scenario: Scenario, spec: Spec, connection: ConnectionParameters, names: Collection[str]
) -> list[str]:
    """Those of the names that are set in a session after one transaction of the scenario."""
    array = ", ".join("'" + name.replace("'", "''").lower() + "'" for name in sorted(names))
    asking = (
        statement("trials/set_in_session")
        .decode()
        .replace("{names}", array)
        .replace("{sqlstate}", _SQLSTATE)
    )
    request = LoadRequest(
        scenarios=[replace(scenario, script=f"{scenario.script}\n;\n{asking}", weight=1.0)],
        steps=[Step(1, _LIMIT_S, measured=True)],
        variables={"scale": spec.file.workload.scale},
        seed=spec.seed,
        protocol=spec.file.load.protocol,
        transactions_per_client=1,
        allow_shell=True if spec.file.load.allow_shell else None,
        private=False,  # names of settings are read from the text, and nothing is kept of it
    )
    done = EngineLoad(request, connection, OnThisMachine()).run(lambda _: None)
    first = done.get("first_error") or {}
    if first.get("sqlstate") != _SQLSTATE:
        return []
    by_lower = {name.lower(): name for name in names}
    _, _, said = str(first["message"]).rpartition(f"{_SQLSTATE}: ")
    return [by_lower[name] for name in said.split(", ") if name in by_lower]
