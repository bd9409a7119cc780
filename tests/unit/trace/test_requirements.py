"""What tracing takes is named in one line, with its fix, where it is missing."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from pgassay.trials.trace import requirements
from support.refusals import codes_of, refused


def test_a_missing_bpftrace_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with refused("no-bpftrace"):
        requirements.find_bpftrace()


def test_missing_rights_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/bpftrace")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    missing = requirements.missing()
    assert missing is not None
    assert codes_of([missing]) == ["tracing-for-root-only"]


def test_a_missing_tracefs_is_named_with_the_command_that_mounts_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/bpftrace")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(requirements, "_HOST_PIDS", Path("/proc/self/ns/pid").stat().st_ino)
    monkeypatch.setattr(requirements, "_TRACEFS", (tmp_path,))
    assert str(requirements.missing()).endswith(f"mount -t tracefs tracefs {tmp_path}")


def test_a_bpftrace_that_the_kernel_refuses_is_quoted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "bpftrace"
    program.write_text("#!/bin/sh\necho 'ERROR: Operation not permitted' >&2\nexit 1\n")
    program.chmod(0o755)
    lack = requirements._refused(str(program))
    assert lack is not None
    assert "ERROR: Operation not permitted" in lack.text
