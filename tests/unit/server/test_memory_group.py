"""Where a server's memory group can be made, what it counts, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgassay.errors import SpecError
from pgassay.notes import Note
from pgassay.plan.design import make_plan
from pgassay.server.hosts import memory_group
from pgassay.server.hosts.local import LocalHost
from pgassay.server.hosts.memory_group import MemoryGroup, MemoryUse, parent_group, remove_group
from pgassay.server.knobs.host_knobs import without_effect
from pgassay.spec.parse import parse_spec
from pgassay.spec.server.placement import memory_text
from pgassay.trials.run.refusals import before_servers
from support.refusals import refused

GIB = 2**30


class Grouped(LocalHost):
    """This machine, with pgassay in group /a/lab of a tree below a folder."""

    def __init__(self, folder: Path, kind: str, *, gives: tuple[str, ...] = (), closed: str = ""):
        line = "0::/a/lab\n" if kind == "cgroup2" else "4:memory:/a/lab\n"
        self._cgroup = line if kind else ""
        self._mounts = f"1 0 0:1 / {folder} rw - {kind or 'tmpfs'} cgroup rw,memory\n"
        self._closed = folder / closed / "cgroup.procs" if closed else None
        for name in ("", "a", "a/lab"):
            group = folder / name
            group.mkdir(exist_ok=True)
            (group / "cgroup.procs").touch()
            if kind == "cgroup2":
                (group / "cgroup.controllers").write_text("cpu memory\n")
                (group / "cgroup.subtree_control").write_text("memory\n" if name in gives else "")

    def read(self, path: Path, offset: int = 0) -> bytes:
        if path.name == "cgroup":
            return self._cgroup.encode()
        return self._mounts.encode() if path.name == "mountinfo" else super().read(path, offset)

    def check_writable(self, path: Path) -> None:
        if path == self._closed:
            raise PermissionError
        super().check_writable(path)


def test_version_1_makes_groups_below_pgassays_own(tmp_path: Path) -> None:
    assert parent_group(Grouped(tmp_path, "cgroup")) == (tmp_path / "a" / "lab", "memory")


def test_version_2_makes_them_below_the_nearest_group_that_gives_its_children_memory(
    tmp_path: Path,
) -> None:
    host = Grouped(tmp_path, "cgroup2", gives=("", "a"))
    assert parent_group(host) == (tmp_path / "a", "")


def test_a_host_that_cannot_make_groups_is_told_what_would_help(tmp_path: Path) -> None:
    with refused("memory-groups-missing"):
        parent_group(Grouped(tmp_path, ""))
    control = tmp_path / "cgroup.subtree_control"
    with refused("memory-controller-not-given", control=control):
        parent_group(Grouped(tmp_path, "cgroup2"))
    (tmp_path / "cgroup.type").touch()  # which the kernel's own root lacks
    with refused("memory-controller-not-given-in-a-container", control=control):
        parent_group(Grouped(tmp_path, "cgroup2"))
    closed = Grouped(tmp_path, "cgroup2", gives=("a",), closed="a")
    with refused("memory-group-not-writable", group=tmp_path / "a"):
        parent_group(closed)


@pytest.mark.parametrize(
    ("controller", "files", "found"),
    [
        (
            "",
            {"memory.max": "1073741824", "memory.events": "low 0\nmax 7\noom 1\noom_kill 2\n"},
            MemoryUse(GIB, 7, 2),
        ),
        ("", {"memory.max": "max", "memory.events": "max 0\n"}, MemoryUse(None, 0, 0)),
        (
            "memory",
            {
                "memory.limit_in_bytes": "1073741824",
                "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
                "memory.failcnt": "7\n",
            },
            MemoryUse(GIB, 7, 2),
        ),
        (
            "memory",
            {
                "memory.limit_in_bytes": str(2**63 - 4096),
                "memory.oom_control": "oom_kill_disable 0\n",
                "memory.failcnt": "0\n",
            },
            MemoryUse(None, 0, 0),
        ),
    ],
)
def test_both_versions_say_limit_how_often_it_was_reached_and_kills(
    tmp_path: Path, controller: str, files: dict[str, str], found: MemoryUse
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert MemoryGroup(tmp_path, controller, GIB).use() == found


def test_a_limit_that_was_not_put_in_force_is_reported(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text("max")
    (tmp_path / "memory.events").write_text("")
    group = MemoryGroup(tmp_path, "", GIB)
    with refused("memory-limit-not-taken", asked="1GB", found="no limit"):
        group.confirmed([])
    group.limit()
    assert group.confirmed([]) == {"memory": "1GB", "memory_group": str(tmp_path)}
    group.limit(lifted=True)
    assert (tmp_path / "memory.max").read_text().startswith("max")


def test_a_process_outside_of_the_group_is_reported(tmp_path: Path) -> None:
    with refused("memory-group-left", task=1):
        MemoryGroup(tmp_path / "pgassay-run-x", "", GIB).confirmed([1])


def test_a_process_that_ends_meanwhile_is_not_taken_for_one_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = iter(["0::/", None])  # as an ending process shows for a moment
    monkeypatch.setattr(memory_group, "text_of", lambda *_: next(seen))
    (tmp_path / "memory.max").write_text(str(GIB))
    (tmp_path / "memory.events").write_text("")
    assert MemoryGroup(tmp_path, "", GIB).confirmed([7])["memory"] == "1GB"


def test_a_group_that_is_gone_counts_as_removed_and_one_in_use_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remove_group(tmp_path / "gone")
    (tmp_path / "used" / "file").mkdir(parents=True)
    monkeypatch.setattr(memory_group, "REMOVE_LIMIT_S", 0.0)
    with refused("memory-group-left-over", path=tmp_path / "used"):
        remove_group(tmp_path / "used")


@pytest.mark.parametrize("wrong", ["1073741824", "'1073741824'", "'1gb'", "'much'", "'0MB'"])
def test_an_amount_of_memory_takes_a_unit(wrong: str) -> None:
    with pytest.raises(SpecError, match=r"placement\.server_memory"):
        parse_spec(f"[placement]\nserver_memory = {wrong}", source="x.toml", beside=Path())


def test_amounts_are_read_and_written_as_postgresql_does() -> None:
    text = "[placement]\nserver_memory = '1.5GB'"
    size = parse_spec(text, source="x.toml", beside=Path()).file.placement.server_memory
    assert size == 1536 * 2**20
    assert [memory_text(one) for one in (size, GIB, 2**20 + 1)] == ["1536MB", "1GB", "1048577B"]


def test_a_limit_above_the_hosts_memory_or_for_data_in_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = Grouped(tmp_path, "cgroup")
    monkeypatch.setattr(before_servers, "parent_group", lambda: parent_group(host))

    def codes(limit: str) -> list[str]:
        text = f"[placement]\nserver_memory = '{limit}'"
        spec = parse_spec(text, source="x.toml", beside=Path())
        return [one.code for one in before_servers.unfit_memory_limit(spec, make_plan(spec))]

    assert codes("900TB")[0] == "memory-limit-of-nothing"
    if not Path("/dev/shm").is_dir():  # noqa: S108 (looked at only)
        return
    monkeypatch.setenv("PGASSAY_DATA", "/dev/shm/none")  # noqa: S108 (not made)
    assert codes("16MB") == ["memory-limit-in-memory"]


class Swapping(Grouped):
    """The same with or without swap."""

    swaps = "Filename Type Size\n"

    def read(self, path: Path, offset: int = 0) -> bytes:
        return self.swaps.encode() if path.name == "swaps" else super().read(path, offset)


def test_swappiness_that_cannot_reach_the_server_is_a_caveat(tmp_path: Path) -> None:
    def reasons(kind: str, swaps: str, **how: bool) -> list[Note]:
        host = Swapping(tmp_path, kind)
        host.swaps += swaps
        of_ours = {"starts_server": True, "limits_memory": False} | how
        found = without_effect(["vm.swappiness"], host, **of_ours, running=7)
        return list(found)

    assert reasons("cgroup2", "") == [Note("server/knobs/no-swap")]
    swap = "/dev/sda2 partition 100\n"
    assert reasons("cgroup", swap) == [Note("server/knobs/own-swappiness")]
    assert reasons("cgroup", swap, limits_memory=True) == []
    (theirs,) = reasons("cgroup", swap, starts_server=False)
    assert theirs.values["file"] == f"{tmp_path}/a/lab/memory.swappiness"
    assert reasons("cgroup2", swap) == []
    assert reasons("cgroup2", swap, starts_server=False) == []
    others = Swapping(tmp_path, "cgroup")
    assert without_effect([], others, starts_server=True, limits_memory=False) == []
