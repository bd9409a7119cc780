"""environment.json → sections of names and values, whatever it holds.

Enters: the stored object. Leaves: `Section` values of plain text.
Never: relies on a key being there, nor prints an absent value as if it were one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pgassay.analysis.metrics import METRICS
from pgassay.findings.wording import quantity

_ABSENT = "not known"
_BYTES = METRICS["wal_bytes_per_tx"]
_ELSEWHERE = (
    "server", "servers", "host", "data", "settings_that_differ", "settings_of_some",
)  # fmt: skip
_SKIPPED = ("schema", "settings", "version_num")


@dataclass(frozen=True)
class Section:
    """A titled list of (name, value)."""

    title: str
    code: bool
    """Whether the names are identifiers, to be set in a fixed-width face."""
    rows: tuple[tuple[str, str], ...]


def environment_sections(environment: Mapping[str, Any]) -> tuple[Section, ...]:
    """Server, its settings, host, then whatever else was recorded; empty ones left out."""
    server = environment.get("server")
    settings = server.get("settings") if isinstance(server, Mapping) else None
    several = bool(environment.get("servers"))  # report/servers.py has them
    rest = {k: v for k, v in environment.items() if k not in _ELSEWHERE}
    found = (
        Section("Server", False, () if several else _rows(server)),
        Section("Host", False, _rows(environment.get("host"))),
        Section("Run", False, _rows(rest)),
        Section("Server settings other than the defaults", True, _settings(settings)),
    )
    return tuple(section for section in found if section.rows)


def server_version(environment: Mapping[str, Any]) -> str:
    """Such as `PostgreSQL 18.4`; of several servers, all; empty where it is not known."""
    servers = environment.get("servers")
    if isinstance(servers, Mapping):
        versions = (str(one.get("version", "")) for one in servers.values())
        return " · ".join(dict.fromkeys(versions))
    server = environment.get("server")
    version = server.get("version") if isinstance(server, Mapping) else None
    return str(version) if version else ""


def created_at(environment: Mapping[str, Any]) -> str:
    """Such as `2026-01-31 14:25:01 UTC`; empty where it is not known."""
    moment = str(environment.get("created_at") or "")
    return moment.replace("T", " ", 1).replace("+00:00", " UTC")


def _settings(settings: Any) -> tuple[tuple[str, str], ...]:
    if not isinstance(settings, Mapping):
        return ()
    return tuple((str(name), _text(str(name), value)) for name, value in sorted(settings.items()))


def _rows(value: Any) -> tuple[tuple[str, str], ...]:
    if isinstance(value, Mapping):
        return tuple(_flat(value))
    return () if value is None else (("value", _text("", value)),)


def _flat(value: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for key, inner in value.items():
        if key in _SKIPPED:
            continue
        # "vm.swappiness" under "vm" says it all already.
        name = str(key) if str(key).startswith(before.rstrip(", ") + ".") else f"{before}{key}"
        if isinstance(inner, Mapping):
            yield from _flat(inner, f"{name}, ")
        else:
            unit = "_bytes" if name.endswith("_bytes") and _is_number(inner) else ""
            yield name.removesuffix(unit).replace("_", " "), _text(name, inner)


def _text(name: str, value: Any) -> str:
    if value is None or value != value:
        return _ABSENT
    if isinstance(value, bool):
        return "yes" if value else "no"
    if _is_number(value) and name.endswith("_bytes"):
        return quantity(float(value), _BYTES)
    if isinstance(value, list | tuple):
        return ", ".join(_text("", inner) for inner in value) or "(none)"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} = {text}" for key, text in _flat(value)) or "(none)"
    return str(value) or "(empty)"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
