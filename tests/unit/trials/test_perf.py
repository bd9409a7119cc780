"""What perf lacks is one line with the fix, and costs the run nothing else."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from pgassay.doctor.machine import check_machine
from pgassay.errors import SetupError, SpecError
from pgassay.plan.design import make_plan
from pgassay.spec.parse import parse_spec
from pgassay.spec.profile import ProfileTable
from pgassay.trials.profile import perf, taking
from pgassay.trials.run.profiled import profile_arms
from pgassay.trials.run.trial import TrialContext
from support.synthetic.directories import SPEC


def program_that(folder: Path, script: str) -> None:
    """A perf of our own."""
    (folder / "perf").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "perf").chmod(stat.S_IRWXU)


def test_a_machine_without_perf_is_told_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SetupError, match=r"perf, which is not installed: .*linux-perf"):
        perf.program()
    (check,) = [one for one in check_machine() if one.name == "profiles"]
    assert (check.state, check.found) == ("note", "profiles take perf, which is not installed")
    assert "apt install linux-perf" in check.fix


def test_a_perf_of_another_kernel_is_told_from_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program_that(tmp_path, "echo 'WARNING: perf not found for kernel 6.1' >&2; exit 2")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SetupError, match=r"does not start on this kernel \(WARNING: perf not"):
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
        with pytest.raises(SetupError, match=r"perf_event_paranoid is 3\): run pgassay as root"):
            perf.program()


def test_arms_are_passed_over_with_one_line_where_perf_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, context: TrialContext
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    notes: list[str] = []
    assert list(profile_arms(ProfileTable(), context, notes.append)) == []
    (note,) = notes
    assert note.startswith("no profiles: profiles take perf, which is not installed")


@pytest.fixture
def context() -> TrialContext:
    """A plan, and no server: whoever asks for one fails."""
    spec = parse_spec(SPEC, source="spec.toml", beside=Path())
    nothing: object = None
    return TrialContext(spec, make_plan(spec), *[nothing] * 5)  # type: ignore[arg-type]


def test_a_switchback_is_not_profiled_because_its_arms_take_turns() -> None:
    text = SPEC.replace("[design]", "[profile]\n[design]\nmode = 'switchback'")
    with pytest.raises(SpecError, match=r"profile: a profile is taken of one arm"):
        parse_spec(text.replace("_blocks = 6", "_blocks = 8"), source="a.toml", beside=Path())


def test_transactions_between_two_times_lie_on_lines_between_the_counts() -> None:
    counted = [(0, 0.0), (100, 10.0), (200, 40.0)]
    assert taking._between(counted, 50, 150) == pytest.approx(20.0)
    assert taking._between(counted, 50, 250) == pytest.approx(50.0)
    assert taking._between(counted[:1], 50, 150) is None
