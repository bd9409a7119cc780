"""Every rule that ships, on made-up signals: what it recognises, and what it must not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from pgassay.findings.diagnosis.recognised import find
from pgassay.findings.diagnosis.rule_file import known_rules
from support.synthetic.signals import analysis_with

Values = Mapping[str, float]


@dataclass(frozen=True)
class Case:
    """What a rule is recognised by, and changes that each take one of its signs away."""

    shows: Values
    other: tuple[Values, ...]
    script: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)


_BUSY = {"sessions//CPU": 2.0}
CASES = {
    "distinct-on-key": Case(
        {"sessions//CPU": 3.9, "database//tup_returned": 5e6, "metric//server_cpu_ms_per_tx": 30.0},
        ({"database//tup_returned": 5e3}, {"sessions//IO:DataFileRead": 20.0}),
        script="SELECT DISTINCT id FROM item",
    ),
    "on-commit-delete-rows": Case(
        _BUSY
        | {
            "sessions//IO:DataFileTruncate": 3.0,
            "wal//wal_records": 5e4,
            "database//tup_inserted": 0.0,
        },
        (
            {"sessions//IO:DataFileTruncate": 0.01},
            {"wal//wal_records": 100.0},
            {"database//tup_inserted": 3000.0},
        ),
    ),
    "vacuum-many-tables": Case(
        _BUSY | {"sessions//Lock:frozenid": 4.0, "freeze//pg_class_bytes": 2e6},
        ({"sessions//Lock:frozenid": 0.1}, {"freeze//pg_class_bytes": 1e5}),
    ),
    "tiny-index-loop": Case(
        _BUSY | {"tables/tiny/idx_scan": 5e6, "tables/tiny/table_rows": 20.0},
        (
            {"tables/tiny/idx_scan": 500.0},
            {"tables/tiny/table_rows": 1e6},
            {"sessions//IO:DataFileRead": 20.0},
        ),
    ),
    "lock-manager": Case(
        _BUSY | {"sessions//LWLock:LockManager": 3.0, "locks/AccessShareLock/shared_table": 900.0},
        ({"sessions//LWLock:LockManager": 0.01}, {"locks/AccessShareLock/shared_table": 3.0}),
    ),
    "catalog-churn": Case(
        _BUSY | {"database//tup_inserted": 3100.0, "locks/AccessExclusiveLock/shared_table": 5.0},
        ({"database//tup_inserted": 100.0}, {"locks/AccessExclusiveLock/shared_table": 0.0}),
    ),
    "lock-queue": Case(
        _BUSY
        | {
            "sessions//Lock:transactionid": 6.0,
            "metric//wait_lock_ms_per_tx": 5.0,
            "metric//latency_mean": 8.0,
        },
        ({"sessions//Lock:transactionid": 0.1}, {"metric//wait_lock_ms_per_tx": 0.1}),
    ),
    "idle-in-transaction": Case(
        _BUSY | {"sessions//Client:ClientRead": 3.0, "state//idle in transaction": 3.0},
        ({"state//idle in transaction": 0.1}, {"sessions//IO:WALSync": 20.0}),
    ),
    "connection-storm": Case(
        {"database//sessions": 100.0}, ({"database//sessions": 5.0},)
    ),
    "autovacuum-behind": Case(
        {"tables/t/vacuum_due": 4.0, "tables/t/dead_rows": 1e5},
        ({"tables/t/vacuum_due": 1.1}, {"tables/t/dead_rows": 200.0}),
        settings={"autovacuum_naptime": "15s"},
    ),
    "autovacuum-off": Case(
        {"tables/t/vacuum_due": 4.0, "tables/t/dead_rows": 1e5},
        ({"tables/t/vacuum_due": 1.1}, {"tables/t/dead_rows": 200.0}),
        settings={"autovacuum": "off"},
    ),
    "temporary-files": Case(
        {"cluster//temp_bytes": 9e8, "cluster//temp_files": 200.0},
        ({"cluster//temp_bytes": 1e5}, {"cluster//temp_files": 2.0}),
    ),
    "wraparound": Case(
        {"freeze//oldest_xid_age": 3e8, "process/autovacuum worker/Timeout:VacuumDelay": 1.0},
        (
            {"freeze//oldest_xid_age": 1e8},
            {"process/autovacuum worker/Timeout:VacuumDelay": 0.0},
        ),
    ),
    "client-bound": Case(
        {
            "sessions//CPU": 1.0,
            "metric//wait_client_ms_per_tx": 0.6,
            "metric//latency_mean": 1.0,
            "metric//host_cpu_busy": 50.0,
        },
        (
            # A part that no sample accounts for is not the client's.
            {"metric//wait_client_ms_per_tx": 0.3, "metric//unaccounted_ms_per_tx": 0.6},
            {"sessions//CPU": 40.0},
            {"metric//host_cpu_busy": 99.0},
        ),
    ),
    "client-shares-host": Case(
        {
            "sessions//CPU": 1.0,
            "metric//wait_client_ms_per_tx": 0.6,
            "metric//latency_mean": 1.0,
            "metric//host_cpu_busy": 99.0,
        },
        ({"metric//latency_mean": 5.0}, {"metric//host_cpu_busy": 50.0}),
    ),
}  # fmt: skip


def test_every_shipped_rule_has_a_case() -> None:
    assert {rule.name for rule in known_rules()} == CASES.keys()


@pytest.mark.parametrize("name", CASES)
def test_a_rule_is_supported_where_all_its_signs_hold(name: str) -> None:
    case = CASES[name]
    seen = analysis_with([case.shows] * 4, settings=case.settings, scripts=[case.script])

    assert {one.rule: one.confidence for one in find(*seen)} == {f"{name}/1": "supported"}


@pytest.mark.parametrize(
    ("name", "change"),
    [(name, change) for name, case in CASES.items() for change in case.other],
    ids=lambda value: value if isinstance(value, str) else next(iter(value)),
)
def test_a_rule_is_not_supported_without_one_of_its_signs(name: str, change: Values) -> None:
    case = CASES[name]
    shows = {**case.shows, **change}
    seen = analysis_with([shows] * 4, settings=case.settings, scripts=[case.script])

    assert f"{name}/1" not in {one.rule for one in find(*seen) if one.confidence != "hypothesis"}


@pytest.mark.parametrize("name", ["distinct-on-key", "autovacuum-off"])
def test_a_rule_is_silent_without_its_script_or_setting(name: str) -> None:
    assert find(*analysis_with([CASES[name].shows] * 4, scripts=["SELECT 1"])) == []


def test_an_ordinary_load_shows_no_rule() -> None:
    shows = {
        "sessions//CPU": 3.0,
        "sessions//LWLock:WALWrite": 3.0,
        "sessions//IO:WALSync": 0.6,
        "sessions//Client:ClientRead": 1.0,
        "sessions//Lock:tuple": 0.1,
        "state//idle in transaction": 0.3,
        "database//sessions": 0.0,
        "database//tup_inserted": 200.0,
        "database//tup_returned": 900.0,
        "cluster//temp_bytes": 0.0,
        "wal//wal_records": 900.0,
        "locks/RowExclusiveLock/shared_table": 0.0,
        "tables/account/idx_scan": 500.0,
        "tables/account/table_rows": 1e6,
        "tables/account/dead_rows": 5000.0,
        "tables/account/vacuum_due": 0.1,
        "freeze//oldest_xid_age": 1e6,
        "freeze//pg_class_bytes": 1e5,
        "metric//latency_mean": 80.0,
        "metric//wait_client_ms_per_tx": 10.0,
        "metric//unaccounted_ms_per_tx": 10.0,
        "metric//wait_lock_ms_per_tx": 1.0,
        "metric//host_cpu_busy": 95.0,
    }

    assert find(*analysis_with([shows] * 4, scripts=["UPDATE account SET balance = 0"])) == []
