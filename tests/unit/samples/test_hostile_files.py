"""No content of a file ends in an error of pgassay itself: it is read, or refused in one line."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.exceptions import TyperException

from pgassay.cli.main import app
from pgassay.errors import PgassayError
from pgassay.spec.parse import load_spec
from support.synthetic.directories import SPEC, synthetic_run

SHORT = SPEC.replace("_blocks = 6", "_blocks = 2").replace('"10s"', '"3s"')
COMMANDS = (
    "show",
    "list",
    "json",
    "md",
    "brief",
    "csv",
    "compare",
    "history",
    "sql",
    "plan",
    "recover",
)
VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 2**62, 2**70, 10**400, -5.5, 1e308, float("nan"), float("inf"), "",
    "x" * 5000, "\0", "\x1b[2J", "\ud800", [], {}, [[]], [1, "a", None], {"x": {"y": []}},
)  # fmt: skip
CONTENTS: tuple[bytes, ...] = (
    b"",
    b"\0" * 100,
    b"\xff\xfe\x80",
    b"[" * 100_000,
    b'{"event": "change", "a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    b'{"schema": ' + b"9" * 5000 + b"}",
    b"a = " + b"[" * 5000 + b"]" * 5000,
    b"a = " + b"9" * 5000,
    b"PAR1" + b"\0" * 50 + b"PAR1",
)
LIMITED = settings(
    max_examples=20,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("recorded") / "run"
    synthetic_run(run, spec_text=SHORT)
    (run / "failed.jsonl").write_text('{"number": 9, "block": 1, "arm": "a1", "reason": "x"}\n')
    change = {"event": "change", "id": "1", "what": "w", "server": "s", "do": "d", "undo": "u"}
    lines = [{"event": "run", "id": "x"}, change, {"event": "undone", "id": "1"}]
    (run / "journal.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    called("json", run, run.parent)
    called("html", run, run.parent)  # with its analysis.json
    return run


def called(command: str, run: Path, folder: Path) -> None:
    """One command on a run; its refusals are as good as its answers."""
    words = {
        "show": ["show", str(run)],
        "html": ["report", str(run)],
        "list": ["list", str(folder)],
        "history": ["history", str(folder)],
        "compare": ["compare", str(run), str(run)],
        "plan": ["plan", str(run / "spec.toml")],
        "recover": ["recover", "--dry-run", str(run)],
        "sql": ["sql", "SELECT * FROM runs, trials", str(folder), "--format", "csv"],
    }.get(command, ["report", str(run), "--format", command])
    refusal_of(partial(app, words, standalone_mode=False))


def refusal_of(done: Callable[[], object]) -> str:
    """What an error of the user says; all others are raised."""
    try:
        done()
    except (PgassayError, TyperException) as error:
        return str(error)
    return ""


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each value inside of one."""
    yield at
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value[:2] if isinstance(value, list) else ())
    )
    for key, one in inner:
        yield from places(one, (*at, key))


def with_value(value: Any, at: tuple[Any, ...], new: Any) -> Any:
    if not at:
        return new
    inner = dict(value) if isinstance(value, dict) else list(value)
    inner[at[0]] = with_value(inner[at[0]], at[1:], new)
    return inner


@LIMITED
@given(data=st.data())
def test_any_value_in_any_json_file_of_a_run_is_read_or_refused(
    recorded: Path, tmp_path: Path, data: st.DataObject
) -> None:
    names = ("plan.json", "environment.json", "trials/0001/trial.json", "journal.jsonl",
             "failed.jsonl", "analysis.json", "workload.json")  # fmt: skip
    there = [name for name in names if (recorded / name).is_file()]
    name = data.draw(st.sampled_from(there))
    run = fresh(recorded, tmp_path)
    head, *others = (recorded / name).read_text().splitlines() if name.endswith("l") else (
        (recorded / name).read_text(),)  # fmt: skip
    found = json.loads(head)
    at = data.draw(st.sampled_from(list(places(found))))
    changed = with_value(found, at, data.draw(st.sampled_from(VALUES)))
    text = "\n".join([json.dumps(changed), *others])
    (run / name).write_text(text)
    called(data.draw(st.sampled_from(COMMANDS)), run, tmp_path)


