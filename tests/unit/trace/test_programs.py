"""The tracing programs, and which of them a server gets."""

from __future__ import annotations

import re

import pytest

from pgassay.trials.trace.output import PointReading
from pgassay.trials.trace.programs import (
    PARTS,
    PHASES,
    Program,
    all_programs,
    choose,
    key_name,
    program_text,
    titles,
)
from pgassay.trials.trace.server import TracedServer

STATIC = {name for one in all_programs() if one.way == "usdt" for name in one.needs}
FUNCTIONS = {name for one in all_programs() if one.way == "uprobe" for name in one.needs}
PROBE = re.compile(r"^(usdt|uprobe|uretprobe):%BINARY%:(?:postgresql:)?(\w+) ", re.MULTILINE)


def server(version: int, points: set[str], functions: set[str] = FUNCTIONS) -> TracedServer:
    return TracedServer("15.18", version, 4242, "/bin/postgres", points, functions)


@pytest.mark.parametrize("program", all_programs(), ids=lambda one: one.name)
def test_a_program_names_in_its_head_what_it_probes_and_has_both_ends(program: Program) -> None:
    probes = PROBE.findall(program.text)
    data = {"my_wait_event_info"}
    assert {name for _, name in probes} == set(program.needs) - data
    assert program.part in PARTS
    if program.point == PHASES:
        return
    assert program.point in titles()
    # The beginning and the end are two probes: one that was set twice would time nothing.
    assert len(probes) == len(set(probes)) == 2
    second = list(PROBE.finditer(program.text))[1].start()
    begins, ends = program.text[:second], program.text[second:]
    assert f"@{program.point}_from[tid] = nsecs" in begins
    assert f"nsecs - @{program.point}_from[tid]" in ends


def test_static_probes_are_preferred_to_functions() -> None:
    chosen = choose(server(150018, STATIC), PARTS)
    assert chosen.ways["lwlock_wait"] == "usdt"
    assert chosen.ways["wal_flush"] == "uprobe"
    assert chosen.missing == ()


def test_a_server_without_static_probes_is_traced_by_its_functions() -> None:
    chosen = choose(server(180006, set()), PARTS)
    assert set(chosen.ways.values()) == {"uprobe"}
    (note,) = chosen.missing
    assert (note.code, note.values["point"]) == ("trials/trace/no-probe", "wal_buffers_full")


def test_reads_of_version_18_are_timed_where_the_session_waits_for_them() -> None:
    (reads,) = [
        one for one in choose(server(180006, STATIC), ["io"]).programs if one.point == "read"
    ]
    assert reads.needs == ("WaitReadBuffers",)


def test_only_what_is_asked_for_is_traced() -> None:
    assert choose(server(150018, STATIC), ["lwlocks"]).points == ("lwlock_wait",)


def test_every_probe_asks_whether_the_process_is_one_of_the_server() -> None:
    traced = server(150018, STATIC)
    text = program_text(traced, choose(traced, PARTS), 30.0)
    assert "%" not in re.sub(r"%(llu|d)", "", text)
    probes = re.findall(r"^u\w+:(.*)$", text, re.MULTILINE)
    assert probes
    assert all("/curtask->real_parent->tgid == 4242/" in probe for probe in probes)


def test_insertions_are_counted_by_the_background_process_that_makes_them() -> None:
    traced = TracedServer("15.18", 150018, 4242, "", functions=FUNCTIONS, background=(11, 12, 13))
    text = program_text(traced, choose(traced, ["inserts"]), 30.0)
    kind = "(pid == 13 ? 3 : (pid == 12 ? 2 : (pid == 11 ? 1 : 0)))"
    assert f"@wal_insert_of[tid] = {kind};" in text
    reading = PointReading("wal_insert", "3", 1, 1000, {})
    assert key_name(reading, traced) == "WAL writer"


def test_a_program_ends_by_itself() -> None:
    traced = server(150018, STATIC)
    assert "interval:s:30 { exit(); }" in program_text(traced, choose(traced, PARTS), 30.0)


def test_a_lock_has_its_name_whichever_way_it_was_seen() -> None:
    traced = TracedServer("18.6", 180006, 1, "", tranches=("", "ShmemIndex", "OidGen"))
    assert traced.lwlock("WALWrite") == "WALWrite"
    assert traced.lwlock(str(0x01000002)) == "OidGen"
    assert traced.lwlock(str(0x01000063)) == "LWLock 99"
    assert traced.lwlock(str(0x08000001)) == "(group update)"
