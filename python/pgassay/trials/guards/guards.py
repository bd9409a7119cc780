"""Judges whether anything disturbed a trial.

Enters: its two fingerprints, what became of the processors, its samples. Leaves: a `GuardResult`
of each guard that found something: a caveat, or a reason why the trial is invalid.
Never: changes a figure. Thresholds are in guards.toml, sentences in notes.toml, reasons in
docs/methods/verdicts.md.

Caveats about the load itself (the client's CPU, missed rates, failures) are in load/caveats.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from pgassay.notes import Note, Value
from pgassay.server.hosts.memory_group import MemoryUse
from pgassay.spec.server.placement import memory_text
from pgassay.trials.checkpoints.counted import ASKED_FOR
from pgassay.trials.guards.fingerprint import Fingerprint
from pgassay.trials.guards.foreign_sessions import BASE_BACKUP
from pgassay.trials.guards.noted_programs import FOREIGN_CPU, OTHER_PROGRAMS, named
from pgassay.trials.guards.thresholds import Limits, shipped_limits
from pgassay.trials.host.host_reading import HostState
from pgassay.trials.host.other_programs import OtherPrograms
from pgassay.trials.host.processor_times import ProcessorSplit
from pgassay.trials.model.record import Checkpoint, Validity

Grade = Literal["doubt", "invalid"]
"""As in guards.toml: a doubt is a caveat, an invalid trial does not count."""
OF_THE_HOST = frozenset(
    (
        "host-knobs",
        FOREIGN_CPU,
        "steal",
        "throttled",
        "disk",
        "clock-step",
        "server-clock-step",
        "host-unseen",
    )
)
"""Guards that say the same of every server on one host."""
_MOST_NAMED = 3


@dataclass(frozen=True)
class GuardResult:
    """What one guard found."""

    guard: str
    grade: Grade
    note: Note


@dataclass(frozen=True)
class Evidence:
    """All that the guards look at."""

    before: Fingerprint
    after: Fingerprint
    processors: ProcessorSplit | None
    foreign_load: float | None
    """Foreign sessions at work, on average over the measured time; None where unknown."""
    checkpoints: Sequence[Checkpoint]
    """Those that started in the measured time."""
    scripts: Sequence[str] | None
    """Of the load; None for a program of the user's, which may do anything."""
    settings: Collection[str]
    """Names of those that the experiment sets,"""
    varied: Collection[str]
    """and of those that are its factors."""
    others: OtherPrograms | None = None
    """None where the host could not be read."""
    awaits_outages: bool = False
    shares_clock: bool = True
    """Whether the server's host is this machine."""
    maintenance: Collection[str] = ()
    """Commands of other sessions that were under way in the measured time."""
    late_reloads: float | None = None
    """Share of slices to which a setting of the whole server came late, or early."""
    violations: Mapping[str, str] = field(default_factory=dict)
    """Check of the data → the first row that breaks it."""

    @property
    def hosts(self) -> tuple[HostState, HostState] | None:
        """The host before and after; None where it could not be read both times."""
        before, after = self.before.host, self.after.host
        return None if before is None or after is None else (before, after)


def judge(evidence: Evidence, limits: Limits | None = None) -> list[GuardResult]:
    """Returns the results of all guards, in their order."""
    used = shipped_limits() if limits is None else limits
    return [result for guard in _GUARDS if (result := guard(evidence, used)) is not None]


def caveats_among(guard_results: Sequence[GuardResult]) -> list[Note]:
    """Returns the notes of those results that leave the trial valid."""
    return [result.note for result in guard_results if result.grade == "doubt"]


def validity_of(guard_results: Sequence[GuardResult]) -> Validity:
    """Returns whether the trial counts, with the reasons where it does not."""
    return Validity(tuple(result.note for result in guard_results if result.grade == "invalid"))


def _settings(evidence: Evidence, limits: Limits) -> GuardResult | None:
    changes = _changes(evidence.before.settings, evidence.after.settings)
    return _found("settings", limits, changes=changes) if changes else None


def _restart(evidence: Evidence, limits: Limits) -> GuardResult | None:
    if evidence.before.started_at_s == evidence.after.started_at_s:
        return None
    return _found("restart-awaited" if evidence.awaits_outages else "restart", limits)


