"""What perf lacks is one line with the fix, and costs the run nothing else."""

from __future__ import annotations

import itertools
import os
import stat
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pgassay.cli.plan.server import profile_refused
from pgassay.doctor.host import check_machine
from pgassay.notes import Note, note_of
from pgassay.plan.design import make_plan
from pgassay.spec.model import ProfileTable
from pgassay.spec.parse import parse_spec
from pgassay.trials.profile import perf, taking
from pgassay.trials.run import profiled
from pgassay.trials.run.profiled import profile_arms
from pgassay.trials.run.trial import TrialContext
from pgassay.trials.sampling.not_measured import Check
from support.notes import codes_in
from support.refusals import refused
from support.synthetic.directories import SPEC


def program_that(folder: Path, script: str) -> None:
    """A perf of our own."""
    (folder / "perf").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "perf").chmod(stat.S_IRWXU)


def test_a_machine_without_perf_is_told_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with refused("no-perf") as missing:
        perf.program()
    (check,) = [one for one in check_machine() if one.name == "profiles"]
    assert check == Check.refused("profiles", missing.value, "note")
    assert "apt install linux-perf" in check.fix


def test_a_perf_of_another_kernel_is_told_from_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program_that(tmp_path, "echo 'WARNING: perf not found for kernel 6.1' >&2; exit 2")
    monkeypatch.setenv("PATH", str(tmp_path))
    with refused("perf-does-not-start"):
        perf.program()


@pytest.mark.parametrize(("paranoid", "starts", "kernel"), [(1, 1, 1), (2, 1, 0), (3, 0, 0)])
def test_an_unprivileged_user_profiles_as_far_as_the_kernel_lets_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, paranoid: int, starts: int, kernel: int
) -> None:
    program_that(tmp_path, "exit 0")
    (tmp_path / "paranoid").write_text(f"{paranoid}\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(perf, "PARANOID", tmp_path / "paranoid")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert perf.sees_kernel() == bool(kernel)
    if starts:
        assert perf.program()
    else:
        with refused("perf-for-root-only", paranoid=3):
            perf.program()


def test_arms_are_passed_over_with_one_line_where_perf_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, context: TrialContext
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    notes: list[Note] = []
    assert list(profile_arms(ProfileTable(), context, notes.append)) == []
    (note,) = notes
    with refused("no-perf") as missing:
        perf.program()
    assert note == Note.of("trials/profile/no-profiles", why=note_of(missing.value))


@pytest.fixture
def context() -> TrialContext:
    """A plan, and no server: whoever asks for one fails."""
    spec = parse_spec(SPEC, source="spec.toml", beside=Path())
    nothing: object = None
    return TrialContext(spec, make_plan(spec), *[nothing] * 5)  # type: ignore[arg-type]


def test_a_switchback_is_not_profiled_because_its_arms_take_turns() -> None:
    text = SPEC.replace("[design]", "[profile]\n[design]\nmode = 'switchback'")
    with refused("profile-of-alternating-arms", "profile", mode="switchback"):
        parse_spec(text.replace("_blocks = 6", "_blocks = 8"), source="a.toml", beside=Path())


def test_transactions_between_two_times_lie_on_lines_between_the_counts() -> None:
    counted = [(0, 0.0), (100, 10.0), (200, 40.0)]
    assert taking._between(counted, 50, 150) == pytest.approx(20.0)
    assert taking._between(counted, 50, 250) == pytest.approx(50.0)
    assert taking._between(counted[:1], 50, 150) is None


ENDED = "Couldn't create thread/CPU maps: No such process"


@pytest.mark.parametrize(("failures", "tries"), [(0, 1), (3, 4), (7, 8), (99, 10)])
def test_perf_starts_with_a_new_list_where_a_listed_session_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failures: int, tries: int
) -> None:
    (tmp_path / "tries").write_text("")
    program_that(
        tmp_path,
        '[ "$1" = record ] || exit 0\n'
        f"cd {tmp_path}; echo $* >> tries\n"
        f'[ $(wc -l < tries) -gt {failures} ] || {{ echo "{ENDED}"; exit 244; }}\n'
        "echo data > perf.data; exec sleep 20",
    )
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    numbers = itertools.count(101)

    def pids() -> list[int]:
        return [100, next(numbers)]

    with perf.Recording(pids, tmp_path, 20.0, 99, off_cpu=False) as recording:
        asked = (tmp_path / "tries").read_text().splitlines()
        assert len(asked) == tries
        assert all((" -p 100,10" in one) == (at < 5) for at, one in enumerate(asked))
        assert all(" -p 100 " in one for one in asked[5:]), "only those that last"
        assert len(recording.notes) == (tries > 5)
        assert recording.is_over() == (failures > tries)
    if failures > tries:
        with refused("sessions-end-as-perf-starts"):
            recording.text()


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo line; echo 'bad event' >&2; exit 255", "bad event"),
        ("echo line; kill -SEGV $$", "Segmentation fault"),
    ],
)
def test_what_perf_could_read_of_a_recording_is_kept_with_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, said: str
) -> None:
    record = f"[ $1 = record ] && {{ echo data > {tmp_path}/perf.data; exec sleep 20; }}"
    program_that(tmp_path, f"[ $1 = --version ] && exit 0\n{record}\n{script}")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with perf.Recording(lambda: [100], tmp_path, 20.0, 99, off_cpu=False) as recording:
        pass
    assert recording.text().read_text() == "line\n"
    (note,) = recording.notes
    assert (note.code, note.values["why"]) == ("trials/profile/partly-read", said)
    program_that(tmp_path, script.replace("echo line; ", ""))
    (tmp_path / "perf.data").write_text("data")
    with refused("recording-unreadable", why=said):
        recording.text()


