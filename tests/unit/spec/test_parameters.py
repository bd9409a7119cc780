"""Files of parameters: what is read of them, what is kept, and what is refused."""

from __future__ import annotations

import json
import shutil
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pgassay.spec.parse import load_spec
from pgassay.spec.stored import materials_to_json, stored_materials
from pgassay.spec.workload.parameter_values import values_of
from pgassay.spec.workload.parameters import ParameterFile, parameter_file
from support.refusals import refused
from support.runs.command import shop_workload

SECRET = "a value nobody may see"
CSV = f'id,price,zip,paid,note,gone\n1,2.5,007,true,"{SECRET}",\n-20,3,1,false,"",\n'


def written(folder: Path, content: str | pa.Table, name: str = "rows") -> Path:
    if isinstance(content, str):
        path = folder / f"{name}.csv"
        path.write_text(content)
    else:
        path = folder / f"{name}.parquet"
        pq.write_table(content, path)
    return path


def types_of(file: ParameterFile) -> dict[str, str]:
    return {column.name: column.type for column in file.columns}


def values(file: ParameterFile) -> list[dict[str, Any]]:
    path = Path(file.path)
    batches = list(values_of(path, file.columns, path))
    rows: list[dict[str, Any]] = pa.Table.from_batches(batches).to_pylist()
    assert pa.Table.from_batches(values_of(path.read_bytes(), file.columns, path)).equals(
        pa.Table.from_batches(batches)
    )
    return rows


def test_a_csv_file_has_types_by_how_its_values_are_written(tmp_path: Path) -> None:
    file = parameter_file(written(tmp_path, CSV), "random")
    types = ["int", "double", "text", "bool", "text", "text"]
    assert list(types_of(file).values()) == types
    assert file.rows == 2
    one = {"id": 1, "price": 2.5, "zip": "007", "paid": True, "note": SECRET, "gone": None}
    two = {"id": -20, "price": 3.0, "zip": "1", "paid": False, "note": "", "gone": None}
    assert values(file) == [one, two]


def test_a_parquet_file_keeps_its_types_and_all_else_is_text(tmp_path: Path) -> None:
    table = pa.table(
        {
            "small": pa.array([1, None], pa.int16()),
            "huge": pa.array([2**64 - 1, 0], pa.uint64()),
            "exact": pa.array([0.1 + 0.2, None]),
            "flag": pa.array([None, True]),
            "word": pa.array(["a", "b"]).dictionary_encode(),
            "day": pa.array([date(2026, 11, 27), None]),
            "money": pa.array([Decimal("1.10"), None]),
        }
    )
    file = parameter_file(written(tmp_path, table), "sequential")
    assert list(types_of(file).values()) == ["int", "text", "double", "bool", *["text"] * 3]
    first, second = values(file)
    assert list(first.values()) == [1, str(2**64 - 1), 0.1 + 0.2, None, "a", "2026-11-27", "1.10"]
    assert list(second.values()) == [None, "0", None, True, "b", None, None]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("1,x\n2,y\n", refused("parameters-column-name", number=1)),
        ("a,b c\n2,y\n", refused("parameters-column-name", number=2)),
        ("a,b,a\n1,2,3\n", refused("parameters-column-twice", one=1, other=3)),
        ("a,scale\n1,2\n", refused("parameters-column-automatic", name="scale")),
        ("a,b\n", refused("parameters-without-rows")),
        ("", refused("parameters-unreadable")),
        (f"a,b\n1,2\n{SECRET}\n", refused("parameters-unreadable")),
        (pa.table({"a": [[1]]}), refused("parameters-column-type", number=1)),
        (pa.table({"a": [1], "b": [b"x"]}), refused("parameters-column-type", number=2)),
        (pa.table({"a": pa.array([], pa.int64())}), refused("parameters-without-rows")),
    ],
)
def test_a_file_that_gives_no_variables_is_refused_without_its_values(
    content: str | pa.Table, expected: refused, tmp_path: Path
) -> None:
    path = written(tmp_path, content)
    with expected:
        parameter_file(path, "random")
    assert expected.value.file == str(path)
    assert SECRET not in str(expected.value)


def test_another_kind_of_file_and_a_wrong_name_for_it_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "rows.xlsx"
    other.write_text("x")
    with refused("parameters-suffix", "--parameters", str(other)):
        parameter_file(other, "random", "--parameters")
    renamed = written(tmp_path, CSV).rename(tmp_path / "rows.parquet")
    with refused("parameters-unreadable", None, str(renamed)):
        parameter_file(renamed, "random")


def experiment(folder: Path, keys: str = "parameters = 'rows.csv'") -> Path:
    shop = shop_workload(folder, "SELECT :id, :note;")
    written(shop, CSV)
    table = f"title = 'Shop'\n[scenarios.buy]\nfile = 'buy.sql'\n{keys}\n"
    (shop / "workload.toml").write_text(table)
    file = folder / "lab.toml"
    file.write_text("[workload]\nuse = 'shop'\n")
    return file


def test_a_run_keeps_what_is_known_of_the_rows_and_none_of_their_values(tmp_path: Path) -> None:
    spec = load_spec(experiment(tmp_path))
    stored = tmp_path / "workload.json"
    stored.write_text(json.dumps(materials_to_json(spec)))
    assert SECRET not in stored.read_text()
    kept = stored_materials(stored).workload
    assert kept == spec.workload
    (scenario,) = kept.scenarios
    assert scenario.parameters is not None
    assert (scenario.parameters.order, scenario.parameters.rows) == ("random", 2)
    moved = tmp_path / "moved"
    moved.mkdir()
    shutil.move(tmp_path / "shop", moved)
    shutil.move(tmp_path / "lab.toml", moved)
    assert load_spec(moved / "lab.toml").workload == spec.workload
    written(moved / "shop", CSV.replace("-20", "-21"))
    assert load_spec(moved / "lab.toml").workload != spec.workload


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("parameters = 'none.csv'", refused("no-file", "scenarios.buy.parameters")),
        ("parameters = 'buy.sql'", refused("parameters-suffix", "scenarios.buy.parameters")),
        ("order = 'random'", refused("order-without-parameters", "scenarios.buy")),
        ("parameters = 'rows.csv'\norder = 'any'", refused("not-one-of", "scenarios.buy.order")),
    ],
)
def test_wrong_keys_of_parameters_are_named(keys: str, expected: refused, tmp_path: Path) -> None:
    file = experiment(tmp_path, keys)
    with expected:
        load_spec(file)


def test_an_untrusted_experiment_takes_no_rows_from_elsewhere(tmp_path: Path) -> None:
    outside = written(tmp_path, CSV)
    folder = tmp_path / "untrusted"
    folder.mkdir()
    file = experiment(folder, f"parameters = '{outside}'")
    with refused("outside-of-the-folder", None, str(outside)):
        load_spec(file, untrusted=True)