def _version(evidence: Evidence, limits: Limits) -> GuardResult | None:
    before, after = evidence.before.version, evidence.after.version
    return None if before == after else _found("version", limits, changes=f"{before} → {after}")


def _host_knobs(evidence: Evidence, limits: Limits) -> GuardResult | None:
    if evidence.hosts is None:
        return None
    before, after = evidence.hosts
    changes = _changes(before.knobs, after.knobs)
    return _found("host-knobs", limits, changes=changes) if changes else None


def _replicas(evidence: Evidence, limits: Limits) -> GuardResult | None:
    before, after = evidence.before.replicas, evidence.after.replicas
    if before == after:
        return None
    return _found("replicas", limits, changes=f"{before or 'none'} → {after or 'none'}")


def _base_backup(evidence: Evidence, limits: Limits) -> GuardResult | None:
    overlaps = evidence.before.base_backups or evidence.after.base_backups
    overlaps = overlaps or BASE_BACKUP in evidence.maintenance
    return _found("base-backup", limits) if overlaps else None


def _maintenance(evidence: Evidence, limits: Limits) -> GuardResult | None:
    commands = set(evidence.maintenance) - {BASE_BACKUP}
    if commands:
        return _found("maintenance", limits, commands=tuple(sorted(commands)))
    if evidence.before.foreign_maintenance or evidence.after.foreign_maintenance:
        return _found("maintenance", limits, commands=Note("trials/guards/vacuum-or-analyze"))
    return None


def _autovacuum(evidence: Evidence, limits: Limits) -> GuardResult | None:
    return _found("autovacuum", limits) if evidence.before.autovacuum_workers else None


def _reloads(evidence: Evidence, limits: Limits) -> GuardResult | None:
    late = evidence.late_reloads
    return None if late is None else _graded("reloads", late, limits)


def _forced_checkpoint(evidence: Evidence, limits: Limits) -> GuardResult | None:
    if not any("force" in checkpoint.cause for checkpoint in evidence.checkpoints):
        return None
    own = re.compile(limits["forced-checkpoint"]["own_words"])
    if evidence.scripts is None or any(own.search(script) for script in evidence.scripts):
        return _found("forced-checkpoint-perhaps-own", limits)
    return _found("forced-checkpoint", limits)


def _asked_checkpoint(evidence: Evidence, limits: Limits) -> GuardResult | None:
    """Inferred from counters where no log says it, so never more than a caveat."""
    asked = any(checkpoint.cause == ASKED_FOR for checkpoint in evidence.checkpoints)
    return _found("asked-checkpoint", limits) if asked else None


def _wal_checkpoint(evidence: Evidence, limits: Limits) -> GuardResult | None:
    """Only where timed checkpoints are meant; those by volume are where their volume is varied."""
    if "checkpoint_timeout" not in evidence.settings or "max_wal_size" in evidence.varied:
        return None
    causes = {checkpoint.cause for checkpoint in evidence.checkpoints}
    return _found("wal-checkpoint", limits) if causes & {"wal", "requested"} else None


def _consistency(evidence: Evidence, limits: Limits) -> GuardResult | None:
    if not evidence.violations:
        return None
    named = [f"{name} ({row})" for name, row in evidence.violations.items()]
    return _found("consistency", limits, violations=_listed(named))


def _foreign_sessions(evidence: Evidence, limits: Limits) -> GuardResult | None:
    load, before = evidence.foreign_load, evidence.before.foreign_active
    if load is None:
        most = max(before, evidence.after.foreign_active)
        return _graded("foreign-sessions", most, limits, drift=0.0)
    return _graded("foreign-sessions", load, limits, drift=load - before)


def _foreign_cpu(evidence: Evidence, limits: Limits) -> GuardResult | None:
    """Its note has the figure, and the names of programs where the host shows them."""
    share = evidence.processors.foreign_share if evidence.processors else 0.0
    found = _graded(FOREIGN_CPU, share, limits)
    if found is None:
        return None
    names = evidence.others.names if evidence.others else ()
    values: dict[str, Value] = {"share": 100.0 * share, "named": named(names)}
    return replace(found, note=Note(OTHER_PROGRAMS, values))


def _steal(evidence: Evidence, limits: Limits) -> GuardResult | None:
    split = evidence.processors
    share = split.steal_s / split.all_s if split and split.all_s > 0 else 0.0
    return _graded("steal", share, limits)


