"""Knobs of the host: refused early where they are wrong, planned beside the server's settings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pgassay.errors import ExitCode, RestoreFailed, TargetError
from pgassay.plan.design import make_plan
from pgassay.plan.store import plan_from_json, plan_to_json
from pgassay.server.change import KnobChange
from pgassay.server.hosts.host import host_identity
from pgassay.server.hosts.local import HERE
from pgassay.server.knobs import knob_files
from pgassay.server.knobs.host_knobs import recover_host
from pgassay.server.knobs.knob_files import Knob, device_of, find_knob
from pgassay.spec.experiment import Spec
from pgassay.spec.parse import parse_spec
from support.memory import ON_DISK
from support.refusals import refused
from support.runs.command import pgassay
from support.servers.lab import RecordingJournal


@pytest.fixture(autouse=True)
def lock_of_our_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The host's real lock may be held by a test or a run beside us."""
    monkeypatch.setattr(knob_files, "LOCKED", tmp_path)


ALLOWED = "[target]\nallow_host_changes = true\n"


def parsed(text: str) -> Spec:
    return parse_spec(ALLOWED + text, source="lab.toml", beside=Path())


@pytest.mark.parametrize(
    ("text", "code", "key", "values"),
    [
        (
            "'vm.swapiness' = [1, 'x']\n'swappiness' = [1, 2]",
            "knob-unknown",
            "swappiness",
            {"near": "did you mean vm.swappiness?"},
        ),
        ("'vm.swappiness' = [10]", "too-few-levels", "vm.swappiness", {}),
        (
            "'vm.swappiness' = [10, 201]",
            "knob-out-of-range",
            "vm.swappiness",
            {"value": "201", "allowed": "0 to 200"},
        ),
        ("'vm.swappiness' = [10, 'many']", "knob-not-a-number", "vm.swappiness", {"value": "many"}),
        (
            "'vm.swappiness' = [10, '010']",
            "equal-levels",
            "vm.swappiness",
            {"one": "10", "other": "010"},
        ),
        ("'vm.swappiness' = [10, '']", "value-of-several-lines", "vm.swappiness", {}),
        (
            "'block.schedular' = ['none', 'bfq']",
            "knob-unknown",
            "block.schedular",
            {"near": "did you mean block.scheduler?"},
        ),
        (
            "'transparent_hugepage' = ['never', 'always']",
            "knob-unknown",
            "transparent_hugepage",
            {},
        ),
        (
            "'transparent_hugepage.enabled' = ['never', 'on']",
            "knob-not-a-word",
            "transparent_hugepage.enabled",
            {"value": "on", "words": "always, madvise, never"},
        ),
        ("'vm.drop_caches' = [1, 3]", "knob-refused", "vm.drop_caches", {}),
        ("'kernel.core_pattern' = ['a', '|b']", "knob-refused", "kernel.core_pattern", {}),
        (
            "'vm.dirty_ratio' = [1, 3]\n'vm.dirty_bytes' = [8192, 9000]",
            "knobs-exclude-each-other",
            "vm.dirty_ratio",
            {"partner": "vm.dirty_bytes"},
        ),
        ("'../../etc/passwd' = ['a', 'b']", "knob-unknown-prefix", "../../etc/passwd", {}),
        ("'vm.../../x' = ['a', 'b']", "knob-unknown-prefix", "vm.../../x", {}),
    ],
)
def test_a_wrong_knob_is_refused_by_code_and_key(
    text: str, code: str, key: str, values: dict[str, object]
) -> None:
    with refused(code, f"factors.host.{key}", **values):
        parsed(f"[factors.host]\n{text}")


def test_names_may_be_written_without_quotes() -> None:
    spec = parsed("[factors.host]\nvm.swappiness = [10, 1]\n[settings.host]\nvm.dirty_ratio = 5")
    assert spec.file.factors.host == {"vm.swappiness": ("10", "1")}
    assert spec.file.settings.host == {"vm.dirty_ratio": "5"}
    assert spec.question == "What does vm.swappiness do?"


def test_the_host_is_changed_only_where_the_file_allows_it() -> None:
    text = "[settings.host]\n'vm.swappiness' = 1"
    with refused("knob-without-permission", "settings.host.vm.swappiness"):
        parse_spec(text, source="lab.toml", beside=Path())
    existing = "[target]\ndsn = 'service=lab'\nallow_host_changes = true\n"
    with refused("knob-without-permissions", "settings.host.vm.swappiness"):
        parse_spec(existing + text, source="lab.toml", beside=Path())
    parse_spec(existing + "allow_changes = true\n" + text, source="lab.toml", beside=Path())


def test_a_knob_that_is_held_or_a_setting_too_is_refused() -> None:
    with refused("given-twice", "factors.host.vm.swappiness", other="[settings.host]"):
        parsed("[factors.host]\n'vm.swappiness'=[1,2]\n[settings.host]\n'vm.swappiness'=1")
    with refused("given-twice", "factors.host.vm.x", other="[factors.postgres]"):
        parsed("[factors.host]\n'vm.x'=[1,2]\n[factors.postgres]\n'vm.x'=[1,2]")


