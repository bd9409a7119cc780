"""Where a run took place: the host, the server, and every setting with its source.

Enters: the server's facts, a session. Leaves: the object of environment.json, with the sizes of the
database and of its largest relations; a hash of what a run measures, of which another run with the
same hash is a repetition. Never: records a secret (settings that can hold one are shown
as "(set)"), or fails where it lacks a privilege: then the reason is stored.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import psycopg

from pgassay import __version__
from pgassay.commit import commit
from pgassay.server.hosts.host import Host, text_of
from pgassay.server.hosts.placement import NOWHERE, Placement
from pgassay.server.protocol import NOTHING, Connection, ServerFacts, Setting
from pgassay.server.statements import statement
from pgassay.spec.experiment import Spec
from pgassay.spec.reading.texts import path_from
from pgassay.spec.secrets.redaction import redacted, shown_of
from pgassay.spec.server.placement import cpus_in
from pgassay.stored_notes import coded
from pgassay.trials.environment.own_commit import commit_words
from pgassay.trials.host.host_sources import describe_storage

SCHEMA = "pgassay.environment/1"
_VIRTUAL_MEMORY = (
    "vm/swappiness",
    "vm/dirty_ratio",
    "vm/dirty_bytes",
    "vm/dirty_background_ratio",
    "vm/dirty_background_bytes",
    "vm/dirty_expire_centisecs",
    "vm/dirty_writeback_centisecs",
    "vm/vfs_cache_pressure",
    "vm/min_free_kbytes",
    "vm/overcommit_memory",
    "vm/nr_hugepages",
    "vm/zone_reclaim_mode",
)
"""Below /proc/sys."""


def describe_environment(
    facts: ServerFacts,
    kind: str,
    host_as_found: Mapping[str, str] = NOTHING,
    placement: Placement = NOWHERE,
    host: Host | None = None,
) -> dict[str, Any]:
    """Returns the object of environment.json; `host_as_found` are the knobs that the run changes.

    `host` is the server's, where it can be looked at.
    """
    found = {"as found": dict(host_as_found)} if host_as_found else {}
    return {
        "schema": SCHEMA,
        "pgassay": __version__,
        **(coded("pgassay_commit", commit_words()) if commit() else {}),
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "target": kind,
        "server": describe_server(facts),
        "placement": placement.described(),
        "host": {} if host is None else _host(host) | describe_storage(host, facts) | found,
    }


def describe_server(facts: ServerFacts) -> dict[str, Any]:
    """Describes one server: its version, settings other than the defaults, and all with their
    source."""
    return {
        "version": f"PostgreSQL {facts.version}",
        "version_num": facts.version_num,
        **({"build": facts.build} if facts.build else {}),
        "settings": _changed_settings(facts),
        "every_setting": {name: _described(one) for name, one in sorted(facts.settings.items())},
    }


def _described(setting: Setting) -> dict[str, str]:
    """A setting with where it comes from."""
    found = {
        "value": shown_of(setting.name, with_unit(setting.value, setting.unit)),
        "source": setting.source,
    }
    if setting.sourcefile is None:
        return found
    return found | {"file": redacted(f"{setting.sourcefile}:{setting.sourceline}")}


def _changed_settings(facts: ServerFacts) -> dict[str, str]:
    return {
        name: shown_of(name, with_unit(setting.value, setting.unit))
        for name, setting in sorted(facts.settings.items())
        if setting.source not in ("default", "client", "override", "session")
        and setting.value != setting.boot_val
    }


def with_unit(value: str, unit: str | None) -> str:
    """Returns a value as pg_settings counts it, such as `16384 × 8kB`."""
    return f"{value} × {unit}" if unit and unit[0].isdigit() else f"{value}{unit or ''}"


def _host(host: Host) -> dict[str, Any]:
    first = partial(_first, host)
    online = first("/sys/devices/system/cpu/online", r"(.*)")
    memory = first("/proc/meminfo", r"MemTotal:\s*(\d+) kB")
    kernel = [first(f"/proc/sys/kernel/{name}", r"(.*)") for name in ("ostype", "osrelease")]
    return ({"name": host.name} if host.name else {}) | {
        "kernel": " ".join(filter(None, kernel)),
        "architecture": host.run(["uname", "-m"]).stdout.strip(),
        "cpu": first("/proc/cpuinfo", r"model name\s*:\s*(.+)"),
        "cpus": len(cpus_in(online)) if online else None,
        "memory_bytes": int(memory) * 1024 if memory else None,
        "vm": {
            name.replace("/", "."): value
            for name in _VIRTUAL_MEMORY
            if (value := first(f"/proc/sys/{name}", r"(.*)")) is not None
        },
        "transparent_hugepage": {
            name: value
            for name in ("enabled", "defrag")
            if (value := first(f"/sys/kernel/mm/transparent_hugepage/{name}", r"(.*)"))
        },
    }


def _first(host: Host, path: str, pattern: str) -> str | None:
    match = re.search(pattern, text_of(host, Path(path)) or "")
    return match[1].strip() or None if match else None


MOST_RELATIONS = 50


def sizes_of(session: Connection) -> dict[str, Any]:
    """Returns the size of the database of a session and of its largest relations, in bytes."""
    found: dict[str, Any] = {"database": session.info.dbname}
    for query, read in (("trials/database_size", _whole), ("trials/relation_sizes", _relations)):
        try:
            found |= read(session, query)
        except psycopg.Error as error:
            # Refused, locked by another session, or too large for the time that a reading may take.
            found["reason"] = str(error).splitlines()[0]
            session.rollback()
    return found


def _whole(session: Connection, query: str) -> dict[str, Any]:
    row = session.execute(statement(query), prepare=False).fetchone()
    return {} if row is None else {"total_bytes": row[0]}


def _relations(session: Connection, query: str) -> dict[str, Any]:
    rows = session.execute(statement(query), (MOST_RELATIONS,), prepare=False)
    names = ("schema", "name", "kind", "size_bytes")
    return {"largest": [dict(zip(names, row, strict=True)) for row in rows]}


def measured_by(spec: Spec, environment: Mapping[str, Any]) -> str:
    """Returns a hash of the file, the contents of the scripts and SQL it names, and the servers'
    builds."""
    servers = [environment.get("server"), *(environment.get("servers") or {}).values()]
    builds = [one.get("build") or one.get("version") for one in servers if one]
    parts: list[object] = [
        spec.text,
        asdict(spec.workload),
        spec.variants.to_json(),
        builds,
        _programs(spec),
    ]
    if spec.writes is not None:
        parts.append([asdict(one) for one in spec.writes.scenarios])
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()[:16]


def _programs(spec: Spec) -> list[tuple[int, int]]:
    """Size and time of each server's program that the file names: a new build keeps its version."""
    held, varied = spec.file.target.bin, spec.file.factors.target.bin or {}
    found = []
    for directory in (*varied.values(), *([] if held is None else [held])):
        with suppress(OSError):
            state = (path_from(str(directory), spec.folder) / "postgres").stat()
            found.append((state.st_size, state.st_mtime_ns))
    return found