@LIMITED
@given(data=st.data())
def test_any_bytes_in_any_file_of_a_run_are_read_or_refused(
    recorded: Path, tmp_path: Path, data: st.DataObject
) -> None:
    files = sorted(one.relative_to(recorded) for one in recorded.rglob("*") if one.is_file())
    run = fresh(recorded, tmp_path)
    file = run / data.draw(st.sampled_from(files))
    whole = file.read_bytes()
    how = data.draw(st.sampled_from(["content", "cut", "flipped", "folder", "link"]))
    if how == "content":
        file.write_bytes(data.draw(st.sampled_from(CONTENTS)))
    elif how == "cut":
        file.write_bytes(whole[: data.draw(st.integers(0, len(whole)))])
    elif how == "flipped":
        at = data.draw(st.integers(0, max(len(whole) - 1, 0)))
        file.write_bytes(whole[:at] + bytes([data.draw(st.integers(0, 255))]) + whole[at + 1 :])
    else:
        file.unlink()
        file.mkdir() if how == "folder" else file.symlink_to("/nowhere/at all")
    called(data.draw(st.sampled_from(COMMANDS)), run, tmp_path)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("server", []), ("server", 5), ("server.settings", []), ("server.every_setting", "x"),
        ("server.every_setting", {"max_connections": 5}), ("servers", 5), ("host", 5),
        ("host.storage", "x"), ("host.cpus", "x"), ("sizes", 5), ("not_seen", {}),
    ],
)  # fmt: skip
def test_a_wrong_type_in_environment_json_is_refused_by_its_key(
    recorded: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    key: str,
    value: Any,
) -> None:
    run = fresh(recorded, tmp_path)
    found = json.loads((run / "environment.json").read_text())
    at = tuple(key.split("."))
    found[at[0]] = dict(found.get(at[0]) or {}) | {at[-1]: None}
    (run / "environment.json").write_text(json.dumps(with_value(found, at, value)))
    for words in (["report", str(run)], ["compare", str(run), str(recorded)]):
        refusal = refusal_of(partial(app, words, standalone_mode=False))
        assert f"{run}/environment.json: is damaged: '{key}" in refusal
    called("sql", run, tmp_path)
    assert f"is damaged: '{key}" in " ".join(capsys.readouterr().err.split())


def fresh(recorded: Path, folder: Path) -> Path:
    run = folder / "run"
    shutil.rmtree(run, ignore_errors=True)
    shutil.copytree(recorded, run)
    return run


KEYS = """
question target.version target.bin target.dsn target.accept target.ssh workload.use
workload.scale load.clients load.step load.stages load.rate load.warmup load.think_time
load.threads load.busy_poll load.latency_limit load.interval load.max_tries load.settings
load.slices load.command load.time_limit load.generators placement.server placement.server_nice
placement.server_memory sampling.waits reset.level profile.seconds design.min_blocks
design.max_blocks design.smallest_effect design.seed design.looks design.endpoints design.slice
factors.postgres.work_mem factors.postgres.wal_compression factors.host factors.schema.x
factors.scenarios.payment factors.weights.payment factors.workload.use factors.workload.scale
factors.client.threads factors.client.settings factors.target.bin factors.target.version
settings.postgres.work_mem settings.postgres.search_path settings.host
"""  # fmt: skip
WRITTEN = (
    '"x"', '""', f'"{"x" * 5000}"', '"\\u0000"', '"../../.."', '"~nobody/x"',
    "9" * 400, "9" * 5000, f'"{"9" * 400}"', '"1e400s"', "1e400", "nan", "-inf", "-1", "0", "true",
    "1979-05-27", "07:32:00", "1979-05-27T07:32:00Z", "[1979-05-27, 07:32:00]",
    "[]", "{}", "[[]]", "[1, 2]", '["a", "b"]', '["", "\\u0000"]', "[nan, inf]",
    "{a = 1, b = 2}", '{a = "x", b = {}}', f"[{'9' * 400}, 1]", f'["{"x" * 5000}", "y"]',
    '"1..1000000 log 1000"', '"1..9 lin 99999999999"', "[" * 900 + "]" * 900,
    f"{{a = {'[' * 3000}{']' * 3000}}}", '"1\\u00b2s"', '"0x"', "0.0000000000000001",
)  # fmt: skip


@pytest.mark.parametrize("key", KEYS.split())
def test_any_value_of_a_key_is_taken_or_refused(key: str, tmp_path: Path) -> None:
    base = "" if key.startswith("workload.use") else 'workload.use = "payments"\n'
    for written in WRITTEN:
        (tmp_path / "lab.toml").write_text(f"{base}{key} = {written}\n")
        for untrusted in (False, True):
            refusal = refusal_of(partial(load_spec, tmp_path / "lab.toml", untrusted=untrusted))
            assert len(refusal) < 2000, written


@pytest.mark.parametrize("content", CONTENTS)
def test_any_bytes_of_an_experiment_file_are_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "lab.toml").write_bytes(content)
    with pytest.raises(PgassayError):
        load_spec(tmp_path / "lab.toml")
