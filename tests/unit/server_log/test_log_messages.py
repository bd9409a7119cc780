"""Messages are known in the words of every version, in English and in PostgreSQL's own Russian."""

from __future__ import annotations

import gettext
import re
from pathlib import Path

import pytest

from pgassay.trials.server_log.entry import Entry, words
from pgassay.trials.server_log.events import EventTally, Recognised, recognise
from pgassay.trials.server_log.reader import LogReading

CATALOGUE = Path("/usr/share/locale/ru/LC_MESSAGES/postgres-15.mo")
CHECKPOINT = (
    "wrote %d buffers (%.1f%%); %d WAL file(s) added, %d removed, %d recycled; "
    "write=%ld.%03d s, sync=%ld.%03d s, total=%ld.%03d s; sync files=%d, longest=%ld.%03d s, "
    "average=%ld.%03d s; distance=%d kB, estimate=%d kB"
)
MESSAGES = {
    "checkpoint starting:%s%s%s%s%s%s%s%s": (" immediate", " force", " wait", *[""] * 5),
    "restartpoint starting:%s%s%s%s%s%s%s%s": (" time", *[""] * 7),
    f"checkpoint complete: {CHECKPOINT}": tuple(range(1, 19)),
    f"restartpoint complete: {CHECKPOINT}": tuple(range(1, 19)),
    'automatic vacuum of table "%s.%s.%s": index scans: %d\n': ("d", "s", "t", 3),
    'automatic aggressive vacuum of table "%s.%s.%s": index scans: %d\n': ("d", "s", "t", 3),
    'automatic vacuum to prevent wraparound of table "%s.%s.%s": index scans: %d\n': (*"dst", 3),
    'automatic aggressive vacuum to prevent wraparound of table "%s.%s.%s": index scans: %d\n': (
        *"dst",
        3,
    ),
    'automatic analyze of table "%s.%s.%s"\n': ("d", "s", "t"),
    'temporary file: path "%s", size %lu': ("base/x", 77),
    "process %d still waiting for %s on %s after %ld.%03d ms": (5, "ShareLock", "x 7", 12, 345),
    "process %d acquired %s on %s after %ld.%03d ms": (5, "ShareLock", "x 7", 12, 345),
    "duration: %s ms  statement: %s": ("12.345", "SELECT 1"),
    "duration: %s ms": ("12.345",),
    "%s (PID %d) was terminated by signal %d: %s": ("x", 5, 9, "Killed"),
    "all server processes terminated; reinitializing": (),
    "database system was not properly shut down; automatic recovery in progress": (),
    "database system is ready to accept connections": (),
    "database system is shut down": (),
    "received SIGHUP, reloading configuration files": (),
    "received immediate shutdown request": (),
    "received smart shutdown request": (),
    "archive command failed with exit code %d": (2,),
    "starting %s": ("PostgreSQL 15.1",),
}
FIGURES = {
    "pages: %u removed, %u remain, %u scanned (%.2f%% of total)\n": (1, 2, 3, 4.0),
    "tuples: %lld removed, %lld remain, %lld are dead but not yet removable\n": (5, 6, 7),
    "I/O timings: read: %.3f ms, write: %.3f ms\n": (8.5, 9.5),
    "avg read rate: %.3f MB/s, avg write rate: %.3f MB/s\n": (10.5, 11.5),
    "buffer usage: %lld hits, %lld misses, %lld dirtied\n": (12, 13, 14),
    "WAL usage: %lld records, %lld full page images, %llu bytes\n": (15, 16, 17),
    "CPU: user: %d.%02d s, system: %d.%02d s, elapsed: %d.%02d s": (1, 25, 2, 50, 3, 75),
}
VACUUM = 'automatic vacuum of table "%s.%s.%s": index scans: %d\n'


def entry(message: str) -> Entry:
    return Entry(1, 1, "LOG", None, message, None, None, of_session=False)


def filled(text: str, values: tuple[object, ...]) -> str:
    return re.sub(r"ll?([du])", r"\1", text) % values if values else text


@pytest.fixture(scope="module")
def russian() -> gettext.GNUTranslations:
    if not CATALOGUE.exists():
        pytest.skip(f"PostgreSQL's Russian catalogue is not here: {CATALOGUE}")
    with CATALOGUE.open("rb") as file:
        return gettext.GNUTranslations(file)


@pytest.mark.parametrize("message", MESSAGES)
def test_a_translated_message_gives_the_same_event(
    message: str, russian: gettext.GNUTranslations
) -> None:
    translated = russian.gettext(message)
    assert translated != message
    english = recognise(entry(filled(message, MESSAGES[message])))
    other = recognise(entry(filled(translated, MESSAGES[message])))
    assert english is not None
    assert other is not None
    if english.kind == "crash":
        assert (english.kind, english.figures) == (other.kind, other.figures)
    elif english.kind == "archive_failed" or english.kind == "server_stop":
        assert english.kind == other.kind
    else:
        assert english == other


