"""The fields that are read of stored JSON files, so that a wrong form is refused by name.

Enters: the object of environment.json or profiles.json. Leaves: one line that names the
first key that does not fit, or None. Never: requires a field that is not read, or that older
runs do not have.

"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pgassay.json_forms import NUMBER, Form, misfit_of
from pgassay.trials.model.record import PLANS_SCHEMA

STATEMENTS_SCHEMA = "pgassay.statements/1"
PROFILES_SCHEMA = "pgassay.profiles/1"
TRACE_SCHEMA = "pgassay.trace/1"
ENVIRONMENT_SCHEMA = "pgassay.environment/1"

_PLAN: Form = {"scenario": str, "line": int, "sql": str, "plan?": [dict], "reason?": str}
_PROFILE: Form = {
    "arm?": str,
    "kind": str,
    "unit_ns": NUMBER,
    "started_ns": int,
    "seconds": NUMBER,
    "samples": int,
    "unnamed": int,
    "cut_off": int,
    "perf_cpu_s": NUMBER,
    "transactions?": NUMBER,
    "notes": [str],
}
_PROFILES: Form = {"schema": str, "profiles": [_PROFILE], "notes": [str]}
_TRACE: Form = {
    "schema": str,
    "server": str,
    "server_version": str,
    "program": str,
    "started_ns": int,
    "ended_ns": int,
    "ended_by": str,
    "complaint": str,
    "what": [str],
    "ways": {"*": str},
    "pair_cost_ns": {"*": NUMBER},
    "missing": [str],
    "unmatched": {"*": int},
    "lost_events": int,
    "full_maps": [str],
    "relations": [
        {"point": str, "name": str, "kind": str, "count": int, "total_ns": int},
    ],
    "cost?": dict,
}
_SERVER: Form = {
    "version?": str,
    "version_num?": int,
    "settings=": {"*": (str, int, float)},
    "every_setting=": {"*": dict},
}
_ENVIRONMENT: Form = {
    "created_at?": str,
    "pgassay?": str,
    "server=": _SERVER,
    "servers=": {"*": _SERVER},
    "host=": {"cpus?": int, "memory_bytes?": int, "storage=": {"*": dict}},
    "not_seen=": [dict],
    "earlier_runs=": int,
    "sizes=": {"*": dict},
}
FORMS: Mapping[str, Form] = {
    ENVIRONMENT_SCHEMA: _ENVIRONMENT,
    PLANS_SCHEMA: {"schema": str, "arms": [{"arm": str, "statements": [_PLAN]}]},
    STATEMENTS_SCHEMA: {"schema": str, "statements": dict},
    PROFILES_SCHEMA: _PROFILES,
    TRACE_SCHEMA: _TRACE,
}


def misfit(found: Mapping[str, Any], schema: str) -> str | None:
    """What is wrong with the object of a file whose `schema` should be this one."""
    said = found.get("schema")
    if isinstance(said, str) and said != schema:
        return f"its schema is {said!r}, and this pgassay reads {schema!r}"
    wrong = misfit_of(found, FORMS[schema])
    return None if wrong is None else f"is damaged: {wrong}"
