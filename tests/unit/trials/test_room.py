"""Data that do not fit on the disk stop a plan and a run before a server is made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pgassay.errors import ExitCode
from pgassay.plan.design import make_plan
from pgassay.refusals.refusal import Refusal
from pgassay.server.owned import room
from pgassay.spec.parse import load_spec
from pgassay.trials.run.refusals.room import lacking_room
from support.runs.command import pgassay, shop_workload

GIB = 2**30
SPEC = "[workload]\nuse = {use!r}\nscale = 1000\n[factors.postgres]\nfsync = ['on', 'off']\n"


def lacking(folder: Path, use: str = "payments", more: str = "") -> list[Refusal]:
    (folder / "lab.toml").write_text(SPEC.format(use=use) + more)
    spec = load_spec(folder / "lab.toml")
    return list(lacking_room(spec, make_plan(spec)))


@pytest.mark.parametrize(
    ("free", "use", "more", "codes"),
    [
        # 15 MB a unit, the data and their frozen copy
        (31 * GIB, "payments", "", []),
        (29 * GIB, "payments", "", ["no-room-for-the-data"]),
        (29 * GIB, "payments-write", "", ["no-room-for-the-data"]),
        (29 * GIB, "payments", "[reset]\nlevel = 'restart'\n", []),
        (45 * GIB, "payments", "[factors.schema]\ni = ['', 'CREATE INDEX x ON till (id)']\n",
         ["no-room-for-the-data"]),
        (1, "tiny-table-index", "", []),
    ],
)  # fmt: skip
def test_data_and_their_copies_must_fit(
    free: int,
    use: str,
    more: str,
    codes: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(room, "free_bytes", lambda path: free)
    monkeypatch.setattr(room, "SHARES_BLOCKS", frozenset())
    assert [one.code for one in lacking(tmp_path, use, more)] == codes


def test_a_workload_says_how_large_its_data_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "free_bytes", lambda path: GIB)
    folder = shop_workload(tmp_path, "SELECT 1;\n")
    assert lacking(tmp_path, "shop") == []
    table = folder / "workload.toml"
    table.write_text("size = '1GB'\n" + table.read_text())
    (found,) = lacking(tmp_path, "shop")
    assert found.key == "workload.scale"


def test_a_plan_shows_what_would_stop_the_run(tmp_path: Path) -> None:
    spec = tmp_path / "lab.toml"
    spec.write_text(SPEC.format(use="payments").replace("1000", "1_000_000"))
    done = pgassay("plan", spec, "--json")
    assert done.returncode == ExitCode.USAGE
    plan = json.loads(done.stdout)
    assert plan["stops"]
    assert len(plan["refused"]) == 1
