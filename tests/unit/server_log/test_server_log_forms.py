"""Logs that real servers wrote are read in every form, and torn ones never break the reader."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgassay.trials.server_log.entry import LONGEST_LINE, Entry
from pgassay.trials.server_log.events import EventTally, LogEvent, recognise
from pgassay.trials.server_log.forms import StderrForm
from support.servers.logs import CLOCK, LOGS, contents, entries_in, form_for, pattern_for

EXPECTED = {
    "server_start": 1,
    "server_ready": 2,
    "temp_file": 2,
    "checkpoint_start": 3,
    "checkpoint_end": 3,
    "lock_wait": 1,
    "lock_acquired": 1,
    "autovacuum": 2,
    "autoanalyze": 2,
    "checkpoints_too_frequent": 2,
    "statement": 2,
    "crash": 1,
    "restart_after_crash": 1,
    "recovery": 1,
    "server_stop": 1,
    "server_down": 1,
}


def kinds(entries: list[Entry]) -> Counter[str]:
    return Counter(found.kind for entry in entries if (found := recognise(entry)) is not None)


def events(entries: list[Entry]) -> tuple[LogEvent, ...]:
    tally = EventTally()
    for entry in entries:
        tally.add(entry)
    return tally.events()


@pytest.mark.parametrize("name", LOGS)
def test_every_entry_of_a_real_log_is_read(name: str) -> None:
    form = form_for(name)
    found = entries_in(form, contents(name))
    assert len(found) == 34
    assert form.unread == 0
    assert kinds(found) == EXPECTED
    assert all(entry.time_ns and entry.pid for entry in found)


@pytest.mark.parametrize("base", ["russian-15", "english-18"])
def test_all_forms_of_one_log_give_the_same_events(base: str) -> None:
    def key(name: str) -> list[tuple[object, ...]]:
        found = events(entries_in(form_for(name), contents(name)))
        # Standard error lacks what its prefix lacks, and %t the milliseconds.
        return sorted(
            (e.kind, e.object, e.severity, e.count, sorted(e.figures.items()))
            for e in found
            if e.kind != "error"
        )

    assert key(f"{base}.csv") == key(f"{base}.json") == key(f"{base}.log")


@pytest.mark.parametrize("name", [n for n in LOGS if not n.startswith("russian-15.log")])
def test_errors_come_with_their_sqlstate(name: str) -> None:
    found = events(entries_in(form_for(name), contents(name)))
    states = Counter(e.sqlstate for e in found if e.kind == "error")
    assert states == {"42P01": 1, "22012": 1, "40P01": 1}


def test_an_error_without_sqlstate_is_still_an_error() -> None:
    found = events(entries_in(form_for("russian-15.log"), contents("russian-15.log")))
    errors = [event for event in found if event.kind == "error"]
    assert sum(event.count for event in errors) == 3
    assert {event.sqlstate for event in errors} == {None}


@pytest.mark.parametrize("name", LOGS)
def test_what_a_session_logs_in_the_checkpointers_words_is_not_believed(name: str) -> None:
    found = entries_in(form_for(name), contents(name))
    forged = [entry for entry in found if entry.message.startswith("checkpoint starting: time")]
    assert [entry.of_session for entry in forged] == [True]
    assert recognise(forged[0]) is None
    assert recognise(replace(forged[0], of_session=False)) is not None


def test_without_names_in_the_prefix_the_context_gives_a_session_away() -> None:
    form = StderrForm(pattern_for("%n "), CLOCK)
    (entry,) = entries_in(
        form,
        b"1763659000.123 LOG:  checkpoint starting: time\n"
        b"1763659000.123 CONTEXT:  PL/pgSQL function f() line 1 at RAISE\n",
    )
    assert entry.of_session


@pytest.mark.parametrize("name", LOGS)
def test_no_statement_and_no_detail_is_kept(name: str) -> None:
    for event in events(entries_in(form_for(name), contents(name))):
        text = repr(event)
        for word in ("secret", "nowhere", "pg_sleep", "repeat(", "pgsql_tmp"):
            assert word not in text


@pytest.mark.parametrize("name", LOGS)
@settings(max_examples=40)
@given(data=st.data())
def test_pieces_of_any_size_give_the_same_entries(name: str, data: st.DataObject) -> None:
    whole = contents(name)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    edges = [0, *cuts, len(whole)]
    pieces = [whole[a:b] for a, b in pairwise(edges)]
    assert entries_in(form_for(name), *pieces) == entries_in(form_for(name), whole)


@pytest.mark.parametrize("name", LOGS)
@settings(max_examples=40)
@given(data=st.data())
def test_a_log_cut_anywhere_gives_only_entries_it_has(name: str, data: st.DataObject) -> None:
    whole = contents(name)
    cut = data.draw(st.integers(0, len(whole)))
    known = [(entry.time_ns, entry.severity) for entry in entries_in(form_for(name), whole)]
    found = entries_in(form_for(name), whole[:cut])
    assert [(entry.time_ns, entry.severity) for entry in found] == known[: len(found)]


@pytest.mark.parametrize("name", LOGS)
@settings(max_examples=40)
@given(noise=st.binary(max_size=200), data=st.data())
def test_bytes_that_do_not_belong_cost_few_entries(
    name: str, noise: bytes, data: st.DataObject
) -> None:
    whole = contents(name)
    at = data.draw(st.integers(0, len(whole)))
    form = form_for(name)
    found = entries_in(form, whole[:at] + noise + whole[at:])
    events(found)
    # The one that was hit, the one before it whose end it was, and what the noise itself says.
    assert 31 <= len(found) <= 34 + noise.count(b"\n") + 1


def test_a_torn_record_of_csv_does_not_swallow_those_after_it() -> None:
    whole = contents("english-18.csv")
    lines = whole.splitlines(keepends=True)
    # A quote that never closes, as a crash in the middle of a write leaves it.
    torn = lines[0][: lines[0].index(b'"starting') + 12] + b"\n"
    form = form_for("english-18.csv")
    found = entries_in(form, torn + whole)
    assert len(found) == 34
    assert form.unread == 1


def test_a_line_longer_than_any_is_passed_over_and_counted() -> None:
    form = form_for("english-18.json")
    whole = contents("english-18.json")
    long = [b"x" * LONGEST_LINE, b"x" * 10, b"\n"]
    assert len(entries_in(form, *long, whole)) == 34
    assert form.unread == 1


@pytest.mark.parametrize("codec", ["cp1251", "koi8-r", "iso8859-5"])
def test_a_session_in_another_encoding_is_read(codec: str) -> None:
    text = contents("russian-15.log").decode()
    form = form_for("russian-15.log")
    found = entries_in(form, text.replace("«", "<").replace("»", ">").encode(codec))
    assert len(found) == 34
    assert form.unread == 0
    assert kinds(found) == EXPECTED


def test_invalid_bytes_do_not_keep_a_line_from_being_read() -> None:
    form = StderrForm(pattern_for("%n [%p] %q%u@%d "), CLOCK)
    (entry,) = entries_in(form, b"1763659000.123 [7] u@\xff\xfe ERROR:  bad \xc3\x28\n")
    assert entry.severity == "ERROR"
    assert form.unread == 0


def test_words_of_other_programs_are_counted_as_unread() -> None:
    form = StderrForm(pattern_for("%n [%p] "), CLOCK)
    found = entries_in(
        form,
        b"cp: cannot stat 'pg_wal/1': No such file or directory\n"
        b"1763659000.123 [7] LOG:  checkpoint starting: time\n"
        b"perl: warning: Setting locale failed.\n"
        b"\tLANG = x\n"
        b"1763659000.200 [7] LOG:  checkpoint comp",
    )
    assert [entry.message for entry in found] == ["checkpoint starting: time"]
    assert form.unread == 3


def test_a_record_with_a_long_statement_is_read() -> None:
    """As log_statement or log_min_error_statement write a statement of many values."""
    lines = contents("english-18.csv").splitlines(keepends=True)
    line = next(one for one in lines if b"division by zero" in one and one.count(b'"') % 2 == 0)
    (short,) = entries_in(form_for("english-18.csv"), line)
    for long in (b"x" * 1_000_000, b"\n".join([b"y" * 300_000] * 5)):
        grown = line.replace(b"division by zero", b"division by zero" + long)
        form = form_for("english-18.csv")
        (found,) = entries_in(form, grown)
        assert found.sqlstate == short.sqlstate
        assert len(found.message) > len(long)
        assert form.unread == 0


def hostile_lines(figure: str) -> dict[str, bytes]:
    """By form, an entry whose process is numbered so, and one that reports a size so."""
    stamp = "2026-11-21 22:31:42.426 UTC"
    size = f'temporary file: path ""x"", size {figure}'
    row = [stamp, "", "", "{pid}", "", "1.1", "1", "", stamp, "", "0", "LOG", "00000", "{text}"]
    csv = ",".join([*row, *[""] * 9, "client backend", "", "0"]).replace("{text}", f'"{size}"')
    json_ = {"timestamp": stamp, "error_severity": "LOG", "message": size.replace('""', '"')}
    return {
        "csv": (csv.format(pid=figure) + "\n" + csv.format(pid=1) + "\n").encode(),
        "json": "".join(
            json.dumps(json_ | {"pid": pid}) + "\n" for pid in (int(figure), 1)
        ).encode(),
        "log": "".join(
            f"{stamp} [{pid}] LOG:  {json_['message']}\n" for pid in (figure, "1")
        ).encode(),
    }


@pytest.mark.parametrize("ending", ["csv", "json", "log"])
def test_a_figure_that_no_server_writes_makes_an_unread_line(ending: str) -> None:
    form = (
        StderrForm(pattern_for("%m [%p] "), CLOCK)
        if ending == "log"
        else form_for(f"english-18.{ending}")
    )
    tally = EventTally()
    for entry in entries_in(form, hostile_lines("9" * 400)[ending]):
        tally.add(entry)
    assert (form.unread, tally.unread, tally.events()) == (1, 1, ())


def test_a_position_or_a_time_that_no_server_writes_is_none() -> None:
    tally = EventTally()
    entry = entries_in(form_for("english-18.json"), contents("english-18.json"))[0]
    ends = replace(entry, of_session=False, message=f"checkpoint complete: x; lsn={'F' * 400}/0")
    for one in (ends, replace(ends, message="checkpoint complete:", time_ns=10**20)):
        tally.add(one)
    assert (tally.unread, tally.without_time, tally.events()) == (1, 1, ())
