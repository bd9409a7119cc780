"""Servers of several versions side by side: the same rows, one of them running, each put back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, nullcontext
from functools import partial
from pathlib import Path

import pytest

from pgassay.errors import RestoreFailed, TargetError
from pgassay.plan.design import make_plan
from pgassay.server.connection.session import user_path
from pgassay.server.open import make_several
from pgassay.server.protocol import Connection, SchemaVariant, Target, Testbed
from pgassay.spec.parse import parse_spec
from pgassay.spec.workload.folder import load_workload
from pgassay.trials.environment.server_differences import contents_of, unlike
from pgassay.trials.run.refusals.of_servers import refuse_arms
from pgassay.trials.run.testbeds import testbeds_of
from support.hosts.small_disk import small_disk
from support.refusals import refused
from support.runs.broken import assert_no_server_left, postmaster_below
from support.servers.lab import DEBIAN, RecordingJournal, installation_named, scalar

SERVERS: dict[str, int | Path | None] = {"16": 16, "18": 18, "the distribution's": DEBIAN}
HOSTILE = "index = b-tree / 'größe' \"x\""
BTREE = SchemaVariant(HOSTILE, {"factors.schema, index": "CREATE INDEX ON account (branch)"})
FIND = b"EXPLAIN SELECT * FROM account WHERE branch = 7"


@pytest.fixture
def several(own_base: Path) -> Iterator[Target]:
    for name in ("embedded-16", "embedded-18", "debian-15"):
        installation_named(name)
    journal = RecordingJournal()
    target = make_several(SERVERS, journal=journal)
    yield target
    target.close()
    target.close()
    assert journal.open == []
    assert_no_server_left(own_base)


def build(session: Connection, use: str) -> None:
    workload = load_workload(use, Path(), file="lab.toml")
    for statements in workload.building_sql(1):
        session.execute(statements.encode())


def plan_of(target: Target) -> str:
    with target.connect() as session, user_path(session):
        return "\n".join(row[0] for row in session.execute(FIND).fetchall())


@pytest.mark.parametrize("use", [pytest.param("payments", marks=pytest.mark.heavy), "pgbench"])
def test_a_workloads_rows_are_the_same_on_every_version(several: Target, use: str) -> None:
    found = {}
    for server in SERVERS:
        several.choose(Testbed(server))
        several.prepare(partial(build, use=use), {})
        found[server] = contents_of(several)
    first = found["16"]
    assert sum(table["rows"] for table in first.values()) >= 100_010
    assert found == dict.fromkeys(SERVERS, first)
    assert list(unlike(use, found)) == []


def test_rows_that_differ_are_reported_by_table_and_server() -> None:
    one = {"public.t": {"rows": 3, "checksum": "5"}}
    (note,) = unlike("shop", {"16": one, "18": {"public.t": {"rows": 3, "checksum": "6"}}})
    assert note.code == "trials/environment/rows-unlike"
    assert [note.values[one] for one in ("table", "server", "first")] == ["public.t", "18", "16"]


def test_one_server_runs_at_a_time_and_each_is_put_back_to_its_own(
    several: Target, own_base: Path
) -> None:
    versions = {}
    for server in SERVERS:
        facts = several.choose(Testbed(server))
        versions[server] = facts.version_num // 10000
        assert f"PostgreSQL {facts.version}" in facts.build
        several.prepare(partial(build, use="payments"), {})
        several.vary(BTREE)
    assert versions == {"16": 16, "18": 18, "the distribution's": 15}
    for server, schema in [("18", ""), ("16", HOSTILE), ("18", HOSTILE), ("18", "")]:
        several.choose(Testbed(server, schema=schema))
        report = several.reset({"work_mem": "7MB"})
        assert report.settings == {"work_mem": "7MB"}
        postmaster_below(own_base)  # there is one, and one only
        with several.connect() as session, user_path(session):
            assert session.info.server_version // 10000 == versions[server]
            session.execute("DELETE FROM till")
        assert ("Index" in plan_of(several)) == bool(schema)
    with pytest.raises(TargetError, match="was not made"):
        several.choose(Testbed("18", schema="hash"))


def test_statements_are_counted_on_all_servers_or_on_none(own_base: Path) -> None:
    for servers, counted in (({"16": 16, "18": 18}, ""), ({"18": 18}, "pg_stat_statements")):
        with closing(make_several(servers, journal=RecordingJournal())) as target:
            target.choose(Testbed("18"))
            with target.connect() as session, user_path(session):
                assert scalar(session, "SHOW shared_preload_libraries") == counted


def test_a_server_that_could_not_be_removed_is_there_for_another_attempt(
    several: Target, own_base: Path
) -> None:
    for server in ("16", "18"):
        several.choose(Testbed(server))
    first = min(own_base.glob("run-*/data/PG_VERSION"), key=lambda path: path.read_text())
    with (
        small_disk(first.parents[1] / "in-the-way", "100k"),
        pytest.raises(RestoreFailed, match="the owned server could not be removed"),
    ):
        several.close()
    assert len([*own_base.glob("run-*.owner")]) == 1, "the other one is gone"
    several.close()
    assert [*own_base.glob("run-*")] == []


def test_a_setting_one_version_lacks_is_refused_with_its_name(several: Target) -> None:
    several.choose(Testbed("18"))
    several.check_settings({"io_method": "sync"})
    several.choose(Testbed("the distribution's"))
    with refused("setting-not-of-this-server"):
        several.check_settings({"io_method": "sync"})


def test_sql_of_a_variant_that_fails_names_its_level(several: Target) -> None:
    several.choose(Testbed("18"))
    several.prepare(partial(build, use="payments"), {})
    statements = {"factors.schema, index = gin": "CREATE INDEX ON nix (a)"}
    wrong = SchemaVariant("index = gin", statements)
    with pytest.raises(TargetError, match=r'schema, index = gin: relation "nix" does not'):
        several.vary(wrong)
    several.choose(Testbed("18"))
    several.reset({})
    assert "Seq Scan" in plan_of(several)


@pytest.mark.parametrize(("clients", "code"), [(8, ""), (200, "lacks-connections")])
def test_arms_that_come_back_to_a_server_are_checked_while_it_is_parked(
    clients: int, code: str, several: Target
) -> None:
    text = (
        "[factors.target]\nversion = [16, 18]\n[factors.postgres]\nwork_mem = ['4MB', '8MB']\n"
        f"[design]\ncombinations = 'one-at-a-time'\n[load]\nclients = {clients}\nstep = '10s'\n"
    )
    spec = parse_spec(text, source="lab.toml", beside=Path())
    plan = make_plan(spec)
    assert len(plan.arms) == 3
    with refused(code, load="200 connections", of="") if code else nullcontext():
        refuse_arms(spec, plan, several, testbeds_of(spec, plan))
