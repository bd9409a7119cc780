"""The limits and labels of the classic view.

Enters: classic.toml. Leaves: its tables, and the label of a value. Never: computes a figure.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from pgassay.notes import terms_of

LIMITS: dict[str, Any] = terms_of(
    tomllib.loads((files(__package__) / "classic.toml").read_text("utf-8")),
    ("labels", "types", "disk_type", "hit_labels", "rule"),
)


def label(value: float | None, labels: Sequence[tuple[float, str]]) -> str | None:
    """The label of the highest limit that the value reaches; None for an unknown value."""
    if value is None or not math.isfinite(value):
        return None
    return next((text for limit, text in labels if value >= limit), labels[-1][1])


def interval_width_s(measured_s: float) -> float:
    """The longest width of which a measured part has enough intervals; else the shortest."""
    wanted = LIMITS["intervals"]
    widths: list[float] = wanted["widths_s"]
    return next((w for w in widths if measured_s / w >= wanted["fewest"]), widths[-1])
