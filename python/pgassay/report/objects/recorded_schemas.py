"""The JSON Schemas of `pgassay.history/1`, `pgassay.periods/1` and `pgassay.incidents/1`.

Enters: the schemas of the code's types. Leaves: the title and the keys of an object.
Never: forbids further keys, which later versions may add.
"""

from __future__ import annotations

from typing import get_args

from pgassay.analysis.observation.incidents.model import Blocked, BusyStatement, Incident, Sign
from pgassay.analysis.observation.periods.model import PeriodFacts, SettingChange, Source, Usual
from pgassay.report.objects import history, incidents, periods
from pgassay.report.objects.schema_types import (
    BOOLEAN,
    COUNT,
    NUMBER,
    TEXT,
    Schema,
    Types,
    gates_schema,
    list_of,
    object_of,
    or_null,
    sentence_at,
    sentences_at,
)

ROOTS = (Blocked, BusyStatement, Incident, PeriodFacts, SettingChange, Sign, Usual)
"""Types that the schemas are made of, beside those of gates."""
_ENDS = list_of(or_null(NUMBER))
_NO_RANDOM: Schema = {"pgassay": TEXT, "randomised": {"const": False}}


def incidents_schema(types: Types) -> tuple[str, Schema]:
    """Returns the object of `observe incidents`."""
    sign = {**types.of(Sign), **sentence_at("sentence")}
    incident = {
        "kind": TEXT,
        **sentence_at("title"),
        "seconds": NUMBER,
        **types.of(Incident),
        "signs": list_of(object_of(sign)),
        **sentence_at("test"),
    }
    return incidents.SCHEMA, {
        "pgassay": TEXT,
        "run": TEXT,
        "server": TEXT,
        "start_ns": COUNT,
        "end_ns": COUNT,
        "read_s": NUMBER,
        "slice_s": NUMBER,
        "usual_days": COUNT,
        **sentences_at("caveats"),
        "incidents": list_of(object_of(incident)),
    }


def periods_schema(types: Types) -> tuple[str, Schema]:
    """Returns the object of `observe compare`."""
    difference = {
        **dict.fromkeys(("figure", "group", "of", "title", "unit", "good"), TEXT),
        "text": or_null(TEXT),
        **dict.fromkeys(("first", "second"), NUMBER),
        **dict.fromkeys(("change_pct", "times_usual", "p"), or_null(NUMBER)),
        "unusual": BOOLEAN,
        "usual": or_null(object_of(types.of(Usual))),
    }
    return periods.SCHEMA, {
        **_NO_RANDOM,
        "periods": list_of(object_of(types.of(PeriodFacts))),
        "usual": object_of({"from": {"enum": [*get_args(Source)]}, "pairs": COUNT}),
        **sentence_at("summary"),
        "differences": list_of(object_of(difference, optional=sentence_at("sentence"))),
        "settings": list_of(object_of(types.of(SettingChange))),
        **sentences_at("limits"),
    }


def history_schema(types: Types) -> tuple[str, Schema]:
    """Returns the object of `history`."""
    run = {
        "run": TEXT,
        "started": or_null(TEXT),
        "start_ns": COUNT,
        "server": or_null(TEXT),
        "trials": COUNT,
        "invalid_trials": COUNT,
    }
    differs = object_of(
        {"group": TEXT, "name": TEXT, "values": list_of({})}, optional={"name_coded": {}}
    )
    change = {
        **dict.fromkeys(("first_run", "earliest_run", "latest_run", "unit"), TEXT),
        **dict.fromkeys(("before", "after", "change"), NUMBER),
        "ci95": _ENDS,
        "differs": list_of(differs),
    }
    series = {
        "arm": TEXT,
        "metric": TEXT,
        "points": list_of(object_of({"run": TEXT, "value": NUMBER, "ci95": _ENDS})),
        "levels": list_of(object_of({"mean": NUMBER, "first_run": TEXT})),
        "inertia": NUMBER,
        "changes": list_of(object_of(change)),
    }
    judged = dict.fromkeys(("latest", "against"), list_of(TEXT))
    return history.SCHEMA, {
        **_NO_RANDOM,
        "metric": TEXT,
        "endpoints": list_of(TEXT),
        "smallest_effect": NUMBER,
        "arms": list_of(TEXT),
        "runs": list_of(object_of(run)),
        "left_out": list_of(object_of({"run": TEXT, **sentence_at("why")})),
        "series": list_of(object_of(series, optional=sentence_at("sentence"))),
        **sentences_at("warnings"),
        **sentences_at("limits"),
        "gates": gates_schema(types),
        "judged": or_null(object_of(judged)),
    }
