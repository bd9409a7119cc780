"""The points that are traced: their titles, their keys' names, what a hit costs.

Enters: `points.toml`, keys as bpftrace counts them. Leaves: words. Never: counts.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from pgassay.language import messages_of
from pgassay.trials.trace.output import PointReading

if TYPE_CHECKING:  # which loads psycopg, for nothing in a report
    from pgassay.trials.trace.server import TracedServer

_LWLOCKS = "lwlocks"


@cache
def _known() -> dict[str, Any]:
    return messages_of(
        tomllib.loads((files(__package__) / "points.toml").read_text("utf-8")),
        ("title", "text", "keys"),
    )


def titles() -> Mapping[str, str]:
    """Returns the title of each point."""
    return {point: about["title"] for point, about in _known()["point"].items()}


def meaning(point: str) -> str:
    """Returns what a duration of a point means."""
    return str(_known()["point"][point]["text"])


def pair_cost_ns(*, stepped: bool) -> float:
    """Returns what one pair of probes takes from the traced process, about."""
    return float(_known()["cost"]["stepped_ns" if stepped else "carried_out_ns"])


def key_name(reading: PointReading, server: TracedServer) -> str:
    """Returns the name of a reading's key; empty for a point that has none."""
    about = _known()["point"][reading.point]
    if about.get("names") == _LWLOCKS:
        return server.lwlock(reading.key)
    return str(about.get("keys", {}).get(reading.key, ""))