FACTORS = """
[factors.postgres]
fsync = ["on", "off"]
[factors.host]
"vm.swappiness" = [60, 1]
"""


def test_arms_combine_settings_and_knobs_and_tell_them_apart() -> None:
    plan = make_plan(parsed(FACTORS))
    assert [arm.label for arm in plan.arms] == [
        "fsync = on, vm.swappiness = 60",
        "fsync = on, vm.swappiness = 1",
        "fsync = off, vm.swappiness = 60",
        "fsync = off, vm.swappiness = 1",
    ]
    last = plan.arms[-1]
    assert last.settings == {"fsync": "off"}
    assert last.knobs == {"vm.swappiness": "1"}
    assert [factor.kind for factor in plan.factors] == ["postgres", "host"]
    stored = json.loads(json.dumps(plan_to_json(plan)))
    assert plan_from_json(stored) == plan


def test_a_plan_of_before_other_kinds_of_factors_is_still_read() -> None:
    spec = parsed(FACTORS)
    stored = json.loads(json.dumps(plan_to_json(make_plan(spec))))
    for arm in stored["arms"]:
        arm["host"] = ["vm.swappiness"]
    assert plan_from_json(stored) == make_plan(spec)


def test_a_plan_lists_every_change_to_the_host_first(tmp_path: Path) -> None:
    file = tmp_path / "lab.toml"
    file.write_text(
        "[workload]\nuse = 'payments-write'\n"
        + ALLOWED
        + FACTORS
        + "[settings.host]\n'vm.dirty_ratio' = 7"
    )
    shown = pgassay("plan", file)
    assert shown.returncode == 0, shown.stderr
    assert "host      vm.dirty_ratio = 7, held; put back at the end" in shown.stdout
    assert "host      vm.swappiness = 60, 1; put back at the end" in shown.stdout
    assert "fsync = off, vm.swappiness = 1" in shown.stdout


def test_a_plan_reports_a_knob_that_this_host_lacks(tmp_path: Path) -> None:
    file = tmp_path / "lab.toml"
    file.write_text(
        "[workload]\nuse = 'payments-write'\n" + ALLOWED + "[settings.host]\n'vm.no_such_knob' = 7"
    )
    shown = pgassay("plan", file, "--json")
    assert shown.returncode == ExitCode.USAGE, shown.stderr
    assert json.loads(shown.stdout)["stops"]
    (found,) = json.loads(shown.stdout)["knobs_refused"]
    with refused("no-such-knob", host="this host") as lacking:
        find_knob("vm.no_such_knob", None)
    assert found.endswith(str(lacking.value))
    *_, last = pgassay("plan", file).stdout.splitlines()
    assert last == f"stops: {found}"


def test_a_knob_this_host_lacks_is_named_with_its_neighbour() -> None:
    with refused("no-such-knob"):
        find_knob("vm.swapiness", None)


def test_the_word_in_brackets_is_the_value_and_an_error_lists_the_others(
    tmp_path: Path,
) -> None:
    path = tmp_path / "scheduler"
    path.write_text("none [mq-deadline] kyber\n")
    knob = Knob("block.scheduler", path)
    assert knob.read() == "mq-deadline"
    with refused("knob-not-one-of", known="none, mq-deadline, kyber"):
        knob.check("bfq")
    knob.check("kyber")
    assert path.read_text() == "none [mq-deadline] kyber\n"


def test_a_knob_that_may_not_be_written_is_refused_without_writing(tmp_path: Path) -> None:
    # Opened for writing by nobody, root included.
    knob = Knob("kernel.version", Path("/proc/sys/kernel/version"))
    with refused("knob-not-writable"):
        knob.check("1")


def test_data_in_memory_has_no_disk_whose_queue_could_be_set() -> None:
    memory = Path("/dev/shm")  # noqa: S108 (nothing is written)
    if not memory.is_dir():
        pytest.skip("there is no /dev/shm here")
    with refused("no-block-device"):
        device_of(memory)


def test_the_disk_of_a_directory_is_found_where_there_is_one() -> None:
    try:
        device = device_of(ON_DISK)
    except TargetError:
        pytest.skip("the file system of the tests has no disk")
    assert (device / "queue").is_dir()
    assert not (device / "partition").exists()


def test_a_run_of_another_host_is_not_recovered_here() -> None:
    change = KnobChange(server="elsewhere 1234", name="vm.swappiness", value="1", found="60")
    with refused("knobs-of-another-host", host="elsewhere") as found:
        recover_host([change], RecordingJournal())
    assert isinstance(found.value, RestoreFailed)


def test_values_of_an_earlier_boot_have_nothing_to_undo() -> None:
    journal = RecordingJournal()
    earlier = f"{host_identity(HERE).split()[0]} another-boot"
    change = KnobChange(server=earlier, name="vm.swappiness", value="0", found="199")
    before = change.path.read_text()
    assert recover_host([change], journal) == []
    assert journal.undone_ids == [change.id]
    assert change.path.read_text() == before


def test_two_runs_may_not_change_one_host_at_once() -> None:
    with (
        knob_files.locked(),
        refused("knobs-in-use"),
        knob_files.locked(),
    ):
        pass
    with knob_files.locked():
        pass
