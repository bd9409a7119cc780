"""The experiment file that `pgassay queries` makes of its options."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from pgassay.cli.queries.file_text import Asked, file_text
from pgassay.plan.design import make_plan
from pgassay.spec.arms import spec_of_arm
from pgassay.spec.parse import parse_spec
from support.refusals import refused


def asked(folder: Path, *vary: str, **given: Any) -> Asked:
    usual: dict[str, Any] = {
        "against": None,
        "dsn": None,
        "copies": False,
        "accept": None,
        "workload": None,
        "writes": None,
        "scale": None,
        "load": {},
        "max_blocks": None,
    }
    return Asked(folder=folder, vary=vary, **(usual | given))


def test_settings_and_sql_are_told_apart_and_commas_in_brackets_stay(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text("SELECT 1")
    text = file_text(
        asked(
            tmp_path,
            "work_mem=4MB, 64MB",
            "index=,CREATE INDEX ON t (a, b) WHERE c = 'x,y'",
            "search_path='a, b',set",
            workload="payments",
            max_blocks=3,
        )
    )
    found = tomllib.loads(text)
    assert found["factors"] == {
        "postgres": {"work_mem": ["4MB", "64MB"], "search_path": ["'a, b'", "set"]},
        "schema": {"index": ["", "CREATE INDEX ON t (a, b) WHERE c = 'x,y'"]},
    }
    assert found["design"] == {"min_blocks": 3, "max_blocks": 3}
    assert "target" not in found
    spec = parse_spec(text, source="pgassay queries", beside=tmp_path)
    assert [one.name for one in spec.workload.scenarios] == ["a"]


def test_long_sql_is_named_by_its_beginning(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text("SELECT 1")
    first, second = (
        f"CREATE INDEX ON t (a, b) INCLUDE (c, d, e) WHERE f = 'x' AND g > {n}" for n in "12"
    )
    text = file_text(asked(tmp_path, f"index=,{first},{second}", workload="payments"))
    parse_spec(text, source="pgassay queries", beside=tmp_path)
    short = "CREATE INDEX ON t (a, b) INCLUDE (c, d, e) WHERE f = '…"
    levels = {"unchanged": "", short: first, f"{short} (3)": second}
    assert tomllib.loads(text)["factors"]["schema"]["index"] == levels


def test_sql_on_a_server_of_the_users_takes_a_copy(tmp_path: Path) -> None:
    vary = "by-a=,CREATE INDEX ON t (a)"
    with refused("sql-without-copy"):
        file_text(asked(tmp_path, vary, dsn="service=prod"))
    found = tomllib.loads(file_text(asked(tmp_path, vary, dsn="service=prod", copies=True)))
    assert found["reset"] == {"level": "snapshot"}


def test_a_folder_against_another_is_one_factor(tmp_path: Path) -> None:
    folders = {
        "main": {"a": "SELECT 1", "b": "SELECT 2", "gone": "SELECT 3"},
        "pr": {"a": "SELECT 1", "b": "SELECT 2 + 0", "new": "SELECT 4"},
    }
    for folder, queries in folders.items():
        (tmp_path / folder).mkdir()
        for name, sql in queries.items():
            (tmp_path / folder / f"{name}.sql").write_text(sql)
    given = {"against": tmp_path / "main", "workload": "payments"}
    text = file_text(asked(tmp_path / "pr", **given))
    spec = parse_spec(text, source="pgassay queries", beside=tmp_path)
    assert [(one.name, one.script) for one in spec.workload.scenarios] == [("b", "SELECT 2")]
    plan = make_plan(spec)
    assert plan.together
    levels = [spec_of_arm(spec, arm.by_kind).workload.scenarios for arm in plan.arms]
    assert [own.script for (own,) in levels] == ["SELECT 2", "SELECT 2 + 0"]
    told = " ".join(str(one) for one in plan.notes)
    assert "the query gone is in the folder main and not in all of them" in told
    assert "the query new is in the folder pr and not in all of them" in told
    assert "1 query has the same text in all folders" in told
    both = file_text(asked(tmp_path / "pr", "work_mem=4MB,64MB", **given))
    varied = parse_spec(both, source="pgassay queries", beside=tmp_path)
    assert [one.name for one in varied.workload.scenarios] == ["a", "b"], "settings change both"
    assert len(make_plan(varied).arms) == 4


def test_servers_and_forms_of_a_query_are_varied_by_their_names(tmp_path: Path) -> None:
    (tmp_path / "q7.sql").write_text("SELECT 1")
    vary = ("q7=,q7-new.sql", "index=,brin.sql", "version=16,18")
    found = tomllib.loads(file_text(asked(tmp_path, *vary, workload="payments")))
    assert found["factors"] == {
        "scenarios": {"q7": ["", "q7-new.sql"]},
        "schema": {"index": ["", "brin.sql"]},
        "target": {"version": [16, 18]},
    }
    with refused("servers-without-copy"):
        file_text(asked(tmp_path, "bin=/a,/b", dsn="service=prod"))


def test_what_is_varied_has_a_name_and_levels(tmp_path: Path) -> None:
    with refused("factor-form"):
        file_text(asked(tmp_path, "work_mem"))
    for name in ("jit", "my.index"):
        with refused("setting-named-for-sql"):
            file_text(asked(tmp_path, f"{name}=,CREATE INDEX ON t (a)"))
