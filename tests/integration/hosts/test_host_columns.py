"""Our columns of vmstat and iostat agree with the real programs under real I/O."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from pgassay import _core
from pgassay.analysis.host.columns import HostColumns
from pgassay.analysis.model import HostWindow
from pgassay.analysis.reading.counters import CounterSeries
from pgassay.server.hosts.block_devices import read_mounts, storage_of
from pgassay.server.hosts.local import HERE
from pgassay.trials.host.host_sources import HostSources, host_files
from pgassay.trials.model.columns import COUNTERS
from support.packages import needs

SECONDS = 4
EDGES_NS = tuple(range(-1_000_000_000, 1_000_000_001, 250_000_000))
"""Where the program's readings may lie around the moments at which its lines came: a busy machine
delays both, and other tests' reads come in bursts."""
NOWHERE = {"host": "/nonexistent", "port": 1, "user": "u", "dbname": "d"}
LOAD = """
import os, sys
block = os.urandom(1 << 20)
with open(sys.argv[1], "wb", buffering=0) as file:
    while True:
        file.seek(0)
        for _ in range(4):
            file.write(block)
        os.fsync(file.fileno())
"""


NARROW = {"aqu-sz": 0.05, "r_await": 0.1, "w_await": 0.1, "d_await": 0.1, "f_await": 0.1}
"""Columns of iostat that are often below one, where a margin of one would prove nothing."""
PER_REQUEST = {
    "%rrqm": "r/s", "r_await": "r/s", "rareq-sz": "r/s", "%drqm": "d/s", "d_await": "d/s",
    "dareq-sz": "d/s", "f_await": "f/s",
}  # fmt: skip
"""Figures per read, discard or flush, of which the load makes none or few: other tests' come in
bursts, and which of them fall inside depends on the moment of the reading."""


@contextmanager
def under_load(folder: Path) -> Iterator[None]:
    words = [sys.executable, "-c", LOAD, str(folder / "written")]
    with subprocess.Popen(words) as load:
        try:
            yield
        finally:
            load.kill()


def sources() -> dict[str, object]:
    known = ("path", "source", "object", "format")
    files = [{k: f[k] for k in known if k in f} for f in host_files() if Path(f["path"]).exists()]
    return HostSources(tuple(files)).for_core(0.1) or {}


def beside(words: list[str], folder: Path) -> tuple[list[tuple[int, str]], HostColumns]:
    """A program's lines with the moment at which each came, and our columns."""
    sampler = _core.Sampler(json.dumps({"connection": NOWHERE, "host": sources()}))
    with under_load(folder):
        sampler.start()
        stamped: list[tuple[int, str]] = []
        env = {**os.environ, "LC_ALL": "C", "S_TIME_FORMAT": "ISO"}
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=env) as program:
            assert program.stdout is not None
            stamped = [(_core.now_ns(), line) for line in program.stdout]
    # One reading more, so that the last one of the program is inside.
    reads = json.loads(sampler.cost())["host_reads"]
    while json.loads(sampler.cost())["host_reads"] < reads + 2:
        assert _core.now_ns() < stamped[-1][0] + 60e9
    sampler.stop()
    table = pa.Table.from_pydict(sampler.take_host(), schema=COUNTERS)
    return stamped, HostColumns(CounterSeries(table))


def about(ours: HostColumns, start: int, end: int) -> list[HostWindow]:
    """Windows around the program's own: its readings are not at the same moment as ours."""
    return [ours.window(start + a, end + b) for a in EDGES_NS for b in EDGES_NS]


def is_among(
    value: float, ours: Sequence[float | None], *, margin: float, share: float = 0.05
) -> bool:
    known = [one for one in ours if one is not None]
    low, high = min(known), max(known)
    return (1 - share) * low - margin <= value <= (1 + share) * high + margin


def test_our_vmstat_agrees_with_the_real_one(disk_path: Path) -> None:
    needs("procps")
    stamped, ours = beside(["vmstat", "-n", "1", str(SECONDS + 1)], disk_path)
    names = stamped[1][1].split()
    lines = lines_of(stamped)
    # The first line holds rates since the machine started.
    theirs = {name: sum(line[name] for _, line in lines[1:]) / SECONDS for name in names}
    found = [window.vmstat for window in about(ours, lines[0][0], lines[-1][0])]
    for name in ("bo", "in", "cs"):
        assert theirs[name] > 10, f"{name} shows no load"
    for name in ("si", "so", "bi", "bo", "in", "cs"):
        assert is_among(theirs[name], [one[name] for one in found], margin=20), name
    for name in ("us", "sy", "id", "wa", "st"):
        assert is_among(theirs[name], [one[name] for one in found], margin=2, share=0), name
    # Other tests' servers take and give back memory by the 100 MB, and drop files from the page
    # cache, also between two readings of ours, so single lines may lie outside all of them.
    for _ in range(3):
        differing = [
            name
            for name in ("swpd", "free", "buff", "cache")
            if agreeing_lines(lines, ours, name) <= SECONDS // 2
        ]
        if not differing:
            break
        stamped, ours = beside(["vmstat", "-n", "1", str(SECONDS + 1)], disk_path)
        lines = lines_of(stamped)
    assert not differing


Lines = list[tuple[int, dict[str, float]]]


def lines_of(stamped: list[tuple[int, str]]) -> Lines:
    """vmstat's lines, each with the time at which it came."""
    names = stamped[1][1].split()
    return [
        (at, dict(zip(names, map(float, line.split()), strict=True))) for at, line in stamped[2:]
    ]


def agreeing_lines(lines: Lines, ours: HostColumns, name: str) -> int:
    """How many of vmstat's lines agree with our readings about then."""
    return sum(
        is_among(line[name], levels(ours, at, name), margin=20_000, share=0.02)
        for at, line in lines
    )


def levels(ours: HostColumns, at: int, name: str) -> list[float | None]:
    """Our readings within the second before a line came, in which vmstat made its own."""
    tenths = [at + step * 10**8 for step in range(-10, 3)]
    return [ours.window(one - 10**8, one).vmstat[name] for one in tenths]


def test_our_iostat_agrees_with_the_real_one(disk_path: Path) -> None:
    needs("sysstat")
    disks = storage_of(disk_path, HERE, read_mounts(HERE)).disks
    assert disks, "the temporary folder lies on no disk that is known"
    disk = disks[0]
    words = ["iostat", "-x", "-d", "-k", "-y", str(SECONDS), "1", disk]
    stamped, ours = beside(words, disk_path)
    lines, start, end = [line for _, line in stamped], stamped[0][0], stamped[-1][0]
    header = next(line.split() for line in lines if line.startswith("Device"))
    figures = next(line.split() for line in lines if line.startswith(f"{disk} "))
    theirs = {name: float(word) for name, word in zip(header[1:], figures[1:], strict=True)}
    found = [window.iostat[disk] for window in about(ours, start, end)]
    assert theirs["w/s"] > 1
    assert theirs["wkB/s"] > 100
    assert set(theirs) == set(found[0])
    for name, value in theirs.items():
        rates = [one[PER_REQUEST[name]] or 0.0 for one in found] if name in PER_REQUEST else [0.0]
        if max(rates) - min(rates) > 0.2 * max(rates):
            continue
        margin = NARROW.get(name, 1.0)
        assert is_among(value, [one[name] or 0.0 for one in found], margin=margin), name