@pytest.mark.parametrize(("cpus", "mib"), [(1, 8), (16, 8), (24, 4), (128, 1)])
def test_the_buffers_of_perf_are_bounded_on_many_cpus(
    monkeypatch: pytest.MonkeyPatch, cpus: int, mib: int
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: cpus)
    assert perf.buffer_bytes() == mib * 2**20


def test_what_a_killed_profile_left_is_removed_and_what_is_in_use_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folders = [tmp_path / name for name in ("pgassay-profile-a", "pgassay-profile-b", "other")]
    for folder in folders:
        folder.mkdir()
        (folder / "perf.data").write_bytes(b"data")
    for folder in (folders[0], folders[2]):
        os.utime(folder, (time.time() - 3600,) * 2)
    taking.remove_abandoned()
    assert [folder.exists() for folder in folders] == [False, True, True]


def at(context: TrialContext, host: object) -> TrialContext:
    target: Any = SimpleNamespace(host=lambda: host)
    listener: Any = SimpleNamespace(preparing=lambda text: None)
    return replace(context, target=target, listener=listener)


@pytest.fixture
def with_perf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program_that(tmp_path, "exit 0")
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.mark.usefixtures("with_perf")
@pytest.mark.parametrize("host", [None, SimpleNamespace(name="db1")])
def test_no_arm_is_reset_for_a_profile_of_a_server_elsewhere(
    context: TrialContext, host: object
) -> None:
    notes: list[Note] = []
    assert list(profile_arms(ProfileTable(), at(context, host), notes.append)) == []
    assert codes_in(*notes) == ["trials/profile/no-profiles", "trials/profile/elsewhere"]


@pytest.mark.usefixtures("with_perf")
def test_a_full_disk_costs_a_profile_and_not_the_run(
    context: TrialContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(profiled, "reset_servers", full)
    notes: list[Note] = []
    here = at(context, SimpleNamespace(name=""))
    assert list(profile_arms(ProfileTable(), here, notes.append)) == []
    assert len(notes) == len(context.plan.arms)
    assert {note.code for note in notes} == {"trials/profile/none-of"}
    assert all("[Errno 28] No space left" in str(note.values["why"]) for note in notes)


@pytest.mark.parametrize(
    ("more", "sees_host", "risks"),
    [("", True, 0), ("", False, 1), ("ssh = 'db1'\n", True, 1)],
)
def test_a_plan_says_where_no_profile_can_be_taken(more: str, sees_host: bool, risks: int) -> None:
    target = f"[profile]\n[target]\ndsn = 'host=db1'\n{more}[design]"
    spec = parse_spec(SPEC.replace("[design]", target), source="a.toml", beside=Path())
    preview: Any = SimpleNamespace(sees_host=sees_host)
    assert len(profile_refused(spec, preview)) == risks
