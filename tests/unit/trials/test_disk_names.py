"""A partition is distinguished from a disk that only has a longer name."""

from __future__ import annotations

import pytest

from pgassay.trials.host.disk_names import whole_disks


@pytest.mark.parametrize(
    ("names", "whole"),
    [
        (["sda", "sda1", "sda12", "sdaa", "sdaa1"], ["sda", "sdaa"]),
        (["nvme0n1", "nvme0n1p1", "nvme0n10", "nvme0n10p2"], ["nvme0n1", "nvme0n10"]),
        (["mmcblk0", "mmcblk0p1", "mmcblk0boot0"], ["mmcblk0", "mmcblk0boot0"]),
        (["xvda1"], ["xvda1"]),
        (["vda", "dm-0", "md127", "loop3"], ["vda"]),
    ],
)
def test_a_partition_is_part_of_the_disk_whose_number_it_has(
    names: list[str], whole: list[str]
) -> None:
    assert whole_disks(names) == whole
