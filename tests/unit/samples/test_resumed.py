"""What makes the later part of a run unlike the earlier one is named, and nothing else is."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pgassay.fleet.run import _continued
from pgassay.plan.store import plan_from_json, plan_to_json, same_design
from pgassay.samples.forms.environment import EnvironmentFile
from pgassay.samples.journal import FileJournal, open_changes
from pgassay.samples.ownership.unfinished import clear_unfinished, locked, pending_undo
from pgassay.samples.resumed import RunSoFar
from pgassay.server.change import SchemaChange, SettingChange
from pgassay.trials.model.record import Validity
from support.refusals import refused
from support.synthetic.designs import plan_of_spec
from support.synthetic.directories import SPEC, synthetic_run

BEFORE: dict[str, Any] = {
    "schema": "pgassay.environment/1",
    "pgassay": "0.1.0",
    "created_at": "2026-01-31T14:25:01+00:00",
    "target": "embedded",
    "server": {
        "version": "PostgreSQL 18.4",
        "settings": {"work_mem": "8192kB", "unix_socket_directories": "/a"},
    },
    "host": {"kernel": "Linux 6.1", "cpus": 2},
}


def now(**server: Any) -> dict[str, Any]:
    later = deepcopy(BEFORE) | {"created_at": "2026-02-01T00:00:00+00:00", "pgassay": "0.2.0"}
    later["server"]["settings"]["unix_socket_directories"] = "/b"
    later["server"] |= server
    return later


def resumed(
    before: dict[str, Any], finished: Mapping[int, Validity] | None = None, *accepted: str
) -> RunSoFar:
    environment = EnvironmentFile.model_validate(before)
    return RunSoFar(environment, finished or {}, frozenset(accepted), resumed=True)


def test_the_same_server_a_day_later_is_the_same() -> None:
    assert resumed(BEFORE).differences(now()) == {}


def test_a_new_run_has_nothing_to_differ_from() -> None:
    assert RunSoFar().continued(BEFORE) == BEFORE
    RunSoFar().refuse_other_server(BEFORE)


def test_every_difference_is_named_with_both_values() -> None:
    later = now(version="PostgreSQL 16.14", settings={"jit": "off"})
    later["host"] = {"kernel": "Linux 6.6", "cpus": 2}
    assert resumed(BEFORE).differences(later) == {
        "version": ("PostgreSQL 18.4", "PostgreSQL 16.14"),
        "jit": ("not set", "off"),
        "work_mem": ("8192kB", "not set"),
        "host.kernel": ("Linux 6.1", "Linux 6.6"),
    }


def test_the_socket_of_an_existing_server_is_a_setting_like_any_other() -> None:
    before, later = (one | {"target": "existing"} for one in (BEFORE, now()))
    assert list(resumed(before).differences(later)) == ["unix_socket_directories"]


def test_a_difference_is_refused_with_one_line_or_accepted_by_name() -> None:
    later = now(settings=BEFORE["server"]["settings"] | {"work_mem": "4096kB"})
    so_far = resumed(BEFORE, {1: Validity()})
    with refused(
        "server-changed-meanwhile",
        named="work_mem was 8192kB, is 4096kB",
        names="--accept work_mem",
    ):
        so_far.continued(later)
    accepting = resumed(BEFORE, {1: Validity()}, "work_mem")
    stored = accepting.continued(later)
    assert stored["server"] == BEFORE["server"]
    assert stored["resumed"][0]["accepted"] == ["work_mem"]
    again = resumed(stored, {1: Validity(), 2: Validity()}, "work_mem")
    assert [note["after_trials"] for note in again.continued(later)["resumed"]] == [1, 2]


def test_another_version_is_refused_before_anything_is_built() -> None:
    with refused(
        "server-changed-meanwhile", named="version was PostgreSQL 18.4, is PostgreSQL 16.14"
    ):
        resumed(BEFORE).refuse_other_server(now(version="PostgreSQL 16.14"))


def test_a_stored_plan_is_the_drawn_one_whatever_its_estimates_say() -> None:
    plan = plan_of_spec(SPEC)
    stored = plan_from_json(json.loads(json.dumps(plan_to_json(plan))) | {"trial_s": 99.0})
    assert same_design(plan, stored)
    other = SPEC.replace("clients = 8", "clients = 9")
    assert not same_design(plan_of_spec(other), stored)


def test_pieces_of_a_trial_that_never_ended_are_cleared_and_finished_ones_stay(
    tmp_path: Path,
) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", blocks=1)
    trials = run.path / "trials"
    (trials / ".0003.part").mkdir()
    (trials / ".0003.part" / "load.parquet").write_bytes(b"PAR1")
    (trials / "output-0003").mkdir()
    (run.path / ".analysis.json.17.part").write_text("{")
    before = sorted(path for path in trials.rglob("000[12]*"))
    clear_unfinished(run.path)
    assert run.finished() == [1, 2]
    assert sorted(trials.rglob("*[!0-9]*")) == sorted(trials.glob("000[12]/*"))
    assert sorted(path for path in trials.rglob("000[12]*")) == before
    assert not list(run.path.glob(".*"))


def test_a_run_directory_is_locked_by_one_process_until_it_ends(tmp_path: Path) -> None:
    holder = (
        "import sys; from pathlib import Path\n"
        "from pgassay.samples.ownership.unfinished import locked\n"
        "with locked(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holder, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with refused("is-alive"), locked(tmp_path):
            pass
        other.kill()
    with locked(tmp_path):
        pass


def test_a_journal_that_cannot_be_written_stops_a_change_but_not_its_undoing(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "gone"
    journal = FileJournal(folder / "journal.jsonl")
    with refused("cannot-be-written"):
        journal.record(SettingChange(id="1", name="work_mem", value="8MB", found=None))
    journal.undone("1")
    assert open_changes(folder / "journal.jsonl") == []


def test_pending_changes_are_listed_newest_first_with_the_command(tmp_path: Path) -> None:
    assert pending_undo(tmp_path) == "nothing is left to undo"
    journal = FileJournal(tmp_path / "journal.jsonl")
    journal.record(SettingChange(name="work_mem", value="8MB", found=None))
    journal.record(SchemaChange(database="lab"))
    assert pending_undo(tmp_path) == (
        "left to undo: schema pgassay of database lab; setting work_mem;"
        f" pgassay recover {tmp_path} does it"
    )


def test_a_plan_that_another_version_drew_is_resumed_in_its_own_order() -> None:
    plan = plan_of_spec(SPEC)
    trials = []
    for block in range(1, plan.max_blocks + 1):
        arms = [trial.arm for trial in plan.block(block)][::-1]
        pairs = zip(plan.block(block), arms, strict=True)
        trials += [replace(trial, arm=arm) for trial, arm in pairs]
    assert same_design(plan, replace(plan, trials=tuple(trials)))
    assert not same_design(plan, replace(plan, trials=tuple(trials[:-1])))
    trials[0] = replace(trials[0], arm=trials[1].arm)
    assert not same_design(plan, replace(plan, trials=tuple(trials)))


@pytest.mark.parametrize("key", ["servers", "fleet", "host", "resumed"])
def test_a_null_in_a_stored_environment_is_as_good_as_an_absent_key(key: str) -> None:
    now_on_two = {**BEFORE, "servers": {"north": {}, "south": {}}, "fleet": {"north": {}}}
    without = {name: value for name, value in now_on_two.items() if name != key}
    assert EnvironmentFile.model_validate({**now_on_two, key: None}).given == without
    found = _continued(resumed({**without, key: None}), now_on_two)
    assert len(found["resumed"]) == 1
    assert {*found["servers"]} == {"north", "south"}


def test_an_environment_whose_resumptions_are_no_list_is_refused_by_name() -> None:
    with refused("key-of-another-type", place="resumed"):
        EnvironmentFile.read({"schema": EnvironmentFile.schema_name(), "resumed": 3})
