"""The server's control group is never the whole host."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgassay.server.hosts.block_devices import Mount
from pgassay.server.hosts.control_groups import control_group_files
from pgassay.server.hosts.local import LocalHost


class Grouped(LocalHost):
    """This machine, with a process in a group of our choosing."""

    def __init__(self, group: Path) -> None:
        self._group = group

    def read(self, path: Path, offset: int = 0) -> bytes:
        return super().read(self._group if path == Path("/proc/7/cgroup") else path, offset)


def found(tmp_path: Path, kind: str, line: str, files: tuple[str, ...]) -> list[str]:
    (tmp_path / "cgroup").write_text(line)
    for name in files:
        path = tmp_path / "mount" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    mount = Mount("0:1", tmp_path / "mount", "rw", kind, "cgroup", "rw,memory,blkio")
    mounted = str(tmp_path / "mount") + "/"
    host = Grouped(tmp_path / "cgroup")
    return [f["path"].removeprefix(mounted) for f in control_group_files(host, 7, [mount])]


V2 = ("cpu.stat", "pg/cpu.stat", "pg/memory.current", "pg/cgroup.type")
BLKIO = ("blkio.throttle.io_service_bytes", "blkio.throttle.io_serviced")
V1 = ("release_agent", "memory.failcnt", "pg/memory.failcnt")


@pytest.mark.parametrize(
    ("kind", "line", "files", "expected"),
    [
        ("cgroup2", "0::/pg", V2, ["pg/cpu.stat", "pg/memory.current"]),
        ("cgroup2", "0::/", V2, []),
        ("cgroup2", "0::/gone", V2, []),
        ("cgroup2", "0::/", ("cpu.stat", "cgroup.type"), ["cpu.stat"]),
        ("cgroup", "4:memory:/pg", V1, ["pg/memory.failcnt"]),
        ("cgroup", "4:memory:/", V1, []),
        (
            "cgroup",
            "7:blkio:/pg",
            ("release_agent", *(f"pg/{name}" for name in BLKIO)),
            [f"pg/{name}" for name in BLKIO],
        ),
        ("cgroup", "4:memory:/docker/1", ("memory.failcnt",), ["memory.failcnt"]),
    ],
)
def test_a_group_has_figures_and_the_root_of_the_host_none(
    tmp_path: Path, kind: str, line: str, files: tuple[str, ...], expected: list[str]
) -> None:
    assert found(tmp_path, kind, line, files) == expected


@pytest.mark.parametrize(
    ("kind", "line", "name", "text", "is_read"),
    [
        ("cgroup2", "0::/pg", "pg/memory.max", "134217728\n", True),
        ("cgroup2", "0::/pg", "pg/memory.max", "max\n", False),
        ("cgroup", "4:memory:/pg", "pg/memory.limit_in_bytes", "134217728\n", True),
        ("cgroup", "4:memory:/pg", "pg/memory.limit_in_bytes", "9223372036854771712\n", False),
    ],
)
def test_a_limit_is_read_only_where_there_is_one(
    tmp_path: Path, kind: str, line: str, name: str, text: str, is_read: bool
) -> None:
    limit = tmp_path / "mount" / name
    limit.parent.mkdir(parents=True)
    limit.write_text(text)
    known = ("pg/cgroup.type",) if kind == "cgroup2" else ("release_agent",)
    assert (name in found(tmp_path, kind, line, known)) is is_read
