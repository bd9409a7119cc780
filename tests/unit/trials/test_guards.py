"""Every guard, on values: what it lets pass, what it doubts, what it throws out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pgassay.notes import Note
from pgassay.server.hosts.memory_group import MemoryUse
from pgassay.trials.checkpoints.counted import ASKED_FOR
from pgassay.trials.guards.fingerprint import Fingerprint
from pgassay.trials.guards.foreign_sessions import (
    foreign_load,
    foreign_maintenance,
    measured_window,
)
from pgassay.trials.guards.guards import (
    Evidence,
    GuardResult,
    caveats_among,
    judge,
    validity_of,
)
from pgassay.trials.guards.noted_programs import OTHER_PROGRAMS
from pgassay.trials.guards.thresholds import VARIABLE, overlaid, own_limits
from pgassay.trials.host.host_reading import HostState
from pgassay.trials.host.other_programs import OtherPrograms, Program
from pgassay.trials.host.processor_times import ProcessorSplit
from pgassay.trials.model.record import Checkpoint, Columns
from support.refusals import refused

HOST = HostState(
    knobs={"vm.swappiness": "60"},
    throttled=3,
    frequency_mhz=2400.0,
    disk_used=0.5,
    clock_offset_ns=10**18,
    clock_error_ns=10**7,
)
CALM = Fingerprint(
    version="18.4",
    started_at_s=1000.5,
    settings={"work_mem": "4096", "fsync": "on"},
    database_bytes=10**9,
    foreign_sessions=0,
    foreign_active=0,
    foreign_maintenance=0,
    autovacuum_workers=0,
    base_backups=0,
    replicas="",
    clock_offset_ns=10**18,
    host=HOST,
    postmaster=1,
)
BUSY = ProcessorSplit(
    all_s=100.0, busy_s=60.0, server_s=40.0, client_s=18.0, foreign_user_s=1.0, steal_s=1.0
)
QUIET = Evidence(
    before=CALM,
    after=replace(CALM, database_bytes=2 * 10**9),
    processors=BUSY,
    foreign_load=0.0,
    checkpoints=[Checkpoint(1, 2, "time"), Checkpoint(3, 4, "wal")],
    scripts=["UPDATE t SET a = 1;"],
    settings={"work_mem"},
    varied={"work_mem"},
)
TIMED = {"checkpoint_timeout"}
BOTH = {*TIMED, "max_wal_size"}


def grades(evidence: Evidence) -> dict[str, str]:
    return {remark.guard: remark.grade for remark in judge(evidence)}


def test_other_programs_are_noted_with_their_share_and_their_names() -> None:
    names = tuple(Program(name, 0.1) for name in ("stress-ng", "chromium"))
    others = OtherPrograms(0.62, names, 10**9, None, "")
    found = judge(replace(QUIET, processors=replace(BUSY, foreign_user_s=62.0), others=others))
    (note,) = caveats_among(found)
    named = Note.of("trials/guards/named", names=("stress-ng", "chromium"))
    assert note == Note.of(OTHER_PROGRAMS, share=62.0, named=named)
    (unseen,) = judge(replace(QUIET, processors=replace(BUSY, foreign_user_s=62.0)))
    assert unseen.note.values["named"] == ""


def afterwards(**changes: Any) -> Evidence:
    return replace(QUIET, after=replace(CALM, **changes))


def beforehand(**changes: Any) -> Evidence:
    return replace(QUIET, before=replace(CALM, **changes))


def host_afterwards(**changes: Any) -> Evidence:
    return afterwards(host=replace(HOST, **changes))


def elsewhere(**changes: Any) -> Evidence:
    """The host is not this machine, so its clock is another."""
    return replace(host_afterwards(**changes), shares_clock=False)


def forced(scripts: list[str] | None) -> Evidence:
    return replace(QUIET, checkpoints=[Checkpoint(1, 2, "immediate force wait")], scripts=scripts)


def test_a_quiet_trial_leaves_nothing_to_say_though_its_data_has_grown() -> None:
    assert judge(QUIET) == []
    assert validity_of([]).valid


@pytest.mark.parametrize(
    ("evidence", "found"),
    [
        (afterwards(settings={"work_mem": "8192", "fsync": "on"}), {"settings": "invalid"}),
        (afterwards(settings={"work_mem": "4096"}), {"settings": "invalid"}),
        (afterwards(started_at_s=2000.5), {"restart": "invalid"}),
        (
            replace(afterwards(started_at_s=2000.5), awaits_outages=True),
            {"restart-awaited": "doubt"},
        ),
        (afterwards(version="18.5"), {"version": "invalid"}),
        (host_afterwards(knobs={"vm.swappiness": "1"}), {"host-knobs": "invalid"}),
        (afterwards(replicas="standby1 sync"), {"replicas": "invalid"}),
        (beforehand(base_backups=1), {"base-backup": "invalid"}),
        (afterwards(base_backups=1), {"base-backup": "invalid"}),
        (beforehand(foreign_maintenance=1), {"maintenance": "invalid"}),
        (afterwards(foreign_maintenance=1), {"maintenance": "invalid"}),
        (replace(QUIET, maintenance={"CREATE INDEX"}), {"maintenance": "invalid"}),
        (replace(QUIET, maintenance={"BASE_BACKUP"}), {"base-backup": "invalid"}),
        (beforehand(autovacuum_workers=1), {"autovacuum": "doubt"}),
        (afterwards(autovacuum_workers=1), {}),
        (replace(QUIET, late_reloads=0.005), {}),
        (replace(QUIET, late_reloads=0.02), {"reloads": "doubt"}),
        (replace(QUIET, late_reloads=0.2), {"reloads": "invalid"}),
        (forced(["SELECT 1;"]), {"forced-checkpoint": "invalid"}),
        (forced(["SELECT 1;", "CHECKPOINT;"]), {"forced-checkpoint-perhaps-own": "doubt"}),
        (forced(None), {"forced-checkpoint-perhaps-own": "doubt"}),
        (replace(QUIET, checkpoints=[Checkpoint(1, 2, ASKED_FOR)]), {"asked-checkpoint": "doubt"}),
        (replace(QUIET, checkpoints=[Checkpoint(1, 2, "requested")]), {}),
        (replace(QUIET, settings=TIMED, varied=TIMED), {"wal-checkpoint": "doubt"}),
        # A max_wal_size that is held, and not large enough.
        (replace(QUIET, settings=BOTH, varied=TIMED), {"wal-checkpoint": "doubt"}),
        (replace(QUIET, settings=BOTH, varied={"work_mem"}), {"wal-checkpoint": "doubt"}),
        (replace(QUIET, settings=BOTH, varied={"max_wal_size"}), {}),
        (replace(QUIET, settings=BOTH, varied=BOTH), {}),
        (replace(QUIET, foreign_load=0.01), {}),
        (replace(QUIET, foreign_load=0.1), {"foreign-sessions": "doubt"}),
        (replace(QUIET, foreign_load=0.9), {"foreign-sessions": "invalid"}),
        (replace(QUIET, foreign_load=None), {}),
        (replace(beforehand(foreign_active=1), foreign_load=0.9), {"foreign-sessions": "doubt"}),
        (replace(beforehand(foreign_active=1), foreign_load=None), {"foreign-sessions": "doubt"}),
        (replace(QUIET, processors=replace(BUSY, foreign_user_s=6.0)), {"foreign-cpu": "doubt"}),
        (replace(QUIET, processors=replace(BUSY, foreign_user_s=90.0)), {"foreign-cpu": "doubt"}),
        (replace(QUIET, processors=replace(BUSY, steal_s=40.0)), {"steal": "invalid"}),
        (replace(QUIET, processors=replace(BUSY, steal_s=6.0)), {"steal": "doubt"}),
        (replace(QUIET, processors=None), {}),
        (host_afterwards(throttled=4), {"throttled": "doubt"}),
        (host_afterwards(throttled=None), {}),
        (host_afterwards(disk_used=0.93), {"disk": "doubt"}),
        (host_afterwards(disk_used=0.985), {"disk": "invalid"}),
        (host_afterwards(disk_used=None), {}),
        (afterwards(host=None), {}),
        (afterwards(clock_offset_ns=10**18 + 10**7), {}),
        (afterwards(clock_offset_ns=10**18 - 10**8), {"clock-step": "doubt"}),
        (afterwards(clock_offset_ns=10**18 + 2 * 10**9), {"clock-step": "invalid"}),
        (elsewhere(clock_offset_ns=10**18 + 6 * 10**7), {}),
        (elsewhere(clock_offset_ns=10**18 - 10**8), {"server-clock-step": "doubt"}),
        (elsewhere(clock_offset_ns=10**18 + 2 * 10**9), {"server-clock-step": "invalid"}),
        (elsewhere(clock_offset_ns=None), {}),
        (host_afterwards(clock_offset_ns=10**18 + 2 * 10**9), {}),
        (afterwards(host=None, host_unseen="ssh db1: gone"), {"host-unseen": "doubt"}),
        (replace(QUIET, violations={"no-debt": "id = 7"}), {"consistency": "invalid"}),
    ],
)  # fmt: skip
def test_each_guard_finds_what_it_is_for_and_nothing_else(
    evidence: Evidence, found: Mapping[str, str]
) -> None:
    assert grades(evidence) == found


def test_what_changed_is_named_with_its_values_and_a_long_list_is_cut() -> None:
    (remark,) = judge(afterwards(settings={"work_mem": "8192", "fsync": "on"}))
    changes = {"changes": ("work_mem 4096 → 8192",)}
    assert remark.note == Note("trials/guards/settings", changes)
    many = {f"s{number}": "on" for number in range(6)}
    (remark,) = judge(afterwards(settings={**CALM.settings, **many}))
    first = ("s0 absent → on", "s1 absent → on", "s2 absent → on")
    assert remark.note.values["changes"] == Note.of("trials/guards/some", first=first, more=3)


def test_violated_checks_of_the_data_are_named_with_the_row_that_breaks_them() -> None:
    (remark,) = judge(replace(QUIET, violations={"no-debt": "id = 7, {x} = %s", "all": "n = 1"}))
    violations = ("no-debt (id = 7, {x} = %s)", "all (n = 1)")
    assert remark.note == Note("trials/guards/consistency", {"violations": violations})
    assert "{x} = %s" in str(remark.note), "what a row holds is no place of the sentence"


def test_a_caveat_leaves_a_trial_valid() -> None:
    remarks = judge(replace(host_afterwards(disk_used=0.93, throttled=4), foreign_load=2.0))
    validity = validity_of(remarks)
    assert not validity.valid
    assert len(validity.notes) == 1
    assert validity.notes[0].code == "trials/guards/foreign-sessions"
    assert validity.notes[0].values["limit"] == 0.5
    assert len(caveats_among(remarks)) == 2
    assert validity_of([r for r in remarks if r.grade == "doubt"]).valid


def test_thresholds_of_a_users_own_lie_over_those_that_ship(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert own_limits() == {}
    file = tmp_path / "mine.toml"
    file.write_text("[disk]\ndoubt = 0.4\n[restart]\nis = 'doubt'\n")
    monkeypatch.setenv(VARIABLE, str(file))
    remarks = judge(afterwards(started_at_s=2000.5), overlaid(own_limits()))
    assert [(r.guard, r.grade) for r in remarks] == [("restart", "doubt"), ("disk", "doubt")]
    assert remarks[1].note.values["percent"] == 40.0


@pytest.mark.parametrize(
    ("text", "code", "of"),
    [
        ("[disc]\ndoubt = 1\n", "no-such-guard", ""),
        ("[disk]\ndoubt = 'a lot'\n", "guard-of-numbers", ": disk.doubt"),
        ("[disk]\nis = 'doubt'\n", "guard-of-numbers", ": disk.is"),
        ("[restart]\nis = 'fine'\n", "guard-of-words", ": restart.is"),
        ("disk", "thresholds-unusable", ""),
    ],
)
def test_a_file_of_thresholds_that_cannot_be_used_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, code: str, of: str
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    monkeypatch.setenv(VARIABLE, str(file))
    with refused(code, f"PGASSAY_GUARDS: {file}{of}") as error:
        own_limits()
    assert "\n" not in str(error.value)


def samples(*rows: tuple[int, int | None, str | None, str | None, str | None]) -> Columns:
    names = ("tick_ns", "pid", "backend_type", "state", "scenario")
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}


def test_foreign_sessions_are_those_never_sampled_in_a_scenario() -> None:
    client = "client backend"
    rows = []
    for tick in range(10):
        rows += [
            (tick, 1, client, "active", "pay" if tick % 2 else None),  # ours, at times between two
            (tick, 2, client, "active", None),
            (tick, 3, client, "idle in transaction", None),
            (tick, 4, "checkpointer", None, None),
            (tick, None, None, None, None),
        ]
    rows.append((9, 5, client, "active", None))  # seen once: ours, perhaps
    assert foreign_load(samples(*rows), (0, 10), 5) == 1.0
    assert foreign_load(samples(*rows), (0, 4), 5) is None, "too few samples to say"
    late = [row for row in rows if row[1] != 2 or row[0] >= 6]
    assert foreign_load(samples(*late), (0, 10), 5) == 0.4
    assert foreign_load(samples(*late), (0, 6), 5) == 0.0, "not in the measured time"


def test_the_measured_window_leaves_out_the_warm_up() -> None:
    steps = [
        {"measured": False, "start_ns": 0, "end_ns": 5},
        {"measured": True, "start_ns": 5, "end_ns": 8},
        {"measured": True, "start_ns": 8, "end_ns": 9},
    ]
    assert measured_window(steps) == (5, 9)
    assert measured_window(steps[:1]) == (0, 0)


def test_upkeep_of_other_sessions_counts_in_the_measured_time_alone() -> None:
    seen = [
        (5, "progress", "VACUUM/lab/public.t/scanning heap/another"),
        (15, "progress", "ANALYZE/lab/a/b/acquiring sample rows/another"),
        (16, "progress", "VACUUM/lab/public.t/scanning heap/autovacuum"),
        (17, "progress", "VACUUM/lab/public.t/scanning heap/pgassay"),
        (18, "progress", "COPY FROM/lab/public.t//another"),
        (18, "progress", "BASE_BACKUP///streaming database files/another"),
        (19, "database", "lab/another"),
    ]
    counters = dict(
        zip(("time_ns", "source", "object"), map(list, zip(*seen, strict=True)), strict=True)
    )
    assert foreign_maintenance(counters, (10, 20)) == {"ANALYZE", "BASE_BACKUP"}


def test_a_process_killed_for_memory_or_another_limit_makes_a_trial_invalid() -> None:
    def after(memory: MemoryUse) -> list[GuardResult]:
        before = replace(CALM, memory=MemoryUse(2**30, 5, 1))
        return judge(replace(QUIET, before=before, after=replace(before, memory=memory)))

    assert after(MemoryUse(2**30, 9, 1)) == []
    (killed,) = after(MemoryUse(2**30, 9, 2))
    assert (killed.guard, killed.grade) == ("out-of-memory", "invalid")
    assert killed.note == Note("trials/guards/out-of-memory", {"limit": "1GB"})
    (moved,) = after(MemoryUse(2**31, 5, 1))
    assert moved.note == Note("trials/guards/memory-limit", {"changes": "1GB → 2GB"})
