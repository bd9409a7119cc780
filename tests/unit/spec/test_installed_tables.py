"""A workload whose tables are on the server already: what its files may say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pgassay.refusals.refusal import Refusal
from pgassay.spec.experiment import Spec
from pgassay.spec.parse import parse_spec
from pgassay.spec.stored import Materials, materials_to_json, stored_materials
from pgassay.spec.workload.folder import InstalledTables
from support.refusals import refused

WORKLOAD = 'title = "Mine"\ndata = "installed"\ntables = ["sales.item"]\n'
SCENARIOS = "[scenarios]\nlook = { file = 'look.sql' }\n"
USE = "[workload]\nuse = './mine'\n"
EXISTING = "[target]\ndsn = 'service=lab'\n"
VARIED = "[factors.schema.index]\nnone = ''\nbtree = { sql = 'SELECT 1', undo = 'SELECT 2' }\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, "mine", WORKLOAD)
    return tmp_path


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).mkdir()
    (folder / name / "workload.toml").write_text(text + SCENARIOS)
    (folder / name / "look.sql").write_text("SELECT 1;\n")


def parsed(folder: Path, text: str) -> Spec:
    return parse_spec(text, source="lab.toml", beside=folder)


def test_a_workload_of_installed_tables_builds_nothing_and_is_stored_as_it_is(folder: Path) -> None:
    spec = parsed(folder, EXISTING + USE + "[reset]\nlevel = 'none'\n")
    assert spec.workload.installed == InstalledTables(("sales.item",))
    assert spec.workload.building_sql(7) == ("", "")
    stored = folder / "workload.json"
    stored.write_text(json.dumps(materials_to_json(spec)))
    assert stored_materials(stored) == Materials(spec.workload, spec.variants, spec.folder, False)


@pytest.mark.parametrize(
    ("text", "key", "code"),
    [
        (USE, "workload.use", "installed-tables-without-server"),
        (EXISTING + USE, "reset.level", "installed-tables-without-reset"),
        (
            EXISTING + "allow_changes = true\n" + USE + "[reset]\nlevel = 'none'\n" + VARIED,
            "factors.schema.index",
            "installed-tables-varied",
        ),
        (
            EXISTING + "[reset]\nlevel = 'none'\n[factors.workload]\nuse = ['./mine', './other']\n",
            "factors.workload.use",
            "installed-tables-differ",
        ),
        (
            EXISTING + "[reset]\nlevel = 'none'\n[factors.workload]\nuse = ['./mine', 'pgbench']\n",
            "factors.workload.use",
            "installed-tables-differ",
        ),
    ],
)
def test_a_file_is_refused_that_could_not_use_installed_tables(
    folder: Path, text: str, key: str, code: str
) -> None:
    write(folder, "other", WORKLOAD.replace("item", "other"))
    with pytest.raises(Refusal) as caught:
        parsed(folder, text)
    assert (caught.value.file, caught.value.key, caught.value.code) == ("lab.toml", key, code)


def test_an_index_on_installed_tables_is_tried_on_a_copy_of_the_server(folder: Path) -> None:
    spec = parsed(folder, EXISTING + USE + "[reset]\nlevel = 'snapshot'\n" + VARIED)
    assert spec.file.copies_existing


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('title = "Mine"\ndata = "installed"\n', refused("installed-without-tables")),
        ('title = "Mine"\ntables = ["item"]\n', refused("tables-without-installed")),
        (
            'title = "Mine"\ndata = "payments"\nschemas = ["sales"]\n',
            refused("tables-without-installed"),
        ),
    ],
)
def test_tables_are_named_of_installed_data_alone(
    tmp_path: Path, text: str, expected: refused
) -> None:
    write(tmp_path, "mine", text)
    with expected:
        parsed(tmp_path, EXISTING + USE + "[reset]\nlevel = 'none'\n")
