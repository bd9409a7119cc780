"""Devices below a path, on made-up sysfs trees and on this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgassay.server.hosts.block_devices import (
    Mount,
    describe_device,
    mount_of,
    parse_mounts,
    read_mounts,
    storage_of,
)
from pgassay.server.hosts.local import HERE

PCI = "devices/pci0000:00/block"


def mount(
    number: str, point: Path, kind: str = "ext4", source: str = "none", more: str = "rw"
) -> Mount:
    return Mount(number, point, "rw,relatime", kind, source, more)


class Tree:
    """A sysfs tree under a folder."""

    def __init__(self, sys: Path) -> None:
        self.sys = sys

    def device(
        self, name: str, number: str, *, inside: str = "", slaves: tuple[str, ...] = ()
    ) -> None:
        node = self.sys / PCI / inside / name
        (node / "slaves").mkdir(parents=True)
        if inside:
            (node / "partition").write_text("1\n")
        for slave in slaves:
            (node / "slaves" / slave).symlink_to((self.sys / "class" / "block" / slave).resolve())
        for folder, link in (("dev/block", number), ("class/block", name)):
            (self.sys / folder).mkdir(parents=True, exist_ok=True)
            (self.sys / folder / link).symlink_to(node)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path / "sys")


def below(path: Path, tree: Tree, *mounts: Mount) -> tuple[tuple[str, ...], tuple[str, ...]]:
    found = storage_of(path, HERE, mounts, tree.sys)
    return found.devices, found.disks


def test_a_partition_leads_to_its_disk(tree: Tree, tmp_path: Path) -> None:
    tree.device("sda", "8:0")
    tree.device("sda2", "8:2", inside="sda")
    assert below(tmp_path, tree, mount("8:2", tmp_path)) == (("sda2", "sda"), ("sda",))


def test_lvm_on_raid_on_partitions_leads_to_all_disks(tree: Tree, tmp_path: Path) -> None:
    for disk, number in (("sda", 0), ("sdb", 16)):
        tree.device(disk, f"8:{number}")
        tree.device(f"{disk}1", f"8:{number + 1}", inside=disk)
    tree.device("md0", "9:0", slaves=("sda1", "sdb1"))
    tree.device("dm-3", "253:3", slaves=("md0",))
    devices, disks = below(tmp_path, tree, mount("253:3", tmp_path))
    assert devices == ("dm-3", "md0", "sda1", "sda", "sdb1", "sdb")
    assert disks == ("sda", "sdb")


def test_a_file_system_with_an_anonymous_device_number_is_found_by_its_source(
    tree: Tree, tmp_path: Path
) -> None:
    tree.device("nvme0n1", "259:0")
    found = mount("0:45", tmp_path, "btrfs", "/dev/nvme0n1")
    assert below(tmp_path, tree, found) == (("nvme0n1",), ("nvme0n1",))


def test_an_overlay_has_the_devices_of_its_upper_layer(tree: Tree, tmp_path: Path) -> None:
    tree.device("vda", "254:0")
    root = mount("254:0", Path("/var/lib/containers"))
    overlay = mount(
        "0:50", tmp_path, "overlay", "overlay",
        "rw,lowerdir=/l,upperdir=/var/lib/containers/1/diff,workdir=/w",
    )  # fmt: skip
    assert below(tmp_path, tree, root, overlay) == (("vda",), ("vda",))
    alone = storage_of(tmp_path, HERE, [overlay], tree.sys)
    assert (alone.devices, alone.reason) == ((), "overlay names no block device")


def test_slashes_in_names_are_those_of_diskstats(tree: Tree, tmp_path: Path) -> None:
    tree.device("cciss!c0d0", "104:0")
    assert below(tmp_path, tree, mount("104:0", tmp_path))[0] == ("cciss/c0d0",)


def test_devices_that_point_at_each_other_come_to_an_end(tree: Tree, tmp_path: Path) -> None:
    tree.device("dm-0", "253:0")
    node = tree.sys / PCI / "dm-0"
    (node / "slaves" / "dm-0").symlink_to(node)
    assert below(tmp_path, tree, mount("253:0", tmp_path))[0] == ("dm-0",)


def test_what_has_no_device_says_why(tree: Tree, tmp_path: Path) -> None:
    memory = storage_of(tmp_path, HERE, [mount("0:9", tmp_path, "tmpfs")], tree.sys)
    assert memory.reason == "tmpfs is in memory"
    absent = storage_of(tmp_path / "absent", HERE, [mount("8:0", tmp_path)], tree.sys)
    assert absent.reason == "cannot be seen (No such file or directory)"


def test_the_deepest_and_latest_mount_counts() -> None:
    text = (
        "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n"
        "30 27 8:1 / /var\\040lib rw shared:5 - xfs /dev/sda1 rw\n"
        "31 27 8:2 / /var\\040lib rw - xfs /dev/sda2 rw\n"
        "damaged line\n"
    )
    mounts = parse_mounts(text)
    assert [m.number for m in mounts] == ["254:0", "8:1", "8:2"]
    assert mount_of(Path("/var lib/data"), mounts) == mounts[2]
    assert mount_of(Path("/var"), mounts) == mounts[0]


def test_the_root_file_system_of_this_machine_has_devices_or_a_reason() -> None:
    found = storage_of(Path("/"), HERE, read_mounts(HERE))
    assert found.mount == "/"
    assert bool(found.devices) != bool(found.reason)
    known = Path("/proc/diskstats").read_text("utf-8")
    for name in found.devices:
        assert f" {name} " in known
        assert describe_device(name, HERE)["size_bytes"]
