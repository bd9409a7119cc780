"""The limits of the metrics beside the primary one.

Enters: secondary.toml. Leaves: `SECONDARY`. Never: applies one.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files

SECONDARY: Mapping[str, float] = tomllib.loads(
    (files(__package__) / "secondary.toml").read_text("utf-8")
)
