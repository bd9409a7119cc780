"""Which of the block devices of /proc/diskstats are disks themselves.

Enters: names of devices. Leaves: those that are part of none of the others. Never: asks the host.

The kernel names a partition by its disk and a number, with a p between where the disk's name ends
in a digit (block/partitions/core.c): sda1, nvme0n1p1.
"""

from __future__ import annotations

import re
from collections.abc import Collection

_PART_OF_ANOTHER = ("dm-", "md", "loop", "ram", "zram")
_PARTITION = re.compile(r"(?P<disk>.*?)(?:(?<=\D)|(?<=\d)p)\d+", re.ASCII)


def whole_disks(names: Collection[str]) -> list[str]:
    """Returns the whole disks below block devices. What is written to a partition or mapping is
    written through to one of these."""
    return [
        name
        for name in sorted(names)
        if not name.startswith(_PART_OF_ANOTHER)
        and not ((found := _PARTITION.fullmatch(name)) and found["disk"] in names)
    ]
