"""What an experiment may be judged by: the metrics, and the usual one of a load.

Enters: the `[load]` table. Leaves: a metric's name.
Never: computes an estimate; analysis/reading/metrics.toml says what the names stand for.

A rate sets the throughput, however slow the server is, until the server cannot follow. What the
server decides there is how long a transaction takes from when it was due.
"""

from __future__ import annotations

from typing import Literal, get_args

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
