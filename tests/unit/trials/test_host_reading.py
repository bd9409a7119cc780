"""What a host says of itself, read: state, processors, clock, from any host's words."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pgassay.errors import TargetError
from pgassay.server.hosts.host import Finished
from pgassay.server.hosts.local import HERE, LocalHost
from pgassay.server.knobs.knob_files import device_of
from pgassay.trials.host.host_reading import HostReading, host_state, lines_of, read_host
from support.memory import ON_DISK
from support.refusals import refused

SAID = """\
==> clock 1 <==
100.00 1700000000000000000 100.04
==> clock 2 <==
100.05 1700000000060000000 100.07
==> postmaster <==
70
==> disk data <==
1000 500 400
==> disk wal <==
1000 100 100

==> queue data scheduler <==
[none] mq-deadline

==> /proc/pressure/io <==
some avg10=1.00 avg60=0.00 avg300=0.00 total=123456

==> /proc/sys/vm/swappiness <==
60

==> /sys/kernel/mm/transparent_hugepage/enabled <==
==> /sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq <==
2000000

==> /sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq <==
3000000

"""


def look(text: str = SAID) -> HostReading:
    return HostReading(lines_of(text))


def test_the_state_of_a_host_is_read_and_what_is_not_there_is_absent() -> None:
    state = host_state(look())
    assert state.knobs == {"vm.swappiness": "60", "queue data scheduler": "[none] mq-deadline"}
    assert state.throttled is None
    assert state.frequency_mhz == 2500.0
    assert state.disk_used == pytest.approx(0.9)
    assert state.pressure_us == {"io": 123456}
    # The second reading was held up least; it is off by half of that and a step of the uptime.
    assert state.clock_offset_ns == 1700000000060000000 - 100_060_000_000
    assert state.clock_error_ns == 20_000_000


def test_a_look_at_this_host_finds_the_parent_of_a_process() -> None:
    seen = read_host(HERE, Path("/"), backend=os.getpid())
    assert seen.postmaster == os.getppid()
    state = host_state(seen)
    assert state.knobs["vm.swappiness"] == Path("/proc/sys/vm/swappiness").read_text().strip()
    assert state.disk_used is not None
    assert 0.0 < state.disk_used < 1.0


def test_the_queue_of_a_disk_is_that_of_the_partition_or_disk_below() -> None:
    try:
        queue = device_of(ON_DISK) / "queue"
    except TargetError as error:
        pytest.skip(str(error))
    seen = host_state(read_host(HERE, ON_DISK)).knobs
    assert seen["queue data read_ahead_kb"] == (queue / "read_ahead_kb").read_text().strip()
    assert seen["queue data scheduler"] == (queue / "scheduler").read_text().strip()
    assert "queue wal scheduler" not in seen


class Mute(LocalHost):
    """A host whose shell refuses."""

    label = "mute"

    def run(self, words: object, **_: object) -> Finished:
        return Finished([], 127, "", "sh: not found\n")


def test_a_host_without_a_shell_is_an_error() -> None:
    with refused("host-without-state", host="mute", why="sh: not found"):
        read_host(Mute(), None)
