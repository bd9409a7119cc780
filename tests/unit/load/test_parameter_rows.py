"""The rows of files of parameters, before any server is looked at."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pgassay import _core
from pgassay.server.protocol import ConnectionParameters
from pgassay.spec.parse import load_spec
from pgassay.spec.workload.folder import Scenario
from pgassay.spec.workload.parameters import parameter_file
from pgassay.trials.load.engine import LoadRequest
from pgassay.trials.load.generator import LoadGenerator
from pgassay.trials.load.parameters import content_of, rows_of
from pgassay.trials.run.refusals.loads import check_load
from support.refusals import refused
from support.runs.command import shop_workload

SERVER = ConnectionParameters("/nowhere", 5432, "u", "d")


def file_of(path: Path, content: str) -> Path:
    path.write_text(content)
    return path


def test_rows_are_read_once_for_all_loads_of_a_process(tmp_path: Path) -> None:
    path = file_of(tmp_path / "rows.csv", "id,note\n1,x\n2,\n")
    file = parameter_file(path, "random")
    rows = rows_of(file)
    assert len(rows) == 2
    path.unlink()
    assert rows_of(replace(file, order="sequential")) is rows


def test_a_file_that_has_changed_or_is_gone_is_refused(tmp_path: Path) -> None:
    path = file_of(tmp_path / "rows.csv", "id\n11\n")
    file = parameter_file(path, "random")
    path.write_text("id\n12\n")
    with refused("parameters-changed", None, str(path)):
        rows_of(file)
    path.unlink()
    with refused("parameters-gone", None, str(path)):
        content_of(file)


def test_another_machine_gets_the_content_once(tmp_path: Path) -> None:
    file = parameter_file(file_of(tmp_path / "rows.csv", "id\n21\n22\n"), "random")
    generator = LoadGenerator()
    assert generator.lacking([file]) == [file.sha256]
    contents = {file.sha256: content_of(file)}
    Path(file.path).unlink()
    request = LoadRequest(
        [Scenario("s", "s.sql", "SELECT :id;", 1.0, parameters=file)],
        [],
        {},
        seed=1,
        contents=contents,
    )
    (rows,) = request.rows()
    assert rows is not None
    assert len(rows) == 2
    assert generator.lacking([file]) == []


def test_sessions_have_the_encoding_of_the_rows(tmp_path: Path) -> None:
    file = parameter_file(file_of(tmp_path / "rows.csv", "id\n31\n"), "random")
    scenario = Scenario("s", "s.sql", "SELECT :id;", 1.0, parameters=file)
    request = LoadRequest([scenario], [], {}, seed=1)
    for named in ("", "utf-8", "UNICODE"):
        assert "UTF8" in request.configuration(replace(SERVER, client_encoding=named))
    with refused("parameters-encoding", encoding="LATIN1"):
        request.configuration(replace(SERVER, client_encoding="LATIN1"))


@pytest.mark.parametrize(
    ("script", "content", "expected"),
    [
        ("SELECT :id, :other;", "id\n1\n", refused("variable-not-set", name="other")),
        ("SELECT ':id';", "id\n1\n", refused("script-wrong")),
        ("SELECT :id;", "id\na\0b\n", refused("parameters-value")),
        ("\\set x :id + 1\n\\if :id > 1\nSELECT :x, :id;\n\\endif", "id\n1\n", None),
    ],
)
@pytest.mark.parametrize("protocol", ["simple", "prepared"])
def test_a_script_is_checked_with_the_variables_of_its_file(
    script: str, content: str, expected: refused | None, protocol: str, tmp_path: Path
) -> None:
    folder = shop_workload(tmp_path, script)
    file_of(folder / "rows.csv", content)
    table = "title = 'Shop'\n[scenarios]\nbuy = { file = 'buy.sql', parameters = 'rows.csv' }\n"
    (folder / "workload.toml").write_text(table)
    file = file_of(
        tmp_path / "lab.toml", f"[workload]\nuse = 'shop'\n[load]\nprotocol = '{protocol}'\n"
    )
    spec = load_spec(file)
    if expected is None:
        check_load(spec)
        return
    with expected:
        check_load(spec)


def test_rows_that_a_load_uses_take_no_more() -> None:
    rows = _core.Parameters(["int"])
    rows.add(1, [(None, None, bytes(8))])
    with pytest.raises(_core.CoreError):
        rows.add(2, [(None, None, bytes(8))])
    assert len(rows) == 1
    with pytest.raises(_core.ConfigurationError):
        _core.Parameters(["money"])
