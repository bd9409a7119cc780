"""What a load did, for machines: the `pgassay.load/1` object, and its series in a file.

Enters: the engine's result and interval columns, what was asked, of whom. Leaves: the object that
docs/json.md describes key by key; a Parquet or CSV file with the columns of a run's load.parquet.
Never: leaves out a figure of the engine, or merges rows.
"""

from __future__ import annotations

import bisect
import csv
import io
import itertools
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pgassay.refusals.refusal import Refusal
from pgassay.samples.storage.files import write_atomically
from pgassay.server.connection.session import connect
from pgassay.server.protocol import ConnectionParameters
from pgassay.stored_notes import coded
from pgassay.trials.load.caveats import load_notes
from pgassay.trials.load.engine import LoadRequest
from pgassay.trials.model.record import Columns

SCHEMA = "pgassay.load/1"
_KINDS = {"40001": "serialization", "40P01": "deadlock"}


def load_object(
    result: Mapping[str, Any], request: LoadRequest, columns: Columns, server: Mapping[str, Any]
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
    found |= coded("warnings", load_notes(result, request.steps, request.threads))
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
            {
                "name": one.name,
                "file": one.file,
                "weight": one.weight,
                "parameters": None if one.parameters is None else one.parameters.described(),
            }
            for one in request.scenarios
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


_COPIED = (
    "start_ns",
    "step",
    "measured",
    "scenario",
    "transactions",
    "failed",
    "retried",
    "retries",
    "skipped",
    "late",
)
_QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p999": 0.999}
_ENDINGS = (".parquet", ".csv")


def check_intervals_file(path: Path | None) -> None:
    """Refuses a file that could not be written, before there is anything to write."""
    if path is None:
        return
    if path.suffix not in _ENDINGS:
        raise Refusal("not-an-intervals-file", f"--intervals {path}")
    if path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise Refusal("folder-not-writable", f"--intervals {path}", folder=path.parent)


def write_intervals(path: Path, columns: Columns) -> None:
    """Writes the rows under the schema of load.parquet; lists are JSON in CSV."""
    # pyarrow takes half a second to load, which a load without a file need not wait for.
    from pgassay.samples.storage.tables import as_table, parquet
    from pgassay.trials.model.columns import LOAD

    table = as_table(columns, LOAD)
    write_atomically(path, parquet(table) if path.suffix == ".parquet" else _csv(table.to_pydict()))


def interval_objects(columns: Columns, *, is_open: bool) -> list[dict[str, Any]]:
    """Returns one JSON object per row; with a rate it has the response time and the lag."""
    return [_object(row, is_open=is_open) for row in _rows(columns)]


def errors_of(columns: Columns, by: str) -> dict[Any, dict[str, int]]:
    """Returns the failures by SQLSTATE, of the rows that share a value of column `by`."""
    found: dict[Any, Counter[str]] = {}
    for row in _rows(columns):
        found.setdefault(row[by], Counter()).update(_errors(row))
    return {value: dict(sorted(errors.items())) for value, errors in found.items()}


def _object(row: Mapping[str, Any], *, is_open: bool) -> dict[str, Any]:
    found = {name: row[name] for name in _COPIED}
    if "variant" in row:
        found |= {"slice": row["slice"], "variant": row["variant"]}
    found |= {"errors": _errors(row), "latency_ms": _summary(row, "latency")}
    if is_open:
        found["response_ms"] = _summary(row, "response")
        ended = row["transactions"] + row["failed"]
        found["schedule_lag_ms"] = {
            "mean": row["lag_sum_ns"] / ended / 1e6 if ended else None,
            "max": row["lag_max_ns"] / 1e6 if ended else None,
        }
    found["connects"] = row["connects"]
    return found


def _summary(row: Mapping[str, Any], of: str) -> dict[str, float | None]:
    """Mean and quantiles in milliseconds from the row's histogram; all None where it is empty."""
    values, counts = row[f"{of}_ns"], row[f"{of}_count"]
    if not values:
        return dict.fromkeys(("mean", *_QUANTILES, "max"))
    cumulative = list(itertools.accumulate(counts))
    total = cumulative[-1]
    places = {name: bisect.bisect_left(cumulative, q * total) for name, q in _QUANTILES.items()}
    return {
        "mean": row[f"{of}_sum_ns"] / total / 1e6,
        **{name: values[min(at, len(values) - 1)] / 1e6 for name, at in places.items()},
        "max": values[-1] / 1e6,
    }


def _errors(row: Mapping[str, Any]) -> dict[str, int]:
    return dict(zip(row["error_sqlstate"], row["error_count"], strict=True))


def _rows(columns: Columns) -> Iterator[dict[str, Any]]:
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(columns, values, strict=True))


def _csv(columns: Mapping[str, list[Any]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow([json.dumps(cell) if isinstance(cell, list) else cell for cell in row])
    return text.getvalue().encode()
