"""Versions and builds that copies of a server run with."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgassay.server.copied.versions import Versions, release
from pgassay.server.owned.installation import Installation, embedded_installation
from pgassay.spec.factors.tables import Way

OWN = Installation(Path("/server/bin"), 150018, "15.18")
NEWER = embedded_installation(18).bin_directory


@pytest.mark.parametrize(
    ("levels", "how", "copies"),
    [
        ({"15": 15, "18": 18}, "pg_upgrade", 0),
        ({"15": 15, "18": NEWER, "patched": NEWER}, "pg_upgrade", 1),
        ({"18": NEWER, "patched": NEWER}, "dump", 2),
        ({"15": 15, "same": 15}, "pg_upgrade", 0),
    ],
)
def test_files_that_builds_share_and_a_dump_take_room_on_disk(
    levels: dict[str, int | Path], how: Way, copies: int
) -> None:
    assert Versions(levels, how).beside(OWN) == copies


def test_previews_of_a_version_share_no_files() -> None:
    named = ((180001, "18.1"), (180006, "18.6"), (190000, "19beta1"), (190000, "19beta2"))
    found = [release(Installation(Path("/bin"), number, text)) for number, text in named]
    assert found == ["18", "18", "19beta1", "19beta2"]
