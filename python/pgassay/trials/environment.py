"""Where a run took place: the host, the server, and every setting that is not at its default.

Enters: the server's facts. Leaves: the object of environment.json.
Never: records a secret; settings that can hold one are shown as "(set)".
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pgassay import __version__
from pgassay.spec.redaction import hides, redacted
from pgassay.target.placement import NOWHERE, Placement
from pgassay.target.protocol import NOTHING, ServerFacts

SCHEMA = "pgassay.environment/1"


def describe_environment(
    facts: ServerFacts,
    kind: str,
    host_as_found: Mapping[str, str] = NOTHING,
    placement: Placement = NOWHERE,
) -> dict[str, Any]:
    """The object of environment.json; `host_as_found` are the knobs that the run changes."""
    found = {"as found": dict(host_as_found)} if host_as_found else {}
    return {
        "schema": SCHEMA,
        "pgassay": __version__,
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "target": kind,
        "server": describe_server(facts),
        "placement": placement.described(),
        "host": _host() | found if facts.is_local else {},
    }


def describe_server(facts: ServerFacts) -> dict[str, Any]:
    """One server: its version, and settings other than the defaults."""
    return {
        "version": f"PostgreSQL {facts.version}",
        "version_num": facts.version_num,
        **({"build": facts.build} if facts.build else {}),
        "settings": _changed_settings(facts),
    }


def _changed_settings(facts: ServerFacts) -> dict[str, str]:
    return {
        name: "(set)" if hides(name) else redacted(with_unit(setting.value, setting.unit))
        for name, setting in sorted(facts.settings.items())
        if setting.source not in ("default", "client", "override", "session")
        and setting.value != setting.boot_val
    }


def with_unit(value: str, unit: str | None) -> str:
    """A value as pg_settings counts it, such as `16384 × 8kB`."""
    return f"{value} × {unit}" if unit and unit[0].isdigit() else f"{value}{unit or ''}"


def _host() -> dict[str, Any]:
    system = platform.uname()
    return {
        "kernel": f"{system.system} {system.release}",
        "architecture": system.machine,
        "cpu": _first("/proc/cpuinfo", r"model name\s*:\s*(.+)"),
        "cpus": os.cpu_count(),
        "memory_bytes": _kilobytes(_first("/proc/meminfo", r"MemTotal:\s*(\d+) kB")),
        "vm": _kernel_settings(
            "vm/swappiness",
            "vm/dirty_ratio",
            "vm/dirty_background_ratio",
            "vm/dirty_expire_centisecs",
        ),
    }


def _kilobytes(text: str | None) -> int | None:
    return None if text is None else int(text) * 1024


def _kernel_settings(*names: str) -> Mapping[str, str]:
    found = {}
    for name in names:
        value = _first(f"/proc/sys/{name}", r"(.*)")
        if value is not None:
            found[name.replace("/", ".")] = value
    return found


def _first(path: str, pattern: str) -> str | None:
    try:
        match = re.search(pattern, Path(path).read_text("utf-8", errors="replace"))
    except OSError:
        return None
    return match[1].strip() if match else None
