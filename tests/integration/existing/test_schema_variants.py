"""Variants of the schema on an existing server: made, taken back, and undone whatever happens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pgassay.errors import TargetError
from pgassay.server.existing.target import ExistingTarget
from pgassay.server.protocol import SchemaVariant, Testbed
from pgassay.server.recovery.recover import recover
from pgassay.server.undo.undo_sql import undo_text
from support.refusals import refused
from support.servers.accounts import build_accounts
from support.servers.existing import die
from support.servers.lab import LabServer, RecordingJournal


def variant(name: str, sql: str, undo: str | None) -> SchemaVariant:
    return SchemaVariant(name, {name: sql}, {} if undo is None else {f"undo of {name}": undo})


BTREE = variant("i = b'tree", "CREATE INDEX one ON account (i); ANALYZE account;", "DROP INDEX one")
ROLE = variant("r = ü", "CREATE ROLE lab_ü; GRANT SELECT ON account TO lab_ü",
               "REVOKE SELECT ON account FROM lab_ü; DROP ROLE lab_ü;")  # fmt: skip


def there_are(server: LabServer) -> tuple[bool, bool]:
    """Whether the index and the role are there."""
    with server.admin() as session:
        row: Any = session.execute(
            "SELECT to_regclass('pgassay.one') IS NOT NULL,"
            " EXISTS (SELECT FROM pg_roles WHERE rolname = 'lab_ü')"
        ).fetchone()
        return row[0], row[1]


@pytest.fixture
def target(lab_server: LabServer, journal: RecordingJournal) -> Iterator[ExistingTarget]:
    target = ExistingTarget(lab_server.dsn(), journal, allow_changes=True, accept=["commits"])
    yield target
    target.close()
    assert there_are(lab_server) == (False, False)


def prepared(target: ExistingTarget) -> None:
    target.open()
    target.prepare(build_accounts, {})
    target.vary(BTREE)
    target.vary(ROLE)


def test_each_trial_has_its_variant_and_the_end_has_none(
    target: ExistingTarget, lab_server: LabServer, journal: RecordingJournal
) -> None:
    prepared(target)
    assert there_are(lab_server) == (False, False), "trying a variant leaves nothing of it"
    for schema, there in [
        (BTREE.name, (True, False)),
        (BTREE.name, (True, False)),
        (ROLE.name, (False, True)),
        ("", (False, False)),
        (ROLE.name, (False, True)),
    ]:
        target.choose(Testbed(schema=schema))
        target.reset({})
        assert there_are(lab_server) == there
    target.close()
    assert there_are(lab_server) == (False, False)
    assert journal.open == []


def test_a_killed_run_is_undone_by_recover_also_before_the_sql_was_run(
    target: ExistingTarget, lab_server: LabServer, journal: RecordingJournal
) -> None:
    prepared(target)
    target.choose(Testbed(schema=ROLE.name))
    target.reset({})
    left_open = list(journal.open)
    assert any("DROP ROLE" in undo_text(change) for change in left_open)
    die(target)
    assert recover(lab_server.dsn(), left_open, journal) == []
    assert there_are(lab_server) == (False, False)
    assert recover(lab_server.dsn(), left_open, journal) == []


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (variant("a", "CREATE INDEX one ON account (nix)", "DROP INDEX one"), 'a: column "nix"'),
        (variant("a", "CREATE INDEX one ON account (i)", "DROP INDX one"), "undo of a: syntax"),
        (variant("a", "CREATE INDEX one ON account (i)", None), "needs undo beside sql"),
        (
            variant("a", "CREATE INDEX CONCURRENTLY one ON account (i)", "DROP INDEX one"),
            "a: CREATE INDEX CONCURRENTLY cannot run",
        ),
    ],
)
def test_sql_or_undo_that_fails_is_found_before_the_first_trial(
    target: ExistingTarget, lab_server: LabServer, wrong: SchemaVariant, words: str
) -> None:
    target.open()
    target.prepare(build_accounts, {})
    with pytest.raises(TargetError, match=words):
        target.vary(wrong)
    assert there_are(lab_server) == (False, False)


@pytest.fixture
def both(target: ExistingTarget) -> ExistingTarget:
    """A variant of two factors in force, the undo of the last of which ends in a comment."""
    parts = {**ROLE.parts, **BTREE.parts}
    undo = {**ROLE.undo, "undo of the index": "DROP INDEX one -- for now"}
    target.open()
    target.prepare(build_accounts, {})
    target.vary(SchemaVariant("both", parts, undo))
    target.choose(Testbed(schema="both"))
    target.reset({})
    return target


def test_a_comment_at_the_end_of_an_undo_does_not_hide_the_next(
    both: ExistingTarget, lab_server: LabServer, journal: RecordingJournal
) -> None:
    assert there_are(lab_server) == (True, True)
    both.choose(Testbed())
    both.reset({})
    assert there_are(lab_server) == (False, False)
    both.choose(Testbed(schema="both"))
    both.reset({})
    with lab_server.admin() as session:
        session.execute("; ".join(both._data.variants.left).encode())
    assert there_are(lab_server) == (False, False)
    both.close()
    assert journal.open == []


@pytest.mark.parametrize("by", ["the run", "recover"])
def test_a_part_that_another_session_undid_does_not_stop_the_other_undos(
    both: ExistingTarget, lab_server: LabServer, journal: RecordingJournal, by: str
) -> None:
    with lab_server.admin() as session:
        session.execute("DROP INDEX pgassay.one")
    if by == "the run":
        both.choose(Testbed())
        both.reset({})
    else:
        die(both)
        assert recover(lab_server.dsn(), journal.open, journal) == []
    assert there_are(lab_server) == (False, False)


def test_without_allow_changes_the_schema_does_not_vary(
    lab_server: LabServer, journal: RecordingJournal
) -> None:
    target = ExistingTarget(lab_server.dsn(), journal, accept=["commits"])
    try:
        target.open()
        with refused("schema-without-allow-changes"):
            target.vary(BTREE)
    finally:
        target.close()