def killed_for_memory(
    before: MemoryUse | None, after: MemoryUse | None, limits: Limits
) -> GuardResult | None:
    """Returns a result where the kernel killed a process of the server between two readings."""
    if before is None or after is None or after.oom_kills <= before.oom_kills:
        return None
    limit = "none" if after.limit_bytes is None else memory_text(after.limit_bytes)
    return _found("out-of-memory", limits, limit=limit)


def _memory(evidence: Evidence, limits: Limits) -> GuardResult | None:
    before, after = evidence.before.memory, evidence.after.memory
    if before is None or after is None:
        return None
    if before.limit_bytes != after.limit_bytes:
        both = [one.limit_bytes or 0 for one in (before, after)]
        return _found("memory-limit", limits, changes=" → ".join(map(memory_text, both)))
    return killed_for_memory(before, after, limits)


def _throttled(evidence: Evidence, limits: Limits) -> GuardResult | None:
    if evidence.hosts is None:
        return None
    before, after = (host.throttled for host in evidence.hosts)
    if before is None or after is None or after <= before:
        return None
    return _found("throttled", limits)


def _disk(evidence: Evidence, limits: Limits) -> GuardResult | None:
    hosts = (evidence.before.host, evidence.after.host)
    used = [host.disk_used for host in hosts if host is not None and host.disk_used is not None]
    return _graded("disk", max(used), limits) if used else None


def _clock_step(evidence: Evidence, limits: Limits) -> GuardResult | None:
    step_s = abs(evidence.after.clock_offset_ns - evidence.before.clock_offset_ns) / 1e9
    return _graded("clock-step", step_s, limits)


def _server_clock_step(evidence: Evidence, limits: Limits) -> GuardResult | None:
    """Of another machine; the guard above is for this one."""
    if evidence.hosts is None or evidence.shares_clock:
        return None
    before, after = evidence.hosts
    if before.clock_offset_ns is None or after.clock_offset_ns is None:
        return None
    moved_ns = abs(after.clock_offset_ns - before.clock_offset_ns)
    sure_ns = moved_ns - before.clock_error_ns - after.clock_error_ns
    return _graded("server-clock-step", sure_ns / 1e9, limits)


def _host_unseen(evidence: Evidence, limits: Limits) -> GuardResult | None:
    why = evidence.before.host_unseen or evidence.after.host_unseen
    return _found("host-unseen", limits, why=why) if why else None


_GUARDS: tuple[Callable[[Evidence, Limits], GuardResult | None], ...] = (
    _settings,
    _restart,
    _version,
    _host_knobs,
    _replicas,
    _base_backup,
    _maintenance,
    _autovacuum,
    _reloads,
    _forced_checkpoint,
    _asked_checkpoint,
    _wal_checkpoint,
    _consistency,
    _foreign_sessions,
    _foreign_cpu,
    _steal,
    _memory,
    _throttled,
    _disk,
    _clock_step,
    _server_clock_step,
    _host_unseen,
)


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> Value:
    """Such as `vm.swappiness 60 → 1`; the first few."""
    changed = [n for n in sorted({*before, *after}) if before.get(n) != after.get(n)]
    named = [
        f"{name} {before.get(name, 'absent')} → {after.get(name, 'absent')}" for name in changed
    ]
    return _listed(named)


def _listed(texts: Sequence[str]) -> Value:
    """The first few."""
    first, more = tuple(texts[:_MOST_NAMED]), len(texts) - _MOST_NAMED
    return Note("trials/guards/some", {"first": first, "more": more}) if more > 0 else first


def _found(name: str, limits: Limits, **values: Value) -> GuardResult:
    return GuardResult(name, limits[name]["is"], Note(f"trials/guards/{name}", values))


def _graded(
    name: str, value: float, limits: Limits, *, drift: float | None = None
) -> GuardResult | None:
    """Compare `value` with the limit of a caveat, and `drift` with that of an invalid trial."""
    limit = limits[name]
    grades: tuple[tuple[Grade, float], ...] = (
        ("invalid", value if drift is None else drift),
        ("doubt", value),
    )
    for grade, measured in grades:
        if grade in limit and measured > limit[grade]:
            passed = limit[grade]
            values = {"limit": float(passed), "percent": 100.0 * passed}
            return GuardResult(name, grade, Note(f"trials/guards/{name}", values))
    return None
