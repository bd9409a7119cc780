"""Processes of a host: what they used between two readings, and which programs are others."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pgassay.server.hosts.local import HERE
from pgassay.trials.host import other_programs as watching
from pgassay.trials.host.other_programs import HostWatch, other_programs
from pgassay.trials.host.processes import (
    ProcessReading,
    grown_between,
    processes_in,
    read_processes,
)
from pgassay.trials.host.processor_times import split_between

HOSTILE = "\x1b[31m) R 1\n<b"
"""At most 15 characters, as the kernel keeps them."""


def stat(
    pid: int, name: str, parent: int, *, user: int = 0, waited: int = 0, started: int = 5
) -> str:
    """A line of /proc/PID/stat, with times in ticks."""
    of = f"{pid} ({name}) S {parent} 1 1 0 -1 4 0 0 0 0 {user} 0 {waited} 0 20 0 1 0 {started}"
    return f"/proc/{pid}/stat:{of} 0 10 0"


def reading(*processes: str, ticks: str = "1000 0 0 1000 0 0 0 0", disk: int = 0) -> ProcessReading:
    said = [
        "ticks:100", "page_bytes:4096", "reader:50", "boot:another", "uptime:10.00 5.00",
        f"cpu:cpu  {ticks} 0 0", *processes,
        f"/proc/diskstats: 8 0 sda 1 0 {disk} 0 1 0 0 0 0 0 0",
        f"/proc/diskstats: 8 1 sda1 1 0 {disk} 0 1 0 0 0 0 0 0",
    ]  # fmt: skip
    return processes_in("\n".join(said), is_here=False)


IDLE = (stat(1, "init", 0), stat(50, "sshd", 1), stat(70, "postgres", 1))


def test_time_of_a_child_that_ended_counts_from_the_first_reading_on() -> None:
    before = reading(*IDLE, stat(71, "postgres", 70, user=400))
    after = reading(stat(1, "init", 0), stat(70, "postgres", 1, user=100, waited=450))
    grown = grown_between(before, after)
    assert grown[70].user_s == pytest.approx(1.5)
    again = reading(stat(1, "init", 0), stat(70, "other", 1, user=300, started=9))
    assert grown_between(before, again)[70].user_s == 3.0


def test_the_server_and_pgassay_are_no_other_programs() -> None:
    before = reading(*IDLE, stat(90, "make", 1, waited=10), stat(91, "chromium", 1))
    after = reading(
        stat(1, "init", 0),
        stat(50, "sshd", 1, user=50),
        stat(51, "sh", 50, user=50),
        stat(70, "postgres", 1),
        stat(72, "postgres", 70, user=300),
        stat(90, "make", 1, waited=210),
        stat(91, "chromium", 1, user=100),
        stat(92, "chromium", 91, user=150),
        stat(93, "cron", 1, user=1),
        ticks="2000 0 0 2000 0 0 0 0",
    )
    split = split_between(before, after, [70])
    assert split is not None
    assert (split.all_s, split.server_s, split.client_s) == (20.0, 3.0, 1.0)
    assert split.foreign_user_s == pytest.approx(6.0)
    used = other_programs(before, after, split, [70])
    assert used is not None
    assert used.processors == pytest.approx(0.3)
    assert [(one.name, round(one.processors, 6)) for one in used.programs] == [
        ("chromium", 0.125),
        ("make", 0.1),
    ]
    assert used.memory_bytes == 5 * 10 * 4096
    assert split_between(before, after, [71]) is None
    assert split_between(None, after, [70]) is None


def test_disks_are_those_of_the_others_where_their_counters_can_be_read() -> None:
    def io(pid: int, read: int) -> tuple[str, str]:
        return f"/proc/{pid}/io:read_bytes: {read}", f"/proc/{pid}/io:write_bytes: 0"

    ticks = "2000 0 0 2000 0 0 0 0"
    before = reading(*IDLE, stat(90, "dd", 1), *io(90, 0), *io(70, 0), *io(50, 0))
    ran = stat(90, "dd", 1, user=100)
    for mine, expected in (
        ((*io(90, 8192), *io(70, 5), *io(50, 5)), (4096.0, "processes")),
        ((*io(70, 1024), *io(50, 0)), (512.0, "disks")),
        ((), (None, "")),
    ):
        after = reading(*IDLE[:3], ran, *mine, ticks=ticks, disk=4)
        used = other_programs(
            before,
            replace(after, uptime_s=12.0),
            split_between(before, after, [70]),
            [70],
        )
        assert used is not None
        assert (used.disk_bytes_per_s, used.disk_from) == expected


def test_a_host_that_says_nothing_of_its_processes_is_not_measured() -> None:
    with pytest.raises((KeyError, ValueError, IndexError)):
        processes_in("sh: not found", is_here=True)


@pytest.fixture
def busy() -> Iterator[int]:
    """A process that computes under a hostile name, and is no child of this one."""
    out, into = os.pipe()
    first = os.fork()
    if not first:
        if pid := os.fork():
            os.write(into, str(pid).encode())
            os._exit(0)
        ctypes.CDLL(None).prctl(15, HOSTILE.encode())
        signal.alarm(60)
        while True:
            pass
    os.waitpid(first, 0)
    pid = int(os.read(out, 20))
    os.close(out)
    os.close(into)
    yield pid
    os.kill(pid, signal.SIGKILL)


def test_a_busy_program_is_named_without_characters_that_a_terminal_obeys(
    busy: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "_MOST_NAMED", 99)
    monkeypatch.setattr(watching, "WATCHED_S", 2.0)
    while Path(f"/proc/{busy}/comm").read_text()[:1] != HOSTILE[0]:
        time.sleep(0.01)
    before = own_times(busy)
    watch = HostWatch(HERE)
    used = watch.used()
    after = own_times(busy)
    assert used is not None
    (found,) = [one for one in used.programs if "[31m" in one.name]
    # Linux itself writes a line end as two characters.
    assert found.name in (r" [31m) R 1\n<b", " [31m) R 1 <b")
    assert after > before
    assert 0.0 < found.processors <= 1.0
    without = watch.used(servers=(busy,))  # if it were the server under test
    assert without is not None
    assert not [one for one in without.programs if "[31m" in one.name]


def own_times(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11])


def test_user_time_of_a_process_is_what_proc_says(busy: int) -> None:
    first = own_times(busy)
    before = read_processes(HERE)
    while own_times(busy) < first + 20:
        time.sleep(0.05)
    low = own_times(busy)
    after = read_processes(HERE)
    high = own_times(busy)
    assert before is not None
    assert after is not None
    grown = grown_between(before, after)[busy]
    ticks = os.sysconf("SC_CLK_TCK")
    assert after.processes[busy].user_s * ticks == pytest.approx(
        (low + high) / 2, abs=high - low + 1
    )
    assert 0 < round(grown.user_s * ticks) <= high - first
    assert os.getpid() in after.own
    assert busy not in after.own
