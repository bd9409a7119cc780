"""What arms ask of their servers, and whether the servers have it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgassay.plan.demands import Demand, demands_of
from pgassay.plan.design import make_plan
from pgassay.refusals.refusal import Refusal
from pgassay.server.existing.capacity import (
    Capacity,
    Limit,
    capacity_of_a_new_server,
    lacking,
    own_sessions,
)
from pgassay.server.hosts.control_groups import memory_of
from pgassay.server.hosts.local import LocalHost
from pgassay.server.protocol import Context, Setting
from pgassay.spec.parse import parse_spec

GIB = 1024**3
OWN = own_sessions(is_ours=True, sees_host=True)


def setting(name: str, value: str, unit: str | None = None) -> Setting:
    return Setting(
        name, value, unit, Context.POSTMASTER, "integer", (), None, None, None, "default", False
    )


SETTINGS = {
    one.name: one
    for one in (
        setting("shared_buffers", "16384", "8kB"),
        setting("max_connections", "100"),
        setting("superuser_reserved_connections", "3"),
        setting("reserved_connections", "2"),
    )
}


def asked(connections: int | None = None, arm: str = "", **settings: str) -> Demand:
    return Demand(arm, settings, connections)


def problems(demand: Demand, capacity: Capacity) -> list[Refusal]:
    return list(lacking([(demand, capacity)], side_by_side=False))


def demanded(text: str, folder: Path = Path()) -> dict[str, Demand]:
    spec = parse_spec(text, source="x.toml", beside=folder)
    return demands_of(spec, make_plan(spec))


def test_as_many_connections_as_fit_pass_and_one_more_is_refused() -> None:
    server = Capacity(SETTINGS)
    assert problems(asked(100 - OWN), server) == []
    (problem,) = problems(asked(101 - OWN), server)
    assert (problem.code, problem.key) == ("lacks-connections", "load.clients")
    assert problem.values["load"] == "98 connections"
    assert (problem.values["own"], problem.values["wanted"]) == (3, 101)


def test_reserved_and_open_connections_are_not_available() -> None:
    server = Capacity(SETTINGS, superuser=False, uses_reserved=False, others=10)
    assert problems(asked(85 - OWN), server) == []
    (problem,) = problems(asked(86 - OWN), server)
    assert (problem.values["kept"], problem.values["open"]) == (5, 10)
    assert "5 kept" in problem.text
    assert "10 open" in problem.text
    assert problem.values["most"] == 100
    roomy = Capacity(SETTINGS, superuser=False, uses_reserved=True, others=10)
    assert problems(asked(87 - OWN), roomy) == []


def test_an_arm_is_checked_against_its_own_max_connections_and_named_where_others_pass() -> None:
    server = Capacity(SETTINGS)
    arms = [(asked(50, "small", max_connections="40"), server), (asked(50, "usual"), server)]
    (problem,) = lacking(arms, side_by_side=False)
    assert (problem.values["of"], problem.values["most"]) == ("small: ", 40)
    all_alike = [(asked(150, "one"), server), (asked(150, "two"), server)]
    (problem,) = lacking(all_alike, side_by_side=False)
    assert (problem.values["of"], problem.values["load"]) == ("", "150 connections")
    assert problems(asked(500, max_connections="600"), server) == []


def test_a_session_that_changes_settings_counts_as_one_more_connection() -> None:
    server = Capacity(SETTINGS)
    assert problems(Demand("", {}, 100 - OWN), server) == []
    assert len(problems(Demand("", {}, 100 - OWN, reloads=True), server)) == 1
    assert own_sessions(is_ours=False, sees_host=False) == OWN + 2


def test_limits_of_a_role_and_a_database_are_named() -> None:
    limits = (Limit("role", "lab", 10, 0), Limit("database", "shop", 12, 3))
    of_role, of_database = problems(asked(8), Capacity(SETTINGS, limits=limits))
    assert (of_role.code, of_role.values["name"]) == ("lacks-connections-of-a-role", "lab")
    assert of_database.code == "lacks-connections-of-a-database"
    assert (of_database.values["name"], of_database.values["most"]) == ("shop", 12)
    assert of_database.values["open"] == 3
    assert "3 open" in of_database.text
    assert problems(asked(5), Capacity(SETTINGS, limits=limits)) == []


def test_connections_of_a_load_command_are_not_counted() -> None:
    assert problems(asked(None), Capacity(SETTINGS)) == []


def test_caches_over_the_hosts_memory_are_refused_and_of_several_servers_all_together() -> None:
    server = Capacity(SETTINGS, memory=8 * GIB)
    assert problems(asked(shared_buffers="5GB"), server) == []
    (problem,) = problems(asked(shared_buffers="9GB"), server)
    assert (problem.code, problem.key) == ("lacks-memory", "settings.postgres.shared_buffers")
    assert (problem.values["asked"], problem.values["memory"]) == (9.0, 8.0)
    both = [(asked(None, arm, shared_buffers="5GB"), server) for arm in ("one", "two")]
    assert list(lacking(both, side_by_side=False)) == []
    (problem,) = lacking(both, side_by_side=True)
    assert problem.code == "lacks-memory-together"
    assert (problem.values["together"], problem.values["memory"]) == (10.0, 8.0)


def test_caches_as_large_as_a_servers_own_limit_are_refused_and_a_duet_has_two_limits() -> None:
    server = Capacity(SETTINGS, memory=8 * GIB, limit=GIB)
    (problem,) = problems(asked(shared_buffers="1GB"), server)
    assert problem.code == "lacks-memory-in-its-group"
    assert (problem.values["asked"], problem.values["limit"]) == ("1GB", "1GB")
    both = [(asked(None, arm, shared_buffers="768MB"), server) for arm in ("one", "two")]
    assert list(lacking(both, side_by_side=True)) == []


def test_settings_that_keep_a_server_from_starting_together_are_refused_with_the_fix() -> None:
    server = Capacity(SETTINGS | {"max_wal_senders": setting("max_wal_senders", "10")})
    (problem,) = problems(asked(wal_level="minimal"), server)
    assert (problem.code, problem.key) == ("minimal-wal-level", "settings.postgres.wal_level")
    assert problem.values == {"of": "", "name": "max_wal_senders", "must": "0", "value": "10"}
    assert (
        problems(asked(wal_level="minimal", max_wal_senders="0", archive_mode="no"), server) == []
    )
    assert problems(asked(wal_level="logical", archive_mode="on"), server) == []
    (problem,) = problems(
        asked(wal_level="minimal", max_wal_senders="0", archive_mode="on"), server
    )
    assert (problem.values["name"], problem.values["value"]) == ("archive_mode", "on")
    (problem,) = problems(asked(wal_level="Minimal"), capacity_of_a_new_server(None))
    assert problem.values["name"] == "max_wal_senders"


def test_what_is_not_known_refuses_nothing() -> None:
    assert problems(asked(shared_buffers="900GB"), Capacity(SETTINGS)) == []
    assert problems(asked(shared_buffers="much"), Capacity(SETTINGS, memory=8 * GIB)) == []
    old = Capacity({"shared_buffers": SETTINGS["shared_buffers"]}, superuser=False)
    assert len(problems(asked(0), old)) == 1, "of a version without reserved_connections"


def test_a_new_server_has_what_initdb_writes() -> None:
    server = capacity_of_a_new_server(GIB // 16)
    assert len(problems(asked(98), server)) == 2, "connections, and 128 MB in 64 MB"


def test_every_arm_asks_for_the_clients_of_its_largest_step_and_its_own_settings() -> None:
    found = demanded(
        "[settings.postgres]\nMax_Connections = 200\n"
        "[factors.postgres]\nwork_mem = ['1MB', '8MB']\n"
        "[load]\nclients = [5, 90, 20]\nstep = '10s'\n"
    )
    assert [one.connections for one in found.values()] == [90, 90]
    assert [one.settings["work_mem"] for one in found.values()] == ["1MB", "8MB"]
    assert {one.settings["max_connections"] for one in found.values()} == {"200"}
    assert [one.arm for one in demanded("[load]\nclients = 3\nstep = '10s'\n").values()] == [""]


def test_scenarios_with_connections_of_their_own_are_rounded_up_as_the_engine_does(
    tmp_path: Path,
) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "workload.toml").write_text(
        "title = 'shop'\n[scenarios]\nread = { file = 'a.sql', weight = 2 }\n"
        "write = { file = 'a.sql', weight = 1 }\nwatch = { file = 'a.sql', weight = -3 }\n"
    )
    for file in ("a.sql", "schema.sql", "data.sql"):
        (tmp_path / "shop" / file).write_text("SELECT 1;\n")
    text = "[workload]\nuse = 'shop'\n[load]\nclients = 10\nstep = '10s'\npools = 'per_scenario'\n"
    (found,) = demanded(text, tmp_path).values()
    assert found.connections == 7 + 4 + 3


class Limited(LocalHost):
    """8 GiB, in a group that may have less."""

    def __init__(self, folder: Path, kind: str, limit: str) -> None:
        self._files = {
            "/proc/meminfo": "MemTotal:  8388608 kB\n",
            "/proc/7/cgroup": "0::/a/pg\n" if kind == "cgroup2" else "4:memory:/a/pg\n",
            "/proc/self/mountinfo": f"1 0 0:1 / {folder} rw - {kind} cgroup rw,memory\n",
        }
        name = "memory.max" if kind == "cgroup2" else "memory.limit_in_bytes"
        (folder / "a" / "pg").mkdir(parents=True)
        (folder / "a" / name).write_text(limit)
        (folder / "a" / "pg" / name).write_text("max" if kind == "cgroup2" else str(2**63 - 4096))

    def read(self, path: Path, offset: int = 0) -> bytes:
        known = self._files.get(str(path))
        return super().read(path, offset) if known is None else known.encode()


@pytest.mark.parametrize("kind", ["cgroup2", "cgroup"])
def test_a_group_above_may_let_a_server_have_less_than_its_host_has(
    tmp_path: Path, kind: str
) -> None:
    assert memory_of(Limited(tmp_path / "tight", kind, str(GIB)), 7) == GIB
    assert memory_of(Limited(tmp_path / "wide", kind, str(64 * GIB)), 7) == 8 * GIB
