"""The fields that are read of stored JSON files, so that a wrong form is refused by name.

Enters: the object of trial.json, segment.json or profiles.json. Leaves: one line that names the
first key that does not fit, or None. Never: requires a field that is not read, or that older
runs do not have.

"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pgassay.json_forms import NUMBER, Form, form_of, misfit_of
from pgassay.plan.model import ALL_ARMS, Plan
from pgassay.plan.store import SCHEMA as PLAN_SCHEMA
from pgassay.trials.model.record import PLANS_SCHEMA

TRIAL_SCHEMA = "pgassay.trial/1"
SEGMENT_SCHEMA = "pgassay.segment/1"
STATEMENTS_SCHEMA = "pgassay.statements/1"
PROFILES_SCHEMA = "pgassay.profiles/1"
TRACE_SCHEMA = "pgassay.trace/1"
ENVIRONMENT_SCHEMA = "pgassay.environment/1"

_STEP: Form = {
    "index": int,
    "clients": NUMBER,
    "measured": bool,
    "start_ns": int,
    "end_ns": int,
    "transactions": int,
    "failed": int,
    "tps": NUMBER,
    "client_cpu_s": NUMBER,
    "rate?": NUMBER,
}
_SLICE: Form = {
    "index": int,
    "variant": str,
    "start_ns": int,
    "end_ns": int,
    "transactions": int,
    "failed": int,
    "crossing": int,
    "latency_ms": {"mean?": NUMBER},
}
_HOST: Form = {"knobs?": dict, "frequency_mhz?": NUMBER, "throttled?": NUMBER}
_LOOK: Form = {"version": str, "settings": dict, "database_bytes?": int, "host?": _HOST}
_SEGMENT: Form = {
    "schema": str,
    "number": int,
    "started_ns": int,
    "ended_ns": int,
    "sampler_cost": {"*": NUMBER},
    "checkpoints_from": str,
    "warnings": [str],
    "log?": dict,
    "clock?": dict,
}
_TRIAL: Form = {
    "schema": str,
    "number": int,
    "block": int,
    "position": int,
    "arm": str,
    "levels": dict,
    "started_ns?": int,
    "ended_ns?": int,
    "reset?": {"duration_s?": NUMBER, "arms?": dict},
    "load": {"steps": [_STEP], "slices?": [_SLICE]},
    "checkpoints_from": str,
    "log?": dict,
    "warnings": [str],
    "notes=": list,
    "validity?": {"reasons?": [str]},
    "repeats?": int,
    "server?": str,
    "set_by_load?": dict,
    "fingerprint?": {
        "before?": _LOOK,
        "after?": _LOOK,
        "processors?": {
            "server_s": NUMBER,
            "all_s?": NUMBER,
            "foreign_user_s?": NUMBER,
            "steal_s?": NUMBER,
        },
    },
}
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
_PLAN_FILE: Form = {"schema": str, "warnings": [str]} | form_of(Plan)
# Which older versions do not have, and newer ones may write otherwise (`notes_from_json`).
for name in ("notes", "plots_reason?", "mode_reason?", "modes_refused="):
    del _PLAN_FILE[name]
_PLAN_FILE |= {"notes=": list, "plots_reason=": str, "mode_reason=": str}
_PLAN_FILE["modes_refused="] = {"*": str}
_ARM: Form = {"id": str, "levels": {"*": str}}
FORMS: Mapping[str, Form] = {
    TRIAL_SCHEMA: _TRIAL,
    PLAN_SCHEMA: {**_PLAN_FILE, "arms": [_ARM], "held_arms=": [_ARM]},
    ENVIRONMENT_SCHEMA: _ENVIRONMENT,
    SEGMENT_SCHEMA: _SEGMENT,
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
    if wrong is None and schema == TRIAL_SCHEMA:
        wrong = _of_trial(found)
    return None if wrong is None else f"is damaged: {wrong}"


def _of_trial(found: Mapping[str, Any]) -> str | None:
    """Checks that concern several keys."""
    steps: Sequence[Mapping[str, Any]] = found["load"]["steps"]
    if found["arm"] == ALL_ARMS and not found["load"].get("slices"):
        return "'load.slices' is missing, and the arms took turns"
    for place, step in enumerate(steps):
        if min(step["transactions"], step["failed"], step["end_ns"] - step["start_ns"]) < 0:
            return f"'load.steps[{place}]' counts or lasts less than nothing"
    measured = [step for step in steps if step["measured"]]
    if not measured:
        return "no step in 'load.steps' was measured"
    rates = [step.get("rate") is not None for step in measured]
    if any(rates) and not all(rates):
        return f"'load.steps[{steps.index(measured[rates.index(False)])}].rate' is missing"
    return None
