"""The warm-up of an experiment that names none is its workload's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pgassay.spec.parse import parse_spec
from pgassay.spec.stored import materials_to_json, stored_materials


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, more in (("quick", 'warmup = "2s"\n'), ("slow", 'warmup = "7s"\n'), ("silent", "")):
        own = tmp_path / name
        own.mkdir()
        (own / "workload.toml").write_text(
            f'title = "{name}"\n{more}[scenarios]\none = {{ file = "one.sql" }}\n'
        )
        for file in ("schema.sql", "data.sql", "one.sql"):
            (own / file).write_text("SELECT 1;\n")
    return tmp_path


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ('[workload]\nuse = "./quick"', 2.0),
        ('[workload]\nuse = "./silent"', 10.0),
        ('[workload]\nuse = "./quick"\n[load]\nwarmup = "5s"', 5.0),
        ('[workload]\nuse = "./quick"\n[load]\nwarmup = "10s"', 10.0),
        ('[factors.workload]\nuse = ["./quick", "./slow", "./silent"]', 7.0),
    ],
)
def test_the_longest_of_its_workloads(folder: Path, text: str, seconds: float) -> None:
    spec = parse_spec(text, source="x.toml", beside=folder)
    assert spec.file.load.warmup == seconds


def test_a_run_repeats_its_copy_of_the_workload(folder: Path, tmp_path: Path) -> None:
    text = '[workload]\nuse = "./quick"'
    spec = parse_spec(text, source="x.toml", beside=folder)
    copy = tmp_path / "workload.json"
    copy.write_text(json.dumps(materials_to_json(spec)))
    stored = stored_materials(copy)
    materials = (stored.workload, stored.variants)
    again = parse_spec(text, source="x.toml", beside=folder, materials=materials)
    assert again.file.load.warmup == 2.0
