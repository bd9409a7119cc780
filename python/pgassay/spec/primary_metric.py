"""What an experiment may be judged by: the metrics, the usual one, and which do not fit a load.

Enters: the `[load]` table, `design.metric`. Leaves: a metric's name, or a SpecError.
Never: computes an estimate; analysis/reading/metrics.toml says what the names stand for.

A rate sets the throughput, however slow the server is, until the server cannot follow. What the
server decides there is how long a transaction takes from when it was due.
"""

from __future__ import annotations

from typing import Literal, get_args

from pgassay.errors import SpecError
from pgassay.spec.load.table import LoadTable

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
]
PRIMARY_METRICS: tuple[PrimaryMetric, ...] = get_args(PrimaryMetric)


def usual_metric(load: LoadTable) -> PrimaryMetric:
    """The metric where `design.metric` is left out."""
    if load.rate is None:
        return "tps"
    return "response_mean" if load.is_open else "latency_mean"


def refuse_metric(metric: PrimaryMetric, load: LoadTable) -> None:
    """Refuse a metric that the load sets itself, or that it does not have."""
    kind, _, which = metric.partition("_")
    if kind == "tps" and load.rate is not None:
        problem = f'load.rate sets the throughput; write "{usual_metric(load)}", or drop metric'
    elif kind == "response" and load.command is not None:
        problem = (
            f'a program has no "{metric}"; write "latency_{which}", which is read from its log'
        )
    elif kind == "response" and load.rate is None:
        problem = (
            f'"{metric}" counts from when a transaction was due, which takes load.rate; write'
            f' "latency_{which}"'
        )
    elif kind == "latency" and load.command is not None and load.latency is None:
        problem = f'"{metric}" of a program is read from its log; name that by load.latency'
    else:
        return
    raise SpecError(problem, key="design.metric")
