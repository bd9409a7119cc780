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
from pgassay.notes import legacy
from pgassay.samples.observation_directory import ObservationDirectory
from pgassay.spec.parse import load_spec
from pgassay.trials.model.record import Piece
from pgassay.trials.profile.files import files_of
from support.synthetic.directories import SPEC, synthetic_run
from support.synthetic.profiles import profile
from support.synthetic.segments import NOTHING, end_of, waits, write
from support.synthetic.traces import synthetic_trace

pytestmark = pytest.mark.slow

SHORT = SPEC.replace("_blocks = 6", "_blocks = 2").replace('"10s"', '"3s"')
SHORT += '[workload]\nuse = "payments-write"\n'
COMMANDS = (
    "show",
    "list",
    "json",
    "md",
    "brief",
    "csv",
    "html",
    "compare",
    "compared",
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
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with all its files, one to compare it with, an observation, a trace."""
    folder = tmp_path_factory.mktemp("stored")
    run, _, plan = synthetic_run(folder / "run", spec_text=SHORT)
    synthetic_run(folder / "other", spec_text=SHORT.replace("seed = 7", "seed = 8"))
    (run.path / "failed.jsonl").write_text(
        '{"number": 9, "block": 1, "arm": "a1", "reason": "x"}\n'
    )
    change = {"event": "change", "id": "1", "what": "w", "server": "s", "do": "d", "undo": "u"}
    lines = [{"event": "run", "id": "x"}, change, {"event": "undone", "id": "1"}]
    (run.path / "journal.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    for arm in plan.arms:
        run.profiles().write_files(files_of(profile(), arm.id), arm.id)
    run.profiles().finish({arm.id: (profile(),) for arm in plan.arms}, [legacy("a note")])
    observation = ObservationDirectory.create(folder / "watched")
    write(observation, 1, Piece(waits(100, 10), NOTHING, NOTHING), end_of(100, 101))
    described = {"schema": "pgassay.observation/1", "server": "lab"}
    observation.write_json("observation.json", described)
    synthetic_trace(folder / "traced")
    for kind in KINDS:
        called("json", folder / kind, folder / "other", folder)
        called("html", folder / kind, folder / "other", folder)  # with its analysis.json
    return folder


@pytest.fixture(scope="module")
def recorded(stored: Path) -> Path:
    return stored / "run"


KINDS = ("run", "watched", "traced")


def called(command: str, run: Path, other: Path, folder: Path) -> str:
    """One command on a run; its refusals are as good as its answers."""
    words = {
        "show": ["show", str(run)],
        "html": ["report", str(run)],
        "list": ["list", str(folder)],
        "compare": ["compare", str(run), str(other)],
        "compared": ["compare", str(other), str(run), "--format", "html", "--force"],
        "plan": ["plan", str(run / "spec.toml")],
        "recover": ["recover", "--dry-run", str(run)],
        "sql": ["sql", "SELECT * FROM runs, trials", str(folder), "--format", "csv"],
    }.get(command, ["report", str(run), "--format", command])
    return refusal_of(partial(app, words, standalone_mode=False))


def test_the_whole_directories_are_read_by_every_command(stored: Path) -> None:
    """Else the tests below would try refusals only."""
    refused = {
        (kind, command)
        for kind in KINDS
        for command in COMMANDS
        if called(command, stored / kind, stored / "other", stored)
    }
    assert refused == {
        (kind, command)
        for kind in ("watched", "traced")
        for command in ("compare", "compared", "plan", "recover")
    }


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
    stored: Path, tmp_path: Path, data: st.DataObject
) -> None:
    run = fresh(stored / data.draw(st.sampled_from(KINDS)), tmp_path)
    files = sorted(one.relative_to(run) for one in run.rglob("*.json*"))
    file = run / data.draw(st.sampled_from(files))
    head, *others = file.read_text().splitlines() if file.name.endswith("l") else (
        file.read_text(),)  # fmt: skip
    found = json.loads(head)
    at = data.draw(st.sampled_from(list(places(found))))
    changed = with_value(found, at, data.draw(st.sampled_from(VALUES)))
    file.write_text("\n".join([json.dumps(changed), *others]))
    called(data.draw(st.sampled_from(COMMANDS)), run, stored / "other", tmp_path)


@LIMITED
@given(data=st.data())
def test_any_bytes_in_any_file_of_a_run_are_read_or_refused(
    stored: Path, tmp_path: Path, data: st.DataObject
) -> None:
    run = fresh(stored / data.draw(st.sampled_from(KINDS)), tmp_path)
    files = sorted(one.relative_to(run) for one in run.rglob("*") if one.is_file())
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
    called(data.draw(st.sampled_from(COMMANDS)), run, stored / "other", tmp_path)


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
    called("sql", run, recorded, tmp_path)
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