def test_every_figure_of_an_autovacuum_is_translated(russian: gettext.GNUTranslations) -> None:
    def whole(translate: object) -> Recognised | None:
        assert callable(translate)
        text = filled(translate(VACUUM), ("d", "s", "t", 3))
        for line, values in FIGURES.items():
            text += filled(translate(line), values)
        return recognise(entry(text))

    english = whole(str)
    assert english is not None
    assert english == whole(russian.gettext)
    assert english.object == "d.s.t"
    assert dict(english.figures) == {
        "index_scans": 3, "pages_removed": 1, "pages_remain": 2, "pages_scanned": 3,
        "tuples_removed": 5, "tuples_remain": 6, "tuples_dead": 7,
        "io_read_ms": 8.5, "io_write_ms": 9.5, "read_mb_s": 10.5, "write_mb_s": 11.5,
        "buffer_hits": 12, "buffer_reads": 13, "buffer_dirtied": 14,
        "wal_records": 15, "wal_fpi": 16, "wal_bytes": 17,
        "cpu_user_s": 1.25, "cpu_system_s": 2.5, "elapsed_s": 3.75,
    }  # fmt: skip


@pytest.mark.parametrize(
    "word",
    ["LOG", "ERROR", "FATAL", "PANIC", "WARNING", "NOTICE", "INFO", "DEBUG",
     "DETAIL:  ", "HINT:  ", "QUERY:  ", "CONTEXT:  ", "STATEMENT:  ", "BACKTRACE:  "],
)  # fmt: skip
def test_the_words_before_a_line_are_translated(
    word: str, russian: gettext.GNUTranslations
) -> None:
    translated = russian.gettext(word).rstrip(": ")
    assert translated in (*words().severities, *words().further)


def test_a_checkpoint_has_every_figure_of_its_version() -> None:
    newest = recognise(
        entry(
            "checkpoint complete: wrote 1931 buffers (2.9%), wrote 3 SLRU buffers; 4 WAL file(s) "
            "added, 5 removed, 1 recycled; write=2.301 s, sync=0.020 s, total=2.377 s; sync "
            "files=9, longest=0.010 s, average=0.003 s; distance=16384 kB, estimate=16500 kB; "
            "lsn=1/3FF, redo lsn=0/2EE"
        )
    )
    assert newest is not None
    assert dict(newest.figures) == {
        "buffers": 1931, "buffers_percent": 2.9, "slru_buffers": 3,
        "files_added": 4, "files_removed": 5, "files_recycled": 1,
        "write_s": 2.301, "sync_s": 0.02, "total_s": 2.377,
        "sync_files": 9, "sync_longest_s": 0.01, "sync_average_s": 0.003,
        "distance_kb": 16384, "estimate_kb": 16500,
        "lsn": (1 << 32) + 0x3FF, "redo_lsn": 0x2EE,
    }  # fmt: skip


def test_the_older_forms_of_an_autovacuum_are_read() -> None:
    oldest = recognise(
        entry(
            'automatic vacuum of table "d.s.t": index scans: 1\n'
            "pages: 0 removed, 9 remain, 0 skipped due to pins, 2 skipped frozen\n"
            "tuples: 5 removed, 6 remain, 7 are dead but not yet removable, oldest xmin: 733\n"
            "buffer usage: 1 hits, 2 misses, 3 dirtied\n"
            "system usage: CPU: user: 0.10 s, system: 0.20 s, elapsed: 1.23 s"
        )
    )
    assert oldest is not None
    assert oldest.figures["pages_remain"] == 9
    assert oldest.figures["tuples_removed"] == 5
    assert oldest.figures["elapsed_s"] == 1.23
    assert "pages_scanned" not in oldest.figures


@pytest.mark.parametrize(
    "text",
    ["duration: 3 ms  parse <unnamed>: SELECT 1", "duration: 3 ms  bind s1: SELECT 1", "", " "],
)
def test_parse_and_bind_are_not_counted_as_statements(text: str) -> None:
    assert recognise(entry(text)) is None


def test_a_crash_is_told_by_the_panic_before_it_and_errors_keep_no_words() -> None:
    def entry(severity: str, message: str, at: int) -> Entry:
        return Entry(at, 7, severity, None, message, None, None, of_session=severity != "LOG")

    full = 'could not write to file "pg_wal/xlogtemp.7": No space left on device'
    ended = "client backend (PID 7) was terminated by signal 6: Aborted"
    tally = EventTally()
    tally.add(entry("ERROR", "duplicate key (name)=(Ann)", 1))
    tally.add(entry("PANIC", f"{full}\nmore", 2))
    tally.add(entry("LOG", ended, 3))
    events = tally.events()
    assert [one.object for one in events] == ["", full, ended]
    assert LogReading(events, has_checkpoints=True).crash == f"PANIC: {full}"
    assert LogReading(events[2:], has_checkpoints=True).crash == ended
    assert LogReading(events[:1], has_checkpoints=True).crash == ""
