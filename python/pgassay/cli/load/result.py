"""What a load did, for machines: the `pgassay.load/1` object.

Enters: the engine's result and interval columns, what was asked, of whom. Leaves: the object that
docs/json.md describes key by key. Never: leaves out a figure of the engine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from pgassay.cli.load.intervals import errors_of, interval_objects
from pgassay.server.connection.session import connect
from pgassay.server.protocol import ConnectionParameters
from pgassay.trials.load.caveats import load_notes
from pgassay.trials.load.engine import LoadRequest
from pgassay.trials.model.record import Columns

SCHEMA = "pgassay.load/1"
_KINDS = {"40001": "serialization", "40P01": "deadlock"}


def load_object(
    result: Mapping[str, Any],
    request: LoadRequest,
    columns: Columns,
    server: Mapping[str, Any],
) -> dict[str, Any]:
    """Returns the object of `pgassay load --json`."""
    found = {name: value for name, value in result.items() if name not in ("steps", "slices")}
    found |= {"schema": SCHEMA, "server": server, "asked": asked_object(request)}
    found["failures"] = failures_by_kind(result["scenarios"])
    if result.get("slices"):
        from pgassay.analysis.measures.variants import measure_variants  # start-up time
        from pgassay.samples.forms.trial import Load

        found["variants"] = [
            asdict(one) for one in measure_variants(Load.model_validate(result).slices)
        ]
        found["slices"] = result["slices"]
    found["seed"] = request.seed
    found["warnings"] = [str(one) for one in load_notes(result, request.steps, request.threads)]
    errors = errors_of(columns, "step")
    found["steps"] = [
        {**_step(step, request), "errors": errors.get(step["index"], {})}
        for step in result["steps"]
    ]
    found["intervals"] = interval_objects(columns, is_open=any(step.rate for step in request.steps))
    return found


def server_object(parameters: ConnectionParameters) -> dict[str, Any]:
    """Returns the JSON object of the server that the load ran on."""
    with connect(parameters, through_pooler=True) as session:
        version = session.info.parameter_status("server_version")
    return {
        "version": version,
        "host": parameters.host,
        "port": parameters.port,
        "user": parameters.user,
        "database": parameters.dbname,
    }


def asked_object(request: LoadRequest) -> dict[str, Any]:
    """Returns the JSON object of the options; null where the engine decides, or there is none."""
    return {
        "clients": max(step.clients for step in request.steps),
        "threads": request.threads,
        "protocol": request.protocol,
        "transport": request.transport or "auto",
        "transactions_per_client": request.transactions_per_client,
        "interval_s": request.interval_s,
        "latency_limit_ms": request.latency_limit_ms,
        "max_tries": 1 if request.max_tries is None else request.max_tries,
        "pools": request.pools or "shared",
        "reconnect": request.reconnect or "never",
        "scripts": [
            {"name": one.name, "file": one.file, "weight": one.weight} for one in request.scenarios
        ],
    }


def failures_by_kind(scenarios: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Returns the numbers of failed transactions by the kinds that pgbench tells apart."""
    kinds = dict.fromkeys((*_KINDS.values(), "other"), 0)
    total: Counter[str] = Counter()
    for scenario in scenarios:
        total.update(scenario["errors"])
    for sqlstate, count in total.items():
        kinds[_KINDS.get(sqlstate, "other")] += count
    return kinds


def _step(step: Mapping[str, Any], request: LoadRequest) -> dict[str, Any]:
    asked = request.steps[step["index"]].rate
    return dict(step) if asked is None else {**step, "rate": asked}
