"""The rules of vmstat and iostat, what bounds each disk, and dirty pages.

Enters: the figures of an arm's trials, what is known of the host. Leaves: values of the classic
view. Never: applies a rule to a figure that was not read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pgassay.analysis.classic.model import (
    LIMITS,
    ClassicCorrelation,
    DirtyPages,
    DiskType,
    RuleShare,
)
from pgassay.analysis.measures.courses.figures import Array, Figures
from pgassay.notes import Note, Term
from pgassay.samples.forms.environment import Place

_ROLES = {"data": Term("data"), "wal": Term("WAL"), "log": Term("log")}


def rule_shares(
    trials: Sequence[Figures], cores: int | None, disks: Sequence[str]
) -> tuple[RuleShare, ...]:
    """Counts how often each rule of vmstat was met, then those of iostat disk by disk."""
    memory = "group" if any("group_free" in one for one in trials) else "host"
    rules = [("", rule) for rule in LIMITS["vmstat"] if rule.get("memory", memory) == memory]
    rules += [(disk, rule) for disk in disks for rule in LIMITS["iostat"]]
    return tuple(_share(rule, disk, trials, cores) for disk, rule in rules)


def _share(
    rule: Mapping[str, Any], disk: str, trials: Sequence[Figures], cores: int | None
) -> RuleShare:
    name = f"{disk}/{rule['figure']}" if disk else rule["figure"]
    limit = rule.get("above", rule.get("below"))
    limit = cores if limit == "cores" else limit
    if limit is None:
        return RuleShare(rule["rule"], disk, None, None, None, None)
    counts = []
    for one in trials:
        row = one.get(name)
        known = np.empty(0) if row is None else row[np.isfinite(row)]
        if len(known):
            beyond = known > limit if "above" in rule else known < limit
            counts.append((int(np.count_nonzero(beyond)), len(known)))
    if not counts:
        return RuleShare(rule["rule"], disk, None, None, None, None)
    shares = [100.0 * beyond / every for beyond, every in counts]
    share = 100.0 * sum(beyond for beyond, _ in counts) / sum(every for _, every in counts)
    return RuleShare(rule["rule"], disk, share, min(shares), max(shares), _band(share))


def _band(share: float) -> str:
    """More than half is an alarm, from a quarter on a warning."""
    (alarm, alarm_text), (warning, warning_text), (_, fine) = LIMITS["bands"]["labels"]
    if share > alarm:
        found: str = alarm_text
    else:
        found = warning_text if share >= warning else fine
    return found


def disk_types(
    correlations: Sequence[ClassicCorrelation], storage: Mapping[str, Place], disks: Sequence[str]
) -> tuple[DiskType, ...]:
    """Returns what bounds each disk, with what lies on it."""
    by_series = {one.second: one for one in correlations if one.first == "speed"}
    found = []
    for disk in disks:
        iops, moved = by_series.get(f"{disk}/iops"), by_series.get(f"{disk}/MB")
        load, limit = _type(None if iops is None else iops.r, None if moved is None else moved.r)
        found.append(DiskType(disk, _roles(storage, disk), load, limit, _tested(iops, moved)))
    return tuple(found)


def _type(iops: float | None, moved: float | None) -> tuple[str | None, str | None]:
    rules = LIMITS["disk_type"]
    if iops is None or moved is None:
        return None, None
    high, low = rules["high"], rules["low"]
    if iops >= high and moved >= high:
        kind = "mixed"
    elif iops >= high:
        kind = "iops"
    elif moved >= high and iops <= low:
        kind = "mb"
    elif iops <= low and moved <= low:
        kind = "none"
    else:
        kind = "between"
    load, limit = rules[kind]
    return load, limit


def _tested(iops: ClassicCorrelation | None, moved: ClassicCorrelation | None) -> str | None:
    """By which of the two tested correlations are clearly positive."""
    rules = LIMITS["disk_type"]
    known = [one for one in (iops, moved) if one is not None and one.honest_r is not None]
    if len(known) < 2:
        return None
    kinds = {(True, True): "mixed", (True, False): "iops", (False, True): "mb"}
    rises = tuple(bool(one.clear) and (one.honest_r or 0.0) > 0.0 for one in known)
    kind = kinds.get((rises[0], rises[1]))
    return "unclear" if kind is None else rules[kind][1]


def _roles(storage: Mapping[str, Place], disk: str) -> tuple[Note, ...]:
    """Such as `data on /srv`."""
    return tuple(
        Note("analysis/classic/on-mount", {"role": _ROLES.get(role, role), "mount": one.mount})
        for role, one in storage.items()
        if disk in (*one.devices, *one.disks)
    )


def dirty_pages(trials: Sequence[Figures]) -> DirtyPages:
    """Averages dirty pages, and their shares of the kernel's limits."""
    dirty = _all(trials, "dirty_kb")
    if dirty is None:
        return DirtyPages(None, None, None, None)
    shares = [_all(trials, f"{name}_pct") for name in ("dirty_background", "dirty")]
    background, limit = (None if one is None else float(one.mean()) for one in shares)
    return DirtyPages(float(dirty.mean()), float(dirty.max()), background, limit)


def _all(trials: Sequence[Figures], name: str) -> Array | None:
    """The known values of all trials; None where there are none."""
    rows = [one[name] for one in trials if name in one]
    known = np.concatenate(rows) if rows else np.empty(0)
    known = known[np.isfinite(known)]
    return known if len(known) else None
