"""The figures of a host in one window, as values.

Enters: nothing. Leaves: a frozen dataclass. Never: computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Figures = Mapping[str, float | None]


@dataclass(frozen=True)
class HostWindow:
    """One window of a host, by the columns of `host_columns.COLUMNS`."""

    start_ns: int
    end_ns: int
    vmstat: Figures
    iostat: Mapping[str, Figures]
    """By device."""
