"""Symbols and static probes of a program file."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pgassay.server.owned.installation import DEFAULT_MAJOR, embedded_installation
from pgassay.trials.trace.elf import read_executable, shift_of
from support.packages import needs
from support.refusals import refused

DEBIAN = Path("/usr/lib/postgresql/15/bin/postgres")


def test_the_embedded_servers_functions_are_found_with_what_a_probe_on_them_costs() -> None:
    found = read_executable(embedded_installation(DEFAULT_MAJOR).program("postgres"))
    assert {"PGSemaphoreLock", "XLogFlush", "WaitReadBuffers"} <= found.symbols.keys()
    assert found.points == frozenset()
    assert "PGSemaphoreLock" not in found.stepped  # begins with push
    assert "XLogFlush" in found.stepped  # begins with a load relative to the instruction


def test_debians_static_probes_are_found() -> None:
    needs("postgresql-15")
    found = read_executable(DEBIAN)
    assert {"lwlock__wait__start", "lwlock__wait__done", "checkpoint__start"} <= found.points
    assert found.moves


def test_the_address_of_a_running_program_is_found() -> None:
    executable = read_executable(Path(sys.executable).resolve())
    assert shift_of(executable, os.getpid()) % 4096 == 0


def test_what_is_no_program_is_refused_by_name(tmp_path: Path) -> None:
    file = tmp_path / "postgres"
    file.write_text("#!/bin/sh\n" + " " * 100)
    with refused("program-unreadable"):
        read_executable(file)
