"""How long the copies of a server's versions take to be made, before any was.

Enters: a `Source`. Leaves: seconds, for one level and for all. Never: measures anything. The rates
are those of a host with two processors and a disk of 200 MB/s; an earlier run of the same load
knows better, and is asked first.
"""

from __future__ import annotations

from pgassay.server.copied.source import Source

MB = 2**20
BACKUP_RATE = 100 * MB
"""Bytes of data a second that a base backup reads; so below."""
COPY_RATE = 200 * MB
ANALYZE_RATE = 100 * MB
VACUUM_RATE = 50 * MB
DUMP_RATE = 30 * MB
RESTORE_RATE = 15 * MB
"""With its indexes."""
START_S = 3.0
"""For recovery and a start, or a start and an end."""
PG_UPGRADE_S = 10.0
"""The files are linked, so this is for initdb and the catalogs of a few hundred tables."""


def setup_s(source: Source, backup_rate: int | None = None) -> float | None:
    """Returns seconds for the base backup, of so many bytes a second at most, and the copies of all
    levels; None without levels."""
    if not source.versions.of_level:
        return None
    rate = min(BACKUP_RATE, backup_rate or BACKUP_RATE)
    return source.size / rate + sum(making_s(source, one) for one in source.programs)


def making_s(source: Source, level: str) -> float:
    """Returns seconds for the copy of one level, with what it starts each trial from."""
    size = source.size
    made = START_S + 2 * size / COPY_RATE
    if source.like(level)[0] != level or not source.changes_some:
        return made
    if source.versions.how == "dump":
        return made + START_S + size / DUMP_RATE + size / RESTORE_RATE + size / VACUUM_RATE
    if source.changes_files(level):
        made += START_S + PG_UPGRADE_S
    return made + size / ANALYZE_RATE
