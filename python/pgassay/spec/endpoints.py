"""What an experiment is judged by: the primary metric, and the endpoints beside it.

Enters: the `[load]` table, `design.metric` and `design.endpoints` as written. Leaves: the usual
metric of a load; metrics of the endpoints, each with the difference that matters. Never: computes
an estimate; analysis/reading/metrics.toml says what the names stand for.

A rate sets the throughput, however slow the server is, until the server cannot follow. What the
server decides there is how long a transaction takes from when it was due.

An endpoint has a verdict of its own, outside the correction for the many other metrics, and the
sentence of the verdict names it. Left out, the 99th percentile of latency is one.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Literal, get_args

from pgassay.refusals.refusal import UnfitValue
from pgassay.spec.load.table import LoadTable
from pgassay.spec.reading.suggest import did_you_mean

PrimaryMetric = Literal[
    "tps",
    "latency_mean",
    "latency_p50",
    "latency_p95",
    "latency_p99",
    "response_mean",
    "response_p50",
    "response_p95",
    "response_p99",
    "queries_mean",
]
OF_QUERIES: PrimaryMetric = "queries_mean"
"""Of a query set; no other load has it."""
PRIMARY_METRICS: tuple[PrimaryMetric, ...] = get_args(PrimaryMetric)


def usual_metric(load: LoadTable) -> PrimaryMetric:
    """Returns the primary metric of a load where `design.metric` is left out."""
    if load.rate is None:
        return "tps"
    return "response_mean" if load.is_open else "latency_mean"


OF_A_SCENARIO = ("mean", "p50", "p95", "p99")
"""What can be an endpoint of one scenario, as in `payment.p99`."""
OF_A_STATEMENT = "mean"
"""The only endpoint of one statement, as in `transfer:9.mean`."""
_USUAL = "p99"
MOST = 4
"""Endpoints beside the primary metric: they share 5 %, so each one makes all others weaker."""


@cache
def known_endpoints() -> Mapping[str, Mapping[str, Any]]:
    """Returns, by the name that users write, the metric of a closed loop, that of an open loop, and
    the usual margin as a share."""
    return tomllib.loads((files(__package__) / "endpoints.toml").read_text("utf-8"))


def scenario_of(name: str) -> tuple[str, str] | None:
    """Returns the scenario and the measure of an endpoint such as `payment.p99`; None of others."""
    scenario, _, measure = name.rpartition(".")
    return (scenario, measure) if scenario and measure in OF_A_SCENARIO else None


def statement_of(name: str) -> tuple[str, int] | None:
    """Returns the scenario, and the line of its script, of an endpoint such as `transfer:9.mean`;
    None of others."""
    part, _ = scenario_of(name) or ("", "")
    scenario, _, line = part.rpartition(":")
    return (scenario, int(line)) if scenario and line.isdecimal() else None


def as_margins(written: Any) -> Any:
    """Turns a list of endpoints such as `["p99"]` into a table without margins; returns any other
    value unchanged."""
    if not isinstance(written, list):
        return written
    for name in written:
        if written.count(name) > 1:
            raise UnfitValue("endpoint-twice", name=name)
    return {str(name): None for name in written}


def is_pooled(metric: str) -> bool:
    """Returns whether a metric is the rate or the duration of all transactions together: of a query
    set, in which the long queries hide the others, it says nothing."""
    return metric.startswith(("tps", "latency_", "response_"))


def checked_names(margins: Mapping[str, float | None]) -> None:
    """Raises ValueError for a name that is no endpoint, or for too many endpoints."""
    for name in margins:
        if name not in known_endpoints() and scenario_of(name) is None:
            raise UnfitValue(
                "endpoint-unknown", name=name, near=did_you_mean(name, known_endpoints())
            )
    if len(margins) > MOST:
        raise UnfitValue("too-many-endpoints", count=len(margins), most=MOST)


def endpoint_metrics(
    named: Mapping[str, float | None] | None,
    primary: str,
    smallest_effect: float,
    load: LoadTable,
    *,
    writes: bool = False,
) -> dict[str, float]:
    """Returns the margin of each endpoint by its metric, in the order of the file.

    Raises UnfitValue for one that is the primary metric, or that the load fixes.
    """
    found: dict[str, float] = {}
    for name, margin in _named(named, primary, writes=writes).items():
        scenario = scenario_of(name)
        if scenario is not None:
            usual = max(smallest_effect, known_endpoints()[scenario[1]].get("margin", 0.0))
            found[name] = usual if margin is None else margin
            continue
        entry = known_endpoints()[name]
        if "of_writes" in entry and not writes:
            raise UnfitValue("endpoint-of-no-writes", name=name)
        metric = entry.get("open", entry["metric"]) if load.is_open else entry["metric"]
        if metric == primary:
            raise UnfitValue("endpoint-is-the-metric", name=name)
        if metric == "tps" and load.rate is not None:
            raise UnfitValue("endpoint-set-by-rate")
        usual = (
            entry.get("points")
            or entry.get("of_writes")
            or max(smallest_effect, entry.get("margin", 0.0))
        )
        found[metric] = usual if margin is None else margin
    return found


def _named(
    named: Mapping[str, float | None] | None, primary: str, *, writes: bool
) -> Mapping[str, float | None]:
    """Left out, the 99th percentile; nothing where the verdict is about a percentile itself; of
    queries the rate of the writes after them."""
    if named is not None:
        return named
    if primary == OF_QUERIES:
        return {"writes.tps": None} if writes else {}
    return {} if primary.rpartition("_")[2] in ("p50", "p95", "p99") else {_USUAL: None}
