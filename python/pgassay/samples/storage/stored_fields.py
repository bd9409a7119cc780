"""The fields that are read of stored JSON files, so that a wrong form is refused by name.

Enters: the object of trial.json, segment.json or profiles.json. Leaves: one line that names the
first key that does not fit, or None. Never: requires a field that is not read, or that older
runs do not have.

A form is a type or several, `[form]` for a list of such, or a mapping of keys to forms. A key that
ends in "?" may be absent or null.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from pgassay.plan.model import ALL_ARMS
from pgassay.trials.model.record import PLANS_SCHEMA

TRIAL_SCHEMA = "pgassay.trial/1"
SEGMENT_SCHEMA = "pgassay.segment/1"
STATEMENTS_SCHEMA = "pgassay.statements/1"
PROFILES_SCHEMA = "pgassay.profiles/1"
TRACE_SCHEMA = "pgassay.trace/1"
Form = Any
_NUMBER = (int, float)
_NAMES = {
    int: "a whole number", float: "a number", bool: "true or false", str: "text",
    list: "a list", dict: "an object", type(None): "null",
}  # fmt: skip

_STEP: Form = {
    "index": int,
    "clients": _NUMBER,
    "measured": bool,
    "start_ns": int,
    "end_ns": int,
    "transactions": int,
    "failed": int,
    "tps": _NUMBER,
    "client_cpu_s": _NUMBER,
    "rate?": _NUMBER,
}
_SLICE: Form = {
    "index": int,
    "variant": str,
    "start_ns": int,
    "end_ns": int,
    "transactions": int,
    "failed": int,
    "crossing": int,
    "latency_ms": {"mean?": _NUMBER},
}
_HOST: Form = {"knobs?": dict, "frequency_mhz?": _NUMBER, "throttled?": _NUMBER}
_LOOK: Form = {"version": str, "settings": dict, "database_bytes?": int, "host?": _HOST}
_SEGMENT: Form = {
    "schema": str,
    "number": int,
    "started_ns": int,
    "ended_ns": int,
    "sampler_cost": dict,
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
    "reset?": {"duration_s?": _NUMBER, "arms?": dict},
    "load": {"steps": [_STEP], "slices?": [_SLICE]},
    "checkpoints_from": str,
    "log?": dict,
    "warnings": [str],
    "validity?": {"reasons?": [str]},
    "repeats?": int,
    "server?": str,
    "set_by_load?": dict,
    "fingerprint?": {
        "before?": _LOOK,
        "after?": _LOOK,
        "processors?": {
            "server_s": _NUMBER,
            "all_s?": _NUMBER,
            "foreign_user_s?": _NUMBER,
            "steal_s?": _NUMBER,
        },
    },
}
_PLAN: Form = {"scenario": str, "line": int, "sql": str, "plan?": [dict], "reason?": str}
_PROFILE: Form = {
    "kind": str,
    "unit_ns": _NUMBER,
    "started_ns": int,
    "seconds": _NUMBER,
    "samples": int,
    "unnamed": int,
    "cut_off": int,
    "perf_cpu_s": _NUMBER,
    "transactions?": _NUMBER,
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
    "ways": dict,
    "pair_cost_ns": dict,
    "missing": [str],
    "unmatched": dict,
    "lost_events": int,
    "full_maps": [str],
    "relations": [
        {"point": str, "name": str, "kind": str, "count": int, "total_ns": int},
    ],
    "cost?": dict,
}
FORMS: Mapping[str, Form] = {
    TRIAL_SCHEMA: _TRIAL,
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
    wrong = _misfit(found, FORMS[schema], "")
    if wrong is None and schema == TRIAL_SCHEMA:
        wrong = _of_trial(found)
    return None if wrong is None else f"is damaged: {wrong}"


def _misfit(value: Any, form: Form, at: str) -> str | None:
    if isinstance(form, dict):
        if not isinstance(value, dict):
            return _other(value, dict, at)
        return next(
            (w for key, inner in form.items() if (w := _of_key(value, key, inner, at))), None
        )
    if isinstance(form, list):
        if not isinstance(value, list):
            return _other(value, list, at)
        each = (_misfit(one, form[0], f"{at}[{n}]") for n, one in enumerate(value))
        return next((wrong for wrong in each if wrong), None)
    if isinstance(value, float) and not math.isfinite(value):
        return f"'{at}' is no finite number"
    # To Python true is a number.
    fits = isinstance(value, form) and (form is bool or not isinstance(value, bool))
    return None if fits else _other(value, form[-1] if isinstance(form, tuple) else form, at)


def _of_key(value: Mapping[str, Any], key: str, form: Form, at: str) -> str | None:
    name = key.removesuffix("?")
    path = f"{at}.{name}" if at else name
    if name not in value:
        return None if key.endswith("?") else f"{path!r} is missing"
    if value[name] is None and key.endswith("?"):
        return None
    return _misfit(value[name], form, path)


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


def _other(value: Any, wanted: type, at: str) -> str:
    return f"'{at}' is {_NAMES[type(value)]}, where {_NAMES[wanted]} belongs"
