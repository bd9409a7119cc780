"""--untrusted: what an experiment file of a stranger may ask for, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pgassay.errors import SpecError
from pgassay.spec.experiment import Spec
from pgassay.spec.model import ExperimentFile
from pgassay.spec.parse import load_spec
from pgassay.spec.stored import materials_to_json
from pgassay.spec.untrusted import rules
from pgassay.spec.workload.folder import WorkloadFile
from support.json_schema import keys_of
from support.refusals import refused

HARMLESS = """
question = "?"
[target]
version = 16
[workload]
use = "./mine"
[factors.postgres]
wal_compression = ["off", "pglz"]
[factors.scenarios]
look = ["", "other.sql"]
[settings.postgres]
search_path = "public"
[placement]
server = "0"
"""
READY = '[workload]\nuse = "payments"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    mine = tmp_path / "lab" / "mine"
    mine.mkdir(parents=True)
    (mine / "workload.toml").write_text('title = "t"\n[scenarios.look]\nfile = "look.sql"\n')
    for name in ("look", "other", "schema", "data"):
        (mine / f"{name}.sql").write_text("SELECT 1;\n")
    return mine.parent


def lowest_keys(schema: dict[str, Any]) -> list[str]:
    """Without those that only contain others."""
    keys = {key for key, _ in keys_of(schema, schema["$defs"])}
    return sorted(key for key in keys if not any(one.startswith(f"{key}.") for one in keys))


def untrusted(folder: Path, text: str) -> Spec:
    (folder / "lab.toml").write_text(text)
    return load_spec(folder / "lab.toml", untrusted=True)


def test_every_key_is_either_harmless_or_refused() -> None:
    known = rules()
    kinds = ("harmless", "paths", "settings", "refused")
    listed = [key for kind in kinds for key in known[kind]]
    schema = ExperimentFile.model_json_schema()
    assert sorted(listed) == lowest_keys(schema)
    assert sorted(known["workload_toml"]) == lowest_keys(WorkloadFile.model_json_schema())


def test_a_file_that_keeps_to_its_folder_is_taken_and_stays_untrusted_when_resumed(
    folder: Path,
) -> None:
    spec = untrusted(folder, HARMLESS)
    assert spec.untrusted
    run = folder / "run"
    run.mkdir()
    (run / "plan.json").write_text("{}")
    (run / "spec.toml").write_text(spec.text)
    (run / "workload.json").write_text(json.dumps(materials_to_json(spec)))
    assert load_spec(run / "spec.toml").untrusted
    with refused("untrusted-run-directory", option="--untrusted"):
        load_spec(run / "spec.toml", untrusted=True)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('[target]\nbin = "/usr/bin"\n', "target.bin"),
        ('[factors.scenarios]\npayment = ["", "/etc/x.sql"]\n', "factors.scenarios.payment"),
        ('[factors.schema]\nx = ["", "~/x.sql"]\n', "factors.schema.x"),
        ('[target]\ndsn = "host=db"\n', "target.dsn"),
        ('[factors.target]\nbin = ["a", "b"]\n', "factors.target.bin"),
        ("[target]\nallow_host_changes = true\n[factors.host]\nvm.swappiness = [1, 2]\n",
         "factors.host.vm.swappiness"),
        ('[target]\nallow_host_changes = true\n[settings.host]\n"vm.swappiness" = 1\n',
         "settings.host.vm.swappiness"),
        ('[load]\ncommand = ["true"]\n', "load.command"),
        ("[load]\nallow_shell = true\n", "load.allow_shell"),
        ('[target.fleet]\nnodes = 2\n', "target.fleet.nodes"),
        ("[placement]\nserver_nice = -5\n", "placement.server_nice"),
        ('[settings.postgres]\narchive_command = "true"\n', "settings.postgres.archive_command"),
        ('[settings.postgres]\n"plperl.on_init" = "x"\n', "settings.postgres.plperl.on_init"),
        ('[factors.postgres]\nLog_Directory = ["/a", "/b"]\n', "factors.postgres.Log_Directory"),
    ],
)  # fmt: skip
def test_what_runs_reaches_or_changes_something_is_refused_by_key(
    folder: Path, text: str, key: str
) -> None:
    with refused("untrusted-key") as caught:
        untrusted(folder, READY + text)
    assert caught.value.key == key


def test_each_refused_key_has_a_line(folder: Path) -> None:
    with pytest.raises(SpecError) as caught:
        untrusted(folder, READY + '[load]\ncommand = ["true"]\n[target]\nbin = "b"')
    assert caught.value.key == "load.command"
    assert "lab.toml: target.bin: " in caught.value.excerpt


def test_files_outside_of_the_folder_are_not_read_through_no_name_and_no_link(folder: Path) -> None:
    outside = folder.parent / "secret.sql"
    outside.write_text("SELECT 'secret';\n")
    (folder / "link.sql").symlink_to(outside)
    (folder / "mine" / "data.sql").replace(folder.parent / "data.sql")
    (folder / "mine" / "data.sql").symlink_to(folder.parent / "data.sql")
    with refused("outside-of-the-folder"):
        untrusted(folder, '[workload]\nuse = "./mine"\n')
    for name in ("../secret.sql", "link.sql"):
        for factor in (f'scenarios.payment = ["", "{name}"]', f'schema.x = ["", "{name}"]'):
            with refused("outside-of-the-folder"):
                untrusted(folder, f"{READY}[factors]\n{factor}\n")
